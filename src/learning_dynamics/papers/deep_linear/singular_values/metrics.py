"""Singular values along descent on a matrix completion, and along the flow of one measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import effective_rank, singular_values
from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.long_tables import (
    DEPTH,
    DRAW,
    INDEX,
    PREDICTED,
    QUANTITY,
    SEED,
    TIME,
    VALUE,
    over_time,
)
from learning_dynamics.tables import columns
from learning_dynamics.trajectory import Trajectory

TOP = 10  # singular values kept of each matrix; the rest are counted in the effective rank


@columns(DEPTH, DRAW, TIME, QUANTITY, INDEX, VALUE)
def singular_value_paths(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the end-to-end matrix along descent.

    Quantities: ``sigma``, its largest singular values; ``train_loss``, ``error``, ``effective_rank``;
    ``diagonal`` and ``off_diagonal``, mean absolute entries of U^T grad V on and off the diagonal, for the
    singular vectors U, V of the end-to-end matrix that go with its ten largest singular values.
    """
    constants = trajectory.constants
    truth, mask = constants["truth"][constants["draw"], None], constants["mask"][constants["draw"], None]
    W = trajectory.series["end_to_end"]
    gradient = 2 * mask * (W - truth) / mask.sum(axis=(-2, -1), keepdims=True)
    U, spectrum, Vt = np.linalg.svd(W)
    top = min(TOP, spectrum.shape[-1])
    seen = np.abs(np.swapaxes(U[..., :top], -1, -2) @ gradient @ np.swapaxes(Vt[..., :top, :], -1, -2))
    diagonal = np.einsum("...ii->...", seen) / top
    measured = {
        "sigma": spectrum[..., :top],
        "train_loss": (np.sum(mask * (W - truth) ** 2, axis=(-2, -1)) / mask.sum(axis=(-2, -1)))[..., None],
        "error": np.mean((W - truth) ** 2, axis=(-2, -1))[..., None],
        "effective_rank": effective_rank(spectrum)[..., None],
        "diagonal": diagonal[..., None],
        "off_diagonal": ((seen.sum(axis=(-2, -1)) - top * diagonal) / (top * (top - 1)))[..., None],
    }
    frames = [over_time(name, values, trajectory.time) for name, values in measured.items()]
    table = pd.concat(frames, ignore_index=True)
    table["depth"], table["draw"] = constants["depth"][table["member"]], constants["draw"][table["member"]]
    step = (table["time"] * constants["iterations"][table["member"]]).round()
    table["time"] = step * constants["learning_rate"][table["member"]]
    return table[[column.name for column in singular_value_paths.columns]]


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def single_measurement(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the two singular values (``sigma``) along the flow.

    The second's prediction, for the aligned measurement, is the closed form in the first's measured value.
    """
    settings, constants = trajectory.settings, trajectory.constants
    spectrum = singular_values(trajectory.series["end_to_end"])
    predicted = np.full(spectrum.shape, np.nan)
    if settings["measurement"] == "aligned":
        for member, depth in enumerate(constants["depth"]):
            predicted[member, :, 1] = theory.smaller_singular_value(
                spectrum[member, :, 0], settings["start"], settings["ratio"], int(depth)
            )
    table = over_time("sigma", spectrum, trajectory.time)
    table["predicted"] = predicted.ravel()
    table["depth"] = constants["depth"][table["member"]]
    table["seed"] = constants["member"][table["member"]]
    return table[[column.name for column in single_measurement.columns]]
