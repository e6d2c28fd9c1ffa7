"""The metrics that a figure or claim needs, one table for each run it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.config import sweep_members
from learning_dynamics.tables import read_arrow, read_table


def load_tables(folder: Path, runs: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return a table for each run; a swept run's members are one table, with swept settings as columns."""
    return {name: _load(folder, name, sweep) for name, sweep in runs.items()}


def _load(folder: Path, name: str, sweep: Mapping[str, Any] | None) -> pd.DataFrame:
    if not sweep:
        return read_table(folder / f"{name}.parquet")
    members = sweep_members(name, sweep)
    with ThreadPoolExecutor() as threads:
        read = list(threads.map(lambda member: read_arrow(folder / f"{member[0]}.parquet"), members))
    lengths = [arrow.num_rows for arrow, _ in read]
    first = json.loads(read[0][1])["settings"]
    # joined before they become a data frame: three times faster than joining thousands of data frames
    merged = pa.concat_tables([arrow for arrow, _ in read]).to_pandas()
    for key in sweep:
        if key in merged:
            raise ProjectError(
                f"{folder}/{name}: the swept setting `{key}` has the name of one of the metrics' columns; rename one"
            )
        merged[key] = pd.Series([differing[key] for _, differing in members]).repeat(lengths).to_numpy()
    merged.attrs = {"settings": {**first, **sweep}}
    return merged
