"""The power of the initialisation scale in the first singular value beyond the rank, measured and predicted."""

import numpy as np

from learning_dynamics.papers.deep_linear.completion_exponents.quantities import ALPHA
from learning_dynamics.papers.deep_linear.quantities import BEYOND_RANK
from learning_dynamics.papers.deep_linear.tables import log_slopes
from learning_dynamics.tidy import Quantity, Table, by_draw, select


def measured_powers(ends: Table, observed: int) -> np.ndarray:
    """Return the slope of log sigma_(r+1) against log s by draw, at the end of descent from every scale.

    nan for a draw with a run that did not reach its training loss.
    """
    rows = select(ends, BEYOND_RANK, observed=observed)
    return log_slopes(rows.assign(value=rows["value"].where(rows["converged"])), "scale", "draw")


def predicted_powers(path: Table, observed: int, quantity: Quantity = ALPHA) -> np.ndarray:
    """Return 1 - alpha by draw, the law of depth 2; `quantity` says which of the measured ratios is alpha."""
    return 1 - by_draw(path, quantity, draw="draw", observed=observed)[:, 0]
