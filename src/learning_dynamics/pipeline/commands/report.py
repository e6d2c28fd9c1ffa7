"""Write the pages that a person reads, and all papers' claims as one table."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.check import find_stale
from learning_dynamics.pipeline.commands.claims import TABLES
from learning_dynamics.pipeline.commands.planned import configuration_option
from learning_dynamics.pipeline.commands.robustness import read_all_variations
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import expected_outputs, outdated_verdicts
from learning_dynamics.pipeline.report import page
from learning_dynamics.pipeline.report.contents import gather
from learning_dynamics.pipeline.report.robustness import count_judged_again
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.stamps import stamp
from learning_dynamics.pipeline.store.tables import read_table, write_table

EARLIER = "These are results of an earlier run"


def execute(plan: Path | None = None, files: Sequence[Path] = (), texts: bool = False) -> None:
    """Read every paper's claims and figures; write pages and claims.

    A run of some papers keeps the rows of the others, and names them on the first page with what is known of their age.

    Parameters
    ----------
    plan : path, optional
        The plan that Snakemake wrote.
    files : sequence of path
        Overlays, as for Snakemake.
    texts : bool
        Only fill the fields of texts, and write nothing.
    """
    option = configuration_option(plan, files)
    planned = Plan.read(option, check=False)
    results, figures = Path(planned.results), Path(planned.figures)
    record = stamp("report", "all", "claims", {"papers": planned.config.papers, **option}, planned.verdicts_fingerprint)
    n_checked, problems = find_stale(expected_outputs(planned, planned.results))
    tables = read_claim_tables(planned, results)
    papers = gather(planned.config, tables, figures, option)
    if texts:
        return
    for paper, alone in plans_of_others(option, planned).items():
        try:
            tables_of_other = read_claim_tables(alone, results)
            (other,) = gather(alone.config, tables_of_other, figures, option)
        except ProjectError as error:  # of an earlier version, or half of it deleted
            print(f"{paper} is left out: {error}", file=sys.stderr)
            continue
        outdated = outdated_verdicts(alone, paper, results)
        other.earlier = f"{EARLIER}, with other settings or other code." if outdated else f"{EARLIER}."
        papers.append(other)
        tables |= tables_of_other
    order = configured_papers(option)
    papers.sort(key=lambda paper: order.index(paper.name))
    record_of_pages = record | {"checked": n_checked, "stale": problems, "page": planned.page_fingerprint}
    # a page of another paper that is there stays as it is
    written = [paper.name for paper in papers if not (paper.earlier and (figures / f"{paper.name}.html").is_file())]
    pages = page.render(papers, figures, record_of_pages, written)
    all_claims = pd.concat([tables[paper.name]["claims"] for paper in papers], ignore_index=True)
    write_table(results / "claims.parquet", all_claims, COLUMNS, record)
    for name, html in reversed(pages.items()):  # the first leads to all others
        with atomic_write(figures / name) as partial:
            partial.write_text(html, encoding="utf-8")


def plans_of_others(option: Mapping[str, Any], planned: Plan) -> dict[str, Plan]:
    """Return the plan of each configured paper that was not asked for and has claims from an earlier run."""
    others = [paper for paper in configured_papers(option) if paper not in planned.config.papers]
    return {
        paper: Plan.read(option, check=False, papers=[paper])
        for paper in others
        if Path(planned.results, paper, "claims.parquet").is_file()
    }


def configured_papers(option: Mapping[str, Any]) -> list[str]:
    """Return the papers of a configuration, whichever of them the command line asks for."""
    given = {key: value for key, value in option["given"].items() if key != "papers"}
    return Plan.read({**option, "given": given}, check=False).config.papers


def read_claim_tables(plan: Plan, results: Path) -> dict[str, dict[str, pd.DataFrame]]:
    """Return every paper's tables of claims, of checks, and of claims judged again, which that of claims counts."""
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for paper in plan.config.papers:
        tables[paper] = {
            name: read_table(results / paper / f"{name}.parquet", declared=declared)
            for name, declared in TABLES.items()
        }
    variations = read_all_variations(plan, results, pd.concat([of_paper["claims"] for of_paper in tables.values()]))
    for paper, of_paper in tables.items():
        of_paper["variations"] = variations[variations["paper"] == paper]
        of_paper["claims"] = count_judged_again(of_paper["claims"], of_paper["variations"])
    return tables
