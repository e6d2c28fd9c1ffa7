"""What a figure or claim is given: metrics by role, one table for each run or a list of them, and its settings."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import error_context, paper_function
from learning_dynamics.pipeline.commands.planned import record_of, verify_science
from learning_dynamics.pipeline.plan.blocks import map_roles, overlay
from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.plan.jobs import Job
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.sources import TOPIC_MODULES
from learning_dynamics.pipeline.plan.sweeps import sweep_tables
from learning_dynamics.pipeline.store.stamps import check_made_from, digest
from learning_dynamics.pipeline.store.tables import (
    CLASH,
    added_columns_of,
    draw_columns_of,
    read_arrow,
    read_columns,
    read_rows,
    read_table,
)
from learning_dynamics.tidy import Settings

# what `Plan.describe_run` says of a run: its name, its sweep and bundle if it has them, the fingerprint of its metrics
RunSpec = Mapping[str, Any]
FILES_AT_ONCE = 8  # tables of a sweep that are in memory before they are joined
ROWS_AT_ONCE = 2**18
THREADS = 4  # more of them read no faster, and each holds a part of a table


def draw(job: Job) -> tuple[Any, dict[str, Any]]:
    """Return what the function of a figure, one that moves or an interactive one returns, and its record."""
    paper_function(job.paper, TOPIC_MODULES[job.stage], job.spec["function"])  # read before its digest is
    digests = verify_science(job, job.spec["function"])
    drawn = call_drawing(job.stage, job.paper, job.name, job.spec, Path(job.inputs["metrics"]))
    return drawn, record_of(job, {"runs": job.spec["runs"], **job.spec["settings"]}, digests)


def call_drawing(stage: str, paper: str, name: str, spec: Mapping[str, Any], metrics: Path) -> Any:
    """Return what a drawing's function returns for its runs' tables, in a folder, and its settings."""
    function = paper_function(paper, TOPIC_MODULES[stage], spec["function"])
    tables = load_tables(metrics, spec["runs"])
    with error_context(f"{stage} {name}", spec["settings"]):
        return function(**tables, **spec["settings"])


def load_tables(folder: Path, roles: Mapping[str, RunSpec | list[RunSpec]]) -> dict[str, Any]:
    """Return tables by role; a sweep's runs are one table, with swept settings as columns."""
    return map_roles(partial(load_table, folder), roles)


