"""What claims measure in the tables: largest errors, the errors that methods make, spectra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, all_of
from learning_dynamics.papers.spectral_bias.selections import select
from learning_dynamics.tables import Tables

# Error of DOP853 along these flows in units of its rtol, relative to the largest weight: at most 1.6 over
# 100 seeds, three scales and rtol from 1e-9 to 1e-12; doubled and rounded up.
FLOW_ERROR = 4.0
# Difference of two flows integrated apart, or of a flow and a formula in time, in units of rtol relative to the
# largest value: interpolation between steps dominates. At most 1300 over the runs here; times four.
TRAJECTORY_ERROR = 5e3


def members(tables: Tables) -> int:
    """Number of ensemble members in all tables."""
    return sum(table["seed"].nunique() for table in tables.values())


def largest_error(tables: Tables, quantity: str, phase: str | None = None) -> float:
    """Largest |value - predicted| over members, times and indices, relative to the table's largest value."""
    errors = []
    for table in tables.values():
        rows = select(table, quantity, phase)
        errors.append(np.max(np.abs(rows["value"] - rows["predicted"])) / rows["value"].abs().max())
    return float(np.max(errors))


def _rtol(tables: Tables) -> float:
    """Largest rtol of the tables' runs."""
    return max(table.attrs["settings"]["rtol"] for table in tables.values())


def flow_error(tables: Tables) -> float:
    """Error that integration leaves in what the flow conserves."""
    return FLOW_ERROR * _rtol(tables)


def trajectory_error(tables: Tables) -> float:
    """Error that integration leaves when one trajectory is held against another."""
    return TRAJECTORY_ERROR * _rtol(tables)


def limit_error(tables: Tables, bound: str) -> float:
    """Error of quantities at the limit: that of the flow, and what the remaining residual leaves open for them."""
    left_open = max(select(table, bound, "limit")["value"].max() for table in tables.values())
    return flow_error(tables) + float(left_open)


def spectra(table: pd.DataFrame, at: float, phase: str | None = None) -> np.ndarray:
    """Singular values of W1, shape (members, count), at the recorded time nearest to `at`, or at the limit."""
    rows = select(table, "sigma_w1", phase)
    if phase != "limit":
        times = rows["time"].unique()
        rows = rows[rows["time"] == times[np.argmin(np.abs(times - at))]]
    return rows.pivot_table(index="seed", columns="index", values="value").to_numpy()


def led_by(first: Check, *others: Check) -> Check:
    """Combine checks that must all hold; while they do, show the first, which holds the claim's quantity."""
    worst = all_of(first, *others)
    if worst.state != "holds" or not others:
        return worst
    return replace(first, criterion=f"{first.criterion}; and {'; '.join(other.criterion for other in others)}")
