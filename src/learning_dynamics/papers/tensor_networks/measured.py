"""Values of one quantity in a metrics table."""

from __future__ import annotations

import pandas as pd

from learning_dynamics.claims import Untested


def values_of(table: pd.DataFrame, quantity: str, **where: object) -> pd.DataFrame:
    """Return the rows of a quantity in which columns have the given value, or one of those listed.

    Raises
    ------
    Untested
        If there are none.
    """
    rows = table["quantity"] == quantity
    for column, wanted in where.items():
        rows &= table[column].isin(wanted) if isinstance(wanted, list) else table[column] == wanted
    found = table[rows]
    if found.empty:
        raise Untested(f"no {quantity!r} was measured" + (f" for {where}" if where else ""))
    return found
