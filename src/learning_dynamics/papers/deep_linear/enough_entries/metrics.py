"""Errors, nuclear norms and effective ranks of matrices completed from more and more entries."""

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.deep_linear.completed_matrices import measures_of
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, OBSERVED, SCALE
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, joined, rows
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
    quantities = {**_matrix_quantities(trajectory), "beyond_rank": _beyond_rank(trajectory)}
    table = rows(
        quantities,
        {"draw": constants["draw"]},
        depth=settings["depth"],
        scale=constants["scale"],
        observed=constants["observed"][constants["count"]],
        converged=constants["loss"] <= settings["stop"],
    )
    return joined(networks.columns, table)


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
    table = rows(
        {**_matrix_quantities(trajectory), "gap": constants["gap"]},
        {"draw": constants["draw"]},
        observed=constants["observed"][constants["count"]],
    )
    return joined(minimisers.columns, table)


def _matrix_quantities(trajectory: Trajectory) -> dict[str, np.ndarray]:
    constants = trajectory.constants
    draw, count = constants["draw"], constants["count"]
    return measures_of(trajectory.series["end_to_end"][:, 0], constants["truth"][draw], constants["mask"][draw, count])


def _beyond_rank(trajectory: Trajectory) -> np.ndarray:
    W, rank = trajectory.series["end_to_end"][:, 0], int(np.linalg.matrix_rank(trajectory.constants["truth"][0]))
    finite = np.asarray(np.isfinite(W).all(axis=(-2, -1)))
    values = singular_values(np.where(finite[:, None, None], W, 0.0))
    return np.where(finite, values[:, rank], np.nan)
