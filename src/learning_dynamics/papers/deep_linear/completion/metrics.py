"""Completed matrices: errors, nuclear norms and effective ranks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import effective_rank, singular_values
from learning_dynamics.papers.deep_linear.long_tables import DEPTH, DRAW, QUANTITY, VALUE, long_table
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    DEPTH,
    Column("scale", "float", "initialisation scale s: layers' entries have deviation s^(1/N) n^(-1/2)"),
    Column("learning_rate", "float", "of plain descent, or of group RMSprop"),
    DRAW,
    Column("converged", "bool", "whether the training loss reached the one asked for"),
    QUANTITY,
    VALUE,
)
def completion(trajectory: Trajectory) -> pd.DataFrame:
    """Measure completed matrices.

    Quantities: ``error``, the mean square over all entries; ``train_loss``, over the observed ones;
    ``nuclear_norm`` and ``effective_rank`` of the completed matrix, and ``true_nuclear_norm``,
    ``true_effective_rank`` of the matrix to complete; ``steps`` taken.
    """
    constants, settings = trajectory.constants, trajectory.settings
    draw = constants["draw"]
    labels = {
        "depth": constants["depth"],
        "scale": constants["scale"],
        "learning_rate": constants["learning_rate"],
        "draw": draw,
        "converged": constants["loss"] <= settings["stop"],
    }
    W = trajectory.series["end_to_end"][:, 0]
    measured = _of_matrices(W, constants["truth"][draw], constants["mask"][draw])
    return long_table(labels, measured | {"steps": constants["steps"].astype(float)})


@columns(DRAW, QUANTITY, VALUE)
def nuclear_norm(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers.

    Quantities: as in `completion`; ``gap``, the proved relative distance of the nuclear norm from the least one;
    ``misfit``, the largest error on an observed entry.
    """
    constants = trajectory.constants
    W = trajectory.series["minimiser"][:, 0]
    measured = _of_matrices(W, constants["truth"], constants["mask"])
    misfit = np.abs(constants["mask"] * (W - constants["truth"])).max(axis=(-2, -1))
    return long_table({"draw": np.arange(len(W))}, measured | {"gap": constants["gap"], "misfit": misfit})


def _of_matrices(W: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    squares = (W - truth) ** 2
    spectrum, true_spectrum = singular_values(W), singular_values(truth)
    return {
        "error": squares.mean(axis=(-2, -1)),
        "train_loss": np.sum(mask * squares, axis=(-2, -1)) / mask.sum(axis=(-2, -1)),
        "nuclear_norm": spectrum.sum(axis=-1),
        "effective_rank": effective_rank(spectrum),
        "true_nuclear_norm": true_spectrum.sum(axis=-1),
        "true_effective_rank": effective_rank(true_spectrum),
    }
