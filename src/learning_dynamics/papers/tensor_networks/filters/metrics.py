"""Classification by networks with filters of several lengths (Corollary 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks import tensor_network, theory
from learning_dynamics.papers.tensor_networks.log_time_measures import classified, limit_of
from learning_dynamics.papers.tensor_networks.quantities import VALUE, joined, rows_of
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    Column("seed", "int", "data set"),
    Column("length", "int", "filter length k_1"),
    Column("tau", "float", "log(1 + t)"),
    *VALUE,
)
def filters(trajectory: Trajectory) -> pd.DataFrame:
    """Measure two-layer convolutional networks with filters of several lengths, trained on one point.

    Quantities as in `log_time`, and ``point``, the data point times its label; ``corollary``, the last
    direction, predicted by Corollary 4 (lengths 1 and 2).
    """
    tables: list[pd.DataFrame] = []
    for length in trajectory.settings["lengths"]:
        for member, (X, y) in enumerate(zip(trajectory.constants["X"], trajectory.constants["y"], strict=True)):
            network = tensor_network.convolutional(X.shape[1], [length, X.shape[1]])
            keys = {"seed": member, "length": length}
            states = trajectory.series[f"length_{length}"][member]
            architecture = "convolutional" if length == X.shape[1] else "short_filters"
            limit = limit_of(network, architecture, X, y)
            tables += classified(network, X, y, trajectory.time, states, limit, keys)
            tables.append(rows_of("point", y[:1, None] * X, tau=0.0, **keys))
            if length <= 2:
                beta = network.coefficients(states[-1:])
                predicted = theory.filtered_direction(X[0], y[0], length)
                last = trajectory.time[-1]
                tables.append(rows_of("corollary", beta / np.linalg.norm(beta), predicted, tau=last, **keys))
    return joined(filters, tables)
