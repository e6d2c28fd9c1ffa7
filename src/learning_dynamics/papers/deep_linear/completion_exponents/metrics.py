"""Ratios of the gradient's singular values along a descent.

Times are learning rate times steps, `every` steps apart. All draws have the same rank r. Series and constants:

- `outside`, shape (members, times, 2): while k singular values of W are learned, the (r - k)-th singular value of the
  gradient outside of their singular vectors, which moves W's r-th, and the next
- `whole`, of the same shape: the r-th singular value of the whole gradient, and the next
- `observed`, (sets,): the numbers of observed entries
- `draw` and `entry_set`, (members,): a member's places along draws and along `observed`

Both series are zero from the time on at which all r are learned, and nan on a path on which they never are.
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
from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW, OBSERVED
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, OBSERVED, DRAW, QUANTITY, VALUE_IF_ANY)
def gradient_along_path(trajectory: Trajectory) -> pd.DataFrame:
    """Measure by how much the r-th singular value and the next one, the first beyond the rank r, grow with two layers.

    Growth is that of the logarithm. Ratios are the next one's growth over the r-th one's; all are nan where the r-th is
    not learned in the steps that were taken.

    Quantities
    ----------
    alpha
        Ratio of sums along the path until the r-th singular value is learned.
    alpha_at_the_start
        Ratio in the first step.
    alpha_of_the_whole
        Ratio of sums with the r-th and the next singular value of the whole gradient, nothing set aside.
    alpha_of_the_flow
        Ratio of integrals of the gradient's singular values, as if steps were small.
    growth
        Growth of the r-th singular value along the path.
    growth_in_one_step
        Growth of the next singular value in one step, at most.
    """
    constants, settings = trajectory.constants, trajectory.settings
    rate = settings["learning_rate"]
    outside, whole = (trajectory.series[name] for name in ("outside", "whole"))
    growth = step_growth(outside, rate)  # in one step: shape (members, times, 2), the r-th singular value and the next
    quantities = {
        ALPHA: _ratio(growth.sum(axis=1)),
        ALPHA_AT_START: _ratio(growth[:, 0]),
        ALPHA_OF_WHOLE: _ratio(step_growth(whole, rate).sum(axis=1)),
        ALPHA_OF_FLOW: _ratio(outside.sum(axis=1)),
        # growth is that of one step, and there are `every` of them from one time to the next
        GROWTH: settings["every"] * growth[:, :, 0].sum(axis=1),
        GROWTH_IN_ONE_STEP: growth[:, :, 1].max(axis=1),
    }
    return rows(
        quantities,
        {"draw": constants["draw"]},
        depth=settings["depth"],
        observed=constants["observed"][constants["entry_set"]],
    )


def _ratio(pairs: np.ndarray) -> np.ndarray:
    """Return the second of each pair, shape (members, 2), over the first; nan where a path has no end."""
    return pairs[:, 1] / pairs[:, 0]
