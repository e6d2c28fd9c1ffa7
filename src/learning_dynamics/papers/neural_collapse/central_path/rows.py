"""Rows of the central path's tables, and the errors that are expected of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

# Relative error of DOP853 along the renormalised flows in units of its rtol: at most 8 over 200 flows from three sizes
# and three scales of the signal, at rtol 1e-9 and 1e-10; doubled and rounded up.
RENORMALISED_FLOW_ERROR = 20.0
# Rounding errors of the identities, relative; the matrices that are inverted have condition numbers below 100
ROUNDING = 1000 * np.finfo(float).eps
# Error of the central differences that measure speeds and curves, relative: the square of their step, tenfold
DIFFERENCE_ERROR = 1e-7
# What may be left of a distance at the end of the flows, relative to its start; the distances fall as 1 / t
LIMIT = 1e-4
MEMBER = ["classes", "examples", "features", "seed"]


def measured(table: pd.DataFrame, quantity: str, flow: str | None = None) -> pd.DataFrame:
    """Rows of a quantity, and of a flow if one is named."""
    rows = table["quantity"] == quantity
    return table[rows if flow is None else rows & (table["flow"] == flow)]


def largest_of(table: pd.DataFrame, *quantities: str, flow: str | None = None) -> float:
    """Largest value of the quantities, in a flow if one is named."""
    return float(max(measured(table, quantity, flow)["value"].max() for quantity in quantities))


def relative_error(rows: pd.DataFrame, column: str = "predicted") -> float:
    """Largest |value / prediction - 1|."""
    return float((rows["value"] / rows[column] - 1).abs().max())


def draws(*tables: pd.DataFrame) -> int:
    """Number of members over all sizes."""
    return sum(len(table[MEMBER].drop_duplicates()) for table in tables)


def integration_error(table: pd.DataFrame) -> float:
    """Relative error of the integrator at the tolerance that the flows ran with."""
    return RENORMALISED_FLOW_ERROR * table.attrs["settings"]["rtol"]


def left_at_end(table: pd.DataFrame, quantity: str, flow: str) -> float:
    """Largest share that the last time leaves of a member's value at the start."""
    wide = measured(table, quantity, flow).pivot_table(index=MEMBER, columns="time", values="value")
    return float((wide.iloc[:, -1] / wide.iloc[:, 0]).max())


def per_decade(table: pd.DataFrame, quantity: str, flow: str) -> pd.DataFrame:
    """Values at the last time and at those nearest to whole decades before it: a column for each, latest first.

    Columns are the times; rows are members, and singular values where the quantity has them.
    """
    wide = measured(table, quantity, flow).pivot_table(index=[*MEMBER, "index"], columns="time", values="value")
    times = wide.columns.to_numpy()
    last = times[-1]
    wanted = last / 10.0 ** np.arange(max(2, int(np.log10(last / times[1]))))
    return wide[[times[np.argmin(np.abs(times - time))] for time in wanted]]
