"""Networks of two layers that all start at the same coefficients (section 6), and with any data tensor (Theorem 5).

A direction is a start at scale one; a start is a direction times a scale.
"""

import functools
from dataclasses import replace
from typing import Literal

import numpy as np

from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.papers.tensor_networks.architectures import Common, networks_of
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, flow_limits
from learning_dynamics.papers.tensor_networks.starts import given_coefficients, starts_within_condition, undecided
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def descent(
    data: Arrays,
    *,
    networks: list[Common],
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
        Time is the number of steps. One series for each network, shape (scales * directions, times, parameters),
        directions varying fastest; constants X, shape (samples, inputs), and y, shape (samples,), of the first data
        set, the only one that is used.
    """
    X, y = data["X"][0], data["y"][0]
    # from 0 to `steps`, equally far apart in the logarithm of one more than the step
    recorded_steps = np.unique(np.round(np.geomspace(1, steps + 1, records) - 1).astype(int))
    series: Arrays = {}
    for network in networks_of(networks, depths=[2], inputs=X.shape[1], seed=seed):
        initial = given_coefficients(network, scales, directions, imbalance=imbalance, seed=seed)
        run = descend(network.data_tensor(X), y, initial, loss=loss, step=step, steps=steps, records=recorded_steps)
        series[network.name] = run.states
    return Trajectory(recorded_steps.astype(float), series, {"X": X, "y": y})


def step_sizes(
    data: Arrays,
    *,
    networks: list[Common],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    step_sizes: list[Positive],
    duration: Positive,
    tolerance: Positive,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent to its limit with several step sizes.

    Every run takes `duration` in units of time, the step size times the number of steps, or ends before that when no
    residual exceeds `tolerance`. Only the first data set is used.

    Returns
    -------
    Trajectory
        For each network the series ``<network>``, shape (scales * directions, step sizes, parameters), the limits, with
        the step size in place of time, and the constant ``initial/<network>``, shape (scales * directions, parameters),
        the starts. Directions vary fastest. Constants X, shape (samples, inputs), and y, shape (samples,).
    """
    X, y = data["X"][0], data["y"][0]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for network in networks_of(networks, depths=[2], inputs=X.shape[1], seed=seed):
        initial = given_coefficients(network, scales, directions, imbalance=imbalance, seed=seed)
        follow = functools.partial(descend, network.data_tensor(X), y, initial, loss="squared", tolerance=tolerance)
        limits = [
            follow(step=step, steps=round(duration / step)).final_states
            for step in progress(step_sizes, f"{network.name}: step sizes")
        ]
        series[network.name] = np.stack(limits, axis=1)
        constants[f"initial/{network.name}"] = initial
    return Trajectory(np.array(step_sizes), series, constants)


def any_tensor(
    data: Arrays,
    *,
    networks: list[Literal["general", "short_filters", "convolutional", "diagonal", "decomposable"]],
    scales: list[Positive],
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of two layers on one data point to its limit, from random layers within Theorem 5's condition.

    Returns
    -------
    Trajectory
        For each network a series, shape (data sets, scales, parameters), the limits, with the scale in place of time,
        and the constant ``initial/<network>``, shape (data sets, parameters), the directions. A data set is one point:
        constants X, shape (data sets, 1, inputs), and y, shape (data sets, 1).
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for network in networks_of(networks, depths=[2], inputs=X.shape[-1], seed=seed):
        starts = starts_within_condition(network, X, f"initial_direction.{network.name}", seed)
        series[network.name] = flow_limits(network, X, y, starts, scales=scales, integration=integration)
        constants[f"initial/{network.name}"] = starts
    return Trajectory(np.array(scales), series, constants, undecided=undecided(series))


def from_many_directions(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "general", "short_filters", "convolutional", "diagonal"]],
    scales: list[Positive],
    directions: Count,
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of two layers on one data point to its limit from many directions, at very small scales too.

    The integrator's absolute tolerance is atol times the scale.

    Returns
    -------
    Trajectory
        For each network a series, shape (data sets, scales, directions, parameters), the limits, with the scale in
        place of time, and the constant ``initial/<network>``, shape (data sets, directions, parameters). A data set is
        one point: constants X, shape (data sets, 1, inputs), and y, shape (data sets, 1).
    """
    # each data set once for each direction, directions varying fastest
    X, y = (np.repeat(data[name], directions, axis=0) for name in ("X", "y"))
    series: Arrays = {}
    constants = {name: data[name] for name in ("X", "y")}
    for network in networks_of(networks, depths=[2], inputs=X.shape[-1], seed=seed):
        starts = starts_within_condition(network, X, f"initial_direction.many.{network.name}", seed)
        limits = [
            flow_limits(
                network, X, y, starts, scales=[scale], integration=replace(integration, atol=integration.atol * scale)
            )
            for scale in scales
        ]
        # each of `limits` is (data sets * directions, 1, parameters), directions varying fastest, as in X
        by_direction = np.concatenate(limits, axis=1).reshape(-1, directions, len(scales), starts.shape[-1])
        series[network.name] = by_direction.swapaxes(1, 2)
        constants[f"initial/{network.name}"] = starts.reshape(-1, directions, starts.shape[-1])
    return Trajectory(np.array(scales), series, constants, undecided=undecided(series))
