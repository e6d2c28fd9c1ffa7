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

# By suffix, for formats with checksums: a function that reads the whole file, and raises if it is damaged.
READERS: dict[str, Callable[[Path], Any]] = {".parquet": read_arrow, ".npz": load_arrays, ".png": read_png}


def execute(papers: Sequence[str] = (), files: Sequence[Path] = ()) -> int:
    """Print every stale, damaged or left-over output, and what changed since it was made; return 1 if there is one.

    Of data sets, runs and tables that the configuration does not have only the number is printed: another overlay may
    have made them.

    Parameters
    ----------
    papers : sequence of str
        Only these; without it all papers.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    check_links(Path.cwd())  # behind a link that leads nowhere every output would seem absent
    plan = Plan(load(files, {"papers": list(papers)} if papers else {}), check=False)  # `checked_outputs` checks it
    outputs = _outputs_to_check(plan, files)

    def find_problem(path: str, fingerprint: str) -> str | None:
        """Return what is wrong with an output, with the reason if its record tells; None if nothing is wrong."""
        problem = fault(path, fingerprint)
        if problem is None:
            return find_damage(Path(path))
        reason = reason_of(path, plan)
        return f"{problem} ({reason})" if reason else problem

    n_checked, problems = find_stale(outputs, problem_of=find_problem)
    known, others = {Path(path) for path in outputs}, []
    for paper in plan.config.papers:
        for sweep in plan.config.sweeps(paper):
            leftovers = other_tables(plan, paper, sweep, Path(plan.results, paper, "metrics"))
            problems += [f"{file}: is not of the sweep {sweep} as configured; delete it" for file in leftovers]
            known |= set(leftovers)
        others += [file for file in _results_of(plan, paper) if file not in known]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{n_checked} outputs checked, {len(problems)} stale, damaged or left over")
    if others:
        print(
            f"{len(others)} files are of nothing in this configuration, such as {others[0]}: "
            "of another --configfile, or left over"
        )
    if n_checked == 0:
        print(f"there are none of this configuration in {Path(plan.results).absolute()}")
    return int(bool(problems))


def _results_of(plan: Plan, paper: str) -> list[Path]:
    """Return all data sets, runs and tables of metrics of a paper that are on disk, sorted."""
    folder = Path(plan.results, paper)
    patterns = ("data/*.npz", "runs/*.npz", "metrics/*.parquet")
    return sorted(file for pattern in patterns for file in folder.glob(pattern))


def _outputs_to_check(plan: Plan, files: Sequence[Path]) -> dict[str, str]:
    """Return the fingerprint that each output of a configuration must have, by its path.

    Outputs that join papers are expected as the last run made them; a line is printed if that run had other papers.
    """
    with numba_disabled():  # functions' signatures are read, and none is called
        outputs = checked_outputs(plan)
    papers = papers_of_last_run(plan)
    if papers is None or papers == plan.config.papers:
        return dict(outputs)
    print(f"the first page and the table of all claims are of a run of: {', '.join(papers)}")
    return with_joined_outputs(outputs, plan, Plan(load(files, {"papers": papers}), check=False))


def papers_of_last_run(plan: Plan) -> list[str] | None:
    """Return the papers of the run that wrote the table of all claims.

    None if no such table can be read, or if it does not say, or names a paper that no longer exists.
    """
    try:
        record = read_stamp(Path(plan.results, "claims.parquet"))
    except ProjectError:
        return None
    shipped = shipped_papers(ROOT)
    papers = record.get("settings", {}).get("papers")
    return papers if papers and all(paper in shipped for paper in papers) else None


def with_joined_outputs(outputs: Mapping[str, str], plan: Plan, last_run: Plan) -> dict[str, str]:
    """Return the outputs of a plan, but with pages and joined outputs as the last run, of other papers, made them.

    The table of all claims, its text and the first page depend on which papers a run had, and the last run overwrote
    them. So they are expected as the last run, perhaps of one paper, made them, and so are the pages of its papers.
    Pages of other papers link to these three as they were before, and are not checked.

    Parameters
    ----------
    outputs : mapping from path to fingerprint
        Of `plan`.
    last_run : Plan
        Of the papers of the last run.
    """
    pages = [f"{plan.figures}/{paper}.html" for paper in plan.config.papers]
    without_pages = {path: fingerprint for path, fingerprint in outputs.items() if path not in pages}
    # named as in `expected_outputs`
    joined = (f"{plan.results}/claims.parquet", f"{plan.results}/verdicts.txt", f"{plan.figures}/index.html")
    expected = expected_outputs(last_run, last_run.results, last_run.figures)
    pages_of_last_run = [page for page in pages if page in expected]
    return without_pages | {path: expected[path] for path in (*joined, *pages_of_last_run)}


def find_stale(
    expected: Mapping[str, str], problem_of: Callable[[str, str], str | None] = fault
) -> tuple[int, list[str]]:
    """Return how many of the expected outputs are on disk, and what is wrong with them, a line for each that is wrong.

    Parameters
    ----------
    expected : mapping from path to fingerprint
    problem_of : callable
        Takes a path and the fingerprint that it must have; returns a line, or None if nothing is wrong. By default
        `fault`, which does not read tables and pictures whole.
    """
    present = [path for path in expected if Path(path).exists()]
    problems = [problem_of(path, expected[path]) for path in present]
    return len(present), [problem for problem in problems if problem is not None]


def find_damage(path: Path) -> str | None:
    """Return why a file cannot be read whole; None if it can, or if its format has no checksums."""
    read = READERS.get(path.suffix)
    if read is None:
        return None
    try:
        read(path)
    except ProjectError as error:
        return str(error)
    return None
