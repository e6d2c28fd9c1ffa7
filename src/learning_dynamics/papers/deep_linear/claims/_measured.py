"""Values of one quantity in a metrics table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

Tables = Mapping[str, pd.DataFrame]


def values_of(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return the rows of a quantity."""
    return table[table["quantity"] == quantity]
