"""Growth of the singular values of W, the product of two small layers, computed from the gradient along a descent.

Each step eta multiplies a small singular value of W by (1 + eta g)^2, where g is a singular value of the loss's
gradient; growth is the logarithm, 2 log(1 + eta g). All draws have matrices to complete of the same rank r, and the
first r singular values of W are learned one after another. Times are learning rate times steps, `every` steps apart.
Series and constants:

- `outside`, shape (members, times, 2): while k < r singular values of W are learned, the (r - k)-th and the (r - k +
  1)-th singular value of what the gradient has outside of their singular vectors. The first of the two moves the r-th
  singular value of W, the second the (r+1)-th
- `whole`, of the same shape: the r-th and the (r+1)-th singular value of the whole gradient
- `observed`, (sets,): the number of observed entries of each set
- `rank`, (members,): r
- `draw` and `entry_set`, (members,): a member's places along the axes of draws and of sets

Both series are zero from the time on at which all r are learned, and nan for a member for which they never are.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completion_exponents.quantities import (
    ALPHA,
    ALPHA_AT_START,
    ALPHA_OF_FLOW,
    ALPHA_OF_WHOLE,
    GROWTH,
    GROWTH_IN_ONE_STEP,
)
from learning_dynamics.papers.deep_linear.completion_exponents.theory import step_growth
from learning_dynamics.papers.deep_linear.quantities import RANK
from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW, OBSERVED
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, OBSERVED, DRAW, QUANTITY, VALUE_IF_ANY)
def gradient_along_path(trajectory: Trajectory) -> pd.DataFrame:
    """Measure by how much the r-th and the (r+1)-th singular value grow with two layers, where r is the rank.

    Growth is that of the logarithm of a singular value of the layers' product. Ratios are the growth of the (r+1)-th
    over that of the r-th. Growths and ratios are nan where the r-th is not learned in the steps that were taken.

    Quantities
    ----------
    alpha
        Ratio of growths summed along the path, until the r-th singular value is learned.
    alpha_at_the_start
        Ratio of growths in the first step.
    alpha_of_the_whole
        Ratio of growths summed along the path, computed with the r-th and the (r+1)-th singular value of the whole
        gradient, from which no singular vectors are set aside.
    alpha_of_the_flow
        Ratio of growths summed along the path, computed with growth in proportion to the gradient's singular values, as
        if steps were small.
    growth
        Growth of the r-th singular value along the path.
    growth_in_one_step
        The most that the (r+1)-th singular value grows in one step.
    rank
        Rank r of the matrix to complete.
    """
    constants, settings = trajectory.constants, trajectory.settings
    rate = settings["learning_rate"]
    outside, whole = (trajectory.series[name] for name in ("outside", "whole"))
    growth = step_growth(outside, rate)  # of the r-th and the (r+1)-th singular value in one step: (members, times, 2)
    quantities = {
        ALPHA: _ratio(growth.sum(axis=1)),
        ALPHA_AT_START: _ratio(growth[:, 0]),
        ALPHA_OF_WHOLE: _ratio(step_growth(whole, rate).sum(axis=1)),
        ALPHA_OF_FLOW: _ratio(outside.sum(axis=1)),
        # growth is that of one step, and there are `every` of them from one time to the next
        GROWTH: settings["every"] * growth[:, :, 0].sum(axis=1),
        GROWTH_IN_ONE_STEP: growth[:, :, 1].max(axis=1),
        RANK: constants["rank"],
    }
    return rows(
        quantities,
        {"draw": constants["draw"]},
        depth=settings["depth"],
        observed=constants["observed"][constants["entry_set"]],
    )


def _ratio(pairs: np.ndarray) -> np.ndarray:
    """Return the second of each pair over the first, shape (members,), from shape (members, 2); nan where a pair is."""
    return pairs[:, 1] / pairs[:, 0]
