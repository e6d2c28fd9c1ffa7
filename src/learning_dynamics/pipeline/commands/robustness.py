"""Join everything that was judged again: one table, the same as CSV, a page."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.planned import configuration_option
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import existing_variations
from learning_dynamics.pipeline.plan.variations import changed_settings
from learning_dynamics.pipeline.report import maths, robustness
from learning_dynamics.pipeline.store import published, records
from learning_dynamics.pipeline.store.stamps import stamp
from learning_dynamics.pipeline.store.tables import read_stamp, read_table, write_table

COLUMN_NAMES = [column.name for column in records.VARIATION_COLUMNS]
CSV_COLUMNS = ("claim", "change", "what", "value", "verdict", "measured", "reason")


def execute(plan: Path | None = None, files: Sequence[Path] = ()) -> None:
    """Write ``variations.parquet``, ``robustness.csv`` and ``robustness.md`` of all that this configuration has.

    Papers of which no seed was judged here have the seeds that are published; likewise draws, with other settings.
    """
    option = configuration_option(plan, files)
    planned = Plan.read(option)
    results = Path(planned.results)
    tables = [results / paper / "claims.parquet" for paper in planned.config.papers]
    claims = pd.concat([read_table(table, declared=records.COLUMNS) for table in tables], ignore_index=True)
    variations = read_all_variations(planned, results, claims)
    record = stamp("robustness", "all", "variations", option)
    write_table(results / "variations.parquet", variations, records.VARIATION_COLUMNS, record)
    with atomic_write(results / "robustness.csv") as partial:
        partial.write_text(to_csv(variations), encoding="utf-8")
    with atomic_write(results / "robustness.md") as partial:
        counted = robustness.count_judged_again(claims, variations)
        phrases = {paper: planned.config.phrases(paper) for paper in planned.config.papers}
        partial.write_text(robustness.page(counted, variations, phrases), encoding="utf-8")


def read_variations(plan: Plan, results: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each time that a claim was judged again, and the files of other settings or code, left out."""
    made_by_file = existing_variations(plan, results)
    outdated = [path for path, made in made_by_file.items() if read_stamp(path).get("fingerprint") != made]
    tables = [read_table(path, declared=records.VARIATION_COLUMNS) for path in made_by_file if path not in outdated]
    filled = [table for table in tables if len(table)]
    rows = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMN_NAMES)
    return rows.drop_duplicates(["claim", "change", "what", "value"], ignore_index=True), outdated


def read_all_variations(plan: Plan, results: Path, claims: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each time that one of some claims was judged again: here, else as it is published.

    Of settings that the configuration no longer changes nothing published is kept.
    """
    folder = published.folder_of(plan.config.configuration.scale)
    rows = published.complete_variations(read_variations(plan, results)[0], claims, folder)
    of_settings = pd.MultiIndex.from_frame(rows[["paper", "what"]])
    is_configured = of_settings.isin(changed_settings(plan.config))
    return rows[(rows["change"] != "setting") | is_configured].reset_index(drop=True)


def to_csv(variations: pd.DataFrame) -> str:
    """Return the table as CSV: formulas in Unicode, numbers in a few digits."""
    table = variations[list(CSV_COLUMNS)].assign(reason=variations["reason"].map(maths.plain))
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
