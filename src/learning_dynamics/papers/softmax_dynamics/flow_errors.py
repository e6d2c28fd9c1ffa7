"""How large errors of integration and of finite differences are along flows, and errors of predicted rates.

M is a matrix that moves, the features f or the classifier W along a flow; sigma_1 is its largest singular value. The
gap of its spectrum is the smallest distance between neighbours among its singular values and zero.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from learning_dynamics.tidy import Quantity, Table, cached_per_table, select, settings_of

# Bound on the relative error of an invariant along a flow of the toy, over the integrator's rtol: three times the
# largest that was measured, on flows that no claim judges (class sizes 3-2-2-1, 5-1-1-1, 2-2-2-2 and 3-1-1, two and
# three dimensions, both kinds of starts, 30 members each, seed 777). It was at most 1.3, 2.4 and 3.0 at an rtol of
# 1e-9, 1e-11 and 1e-12: the error is nearly proportional to rtol.
FLOW_ERROR = 10.0
# How far M moves in one step of the finite differences along flows, in Frobenius' norm, over the gap of its spectrum.
# The differences are of fourth order. Their truncation error, about 1e-12, is far below that of rounding, which
# `difference_error` gives: 2e-10 at a gap of 0.01 sigma_1.
DIFFERENCE_STEP = 1e-3


def flow_error(flows: Sequence[Table]) -> float:
    """Return a bound on the relative error that integration leaves in an invariant of any of the flows."""
    return FLOW_ERROR * max(settings_of(table)["integration"]["rtol"] for table in flows)


def difference_error(gap: Any) -> Any:
    """Return the rounding error of the rate of a singular value by finite differences, relative to |dM/dt|.

    Rounding changes singular values by about eps sigma_1, with the rounding unit eps. They are compared over a step in
    which M moves by DIFFERENCE_STEP * gap * sigma_1. The factor of ten covers the constant of the SVD.

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

    `share` is a bound on how far M moves in one step, over the gap of its spectrum, as DIFFERENCE_STEP is along flows.
    The factor of ten covers the constant of the fourth power.
    """
    return 10 * share**4


def rate_errors(
    table: Table, quantity: Quantity, speed: Quantity, smooth: pd.Series, *, factor: ArrayLike = 1.0
) -> np.ndarray:
    """Return each member's largest error of a predicted rate, relative to |dM/dt| at its time, shape (members,).

    Times at which `smooth` is False are left out. nan for a member whose flow failed, so that it is undecided.

    Parameters
    ----------
    quantity : str
        Rates of the singular values of M, measured and predicted.
    speed : str
        |dM/dt|.
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
