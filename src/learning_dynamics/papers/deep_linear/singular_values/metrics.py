"""Singular values along descent on a matrix completion."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW
from learning_dynamics.settings import Count
from learning_dynamics.tidy import INDEX, QUANTITY, TIME, VALUE, columns, joined, rows
from learning_dynamics.trajectory import Trajectory


@columns(DEPTH, DRAW, TIME, QUANTITY, INDEX, VALUE)
def singular_value_paths(trajectory: Trajectory, *, top: Count) -> pd.DataFrame:
    """Measure the end-to-end matrix along descent.

    Quantities: ``sigma``, its largest singular values, as many as `top` says; ``train_loss``, ``error``,
    ``effective_rank``; ``diagonal`` and ``off_diagonal``, mean absolute entries of U^T grad V on and off the diagonal,
    for the singular vectors U, V that go with those; ``rank``, that of the matrix to complete.
    """
    constants = trajectory.constants
    truth, mask = constants["truth"][:, None], constants["mask"][:, None]
    W = trajectory.series["end_to_end"]
    gradient = 2 * mask * (W - truth) / mask.sum(axis=(-2, -1), keepdims=True)
    U, spectrum, Vt = np.linalg.svd(W)
    top = min(top, spectrum.shape[-1])
    seen = np.abs(np.swapaxes(U[..., :top], -1, -2) @ gradient @ np.swapaxes(Vt[..., :top, :], -1, -2))
    diagonal = np.einsum("...ii->...", seen) / top
    measured = {
        "sigma": spectrum[..., :top],
        "train_loss": np.sum(mask * (W - truth) ** 2, axis=(-2, -1)) / mask.sum(axis=(-2, -1)),
        "error": np.mean((W - truth) ** 2, axis=(-2, -1)),
        "effective_rank": effective_rank(spectrum),
        "diagonal": diagonal,
        "off_diagonal": (seen.sum(axis=(-2, -1)) - top * diagonal) / (top * (top - 1)),
    }
    draws, depth = np.arange(len(W)), trajectory.settings["depth"]
    table = rows(measured, {"draw": draws, "time": trajectory.time}, depth=depth)
    rank = rows({"rank": np.linalg.matrix_rank(truth[:, 0])}, {"draw": draws}, depth=depth, time=0.0)
    return joined(singular_value_paths.columns, table, rank)
