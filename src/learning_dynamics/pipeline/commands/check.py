"""Compare every output on disk with the configuration: was it made by these settings and this code?"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import checked_outputs, fault, other_tables, reason_of
from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.store.pictures import read_png
from learning_dynamics.pipeline.store.tables import read_arrow

# formats with checksums, and what reads all of such a file
READERS: dict[str, Callable[[Path], Any]] = {".parquet": read_arrow, ".npz": load_arrays, ".png": read_png}


def execute(files: Sequence[Path] = ()) -> int:
    """Print every stale or damaged output, and what changed since it was made; return 1 if there is one."""
    plan = Plan(load(files), check=False)
    outputs = checked_outputs(plan)

    def find_problem(path: str, fingerprint: str) -> str | None:
        problem = fault(path, fingerprint)
        if problem is None:
            return find_damage(Path(path))
        reason = reason_of(path, plan)
        return f"{problem} ({reason})" if reason else problem

    n_checked, problems = find_stale(outputs, problem_of=find_problem)
    for paper in plan.config.papers:
        for sweep in plan.config.sweeps(paper):
            others = other_tables(plan, paper, sweep, Path(plan.results, paper, "metrics"))
            problems += [f"{file}: is not of the sweep {sweep} as configured; delete it" for file in others]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{n_checked} outputs checked, {len(problems)} stale or damaged")
    return int(bool(problems))


def find_stale(
    expected: Mapping[str, str], problem_of: Callable[[str, str], str | None] = fault
) -> tuple[int, list[str]]:
    """Return how many of the expected outputs there are, and what is wrong with them."""
    present = [path for path in expected if Path(path).exists()]
    return len(present), [problem for path in present if (problem := problem_of(path, expected[path])) is not None]


def find_damage(path: Path) -> str | None:
    """Return why a file whose format has checksums cannot be read; None if it can."""
    try:
        READERS.get(path.suffix, lambda _: None)(path)
    except ProjectError as error:
        return str(error)
    return None
