"""What a run of Snakemake has left: the claims that were judged, the figures that are new, where the page is."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.pipeline.commands.robustness import read_all_variations
from learning_dynamics.pipeline.commands.verdicts import complaints, describe, describe_differences
from learning_dynamics.pipeline.plan.config_files import load, output_folders
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import checked_outputs, fault, outdated_verdicts
from learning_dynamics.pipeline.report.robustness import count_judged_again
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table


def execute(papers: Sequence[str] = (), since: float | None = None, files: Sequence[Path] = ()) -> int:
    """Print verdicts, what is missing and where the page is; return 1 if something is missing or not as expected.

    Parameters
    ----------
    papers : sequence of str
        Of these alone; without it of all papers.
    since : float
        List the figures that were drawn after this time, in seconds of Unix time.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    configuration = load(files, {"papers": list(papers)} if papers else {})
    plan = Plan(configuration, check=False)
    checked_outputs(plan)
    results, figures = output_folders(configuration)
    tables: list[pd.DataFrame] = []
    missing: list[str] = []
    outdated: list[str] = []
    unexpected: list[str] = []
    for paper, block in configuration.papers.items():
        file = results / paper / "claims.parquet"
        if file.is_file():
            tables.append(read_table(file, declared=COLUMNS))
            outdated += filter(None, [outdated_verdicts(plan, paper, results)])
        else:
            missing.append(f"{paper}: its claims were not judged")
        wanted = [figures / paper / f"{name}.png" for name in block["figures"]]
        missing += [f"{paper}: {file.stem} was not drawn" for file in wanted if not file.is_file()]

    if tables:
        judged = pd.concat(tables, ignore_index=True)
        table = count_judged_again(judged, read_all_variations(plan, results, judged))
        print(describe(table), end="")
        if not configuration.scale:
            print(describe_differences(table, published.read_claims()), end="")
        unexpected = complaints(table)
    for complaint in unexpected:
        print(complaint)
    for problem in outdated:
        print(f"outdated: {problem}")
    for problem in missing:
        print(f"missing: {problem}")

    if since is not None:
        new = [file for file in sorted(figures.glob("*/*.png")) if file.stat().st_mtime >= since]
        print(f"{len(new)} figures are new{':' if new else ''}")
        for paper, files_of_paper in itertools.groupby(new, key=lambda file: file.parent.name):
            print(f"  {paper}: {', '.join(file.stem for file in files_of_paper)}")
    page = figures / "index.html"
    if page.is_file():
        # the page of all papers has another fingerprint than that of some
        is_outdated = not papers and fault(page, plan.page_fingerprint) is not None
        was_left = since is not None and page.stat().st_mtime < since and bool(missing or outdated)
        remark = " (from an earlier run)" if is_outdated or was_left else ""
        print(f"the page to read{remark}: {page.resolve()}")
    return int(bool(missing or outdated or unexpected))
