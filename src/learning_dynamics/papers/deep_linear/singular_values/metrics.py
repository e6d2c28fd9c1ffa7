"""Singular values along descent on a matrix completion.

Shapes: `singular_values` (draws, times, n), descending; `rotated_gradient` (draws, times, top, top), U^T grad V for the
first `top` singular vectors; `train_loss` and `error` (draws, times), mean squares; `rank` (draws,). Times are learning
rate times steps.
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
        Leading singular values of the end-to-end matrix.
    train_loss
        Mean square error over the observed entries.
    error
        Mean square error over all entries.
    effective_rank
        exp of the entropy of the singular values' shares of their sum.
    diagonal
        Mean absolute entry of U^T grad V on the diagonal, for the leading singular vectors U, V.
    off_diagonal
        Mean absolute entry of U^T grad V off the diagonal.
    rank
        Rank of the matrix to complete, in rows of time 0.
    """
    series = trajectory.series
    # shapes (draws, times, n) and (draws, times, top, top)
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
