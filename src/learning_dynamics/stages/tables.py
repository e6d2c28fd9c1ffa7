"""The metrics that a figure or claim needs, one table for each run it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.config import sweep_members
from learning_dynamics.tables import read_table


def load_tables(folder: Path, runs: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return a table for each run; a swept run's members are one table, with swept settings as columns."""
    return {name: _load(folder, name, sweep) for name, sweep in runs.items()}


def _load(folder: Path, name: str, sweep: Mapping[str, Any] | None) -> pd.DataFrame:
    tables = [(read_table(folder / f"{member}.parquet"), differing) for member, differing in sweep_members(name, sweep)]
    if not sweep:
        return tables[0][0]
    merged = pd.concat([table.assign(**differing) for table, differing in tables], ignore_index=True)
    merged.attrs = {"settings": {**tables[0][0].attrs["settings"], **sweep}}
    return merged
