"""Errors that integration and differences leave in what is measured along flows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from learning_dynamics.tidy import Quantity, Table, cached_per_table, select, settings_of

# Relative error of an invariant along a flow of the toy, in units of the integrator's rtol. It does not grow as rtol is
# tightened: at most 1.3, 2.4 and 3.0 at 1e-9, 1e-11 and 1e-12, on flows that no claim judges (class sizes 3-2-2-1,
# 5-1-1-1, 2-2-2-2 and 3-1-1, two and three dimensions, both kinds of starts, 30 members each, seed 777); tripled.
FLOW_ERROR = 10.0
# Step of the finite differences along flows, in units of the spectrum's gap.
DIFFERENCE_STEP = 1e-3


def flow_error(flows: Sequence[Table]) -> float:
    """Return the error that integration leaves in an invariant."""
    return FLOW_ERROR * max(settings_of(table)["integration"]["rtol"] for table in flows)


def difference_error(gap: Any) -> Any:
    """Return the rounding of a difference of singular values, relative to the matrix's speed, down to a relative gap.

    The factor covers the constant of the SVD itself.
    """
    return 10 * np.finfo(float).eps / (DIFFERENCE_STEP * gap)


def truncation_error(share: float) -> float:
    """Return what fourth-order differences in time leave, with steps of at most a share of the gap.

    It is the fourth power of that share times ten, for the constant.
    """
    return 10 * share**4


def rate_errors(
    table: Table, quantity: Quantity, speed: Quantity, smooth: pd.Series, *, factor: ArrayLike = 1.0
) -> np.ndarray:
    """Return each member's largest error of predicted rates over the matrix's speed, where the spectrum is smooth.

    nan for a member whose flow failed, so that it counts as undecided.

    Parameters
    ----------
    quantity, speed : str
        Measured and predicted rates; norm of the matrix's derivative.
    smooth : Series of bool, by seed and time
    factor : float or array_like, one number for each row of the quantity
        By which predictions are multiplied.
    """
    rates = select(table, quantity)
    error = (rates["value"] - factor * rates["predicted"]).abs()
    relative = error.groupby([rates["seed"], rates["time"]]).max() / at_each_time(table, speed)
    return relative[smooth.reindex(relative.index) | relative.isna()].groupby("seed").max().to_numpy()


def at_each_time(table: Table, quantity: Quantity) -> pd.Series:
    """Return a quantity that has a single value, by seed and time."""
    return _at_each_time(table, quantity).copy()


@cached_per_table
def _at_each_time(table: Table, quantity: Quantity) -> pd.Series:
    return select(table, quantity).set_index(["seed", "time"])["value"]
