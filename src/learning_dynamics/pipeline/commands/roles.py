"""What a figure or claim is given: metrics by role, one table for each run or a list of them, and its settings."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import error_context, paper_function
from learning_dynamics.pipeline.commands.planned import record_of, verify_science
from learning_dynamics.pipeline.plan.blocks import map_roles, overlay
from learning_dynamics.pipeline.plan.jobs import Job
from learning_dynamics.pipeline.plan.sources import PARTS
from learning_dynamics.pipeline.plan.sweeps import sweep_tables
from learning_dynamics.pipeline.store.provenance import check_made_from, digest
from learning_dynamics.pipeline.store.tables import draw_columns_of, read_arrow, read_table
from learning_dynamics.tidy import Settings

# what a spec says of a run: its name, its sweep and bundle if it has them, the fingerprint of its
# metrics
RunSpec = Mapping[str, Any]


def draw(job: Job) -> tuple[Any, dict[str, Any]]:
    """Return what the function of a figure, one that moves or an interactive one returns, and its record."""
    paper_function(job.paper, PARTS[job.stage], job.spec["function"])  # read before its digest is
    digests = verify_science(job, job.spec["function"])
    drawn = call_drawing(job.stage, job.paper, job.name, job.spec, Path(job.inputs["metrics"]))
    return drawn, record_of(job, {"runs": job.spec["runs"], **job.spec["settings"]}, digests)


def call_drawing(stage: str, paper: str, name: str, spec: Mapping[str, Any], metrics: Path) -> Any:
    """Return what a drawing's function returns for its runs' tables, in a folder, and its settings."""
    function = paper_function(paper, PARTS[stage], spec["function"])
    tables = load_tables(metrics, spec["runs"])
    with error_context(f"{stage} {name}", spec["settings"]):
        return function(**tables, **spec["settings"])


def load_tables(folder: Path, roles: Mapping[str, RunSpec | list[RunSpec]]) -> dict[str, Any]:
    """Return tables by role; a swept run's members are one table, with swept settings as columns."""
    return map_roles(partial(load_table, folder), roles)


def load_table(folder: Path, run: RunSpec) -> pd.DataFrame:
    """Return the table of one run; ``attrs`` hold its settings, its draw columns and its name.

    Raises
    ------
    ProjectError
        If it was made by other settings or other code, or a swept setting is the name of another column, such as
        `seed`, by which claims and figures count draws.
    """
    if run.get("sweep"):
        table = _load_sweep(folder, run)
    else:
        table = read_table(folder / f"{run['name']}.parquet", run.get("fingerprint"))
    table.attrs["run"] = run["name"]
    return table


def _load_sweep(folder: Path, run: RunSpec) -> pd.DataFrame:
    name, sweep, expected = run["name"], run["sweep"], run.get("fingerprint")
    tables = sweep_tables(name, sweep, run.get("bundle", 1))
    with ThreadPoolExecutor() as threads:
        read = list(threads.map(read_arrow, (folder / f"{table}.parquet" for table in tables)))
    parts = [  # fingerprint and rows of each member
        part for arrow, record in read for part in record.get("members", [(record.get("fingerprint"), arrow.num_rows)])
    ]
    if expected is not None and digest([member_fingerprint for member_fingerprint, _ in parts]) != expected:
        check_made_from(f"{folder}/{name} (members of a sweep)", {"stage": "metrics", "name": name}, expected)
    lengths = [rows for _, rows in parts]
    # joined before they become a data frame: three times faster than joining thousands of data frames
    joined = pa.concat_tables([arrow for arrow, _ in read])
    merged = joined.to_pandas()
    for key in sweep:
        swept = [differing[key] for members in tables.values() for _, differing in members]
        values = pd.Series(swept).repeat(lengths).to_numpy()
        if key in merged and not (merged[key].to_numpy() == values).all():
            raise ProjectError(
                f"{folder}/{name}: the metrics have a column `{key}` that is not the swept setting `{key}`; "
                + ("raise `seeds` instead" if key == "seed" else "rename it")
            )
        merged[key] = values
    settings = Settings(overlay(read[0][1]["settings"], sweep))
    merged.attrs = {"settings": settings, "draw": draw_columns_of(joined.schema)}
    return merged
