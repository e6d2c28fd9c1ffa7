"""The flow of classification by networks with filters of several lengths (Corollary 4)."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.initial_directions import initial_directions
from learning_dynamics.papers.tensor_networks.log_time import log_time_flow
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def filters(
    data: Arrays,
    *,
    lengths: list[Count],
    last_tau: Positive,
    records: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of classification of one point by two-layer convolutional networks with short filters.

    Returns
    -------
    Trajectory
        Time is tau = log(1 + t). For each length k a series ``length_<k>``, shape (data sets, times, parameters).
    """
    X, y = data["X"], data["y"]
    taus = np.concatenate([[0.0], np.geomspace(0.1, last_tau, records)])
    series = {}
    for length in lengths:
        network = tensor_network.convolutional(X.shape[-1], [length, X.shape[-1]])
        start = initial_directions(network, "", "zero_last", len(X), None, seed)
        series[f"length_{length}"] = np.stack(
            [
                log_time_flow(network, X[member], y[member], start[member], taus, rtol=rtol, atol=atol).states
                for member in range(len(X))
            ]
        )
    return Trajectory(taus, series, {"X": X, "y": y})
