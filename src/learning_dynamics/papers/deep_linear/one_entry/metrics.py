"""Singular values of a small network along the flow of one measurement.

The one series, `end_to_end`, has shape (members, times, n, n): the product W of the layers. n is 2 for
`aligned_measurement` and for `one_entry`, which observes `W[0, 1]`. Constants `depth` and `member`, the number of the
random start, have shape (members,). Time is gradient-flow time. In `one_measurement` it is instead the length of the
path of W, in units of ||W||_F: dW has the length ||dW||_F / ||W||_F, and log ||W||_F moves by one in a length of one
where dW is parallel to W.
"""

from collections.abc import Mapping

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
        The two singular values of W; nan where the flow could not be integrated. The second is predicted by a closed
        form, from the measured first one.
    """
    settings, constants = trajectory.settings, trajectory.constants
    # shape (members, times, 2), the largest first: the second belongs to A's entry `ratio`, which is one at most
    sigma = spectrum(trajectory.series["end_to_end"])
    predicted = np.full(sigma.shape, np.nan)
    for member, depth in enumerate(constants["depth"]):
        # the second singular value alone has a prediction
        predicted[member, :, 1] = theory.smaller_singular_value(
            sigma[member, :, 0], settings["start"], settings["ratio"], depth
        )
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
        Sign that the determinant would have at the end if the observed entry alone had moved, to its target; in one
        row, of the last time.
    """
    constants = trajectory.constants
    W = trajectory.series["end_to_end"]
    # written out: nan where the flow could not be integrated, without LAPACK's warning
    determinant = W[..., 0, 0] * W[..., 1, 1] - W[..., 0, 1] * W[..., 1, 0]
    # at the first time, with the observed entry, `W[:, 0, 0, 1]`, replaced by its target
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
    """Measure the path of W under one measurement; the column `time` holds its length.

    Quantities
    ----------
    sigma
        The two largest singular values of W; nan where the flow could not be integrated.
    """
    sigma = spectrum(trajectory.series["end_to_end"])[..., :2]
    return _rows_over_time(trajectory, {SIGMA: sigma})


def _rows_over_time(
    trajectory: Trajectory, quantities: Mapping[str, np.ndarray | tuple[np.ndarray, np.ndarray]]
) -> pd.DataFrame:
    """Return the rows of quantities that are measured at every time.

    Each is an array of shape (members, times, ...), or a pair of the measured and the predicted one.
    """
    constants = trajectory.constants
    return rows(quantities, {"seed": constants["member"], "time": trajectory.time}, depth=constants["depth"])
