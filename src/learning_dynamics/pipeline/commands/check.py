"""Hold everything that lies there against the configuration: is it whole, made by these settings and this science?"""

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
from learning_dynamics.pipeline.study.config import load, output_folders
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import expected_outputs, fault, joined_of_other_versions

SEED = re.compile(r"seed\d+")
IGNORED_FOLDERS = {"logs", "benchmarks", "resume"}  # what jobs leave beside their outputs


def execute(files: Sequence[Path]) -> int:
    """Print every file under results, figures and docs/results that is stale, damaged or foreign; 1 if there is one."""
    configuration = load(files)
    results, figures = output_folders(configuration)
    project = Project(configuration)
    n_checked, problems = find_stale(project, results, figures)
    expected = set(expected_outputs(project, str(results), str(figures)))
    expected |= {f"{results}/{name}.csv" for name in ("wild", "turning")}  # tables that lie beside as parquet
    expected |= set(map(str, results.glob("bench*.csv")))  # of `make bench`
    for folder in sorted(results.glob("replicates/seed*")):
        if SEED.fullmatch(folder.name):
            replicate = Project(configuration.with_seed(int(folder.name.removeprefix("seed"))))
            n_more, more_problems = find_stale(replicate, folder)
            n_checked, problems = n_checked + n_more, problems + more_problems
            expected |= set(expected_outputs(replicate, str(folder)))
    n_others, damaged = check_other_files(expected, results, figures)
    problems += damaged + list(itertools.chain(*map(published.find_damaged, published.published_folders())))
    for name in ("replication", "wild", "turning"):
        with suppress(ProjectError):  # missing, or damaged: that is said already
            problems += filter(None, [joined_of_other_versions(project, results / f"{name}.parquet")])
    for text in problems:
        print(f"error: {text}", file=sys.stderr)
    remark = f"; {n_others} more are whole, of other configurations or commands" if n_others else ""
    print(f"{n_checked} outputs in {results} and {figures} checked, {len(problems)} stale or foreign{remark}")
    return int(bool(problems))


def check_other_files(expected: Collection[str], *folders: Path) -> tuple[int, list[str]]:
    """Return how many whole outputs lie there besides the known ones, and what is wrong with everything else."""
    n_whole, problems = 0, []
    for folder in folders:
        for parent, subfolders, names in os.walk(folder):
            subfolders[:] = sorted(set(subfolders) - IGNORED_FOLDERS)
            for path in (Path(parent, name) for name in sorted(names)):
                if str(path) in expected:
                    continue
                if path.suffix not in FRAMES or path.name.startswith("."):
                    problems.append(f"{path}: is no output of learning-dynamics; delete it, or keep it elsewhere")
                    continue
                try:
                    with opened(path):
                        n_whole += 1
                except ProjectError as error:
                    problems.append(str(error))
    return n_whole, problems


def find_stale(project: Project, results: Path, figures: Path | None = None) -> tuple[int, list[str]]:
    """Return how many outputs there are, and what is wrong with those that the configuration did not make."""
    expected = expected_outputs(project, str(results), None if figures is None else str(figures))
    problems: list[str] = []
    n_checked = 0
    for path, fingerprint in expected.items():
        if Path(path).exists():
            n_checked += 1
            problems += filter(None, [fault(path, fingerprint)])
    return n_checked, problems
