"""Errors, nuclear norms and effective ranks of matrices completed from more and more entries."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import measures_of
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, MEASURED, SCALE
from learning_dynamics.tidy import QUANTITY, Column, columns, joined, rows
from learning_dynamics.trajectory import Trajectory

OBSERVED = Column("observed", "int", "number of observed entries")


@columns(DEPTH, SCALE, OBSERVED, DRAW, CONVERGED, QUANTITY, MEASURED)
def networks(trajectory: Trajectory) -> pd.DataFrame:
    """Measure completed matrices: ``error``, ``train_loss``, ``nuclear_norm``, ``effective_rank`` and the truth's."""
    constants, settings = trajectory.constants, trajectory.settings
    table = rows(_measured(trajectory), {"draw": constants["draw"]}, depth=settings["depth"], scale=constants["scale"],
                 observed=constants["observed"][constants["count"]],
                 converged=constants["loss"] <= settings["stop"])  # fmt: skip
    return joined(networks.columns, table)


@columns(OBSERVED, DRAW, QUANTITY, MEASURED)
def minimisers(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers as `networks` are measured; and ``gap``, the proved gap of the convex solver."""
    constants = trajectory.constants
    table = rows({**_measured(trajectory), "gap": constants["gap"]}, {"draw": constants["draw"]},
                 observed=constants["observed"][constants["count"]])  # fmt: skip
    return joined(minimisers.columns, table)


def _measured(trajectory: Trajectory) -> dict[str, np.ndarray]:
    constants = trajectory.constants
    draw, count = constants["draw"], constants["count"]
    return measures_of(trajectory.series["end_to_end"][:, 0], constants["truth"][draw], constants["mask"][draw, count])
