"""Write the pages that a person reads, and all papers' claims as one table."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.check import find_stale
from learning_dynamics.pipeline.commands.claims import TABLES
from learning_dynamics.pipeline.commands.planned import configuration_option
from learning_dynamics.pipeline.commands.robustness import read_again
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import expected_outputs
from learning_dynamics.pipeline.report import page
from learning_dynamics.pipeline.report.contents import gather
from learning_dynamics.pipeline.report.robustness import settle
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table, write_table


def execute(plan: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Read every paper's claims and figures; write pages and claims."""
    option = configuration_option(plan, files)
    planned = Plan.read(option, check=False)
    results, figures = Path(planned.results), Path(planned.figures)
    tables = read_claim_tables(planned, results)
    record = provenance("report", "all", "claims", {"papers": planned.config.papers, **option}, planned.verdicts)
    n_checked, problems = find_stale(expected_outputs(planned, planned.results))
    papers = gather(planned.config, tables, figures, option)
    pages = page.render(papers, figures, record | {"checked": n_checked, "stale": problems, "page": planned.page})
    all_claims = pd.concat([tables_of_paper["claims"] for tables_of_paper in tables.values()], ignore_index=True)
    write_table(results / "claims.parquet", all_claims, COLUMNS, record)
    for name, html in reversed(pages.items()):  # the first leads to all others
        with atomic_write(figures / name) as partial:
            partial.write_text(html, encoding="utf-8")


def read_claim_tables(
    plan: Plan, results: Path, again: pd.DataFrame | None = None
) -> dict[str, dict[str, pd.DataFrame]]:
    """Return every paper's tables of claims, as further seeds settle them, of parts, and of claims judged again."""
    again = read_again(plan, results)[0] if again is None else again
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for paper in plan.config.papers:
        read = {
            name: read_table(results / paper / f"{name}.parquet", declared=declared)
            for name, declared in TABLES.items()
        }
        rows = again[again["paper"] == paper]
        tables[paper] = read | {"claims": settle(read["claims"], rows), "again": rows}
    return tables
