"""What figures and claims select from the metrics tables."""

from __future__ import annotations

import pandas as pd


def select(table: pd.DataFrame, quantity: str, phase: str | None = None) -> pd.DataFrame:
    """Return the rows of a quantity, of one phase where there are phases."""
    rows = table[table["quantity"] == quantity]
    return rows if phase is None else rows[rows["phase"] == phase]


def settled_rank(table: pd.DataFrame, share: int, at: float) -> pd.Series:
    """How many singular values carry `share` percent of |W|^2 at a recorded time, by seed."""
    rows = select(table, "rank")
    rows = rows[rows["index"] == share]
    return rows[rows["time"] == at].set_index("seed")["value"]
