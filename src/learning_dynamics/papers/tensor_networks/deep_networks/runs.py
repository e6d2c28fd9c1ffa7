"""Limits of deep fully connected networks in regression (Theorem 6)."""

from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks.deep_networks.flow import flow_limit
from learning_dynamics.papers.tensor_networks.squared_flow import Limit
from learning_dynamics.papers.tensor_networks.starts import descending_matrices, identity_layers, undecided
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory

Init = Literal["identity", "descending", "gaussian", "silent"]


def deep_regression(
    data: Arrays,
    *,
    init: Init,
    depths: list[Count],
    scales: list[Positive],
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Follow regression with fully connected networks to its limit (Theorem 6), from one of these starts.

    - identity: W_l = alpha I and w_L = 0.
    - descending: random layers that fulfil the conditions of Theorem 6.1.
    - gaussian: Gaussian layers, which need not fulfil these conditions.
    - silent: the layers of descending, but the last two are zero. The conditions still hold, except that lambda, which
      they want positive, is zero. The start is a saddle: no layer has a gradient, so that the network's output stays
      zero.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets, scales, parameters), the limits, with the scale in
        place of time; nan where the integrator gave up. Constants ``start_<depth>``, shape (data sets, parameters), the
        layers at alpha = 1; ``path_<depth>``, shape (data sets, scales, times, parameters), the states at the times
        `flow.RECORDED`; X, shape (data sets, samples, inputs), and y, shape (data sets, samples).
    """
    X, y = data["X"], data["y"]
    inputs = X.shape[-1]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for depth in depths:
        starts, limits, paths = [], [], []
        label = f"initial_direction.{init}"
        for member, rng in enumerate(progress(generators(seed, label, len(X)), f"depth {depth}")):
            start = _initial_layers(init, rng, inputs, depth)
            starts.append(start)
            flows = [flow_limit(X[member], y[member], scale * start, integration) for scale in scales]
            limits.append([limit for limit, _ in flows])
            paths.append([path for _, path in flows])
        series[f"flow_{depth}"] = np.array(limits)
        constants[f"path_{depth}"] = np.array(paths)
        constants[f"start_{depth}"] = np.stack(starts)
    return Trajectory(np.array(scales), series, constants, undecided=undecided(series))


def _initial_layers(init: Init, rng: np.random.Generator, inputs: int, depth: int) -> np.ndarray:
    """Return all layers at alpha = 1, shape (parameters,)."""
    if init == "identity":
        return identity_layers(inputs, depth)
    if init == "gaussian":
        return rng.standard_normal((depth - 1) * inputs**2 + inputs) / np.sqrt(inputs)
    layers = descending_matrices(rng, inputs, depth)
    if init == "silent":
        # W_(L-1) and w_L are the last entries of the state
        layers[-inputs - inputs**2 :] = 0.0
    return layers


def dominated_layers(*, depths: list[Count], size: Count, draws: Count, seed: Seed) -> Trajectory:
    """Draw square layers that fulfil the conditions of Theorem 6.1 and are random otherwise.

    They are drawn from the last to the first. ``W_(L-1)^T W_(L-1)`` is ``w_L w_L^T`` plus a random positive definite
    matrix, and each ``W_l^T W_l`` before it is ``W_(l+1) W_(l+1)^T`` plus another one.

    Returns
    -------
    Trajectory
        Members are draws, and there is one time. Series ``matrices_<depth>``, shape (draws, 1, depth - 1, size, size):
        W_1, ..., W_(L-1); and ``last_<depth>``, shape (draws, 1, size): w_L.
    """
    series: Arrays = {}
    for depth in depths:
        matrices, last = np.empty((draws, 1, depth - 1, size, size)), np.empty((draws, 1, size))
        for draw, rng in enumerate(generators(seed, f"initial_direction.dominated.{depth}", draws)):
            last[draw, 0] = rng.standard_normal(size)
            gram = np.outer(last[draw, 0], last[draw, 0])  # w_L w_L^T, then W_(l+1) W_(l+1)^T for the layer before
            for layer in reversed(range(depth - 1)):
                added = rng.standard_normal((size, size))
                values, vectors = np.linalg.eigh(gram + added @ added.T)
                # a random one of all matrices W with W^T W = gram + added added^T
                rotation = np.linalg.qr(rng.standard_normal((size, size)))[0]
                matrices[draw, 0, layer] = (rotation * np.sqrt(values)) @ vectors.T
                gram = matrices[draw, 0, layer] @ matrices[draw, 0, layer].T
        series[f"matrices_{depth}"], series[f"last_{depth}"] = matrices, last
    return Trajectory(np.zeros(1), series)
