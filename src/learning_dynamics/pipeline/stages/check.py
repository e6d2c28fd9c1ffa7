"""Hold every output that lies there against the configuration: was it made by these settings and this science?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.arrays import read_record
from learning_dynamics.pipeline.config import load
from learning_dynamics.pipeline.project import Project
from learning_dynamics.pipeline.tables import read_provenance


def execute(files: Sequence[Path]) -> int:
    """Print every output that is stale or foreign; return 1 if there is one."""
    configuration = load(files)
    results = Path("results", configuration.scale) if configuration.scale else Path("results")
    checked, wrong = stale(Project(configuration), results)
    for text in wrong:
        print(f"error: {text}", file=sys.stderr)
    print(f"{checked} outputs in {results} checked against the configuration, {len(wrong)} stale or foreign")
    return int(bool(wrong))


def stale(project: Project, results: Path) -> tuple[int, list[str]]:
    """Return how many outputs lie in a folder, and what is wrong with those that the configuration did not make."""
    wrong, checked = [], 0
    for name, fingerprint in project.outputs.items():
        path = results / name
        if not path.exists():
            continue
        checked += 1
        try:
            record = read_provenance(path) if path.suffix == ".parquet" else read_record(path)
        except ProjectError as error:
            wrong.append(str(error))
            continue
        if record.get("fingerprint") != fingerprint:
            wrong.append(f"{path}: was made by other settings or other code; delete it and run snakemake again")
    return checked, wrong