def load_table(folder: Path, run: RunSpec, where: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return the table of one run; ``attrs`` hold its settings, its draw columns, its name and which are swept.

    With `where` only the rows in which columns of the metrics have the given values are read.

    Raises
    ------
    ProjectError
        If it was made by other settings or other code, or a swept setting is the name of another column, such as
        `seed`, by which claims and figures count draws.
    """
    if not run.get("sweep") and not where:
        table = read_table(folder / f"{run['name']}.parquet", run.get("fingerprint"))
        table.attrs["run"] = run["name"]
        return table
    (table,) = parts_of_table(folder, run, where or {}, rows=None)
    return table


def parts_of_table(
    folder: Path, run: RunSpec, where: Mapping[str, Any], rows: int | None = ROWS_AT_ONCE
) -> Iterator[pd.DataFrame]:
    """Yield what `load_table` returns in parts of whole runs, of about so many rows; as one if `rows` is None.

    Raises
    ------
    ProjectError
        As `load_table`, once all parts have been read.
    """
    name, sweep, expected = run["name"], run.get("sweep") or {}, run.get("fingerprint")
    tables = sweep_tables(name, sweep, run.get("bundle", 1))
    differing = [values for runs in tables.values() for _, values in runs]
    # of each swept setting the value of every run, in the order of the runs
    swept = {key: pd.Series([values[key] for values in differing]).to_numpy() for key in sweep}
    fingerprints: list[str | None] = []  # of the runs read so far
    attrs: dict[str, Any] = {}
    arrows: list[pa.Table] = []
    run_numbers: list[np.ndarray] = []  # of each row of `arrows` the place of its run among all runs
    for arrow, row_numbers, record in _read_side_by_side([folder / f"{table}.parquet" for table in tables], where):
        # a bundle says how many of its rows, from the first on, are those of each run
        contents = record.get("contents", {name: [record.get("fingerprint"), math.inf]}).values()
        ends = np.cumsum([length for _, length in contents])
        run_numbers.append(len(fingerprints) + np.searchsorted(ends, row_numbers, side="right"))
        fingerprints += [fingerprint for fingerprint, _ in contents]

        draw_columns, added = draw_columns_of(arrow.schema), added_columns_of(arrow.schema)
        settings = Settings(overlay(record["settings"], sweep))
        attrs = attrs or {"settings": settings, "draw": draw_columns, "run": name, "swept": tuple(sweep)}
        arrows.append(arrow.drop_columns(added))
        if rows is not None and sum(map(len, arrows)) >= rows:
            yield _join_with_swept(folder / name, arrows, run_numbers, swept, attrs)
            arrows, run_numbers = [], []

    fingerprint = digest(fingerprints) if sweep else fingerprints[0]
    if expected is not None and fingerprint != expected:
        check_made_from(f"{folder}/{name} (runs of a sweep)", {"stage": "metrics", "name": name}, expected)
    if arrows:
        yield _join_with_swept(folder / name, arrows, run_numbers, swept, attrs)


def refuse_missing_tables(
    plan: Plan, paper: str, run: str, folder: Path, files: Sequence[Path], config: Mapping[str, Any] | None = None
) -> None:
    """Refuse to read a run, or a sweep, some of whose tables are not there.

    Parameters
    ----------
    folder : path
        Where the paper's tables of metrics are.
    files, config
        The overlays and values of the configuration, for the command that makes the tables.

    Raises
    ------
    ProjectError
        If a table is not there: how many are missing, and the command that makes them.
    """
    tables = plan.config.tables(paper, run)
    missing = [table for table in tables if not (folder / f"{table}.parquet").exists()]
    if not missing:
        return
    file = f"{plan.results}/{paper}/metrics/{run}.parquet"
    target = f"{paper}_{run}" if run in plan.config.sweeps(paper) else file
    arguments = []
    if files:
        shown = (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path for path in files)
        arguments += ["--configfile", *map(str, shown)]
    if config:
        arguments += ["--config", *(f"{key}={value}" for key, value in config.items())]
    arguments += ["--", target]
    raise ProjectError(
        f"{paper} {run}: {len(missing)} of {len(tables)} tables are missing; run: "
        f"snakemake --cores all {shlex.join(arguments)}"
    )


def empty_table(folder: Path, run: RunSpec) -> pd.DataFrame:
    """Return what `load_table` returns without its rows, by the first of a run's tables."""
    name, sweep = run["name"], run.get("sweep") or {}
    first_table = next(iter(sweep_tables(name, sweep, run.get("bundle", 1))))
    schema = read_columns(folder / f"{first_table}.parquet")
    declared = [field.name for field in schema if field.name not in added_columns_of(schema)]
    table = schema.empty_table().select(declared).to_pandas()
    return table.assign(**{key: pd.Series(values)[:0] for key, values in sweep.items()})


def _read_side_by_side(
    files: Sequence[Path], where: Mapping[str, Any]
) -> Iterator[tuple[pa.Table, np.ndarray, dict[str, Any]]]:
    """Yield what `read_rows` returns of each file; some files are read ahead, in threads."""
    with ThreadPoolExecutor(THREADS) as threads:
        for some in range(0, len(files), FILES_AT_ONCE):
            yield from threads.map(partial(_read_rows, where), files[some : some + FILES_AT_ONCE])


def _read_rows(where: Mapping[str, Any], file: Path) -> tuple[pa.Table, np.ndarray, dict[str, Any]]:
    if where:
        return read_rows(file, where)
    arrow, record = read_arrow(file)
    return arrow, np.arange(arrow.num_rows), record


def _join_with_swept(
    what: Path,
    arrows: Sequence[pa.Table],
    run_numbers: Sequence[np.ndarray],
    swept: Mapping[str, np.ndarray],
    attrs: Mapping[str, Any],
) -> pd.DataFrame:
    """Return tables one below the other, with a column for each swept setting: the value of the run of each row.

    Parameters
    ----------
    what : path
        How an error begins.
    run_numbers : sequence of ndarray, each of shape (rows,)
        For each table the places in `swept` of its rows' runs.
    """
    # joined before they become a data frame: three times faster than joining thousands of data frames
    table = pa.concat_tables(arrows).to_pandas()
    runs = np.concatenate(run_numbers)
    for key, values_of_runs in swept.items():
        values = values_of_runs[runs]
        if key in table and not (table[key].to_numpy() == values).all():
            raise ProjectError(f"{what}: {CLASH.format(key)}")
        table[key] = values
    table.attrs = dict(attrs)
    return table
