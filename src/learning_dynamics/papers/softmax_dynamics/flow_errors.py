"""How large errors of integration and of finite differences are along flows, and errors of predicted rates."""

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
# Step of the finite differences along flows, in units of the spectrum's gap. The differences are of fourth order: their
# truncation, about 1e-12, is far below `difference_error`, what rounding leaves: 2e-10 at a least gap of 0.01.
DIFFERENCE_STEP = 1e-3


def flow_error(flows: Sequence[Table]) -> float:
    """Return the relative error that integration leaves in an invariant of the flows, the largest of them."""
    return FLOW_ERROR * max(settings_of(table)["integration"]["rtol"] for table in flows)


def difference_error(gap: Any) -> Any:
    """Return what rounding leaves in the rate of a singular value by finite differences, relative to |dM/dt|.

    Singular values are rounded by about eps sigma_1. They are compared over a step in which M moves by
    DIFFERENCE_STEP * gap * sigma_1. The factor of ten covers the constant of the SVD.

    Parameters
    ----------
    gap : float or ndarray
        Smallest gap of the spectrum that is measured, relative to the largest singular value.

    Returns
    -------
    float or ndarray, as `gap`
    """
    return 10 * np.finfo(float).eps / (DIFFERENCE_STEP * gap)


def truncation_error(share: float) -> float:
    """Return the truncation error of fourth-order differences in time, relative to |dM/dt|.

    `share` bounds how far the matrix moves in one step, over the gap of its spectrum. The factor of ten covers the
    constant of the fourth power.
    """
    return 10 * share**4


def rate_errors(
    table: Table, quantity: Quantity, speed: Quantity, smooth: pd.Series, *, factor: ArrayLike = 1.0
) -> np.ndarray:
    """Return each member's largest error of predicted rates over the matrix's speed, shape (members,).

    Times at which the spectrum is not smooth are left out. nan for a member whose flow failed, so that it is undecided.

    Parameters
    ----------
    quantity : str
        Measured rates of singular values, beside predicted ones.
    speed : str
        Norm of the matrix's derivative.
    smooth : Series of bool, by seed and time
        Whether singular values have derivatives that differences can measure.
    factor : float or array_like, one number for each row of the quantity
        By which predictions are multiplied.
    """
    rates = select(table, quantity)
    error = (rates["value"] - factor * rates["predicted"]).abs()
    # by seed and time, the largest of all singular values
    relative = error.groupby([rates["seed"], rates["time"]]).max() / at_each_time(table, speed)
    # times of nan are those of failed flows: they stay, smooth or not, and make the member's largest error nan
    return relative[smooth.reindex(relative.index) | relative.isna()].groupby("seed").max().to_numpy()


def at_each_time(table: Table, quantity: Quantity) -> pd.Series:
    """Return a quantity that has one number at each time, as a series by seed and time."""
    return _at_each_time(table, quantity).copy()


@cached_per_table
def _at_each_time(table: Table, quantity: Quantity) -> pd.Series:
    return select(table, quantity).set_index(["seed", "time"])["value"]
