"""Values of one quantity in a metrics table."""

from __future__ import annotations

import pandas as pd


def values_of(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return the rows of a quantity."""
    return table[table["quantity"] == quantity]
