"""Numbers of each draw, read off tables of flows: the integrator's error, and errors of what is predicted.

Claims also ask here whether the data of a flow leave several interpolators to choose from: predictors beta with
X beta = Y.
"""

import numpy as np

from learning_dynamics.papers.spectral_bias.quantities import SAMPLES, SIGMA_W1
from learning_dynamics.tidy import Draws, Table

# STEPS_BY_RTOL and LEFT_OPEN say why a check allows what it does, as the page prints it
STEPS_BY_RTOL = "the integrator's steps times its relative tolerance"
LEFT_OPEN = "what the remaining residual leaves open, and steps times the relative tolerance"

# Factor on the bound |X beta - Y| / sigma_min(X) on |beta - beta_*|, for the rounding of the residual |X beta - Y|.
# With one sample the bound is an equality, so that rounding alone may break it. The residual is a difference of near
# numbers. It ends at 1e-11 of the labels, and so is known to eps / 1e-11 = 2e-5 of itself; chosen: a thousandth
ROUNDED_BOUND = 1 + 1e-3


def steps_by_rtol(draws: Draws) -> np.ndarray:
    """Return each draw's number of steps times rtol: the integrator's tolerance of one step, added up over all steps.

    The sum bounds the error of what the flow neither damps nor amplifies: invariants, and what grows relative to its
    size. A draw whose integration failed has zero steps; its values are nan, and the judge counts it as undecided.
    """
    return draws.column("steps") * draws.setting("integration.rtol")


def relative_errors(measured: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return each draw's largest error over entries, relative to its largest measured value, shape (draws,).

    Both arrays have the shape (draws, entries).
    """
    return np.abs(measured - predicted).max(axis=1) / np.abs(measured).max(axis=1)


def has_several_interpolators(table: Table) -> bool:
    """Return whether a flow from orthogonal rows had fewer samples than inputs, and interpolators to choose from."""
    inputs = Draws(table, phase="limit").entries(SIGMA_W1).shape[1]
    return bool(Draws(table, phase="draw")[SAMPLES][0] < inputs)
