"""Errors, nuclear norms and effective ranks of matrices completed from more and more entries."""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import measures_of, spectrum
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, OBSERVED, SCALE
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, SCALE, OBSERVED, DRAW, CONVERGED, QUANTITY, VALUE_IF_ANY)
def networks(trajectory: Trajectory) -> pd.DataFrame:
    """Measure matrices completed by networks.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Empty where descent diverged.
    beyond_rank
        The first singular value beyond the rank of the matrix to complete.
    """
    constants, settings = trajectory.constants, trajectory.settings
    rank = np.linalg.matrix_rank(constants["truth"][0])
    beyond_rank = spectrum(trajectory.series["end_to_end"][:, 0].astype(float))[:, rank]
    return rows(
        {**_matrix_quantities(trajectory), "beyond_rank": beyond_rank},
        {"draw": constants["draw"]},
        depth=settings["depth"],
        scale=constants["scale"],
        observed=constants["observed"][constants["count"]],
        converged=constants["loss"] <= settings["stop"],
    )


@columns(OBSERVED, DRAW, QUANTITY, VALUE_IF_ANY)
def minimisers(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Of the minimiser.
    gap
        Proved gap of the convex solver: relative distance of the nuclear norm from the least one.
    """
    constants = trajectory.constants
    return rows(
        {**_matrix_quantities(trajectory), "gap": constants["gap"]},
        {"draw": constants["draw"]},
        observed=constants["observed"][constants["count"]],
    )


def _matrix_quantities(trajectory: Trajectory) -> dict[str, np.ndarray]:
    constants = trajectory.constants
    draw, count = constants["draw"], constants["count"]
    return measures_of(trajectory.series["end_to_end"][:, 0], constants["truth"][draw], constants["mask"][draw, count])
