"""Join everything that was judged again: one table, the same as CSV, a page."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.planned import configuration_option
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import existing_parts
from learning_dynamics.pipeline.report import maths, robustness
from learning_dynamics.pipeline.store import published, records
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table

COLUMN_NAMES = [column.name for column in records.AGAIN_COLUMNS]
CSV_COLUMNS = ("claim", "change", "what", "value", "verdict", "measured", "reason")


def execute(plan: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Write all that is there of this configuration: ``again.parquet``, ``robustness.csv`` and ``robustness.md``.

    Papers of which no seed or draw was judged here have the rows that are published.
    """
    option = configuration_option(plan, files)
    planned = Plan.read(option)
    results = Path(planned.results)
    tables = [results / paper / "claims.parquet" for paper in planned.config.papers]
    claims = pd.concat([read_table(table, declared=records.COLUMNS) for table in tables], ignore_index=True)
    again = read_all_again(planned, results, claims)
    record = provenance("robustness", "all", "again", option)
    write_table(results / "again.parquet", again, records.AGAIN_COLUMNS, record)
    with atomic_write(results / "robustness.csv") as partial:
        partial.write_text(to_csv(again), encoding="utf-8")
    with atomic_write(results / "robustness.md") as partial:
        counted = robustness.count_judged_again(claims, again)
        partial.write_text(robustness.page(counted, again), encoding="utf-8")


def read_again(plan: Plan, results: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each time that a claim was judged again, and the files of other settings or code, left out."""
    parts = existing_parts(plan, results)
    outdated = [path for path, made in parts.items() if read_provenance(path).get("fingerprint") != made]
    tables = [read_table(path, declared=records.AGAIN_COLUMNS) for path in parts if path not in outdated]
    filled = [table for table in tables if len(table)]
    rows = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMN_NAMES)
    return rows.drop_duplicates(["claim", "change", "what", "value"], ignore_index=True), outdated


def read_all_again(plan: Plan, results: Path, claims: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each time that one of some claims was judged again: here, else as it is published."""
    folder = published.folder_of(plan.config.configuration.scale)
    return published.complete_again(read_again(plan, results)[0], claims, folder)


def to_csv(again: pd.DataFrame) -> str:
    """Return the table as CSV: formulas in Unicode, numbers in a few digits."""
    table = again[list(CSV_COLUMNS)].assign(reason=again["reason"].map(maths.plain))
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
