"""Join everything that was judged again: one table, the same as CSV, a page; say how long the rest will take."""

from collections.abc import Iterable, Mapping, Sequence
from csv import DictReader
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.robustness import change, changes
from learning_dynamics.pipeline.plan.stale_outputs import existing_parts
from learning_dynamics.pipeline.report import maths, robustness
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table

COLUMN_NAMES = [column.name for column in records.AGAIN_COLUMNS]
NO_CONFIG: Mapping[str, Any] = {"files": [], "given": {}}
CSV_COLUMNS = ("claim", "change", "what", "value", "verdict", "measured", "reason")


def execute(
    files: Sequence[Path],
    /,
    results: Path,
    out: Path,
    csv: Path,
    markdown: Path,
    config: Mapping[str, Any] = NO_CONFIG,
) -> None:
    """Write the three files of all that is there of this configuration; `files` must be among it.

    Raises
    ------
    ProjectError
        If one of `files` is missing, or of other settings or code.
    """
    plan = Plan(load([Path(file) for file in config["files"]], config["given"]))
    again, outdated = read_again(plan, results)
    current = {path: made for path, made in existing_parts(plan, results).items() if path not in outdated}
    for path in files:
        if str(path) not in current:
            raise ProjectError(f"{path}: is missing, or of other settings or code; run: snakemake robustness")
    if again.empty:
        raise ProjectError(f"{results}: nothing there was judged again; run: snakemake robustness")
    tables = [results / paper / "claims.parquet" for paper in plan.config.papers if paper in set(again["paper"])]
    claims = pd.concat([read_table(table, declared=records.COLUMNS) for table in tables], ignore_index=True)
    record = provenance("robustness", "all", out.stem, {"made": current})
    write_table(out, again, records.AGAIN_COLUMNS, record)
    with atomic_write(csv) as partial:
        partial.write_text(to_csv(again), encoding="utf-8")
    with atomic_write(markdown) as partial:
        partial.write_text(robustness.page(robustness.settle(claims, again), again), encoding="utf-8")


def read_again(plan: Plan, results: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each time that a claim was judged again, and the files of other settings or code, left out."""
    parts = existing_parts(plan, results)
    outdated = [path for path, made in parts.items() if read_provenance(path).get("fingerprint") != made]
    tables = [read_table(path, declared=records.AGAIN_COLUMNS) for path in parts if path not in outdated]
    filled = [table for table in tables if len(table)]
    rows = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMN_NAMES)
    return rows.drop_duplicates(["claim", "change", "what", "value"], ignore_index=True), outdated


def to_csv(again: pd.DataFrame) -> str:
    """Return the table as CSV: formulas in Unicode, numbers in a few digits."""
    table = again[list(CSV_COLUMNS)].assign(reason=again["reason"].map(maths.plain))
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def estimate_time(plan: Plan, results: Path, missing: Iterable[tuple[str, str]]) -> str:
    """Return how long jobs of paper and change will take, by what their runs took in the default run."""
    seconds, unknown, n_jobs = 0.0, 0, 0
    for paper, name in missing:
        changed = change(plan.config, paper, name)
        runs = {run for claim in changed.claims for run in plan.config.runs_of_claim(paper, claim)}
        tables = {table for run in runs for table in plan.config.tables(paper, run)}
        shared = {job[1]: topic for (of, topic), jobs in plan.together.items() if of == paper for job in jobs}
        files = {f"together/{shared[table]}" if table in shared else table for table in tables}
        times = [_seconds(results / paper / "benchmarks", file) for file in files]
        seconds += len(changed.grid) * sum(time for time in times if time is not None)
        unknown += sum(time is None for time in times)
        n_jobs += 1
    remark = f"; of {unknown} runs the time is not known: run snakemake first" if unknown else ""
    return f"robustness: {n_jobs} jobs, about {seconds / 60:.0f} min of one core before bisection{remark}"


def _seconds(benchmarks: Path, table: str) -> float | None:
    """Return how long a run and its metrics, a bundle, or jobs that share a process took."""
    files = [benchmarks / folder / f"{table}.tsv" for folder in ("", "runs", "metrics", "bundles")]
    rows = [list(DictReader(file.read_text().splitlines(), delimiter="\t"))[-1] for file in files if file.is_file()]
    return sum(float(row["s"]) for row in rows) if rows else None


def missing_jobs(plan: Plan, results: Path) -> list[tuple[str, str]]:
    """Return paper and name of the configured changes that are not there yet."""
    names = ((paper, name) for paper in plan.config.papers for name in changes(plan.config, paper))
    return [(paper, name) for paper, name in names if not (results / paper / "again" / f"{name}.parquet").is_file()]
