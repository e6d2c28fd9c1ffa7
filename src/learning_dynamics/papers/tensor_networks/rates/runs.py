"""The loss along the flow, from starts whose layers differ by exactly what the bounds assume."""

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.papers.tensor_networks.architectures import Common, networks_of
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flows
from learning_dynamics.papers.tensor_networks.rates.theory import decomposable_constant, matrix_constant
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm
from learning_dynamics.papers.tensor_networks.squared_flow import flow_states
from learning_dynamics.papers.tensor_networks.starts import (
    Weights,
    factors,
    undecided,
    weighted_layers,
    weighted_matrices,
)
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.settings import Count, Positive, Real, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def exponential_loss(
    data: Arrays,
    *,
    networks: list[Literal["diagonal", "convolutional"]],
    depths: list[Count],
    imbalance: Positive,
    margins: list[Real],
    last: Positive,
    records: Count,
    integration: Tolerances,
    seed: Seed,
) -> Trajectory:
    """Follow the exponential loss from coefficients that are each of `margins` times the l2 max-margin classifier.

    The margins y_i x_i^T z of this classifier z are at least one, and one at the support vectors. The least margin of a
    start is therefore its factor, the start's margin; for a negative factor only if all points are support vectors.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)). Series ``<network>_<depth>``, shape (data sets * margins, times, parameters),
        margins varying fastest: the layers v_1, ..., v_L in one vector, divided by (1 + log(1 + t))^(1/L). Constants X,
        shape (data sets, samples, inputs), y, shape (data sets, samples), and the classifiers best, shape (data sets,
        inputs).
    """
    X, y = data["X"], data["y"]
    log_log_times = np.linspace(0.0, last, records)
    # `exponential_flow` caps the exponent of the loss. The cap changes it by at most exp(last) / sharpness of itself,
    # which is rtol^(1/4) / 1000 here. Both numbers are chosen: the exponent is then nearly the loss's, and `sharpness`
    # far below 1 / rtol, which no integrator passes.
    sharpness = 1e3 * float(np.exp(last)) / integration.rtol**0.25
    exact = Accuracy(rtol=integration.rtol, atol=integration.atol, sharpness=sharpness)
    best = np.array([minimum_norm(*data_set, "l2", classification=True) for data_set in zip(X, y, strict=True)])
    series: Arrays = {}
    for network in networks_of(networks, depths, X.shape[-1], seed):
        name, depth = network.name, network.depth
        starts = [[factors(name, margin * beta, imbalance, depth) for margin in margins] for beta in best]
        series[f"{name}_{depth}"] = exponential_flows(
            network, X, y, np.array(starts), log_log_times=log_log_times, integration=exact
        )
    return Trajectory(log_log_times, series, {"X": X, "y": y, "best": best}, undecided=undecided(series))


def squared_loss(
    data: Arrays,
    *,
    networks: list[Common],
    depths: list[Count],
    weights: Weights,
    scales: list[Positive],
    integration: Span,
    seed: Seed,
) -> Trajectory:
    """Follow regression from starts of each of `scales`, which fulfil the conditions of Theorems 4 or 6.1.

    The last layer is zero. The others are alpha eta in singular coordinates, with the scale alpha and the weights eta
    (`weighted_layers`). Of fully connected networks the matrices have the singular values alpha |eta_j|
    (`weighted_matrices`).

    Returns
    -------
    Trajectory
        Time is in units of 1 / (2 alpha^(2L-2) lambda^(L-1) s_min(S)^2 s_min(X)^2), one over the rate of (62), without
        S for fully connected networks. Series ``<network>_<depth>``, shape (data sets, times, scales, samples): the
        residuals f(x_i) - y_i. Constants X, shape (data sets, samples, inputs), y, shape (data sets, samples), and
        ``imbalance_<network>_<depth>``, shape (data sets, 2): lambda, and the largest number in its place
        (`_starts`).
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for network in networks_of(networks, depths, X.shape[-1], seed):
        starts, imbalances = _starts(network, weights, len(X), seed)
        residuals = [
            [
                _residuals(network, *data_set, start=start, imbalance=least, scale=scale, integration=integration)
                for scale in scales
            ]
            for *data_set, start, (least, _) in zip(X, y, starts, imbalances, strict=True)
        ]
        # from (data sets, scales, times, samples)
        series[f"{network.name}_{network.depth}"] = np.swapaxes(residuals, 1, 2)
        constants[f"imbalance_{network.name}_{network.depth}"] = imbalances
    return Trajectory(integration.times, series, constants)


def _starts(network: TensorNetwork, weights: Weights, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return starts of scale one, shape (count, parameters), and their imbalances, shape (count, 2).

    The imbalances are the least and the largest square of a weight. The least is the theorems' lambda.
    """
    draw = weighted_matrices if network.name == "fully_connected" else weighted_layers
    eta, starts = draw(network, weights, count, seed)
    return starts, np.stack([(eta**2).min(axis=1), (eta**2).max(axis=1)], axis=1)


def _residuals(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    *,
    start: np.ndarray,
    imbalance: float,
    scale: float,
    integration: Span,
) -> np.ndarray:
    """Return f(x_i) - y_i on one data set from the start times the scale, shape (times, samples)."""
    if network.name == "fully_connected":
        constant = matrix_constant(network.depth, scale, imbalance)
    else:
        constant = decomposable_constant(network, scale, imbalance)
    rate = 2 * constant * float(np.linalg.svd(X, compute_uv=False)[-1]) ** 2
    states = flow_states(network, X, y, scale * start, times=integration.times / rate, integration=integration)
    return network.coefficients(states) @ X.T - y
