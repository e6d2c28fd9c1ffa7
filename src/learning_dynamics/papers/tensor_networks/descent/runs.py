"""Gradient descent of two-layer networks that all start at the same coefficients (Section 6; Theorem 5)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.initial_directions import initial_directions
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def descent(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional"]],
    loss: Literal["squared", "exponential"],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    step: Positive,
    steps: Count,
    records: Count,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent on two-layer networks that all start at the same coefficients alpha**2 zbar_j (section 6).

    Returns
    -------
    Trajectory
        Time is the number of steps. One series for each network, shape (scales * directions, times,
        parameters), directions varying fastest.
    """
    X, y = data["X"][0], data["y"][0]
    spread = np.linspace(0, steps, records) if loss == "squared" else np.geomspace(1, steps + 1, records) - 1
    when = np.unique(np.round(spread).astype(int))
    series: Arrays = {}
    for architecture in networks:
        network = network_of(architecture, X.shape[1], 2, seed)
        start = initial_directions(network, architecture, "coefficients", directions, imbalance, seed)
        initial = np.concatenate([scale * start for scale in scales])
        run = descend(network.data_tensor(X), y, initial, loss=loss, step=step, steps=steps, records=when)
        series[architecture] = run.states
    return Trajectory(when.astype(float), series, {"X": X, "y": y})


def step_sizes(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional"]],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    steps: list[Positive],
    duration: Positive,
    tolerance: Positive,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent to its limit with several step sizes.

    Every run has the same length in time, `duration`, or ends when no residual exceeds `tolerance`.

    Returns
    -------
    Trajectory
        For each network, ``<network>``, shape (steps * scales * directions, 1, parameters), the limits, and
        the constant ``initial/<network>``, the same shape without times.
    """
    X, y = data["X"][0], data["y"][0]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for architecture in networks:
        network = network_of(architecture, X.shape[1], 2, seed)
        start = initial_directions(network, architecture, "coefficients", directions, imbalance, seed)
        initial = np.concatenate([scale * start for scale in scales])
        limits = [
            descend(
                network.data_tensor(X), y, initial,
                loss="squared", step=step, steps=round(duration / step), tolerance=tolerance,
            ).final_states
            for step in progress(steps, f"{architecture}: step sizes")
        ]  # fmt: skip
        series[architecture] = np.concatenate(limits)[:, None]
        constants[f"initial/{architecture}"] = np.concatenate([initial] * len(steps))
    return Trajectory(np.array([duration]), series, constants)
