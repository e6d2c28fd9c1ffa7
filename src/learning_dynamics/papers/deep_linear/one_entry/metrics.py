"""Singular values of a small network along the flow of one measurement.

Shapes: matrices are square. `end_to_end` W (members, times, 2, 2), or (members, times, n, n) under one measurement of n
entries; `depth` and `member`, the number of the start, (members,). Times are gradient-flow time; under one measurement
they are the length of the path, log ||W||_F where W moves along itself. The observed entry is `W[0, 1]`.
"""

from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import spectrum
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.papers.deep_linear.one_entry.quantities import DETERMINANT, PREDICTED_SIGN
from learning_dynamics.papers.deep_linear.quantities import SIGMA
from learning_dynamics.papers.deep_linear.tables import DEPTH
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
def aligned_measurement(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the flow of a measurement that is aligned with the matrix.

    Quantities
    ----------
    sigma
        The two singular values; the second's prediction is the closed form in the first's measured value.
    """
    settings, constants = trajectory.settings, trajectory.constants
    values = spectrum(trajectory.series["end_to_end"])
    predicted = np.full(values.shape, np.nan)
    for member, depth in enumerate(constants["depth"]):
        # of the second singular value alone
        predicted[member, :, 1] = theory.smaller_singular_value(
            values[member, :, 0], settings["start"], settings["ratio"], depth
        )
    return _along(trajectory, {SIGMA: (values, predicted)})


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
def one_entry(trajectory: Trajectory) -> Tables:
    """Measure the flow of one observed entry.

    Quantities
    ----------
    sigma
        The two singular values; nan where the flow could not be integrated.
    determinant
        Determinant of the end-to-end matrix.
    predicted_sign
        Sign that the determinant would have at the end if the observed entry alone had moved, to its target.
    """
    constants = trajectory.constants
    W = trajectory.series["end_to_end"]
    determinant = W[..., 0, 0] * W[..., 1, 1] - W[..., 0, 1] * W[..., 1, 0]
    # the observed entry, `W[0, 1]`, at its target, and the others where they started
    last_determinant = W[:, 0, 0, 0] * W[:, 0, 1, 1] - trajectory.settings["target"] * W[:, 0, 1, 0]
    yield _along(trajectory, {SIGMA: spectrum(W), DETERMINANT: determinant})
    yield rows(
        {PREDICTED_SIGN: np.sign(last_determinant)},
        {"seed": constants["member"]},
        time=trajectory.time[-1],
        depth=constants["depth"],
    )


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE_IF_ANY)
def one_measurement(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the path under one measurement; its length takes time's place.

    Quantities
    ----------
    sigma
        The two largest singular values; nan where the flow could not be integrated.
    """
    values = spectrum(trajectory.series["end_to_end"])[..., :2]
    return _along(trajectory, {SIGMA: values})


def _along(trajectory: Trajectory, measured: dict[str, Any]) -> pd.DataFrame:
    """Return rows of what is measured along flows."""
    constants = trajectory.constants
    return rows(measured, {"seed": constants["member"], "time": trajectory.time}, depth=constants["depth"])
