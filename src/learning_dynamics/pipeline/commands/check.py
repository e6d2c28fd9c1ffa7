"""Hold everything that lies there against the configuration: is it whole, made by these settings and this science?"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.seals import FRAMES, opened
from learning_dynamics.pipeline.study.config import folders, load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import expected_outputs, fault, joined_of_other_versions

SEED = re.compile(r"seed\d+")
WORKING = {"logs", "benchmarks", "resume"}  # what jobs leave beside their outputs


def execute(files: Sequence[Path]) -> int:
    """Print every file under results, figures and docs/results that is stale, damaged or foreign; 1 if there is one."""
    configuration = load(files)
    results, figures = folders(configuration)
    project = Project(configuration)
    checked, wrong = stale(project, results, figures)
    known = set(expected_outputs(project, str(results), str(figures)))
    known |= {f"{results}/{name}.csv" for name in ("wild", "turning")}  # tables that lie beside as parquet
    for folder in sorted(results.glob("replicates/seed*")):
        if SEED.fullmatch(folder.name):
            other = Project(configuration.with_seed(int(folder.name.removeprefix("seed"))))
            more, stale_ones = stale(other, folder)
            checked, wrong = checked + more, wrong + stale_ones
            known |= set(expected_outputs(other, str(folder)))
    others, damaged = beside(known, results, figures)
    wrong += damaged + list(itertools.chain(*map(published.damaged, published.folders())))
    for name in ("replication", "wild", "turning"):
        with suppress(ProjectError):  # missing, or damaged: that is said already
            wrong += filter(None, [joined_of_other_versions(project, results / f"{name}.parquet")])
    for text in wrong:
        print(f"error: {text}", file=sys.stderr)
    apart = f"; {others} more are whole, of other configurations or commands" if others else ""
    print(f"{checked} outputs in {results} and {figures} checked, {len(wrong)} stale or foreign{apart}")
    return int(bool(wrong))


def beside(known: Collection[str], *folders: Path) -> tuple[int, list[str]]:
    """Return how many whole outputs lie there besides the known ones, and what is wrong with everything else."""
    whole, wrong = 0, []
    for folder in folders:
        for place, below, names in os.walk(folder):
            below[:] = sorted(set(below) - WORKING)
            for path in (Path(place, name) for name in sorted(names)):
                if str(path) in known:
                    continue
                if path.suffix not in FRAMES or path.name.startswith("."):
                    wrong.append(f"{path}: is no output of learning-dynamics; delete it, or keep it elsewhere")
                    continue
                try:
                    with opened(path):
                        whole += 1
                except ProjectError as error:
                    wrong.append(str(error))
    return whole, wrong


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
