"""The flow of classification in logarithmic time (Theorems 1 to 3; Corollaries 1 to 3)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.initial_directions import initial_directions
from learning_dynamics.papers.tensor_networks.log_time import log_time_flow
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def log_time(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional", "short_filters", "decomposable", "general"]],
    depth: Count,
    init: Literal["coefficients", "zero_last"],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive | None = None,
    last_tau: Positive,
    records: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow the gradient flow of classification to time t = exp(last_tau).

    Returns
    -------
    Trajectory
        Time is tau = log(1 + t). One series for each network, shape (data sets * scales * directions, times,
        parameters), directions varying fastest.
    """
    X, y = data["X"], data["y"]
    taus = np.concatenate([[0.0], np.geomspace(0.1, last_tau, records)])
    series: Arrays = {}
    for architecture in networks:
        network = network_of(architecture, X.shape[-1], depth, seed)
        start = initial_directions(network, architecture, init, directions * len(X), imbalance, seed)
        start = start.reshape(len(X), 1, directions, -1) * np.reshape(scales, (1, -1, 1, 1))
        found = [
            log_time_flow(network, X[member], y[member], state, taus, rtol=rtol, atol=atol).states
            for member in progress(range(len(X)), architecture)
            for state in start[member].reshape(-1, start.shape[-1])
        ]
        series[architecture] = np.stack(found)
    return Trajectory(taus, series, {"X": X, "y": y})
