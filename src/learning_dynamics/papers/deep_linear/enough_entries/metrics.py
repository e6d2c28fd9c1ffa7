"""Errors, nuclear norms and effective ranks of matrices completed from more and more entries.

Matrices are square. A draw is a matrix to complete, with several sets of observed entries. A member is a draw with one
of its sets and, of networks, one scale. A trajectory has one series, the first below, and constants:

- `end_to_end`, shape (members, 1, n, n): the completed matrices W, at the one recorded time
- `truth`, shape (draws, n, n): the matrices to complete, all of the same rank
- `mask`, shape (draws, sets, n, n), of bool: whether an entry is observed
- `observed`, shape (sets,): how many entries are observed in each set
- `draw` and `entry_set`, shape (members,): a member's places along the first two axes of `mask`
- only of networks, shape (members,): `scale`, the initialisation scale s, and `loss`, the mean square error over
  observed entries at the end
- only of minimisers, shape (members,): `gap`, the convex solver's proved bound on how far the nuclear norm of W is
  above the least one that fits, relative to the nuclear norm of W
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import completed, measures_of, spectrum
from learning_dynamics.papers.deep_linear.quantities import BEYOND_RANK, GAP
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, OBSERVED, SCALE
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, SCALE, OBSERVED, DRAW, CONVERGED, QUANTITY, VALUE_IF_ANY)
def networks(trajectory: Trajectory) -> pd.DataFrame:
    """Measure matrices completed by networks: the quantities of `measures_of`, and one more.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Errors, nuclear norms and effective ranks. Those of the completed matrix are nan where descent diverged.
    beyond_rank
        The first singular value beyond the rank of the matrix to complete; nan where descent diverged.
    """
    constants, settings = trajectory.constants, trajectory.settings
    W, truth, mask = completed(trajectory)  # by member, shapes (members, n, n)
    rank = np.linalg.matrix_rank(truth[0])  # that of every draw
    beyond_rank = spectrum(W)[:, rank]  # the first singular value beyond the rank: columns count from zero
    return rows(
        measures_of(W, truth, mask) | {BEYOND_RANK: beyond_rank},
        {"draw": constants["draw"]},
        depth=settings["depth"],
        scale=constants["scale"],
        observed=constants["observed"][constants["entry_set"]],
        converged=constants["loss"] <= settings["stop"],
    )


@columns(OBSERVED, DRAW, QUANTITY, VALUE_IF_ANY)
def minimisers(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers: the quantities of `measures_of`, and one more.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Errors, nuclear norms and effective ranks: of the minimiser, and those named true_* of the matrix to complete.
    gap
        Bound that the convex solver proves on how far the minimiser's nuclear norm is above the least one that fits,
        relative to the minimiser's nuclear norm.
    """
    constants = trajectory.constants
    return rows(
        measures_of(*completed(trajectory)) | {GAP: constants["gap"]},
        {"draw": constants["draw"]},
        observed=constants["observed"][constants["entry_set"]],
    )
