"""The flow of classification to its limit (Theorems 1 and 2; Corollaries 1 to 3; Remarks 2 and 3)."""

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span, integrate
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.architectures import Common, networks_of
from learning_dynamics.papers.tensor_networks.exponential_flow import (
    Accuracy,
    exponential_flows,
    recorded_log_log_times,
)
from learning_dynamics.papers.tensor_networks.starts import (
    given_coefficients,
    starts_within_condition,
    undecided,
    zero_last,
)
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def from_random_layers(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional", "short_filters", "decomposable", "general"]],
    depth: Count,
    scale: Positive,
    zero: Literal["first", "middle", "last", "none"],
    last: Positive,
    records: Count,
    doublings: Count,
    integration: Accuracy,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of classification from Gaussian layers, one of which is zero, from one start for each data set.

    `zero` says which layer that is. With `none`, two layers of an orthogonally decomposable network start within the
    condition of Theorem 2.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): `records` times up to `last`, then `last` times 2, 4, ..., 2^`doublings`. One
        series for each network, shape (data sets, times, parameters): the layers v_1, ..., v_L in one vector, divided
        by (1 + log(1 + t))^(1/L). Constants X, shape (data sets, samples, inputs), and y, shape (data sets, samples).

    Raises
    ------
    ProjectError
        If `zero` is `none` but the networks are not of two orthogonally decomposable layers, or `middle` but there are
        two layers.
    """
    if zero == "none" and not (depth == 2 and {"diagonal", "convolutional", "decomposable"}.issuperset(networks)):
        raise ProjectError("zero: none takes two layers of networks that are diagonal, convolutional or decomposable")
    if zero == "middle" and depth < 3:
        raise ProjectError("zero: there is no middle layer below a depth of three")
    X, y = data["X"], data["y"]
    log_log_times = recorded_log_log_times(last, records, doublings)
    series: Arrays = {}
    for network in networks_of(networks, depths=[depth], inputs=X.shape[-1], seed=seed):
        starts = _starts(network, X, zero, seed)
        # one start for each data set: shape (data sets, 1, parameters)
        series[network.name] = exponential_flows(
            network, X, y, scale * starts[:, None], log_log_times=log_log_times, integration=integration
        )
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))


def from_many_starts(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional", "decomposable", "filter_3", "general"]],
    depths: list[Count],
    starts: Count,
    scale: Positive,
    last: Positive,
    doublings: Count,
    integration: Accuracy,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of classification of each data set from many starts: Gaussian layers, the last one zero.

    All data sets have the same starts.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): zero, and `last` times 1, 2, 4, ..., 2^`doublings`. Series ``<network>_<depth>``,
        shape (data sets, times, starts, parameters): the layers divided by (1 + log(1 + t))^(1/L). Constants X and y as
        in `from_random_layers`.
    """
    X, y = data["X"], data["y"]
    log_log_times = np.concatenate([[0.0], last * 2.0 ** np.arange(doublings + 1)])
    series: Arrays = {}
    for network in networks_of(networks, depths, X.shape[-1], seed):
        initial = np.stack([scale * zero_last(network, starts, seed)] * len(X))
        states = exponential_flows(network, X, y, initial, log_log_times=log_log_times, integration=integration)
        # from (data sets * starts, times, parameters), starts varying fastest
        by_start = states.reshape(len(X), starts, len(log_log_times), -1)
        series[f"{network.name}_{network.depth}"] = by_start.swapaxes(1, 2)
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))


def from_coefficients(
    data: Arrays,
    *,
    networks: list[Common],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    last: Positive,
    records: Count,
    integration: Accuracy,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of two layers from the coefficients alpha**2 zbar_j that all networks share (section 6).

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): `records` times evenly spaced from 0 to `last`. One series for each network, shape
        (data sets * scales * directions, times, parameters), directions varying fastest: the layers divided by
        (1 + log(1 + t))^(1/2). Constants X and y as in `from_random_layers`.
    """
    X, y = data["X"], data["y"]
    log_log_times = np.linspace(0.0, last, records)
    series: Arrays = {}
    for network in networks_of(networks, depths=[2], inputs=X.shape[-1], seed=seed):
        starts = given_coefficients(network, scales, directions, imbalance=imbalance, seed=seed)
        series[network.name] = exponential_flows(
            network, X, y, np.stack([starts] * len(X)), log_log_times=log_log_times, integration=integration
        )
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))


def from_opposed_layers(data: Arrays, *, scales: list[Positive], integration: Span, seed: Seed) -> Trajectory:
    """Follow two diagonal layers on one point from entries of equal size whose product has every sign wrong (Remark 2).

    The second layer is -sign(y x_j) times the first, entry by entry. The flow keeps this relation exactly, in rounding
    too: up to these signs, every operation on one layer is also done on the other. Time is t itself, not its double
    logarithm as elsewhere: `exponential_flow` is for losses that vanish, and this one does not.

    Returns
    -------
    Trajectory
        Time is t. Series ``states``, shape (data sets * scales, times, parameters), scales varying fastest: both layers
        in one vector, not divided by anything. Constants X, shape (data sets, 1, inputs), and y, shape (data sets, 1).
    """
    X, y = data["X"], data["y"]
    network = tensor_network.diagonal(X.shape[-1], 2)
    paths = []
    for member, rng in enumerate(generators(seed, "initial_direction.opposed", len(X))):
        signed = y[member, 0] * X[member, 0]  # y x
        tensor = network.data_tensor(signed)
        first_layer = rng.standard_normal(len(signed))
        start = np.concatenate([first_layer, -np.sign(signed) * first_layer])

        def field(_time: float, state: np.ndarray, tensor: np.ndarray = tensor) -> np.ndarray:
            push = contractions(tensor, network.layers(state))  # the gradients of y f(x) by both layers
            # y f(x) is the first of them times the first layer
            return np.exp(-push[0] @ network.layers(state)[0]) * np.concatenate(push)

        paths += [
            integrate(field, scale * start, integration.times, rtol=integration.rtol, atol=integration.atol).states
            for scale in scales
        ]
    return Trajectory(integration.times, {"states": np.stack(paths)}, {"X": X, "y": y})


def _starts(network: TensorNetwork, X: np.ndarray, zero: str, seed: int) -> np.ndarray:
    """Return one start for each data set, shape (data sets, parameters)."""
    if zero == "none":
        # M(x) of an orthogonally decomposable network has the same singular vectors for all x: layers within the
        # condition for the first point of a data set are within it for all
        return starts_within_condition(network, X[:, :1], f"initial_direction.within.{network.name}", seed)
    starts = zero_last(network, len(X), seed)
    if zero == "last":
        return starts
    return _with_another_zero(network, starts, {"first": 0, "middle": network.depth // 2}[zero], seed)


def _with_another_zero(network: TensorNetwork, starts: np.ndarray, layer: int, seed: int) -> np.ndarray:
    """Return starts in which layer number `layer`, from 0, is zero and the last one is drawn.

    They are made from `starts`, in which the last layer is zero. Both have the shape (starts, parameters).
    """
    (first, stop), (last, end) = network.bounds[layer], network.bounds[-1]
    changed_starts = starts.copy()
    changed_starts[:, first:stop] = 0.0
    for state, rng in zip(changed_starts, generators(seed, "initial_direction.last", len(starts)), strict=True):
        state[last:end] = rng.standard_normal(end - last)
    return changed_starts
