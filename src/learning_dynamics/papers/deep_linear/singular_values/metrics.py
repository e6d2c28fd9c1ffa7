"""Singular values along descent on a matrix completion.

A draw is an n by n matrix to complete, with its observed entries. W is the end-to-end matrix, and G the loss's gradient
at W. Times are learning rate times steps. Series, and the constant `rank`:

- `singular_values`, shape (draws, times, n): those of W, the largest first
- `rotated_gradient`, (draws, times, top, top): U^T G V, where the columns of U and V are the first `top` singular
  vectors of W
- `train_loss` and `error`, (draws, times): mean square errors of W over the observed and over all entries
- `rank`, (draws,): that of the matrix to complete
"""

import numpy as np

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.deep_linear.quantities import EFFECTIVE_RANK, ERROR, RANK, SIGMA, TRAIN_LOSS
from learning_dynamics.papers.deep_linear.singular_values.quantities import DIAGONAL, OFF_DIAGONAL
from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW
from learning_dynamics.tidy import INDEX, QUANTITY, TIME, VALUE, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, DRAW, TIME, QUANTITY, INDEX, VALUE)
def singular_value_paths(trajectory: Trajectory) -> Tables:
    """Measure the end-to-end matrix along descent.

    Quantities
    ----------
    sigma
        Leading singular values of the end-to-end matrix W, as many as the setting `top` of the run says.
    train_loss
        Mean square error over the observed entries.
    error
        Mean square error over all entries.
    effective_rank
        exp of the entropy of the shares that all singular values of W have in their sum.
    diagonal
        Mean absolute entry on the diagonal of U^T G V, where G is the loss's gradient at W and the columns of U and V
        are the leading singular vectors of W.
    off_diagonal
        Mean absolute entry of U^T G V off the diagonal.
    rank
        Rank of the matrix to complete, in rows of time 0.
    """
    series = trajectory.series
    # all singular values, shape (draws, times, n), and absolute entries of U^T G V, shape (draws, times, top, top)
    spectrum, entries = series["singular_values"], np.abs(series["rotated_gradient"])
    top = entries.shape[-1]
    diagonal = np.einsum("...ii->...", entries) / top
    quantities = {
        SIGMA: spectrum[..., :top],
        TRAIN_LOSS: series["train_loss"],
        ERROR: series["error"],
        EFFECTIVE_RANK: effective_rank(spectrum),
        DIAGONAL: diagonal,
        OFF_DIAGONAL: (entries.sum(axis=(-2, -1)) - top * diagonal) / (top * (top - 1)),
    }
    draws, depth = np.arange(trajectory.members), trajectory.settings["depth"]
    yield rows(quantities, {"draw": draws, "time": trajectory.time}, depth=depth)
    yield rows({RANK: trajectory.constants["rank"]}, {"draw": draws}, depth=depth, time=0.0)
