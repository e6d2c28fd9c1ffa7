"""Checks of limits of flows that are predicted entry by entry, to the integrator's error.

`flows` are the draws whose limits are checked: the runs' setting `rtol` gives the error.
"""

import numpy as np

from learning_dynamics.judging import Check, equal_on_every_draw, takes_rivals
from learning_dynamics.papers.tensor_networks.tables import OTHER_DEPTH, OTHER_SCALE
from learning_dynamics.tidy import Draws, Quantity

# Relative error of a flow's limit, in units of rtol, the error that the integrator allows itself in each step. Flows to
# a limit take 300 to 3,400 steps. Of five seeds the worst flow was off by 730 times rtol. Chosen: nearly three times
# as much.
LIMIT_ERROR = 2000.0
# Rivals of limits that minimise the function Q of Theorem 4, with the quantities whose predictions they are: the
# minimiser of Q for L + 1 in place of the number of layers L, and for 2 alpha in place of the initial scale alpha.
RIVAL_MINIMISERS = {"the minimiser for one more layer": OTHER_DEPTH, r"the minimiser for $2 \alpha$": OTHER_SCALE}


def limit_error(flows: Draws) -> float:
    """Return the relative error that the integrator may make in a flow's limit."""
    return LIMIT_ERROR * flows.setting("integration.rtol").max()


@takes_rivals("predicted", scaled=True)
def limits_equal(name: str, flows: Draws, measured: np.ndarray, predicted: np.ndarray) -> Check:
    """Check that limits of flows, shape (draws, entries), are those predicted, to the integrator's error.

    The error is relative to the draw's largest entry. `@takes_rivals` lets the function take `rivals` and `corrected`
    too: other predictions.
    """
    return equal_on_every_draw(
        name, measured, predicted, tolerance=limit_error(flows), because="the integrator's tolerance, step by step"
    )


def relative_distances(flows: Draws, quantity: Quantity) -> np.ndarray:
    """Return the distance of a quantity from its prediction, relative to the prediction's norm, shape (draws,)."""
    measured, predicted = flows.with_prediction(quantity)
    return np.linalg.norm(measured - predicted, axis=1) / np.linalg.norm(predicted, axis=1)
