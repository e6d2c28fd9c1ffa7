"""Completed matrices: errors, nuclear norms and effective ranks.

Matrices are square. A draw is a matrix to complete, with its observed entries. A trajectory has one series, the first
below, and constants:

- `end_to_end`, shape (members, 1, n, n): the completed matrices W, at the one recorded time, where descent ended
- `truth`, shape (draws, n, n): the matrices W* to complete
- `mask`, shape (draws, n, n), of bool: whether an entry is observed
- `draw`, shape (members,): a member's place along the axis of draws
- `scale`, the initialisation scale s, `learning_rate`, `loss` and `steps`, each of shape (members,): the loss is the
  mean of (W - W*)^2 over observed entries at the end, and `steps` is how many were taken

A trajectory of the convex program, which `nuclear_norm` measures, has one member for each draw. Instead of `scale`,
`learning_rate`, `loss` and `steps` it has the constant `gap`, of shape (members,): a proved bound on how far the
nuclear norm of W is above the least one that fits, relative to the nuclear norm of W.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import completed, measures_of
from learning_dynamics.papers.deep_linear.completion.quantities import STEPS
from learning_dynamics.papers.deep_linear.quantities import GAP, MISFIT, OBSERVED_ENTRIES, SIZE
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, SCALE
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, Column, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    DEPTH,
    SCALE,
    Column("learning_rate", "float", "of plain descent or of group RMSprop, by the setting `optimiser`", draw=True),
    DRAW,
    CONVERGED,
    QUANTITY,
    VALUE_IF_ANY,
)
def completion(trajectory: Trajectory) -> pd.DataFrame:
    """Measure matrices completed by networks.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Errors, nuclear norms and effective ranks. Those of the completed matrix are nan where descent diverged.
    size
        Number of rows of the matrix to complete.
    observed
        Number of observed entries.
    steps
        How many steps descent took until it stopped.
    """
    constants, settings = trajectory.constants, trajectory.settings
    W, truth, mask = completed(trajectory)  # by member, shapes (members, n, n)
    return rows(
        measures_of(W, truth, mask) | _problem_size(truth, mask) | {STEPS: constants["steps"]},
        {"draw": constants["draw"]},
        depth=settings["depth"],
        scale=constants["scale"],
        learning_rate=constants["learning_rate"],
        converged=constants["loss"] <= settings["stop"],
    )


@columns(DRAW, QUANTITY, VALUE_IF_ANY)
def nuclear_norm(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers, which the convex program returns.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Errors, nuclear norms and effective ranks: of the minimiser, and those named true_* of the matrix to complete.
    size
        Number of rows of the matrix to complete.
    observed
        Number of observed entries.
    gap
        Bound that the convex solver proves on how far the minimiser's nuclear norm is above the least one that fits,
        relative to the minimiser's nuclear norm.
    misfit
        Largest difference, in absolute value, of the minimiser from the matrix to complete on an observed entry.
    """
    constants = trajectory.constants
    W, truth, mask = completed(trajectory)  # by member, shapes (members, n, n)
    misfit = np.abs(mask * (W - truth)).max(axis=(-2, -1))
    quantities = measures_of(W, truth, mask) | _problem_size(truth, mask) | {GAP: constants["gap"], MISFIT: misfit}
    return rows(quantities, {"draw": constants["draw"]})


def _problem_size(truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return by quantity the number of rows of each matrix, and how many of its entries are observed; shape (members,).

    Shapes of `truth` and `mask` are (members, n, n).
    """
    return {SIZE: np.full(len(truth), truth.shape[-1]), OBSERVED_ENTRIES: mask.sum(axis=(-2, -1))}
