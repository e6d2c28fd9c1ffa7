"""Compare every output on disk with the configuration: was it made by these settings and this code?"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.environment import numba_disabled
from learning_dynamics.errors import ProjectError
from learning_dynamics.files import check_links
from learning_dynamics.pipeline.plan.config_files import ROOT, load, shipped_papers
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import (
    checked_outputs,
    expected_outputs,
    fault,
    other_tables,
    reason_of,
)
from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.store.pictures import read_png
from learning_dynamics.pipeline.store.tables import read_arrow, read_stamp

# formats with checksums, and what reads all of such a file
READERS: dict[str, Callable[[Path], Any]] = {".parquet": read_arrow, ".npz": load_arrays, ".png": read_png}


def execute(papers: Sequence[str] = (), files: Sequence[Path] = ()) -> int:
    """Print every stale or damaged output, and what changed since it was made; return 1 if there is one.

    Parameters
    ----------
    papers : sequence of str
        Check these alone; without it all papers.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    check_links(Path.cwd())
    plan = Plan(load(files, {"papers": list(papers)} if papers else {}), check=False)
    outputs = _expected_outputs(plan, files)

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
    if n_checked == 0:
        print(f"there are none of this configuration in {Path(plan.results).absolute()}")
    return int(bool(problems))


def _expected_outputs(plan: Plan, files: Sequence[Path]) -> dict[str, str]:
    """Return the outputs of a configuration with the fingerprints that they must have."""
    with numba_disabled():
        outputs = checked_outputs(plan)
    of_run = papers_of_last_run(plan)
    if of_run is None or of_run == plan.config.papers:
        return dict(outputs)
    print(f"the first page and the table of all claims are of a run of: {', '.join(of_run)}")
    return with_joined_outputs(outputs, plan, Plan(load(files, {"papers": of_run}), check=False))


def papers_of_last_run(plan: Plan) -> list[str] | None:
    """Return the papers of the run that wrote the table of all claims; None where there is no such table."""
    try:
        record = read_stamp(Path(plan.results, "claims.parquet"))
    except ProjectError:
        return None
    known = shipped_papers(ROOT)
    of_run = record.get("settings", {}).get("papers")
    return of_run if of_run and all(paper in known for paper in of_run) else None


def with_joined_outputs(outputs: Mapping[str, str], plan: Plan, of_run: Plan) -> dict[str, str]:
    """Return expected outputs with those that join papers as the last run, of other papers, must have made them.

    The table of all claims and the first page join all papers of a run, and their fingerprints say which. A run of one
    paper wrote them last, say, and all papers are checked: they are expected as of that one. Pages of papers that were
    not in that run link to what an earlier run joined, and are left out.
    """
    pages = [f"{plan.figures}/{name}.html" for name in plan.config.papers]
    kept = {path: made for path, made in outputs.items() if path not in pages}
    joined = (f"{plan.results}/claims.parquet", f"{plan.results}/verdicts.txt", f"{plan.figures}/index.html")
    expected = expected_outputs(of_run, of_run.results, of_run.figures)
    own_pages = [page for page in pages if page in expected]
    return kept | {path: expected[path] for path in (*joined, *own_pages)}


def find_stale(
    expected: Mapping[str, str], problem_of: Callable[[str, str], str | None] = fault
) -> tuple[int, list[str]]:
    """Return how many of the expected outputs there are, and what is wrong with them."""
    present = [path for path in expected if Path(path).exists()]
    problems = [problem_of(path, expected[path]) for path in present]
    return len(present), [problem for problem in problems if problem is not None]


def find_damage(path: Path) -> str | None:
    """Return why a file whose format has checksums cannot be read; None if it can."""
    read = READERS.get(path.suffix)
    if read is None:
        return None
    try:
        read(path)
    except ProjectError as error:
        return str(error)
    return None
