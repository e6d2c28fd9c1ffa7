"""Singular values of a small network along the flow of one measurement.

Shapes: `end_to_end` (members, times, n, n) is the product matrix W, n = 2 except in `one_measurement`; `depth` and
`member`, the number of the random start, are (members,). `one_entry` observes `W[0, 1]`. Time is gradient-flow time;
under one measurement it is the path's length, in units in which log ||W||_F moves by one where dW/dt is parallel to W.
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
    """Measure the flow of one measurement <A, W> with A = diag(1, ratio).

    Quantities
    ----------
    sigma
        The two singular values; the second's prediction is the closed form in the first's measured value.
    """
    settings, constants = trajectory.settings, trajectory.constants
    # shape (depths, times, 2), descending: the second belongs to A's entry `ratio` if that is at most one
    sigma = spectrum(trajectory.series["end_to_end"])
    predicted = np.full(sigma.shape, np.nan)
    for i, depth in enumerate(constants["depth"]):
        # of the second singular value alone
        predicted[i, :, 1] = theory.smaller_singular_value(sigma[i, :, 0], settings["start"], settings["ratio"], depth)
    return _rows_over_time(trajectory, {SIGMA: (sigma, predicted)})


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
    # by hand: nan where the flow failed, without a warning of LAPACK
    determinant = W[..., 0, 0] * W[..., 1, 1] - W[..., 0, 1] * W[..., 1, 0]
    # the observed entry, `W[0, 1]`, at its target, and the others where they started
    predicted_determinant = W[:, 0, 0, 0] * W[:, 0, 1, 1] - trajectory.settings["target"] * W[:, 0, 1, 0]
    yield _rows_over_time(trajectory, {SIGMA: spectrum(W), DETERMINANT: determinant})
    yield rows(
        {PREDICTED_SIGN: np.sign(predicted_determinant)},
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
    sigma = spectrum(trajectory.series["end_to_end"])[..., :2]
    return _rows_over_time(trajectory, {SIGMA: sigma})


def _rows_over_time(trajectory: Trajectory, quantities: dict[str, Any]) -> pd.DataFrame:
    """Return the rows of quantities that are measured at every time."""
    constants = trajectory.constants
    return rows(quantities, {"seed": constants["member"], "time": trajectory.time}, depth=constants["depth"])
