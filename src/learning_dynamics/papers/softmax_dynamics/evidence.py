"""What claims measure in the tables of single flows, and the errors that methods make."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.tables import Tables

# Largest relative error of an invariant along these flows, in units of the integrator's rtol: 5.2 over all
# flows of this paper at rtol 1e-9 and 1e-11; doubled.
FLOW_ERROR = 10.0
# Finite differences of singular values are taken where the spectrum's relative gap is above this.
SIMPLE = 0.01
# Step of those differences in units of the gap; see measures.continuation.difference_rates.
DIFFERENCE_STEP = 1e-3
# Rounding of a difference, relative to the speed of the matrix; the factor covers the SVD's own constant.
DIFFERENCE_ERROR = 10 * np.finfo(float).eps / (DIFFERENCE_STEP * SIMPLE)
# Unbalanced factors differ by tens of per cent where balanced ones agree; errors must not hide a thousandth of that.
RESOLUTION = 1e-4


def by_index(table: pd.DataFrame, quantity: str, value: str = "value") -> pd.DataFrame:
    """Return a quantity with a row for each seed and time and a column for each index."""
    rows = table[table["quantity"] == quantity]
    return rows.pivot_table(index=["seed", "time"], columns="index", values=value)


def scalar(table: pd.DataFrame, quantity: str) -> pd.Series:
    """Return a quantity that has a single value, by seed and time."""
    return table[table["quantity"] == quantity].set_index(["seed", "time"])["value"]


def members(tables: Tables) -> int:
    """Number of ensemble members in all tables."""
    return sum(table["seed"].nunique() for table in tables.values())


def flow_error(tables: Tables) -> float:
    """Error that integration leaves in an invariant."""
    return FLOW_ERROR * max(table.attrs["settings"]["rtol"] for table in tables.values())


def rate_error(table: pd.DataFrame, quantity: str, factor: str) -> float:
    """Largest |measured - predicted| rate relative to the speed of the matrix, where singular values are simple."""
    error = (by_index(table, quantity) - by_index(table, quantity, "predicted")).abs().max(axis=1)
    simple = scalar(table, "gap") > SIMPLE
    return float((error / scalar(table, f"speed_{factor}"))[simple].max())
