"""Hold every output that lies there against the configuration: was it made by these settings and this science?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.pipeline.config import load
from learning_dynamics.pipeline.freshness import expected_outputs, fault
from learning_dynamics.pipeline.project import Project


def execute(files: Sequence[Path]) -> int:
    """Print every output that is stale or foreign; return 1 if there is one."""
    configuration = load(files)
    results, figures = Path("results", configuration.scale or ""), Path("figures", configuration.scale or "")
    checked, wrong = stale(Project(configuration), results, figures)
    for text in wrong:
        print(f"error: {text}", file=sys.stderr)
    print(f"{checked} outputs in {results} and {figures} checked, {len(wrong)} stale or foreign")
    return int(bool(wrong))


def stale(project: Project, results: Path, figures: Path | None = None) -> tuple[int, list[str]]:
    """Return how many outputs there are, and what is wrong with those that the configuration did not make."""
    expected = expected_outputs(project, str(results), None if figures is None else str(figures))
    wrong: list[str] = []
    checked = 0
    for path, fingerprint in expected.items():
        if Path(path).exists():
            checked += 1
            wrong += filter(None, [fault(path, fingerprint)])
    return checked, wrong
