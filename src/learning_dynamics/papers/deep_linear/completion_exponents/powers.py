"""The power of the initialisation scale s with which sigma_(r+1) falls, measured and predicted.

sigma_(r+1) is the singular value that a completed matrix has beyond the rank r of the matrix to complete.
"""

import numpy as np

from learning_dynamics.papers.deep_linear.completion_exponents.quantities import ALPHA
from learning_dynamics.papers.deep_linear.quantities import BEYOND_RANK
from learning_dynamics.papers.deep_linear.tables import log_slopes
from learning_dynamics.tidy import Quantity, Table, by_draw, select


def measured_powers(ends: Table, observed: int) -> np.ndarray:
    """Return the slope of log sigma_(r+1) against log s by draw, over ends of descent from several scales s.

    `observed` is the number of observed entries. A draw has the slope nan if descent from one of the scales did not
    reach its training loss.
    """
    rows = select(ends, BEYOND_RANK, observed=observed)
    return log_slopes(rows.assign(value=rows["value"].where(rows["converged"])), "scale", "draw")


def predicted_powers(path: Table, observed: int, quantity: Quantity = ALPHA) -> np.ndarray:
    """Return by draw 1 - alpha, the power that our law predicts at depth 2.

    alpha is the growth of log sigma_(r+1) over that of log sigma_r along a descent, measured in one of several ways:
    `quantity` names it.
    """
    return 1 - by_draw(path, quantity, draw="draw", observed=observed)[:, 0]
