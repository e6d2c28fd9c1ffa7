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
    """Follow the flow of classification from Gaussian layers, one of them zero, one draw for each data set.

    Where none is zero, two layers of an orthogonally decomposable network start within the condition of Theorem 2.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): `records` up to `last`, which is then doubled as often as `doublings` says, with a
        record each. One series for each network, shape (data sets, times, parameters): the layers divided by
        (1 + log(1 + t))^(1/L). Constants X, shape (data sets, samples, inputs), and y, shape (data sets, samples).

    Raises
    ------
    ProjectError
        If no layer is zero and the network is not one of two decomposable layers, or the middle one of two layers is.
    """
    if zero == "none" and not (depth == 2 and {"diagonal", "convolutional", "decomposable"}.issuperset(networks)):
        raise ProjectError("zero: none takes two layers of networks that are diagonal, convolutional or decomposable")
    if zero == "middle" and depth < 3:
        raise ProjectError("zero: there is no middle layer below a depth of three")
    X, y = data["X"], data["y"]
    log_log_times = recorded_log_log_times(last, records, doublings)
    series: Arrays = {}
    for network in networks_of(networks, [depth], X.shape[-1], seed):
        starts = _starts(network, X, zero, seed)
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

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): zero, `last`, and its doublings. Series ``<network>_<depth>``, shape (data
        sets, times, starts, parameters): the layers divided by (1 + log(1 + t))^(1/L).
    """
    X, y = data["X"], data["y"]
    log_log_times = np.concatenate([[0.0], last * 2.0 ** np.arange(doublings + 1)])
    series: Arrays = {}
    for network in networks_of(networks, depths, X.shape[-1], seed):
        initial = np.stack([scale * zero_last(network, starts, seed)] * len(X))
        states = exponential_flows(network, X, y, initial, log_log_times=log_log_times, integration=integration)
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
        As in `from_random_layers`; series of shape (data sets * scales * directions, times, parameters), directions
        varying fastest.
    """
    X, y = data["X"], data["y"]
    log_log_times = np.linspace(0.0, last, records)
    series: Arrays = {}
    for network in networks_of(networks, [2], X.shape[-1], seed):
        starts = given_coefficients(network, scales, directions, imbalance=imbalance, seed=seed)
        series[network.name] = exponential_flows(
            network, X, y, np.stack([starts] * len(X)), log_log_times=log_log_times, integration=integration
        )
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))


def from_opposed_layers(data: Arrays, *, scales: list[Positive], integration: Span, seed: Seed) -> Trajectory:
    """Follow two diagonal layers on one point from second layers that are the first's with every sign wrong (Remark 2).

    Both layers keep that relation exactly: every operation on one is the negative of that on the other. Here time is t
    itself: the loss does not vanish, so that `exponential_flow`, in the logarithm of a growing log t, has no use.

    Returns
    -------
    Trajectory
        Time is t. Series ``states``, shape (data sets * scales, times, parameters).
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
            return np.exp(-push[0] @ network.layers(state)[0]) * np.concatenate(push)

        paths += [
            integrate(field, scale * start, integration.times, rtol=integration.rtol, atol=integration.atol).states
            for scale in scales
        ]
    return Trajectory(integration.times, {"states": np.stack(paths)}, {"X": X, "y": y})


def _starts(network: TensorNetwork, X: np.ndarray, zero: str, seed: int) -> np.ndarray:
    """Return one start for each data set, shape (data sets, parameters)."""
    if zero == "none":
        # a decomposable network's M(x) has the same singular vectors for all x: those of the first points are taken
        return starts_within_condition(network, X[:, :1], f"initial_direction.within.{network.name}", seed)
    starts = zero_last(network, len(X), seed)
    if zero == "last":
        return starts
    return _with_another_zero(network, starts, {"first": 0, "middle": network.depth // 2}[zero], seed)


def _with_another_zero(network: TensorNetwork, starts: np.ndarray, layer: int, seed: int) -> np.ndarray:
    """Return starts with the layer of that number zero instead of the last, which is drawn, shape (starts, parameters).

    `starts` have the last layer zero.
    """
    (first, stop), (last, end) = network.bounds[layer], network.bounds[-1]
    changed_starts = starts.copy()
    changed_starts[:, first:stop] = 0.0
    for state, rng in zip(changed_starts, generators(seed, "initial_direction.last", len(starts)), strict=True):
        state[last:end] = rng.standard_normal(end - last)
    return changed_starts
