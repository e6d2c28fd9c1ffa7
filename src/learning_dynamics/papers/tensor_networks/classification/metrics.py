"""Classification in logarithmic time (Theorems 1 to 3; Corollaries 1 to 3)."""

from __future__ import annotations

import pandas as pd

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.log_time_measures import classified, limit_of
from learning_dynamics.papers.tensor_networks.quantities import VALUE, grid, joined
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    Column("seed", "int", "data set"),
    Column("network", "str", "architecture"),
    Column("scale", "float", "initial scale alpha"),
    Column("direction", "int", "which of the initial directions"),
    Column("tau", "float", "log(1 + t)"),
    *VALUE,
)
def log_time(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the flow of classification in logarithmic time.

    Quantities, by time: ``log_loss``; ``singular``, the largest distance of a layer's direction from solving
    the singular-vector equations of M(-u), relative to their singular value (Theorem 1); for orthogonally
    decomposable networks ``stationarity``, the residual of the stationarity conditions of Theorem 2, relative;
    where the limit direction is that of a convex program ``angle``, in degrees, to it; for one data point and
    two layers ``layer_difference``, |eta_1 - y eta_2| / |eta_1| in singular coordinates (Theorem 3).

    Once: ``coefficient``, the last direction, predicted where it is; ``exponent``, of 1/tau in the angle over the
    last decade, predicted from the singular values that go with u; ``intercept``, the angle at infinite tau, in
    degrees, extrapolated with the predicted exponent; ``settled``, the angle in degrees by which X^T r has
    turned in the last decade of tau.
    """
    settings = trajectory.settings
    tables: list[pd.DataFrame] = []
    for architecture in settings["networks"]:
        network = network_of(architecture, trajectory.constants["X"].shape[-1], settings["depth"], settings["seed"])
        sizes = settings | {"sets": len(trajectory.constants["X"])}
        for position, member, scale, direction in grid(sizes, "sets", "scales", "directions"):
            X, y = trajectory.constants["X"][member], trajectory.constants["y"][member]
            keys = {"seed": member, "network": architecture, "scale": scale, "direction": direction}
            states = trajectory.series[architecture][position]
            limit = limit_of(network, architecture, X, y)
            tables += classified(network, X, y, trajectory.time, states, limit, keys)
    return joined(log_time, tables)
