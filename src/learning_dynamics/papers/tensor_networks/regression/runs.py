"""Limits of the flow of regression, and the functions that predict them (Theorems 4 and 6; Lemma 5.1)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.papers.tensor_networks import initialisation, tensor_network
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.squared_loss import squared_loss_field
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, outputs
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def interpolation(
    data: Arrays,
    *,
    network: Literal["diagonal", "convolutional", "decomposable"],
    weights: Literal["equal", "random"],
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
    step: Positive | None = None,
    seed: Seed,
) -> Trajectory:
    """Follow regression to its limit from v_l = alpha U_l eta for l < L and v_L = 0 (Theorem 4).

    With `step`, gradient descent is run as well, with steps of `step` divided by the curvature at the start
    or at the limit, whichever is larger.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets * scales, 1, parameters), and with `step`
        ``descent_<depth>``; constants ``eta_<depth>``, shape (data sets, m).
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for depth in depths:
        model = network_of(network, X.shape[-1], depth, seed)
        assert model.S is not None
        eta, starts = [], []
        for rng in generators(seed, f"weights.{network}", len(X)):
            drawn = np.ones(len(model.S)) if weights == "equal" else 0.5 + rng.uniform(size=len(model.S))
            if network == "convolutional":  # the transform of an even filter is even
                drawn = (drawn + np.roll(drawn[::-1], 1)) / 2
            eta.append(drawn)
            starts.append(np.concatenate([(vectors @ drawn).real for vectors in model.U]))
            starts[-1][model.bounds[-1][0] :] = 0.0
        states = [
            (X[member], y[member], scale * starts[member])
            for member in progress(range(len(X)), f"depth {depth}")
            for scale in scales
        ]
        limits = np.stack([_limit(model, *state, residual, rtol, atol) for state in states])
        series[f"flow_{depth}"] = limits[:, None]
        constants[f"eta_{depth}"] = np.stack(eta)
        if step is not None:
            series[f"descent_{depth}"] = np.stack(
                [_descended(model, *state, limit, step, residual) for state, limit in zip(states, limits, strict=True)]
            )[:, None]
    return Trajectory(np.zeros(1), series, constants)


def _descended(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    start: np.ndarray,
    limit: np.ndarray,
    step: float,
    residual: float,
) -> np.ndarray:
    """Return where gradient descent ends, with steps that are small against the inverse curvature."""
    tensors = network.data_tensor(X)
    curvature = 0.0
    for state in (start, limit):
        jacobian = np.stack([np.concatenate(contractions(tensor, network.layers(state))) for tensor in tensors])
        curvature = max(curvature, float(np.linalg.norm(jacobian, 2)) ** 2)
    run = descend(
        tensors,
        y,
        start[None],
        loss="squared",
        step=step / curvature,
        steps=10**9,
        tolerance=residual * np.max(np.abs(y)),
    )
    return run.final_states[0]


def deep_regression(
    data: Arrays,
    *,
    init: Literal["identity", "descending"],
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow regression with fully connected networks to its limit (Theorem 6).

    ``identity``: W_l = alpha I and w_L = 0; ``descending``: random layers that fulfil the conditions of Theorem 6.1.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets * scales, 1, parameters).
    """
    X, y = data["X"], data["y"]
    inputs = X.shape[-1]
    series = {}
    for depth in depths:
        network = tensor_network.fully_connected([inputs] * depth)
        found = []
        for member, rng in enumerate(generators(seed, "initial_direction.descending", len(X))):
            if init == "identity":
                start = np.concatenate([np.eye(inputs).ravel()] * (depth - 1) + [np.zeros(inputs)])
            else:
                start = initialisation.descending_matrices(rng, inputs, depth)
            found += [_limit(network, X[member], y[member], scale * start, residual, rtol, atol) for scale in scales]
        series[f"flow_{depth}"] = np.stack(found)[:, None]
    return Trajectory(np.zeros(1), series, {"X": X, "y": y})


def _limit(
    network: TensorNetwork, X: np.ndarray, y: np.ndarray, start: np.ndarray, residual: float, rtol: float, atol: float
) -> np.ndarray:
    """Return the state where gradient flow has brought every residual below `residual` times the largest label."""
    tensors = network.data_tensor(X)
    bound = residual * float(np.max(np.abs(y)))

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(outputs(tensors, network.layers(state)) - y)) <= bound)

    # no deadline: from a small scale the flow leaves the saddle at zero after a time like scale**(2 - depth)
    return integrate(
        squared_loss_field(tensors, y, network),
        start,
        np.zeros(1),
        rtol=rtol,
        atol=atol,
        method="LSODA",
        until=converged,
        last_time=1e30,
    ).final_state


def depth_functions(
    *, depths: list[Count], records: Count, last: Positive, rtol: Positive, atol: Positive
) -> Trajectory:
    """Integrate p' = p**(L-2) q, q' = p**(L-1) from (1, 0), both ways in time, until |q| passes `last` (Lemma 5.1).

    Returns
    -------
    Trajectory
        Time is the fraction of the way. Series ``state``, shape (2 * depths, times, 2), p and q, forward and
        backward in time for each depth; the constant ``reached``, shape (2 * depths,), the time at which |q|
        passes `last`.
    """
    fractions = np.linspace(0, 1, records)
    states, reached = [], []
    for depth in depths:
        for sign in (1.0, -1.0):

            def field(_time: float, state: np.ndarray, depth: int = depth, sign: float = sign) -> list[float]:
                p, q = state
                return [sign * p ** (depth - 2) * q, sign * p ** (depth - 1)]

            def passed(_time: float, state: np.ndarray) -> float:
                return abs(state[1]) - last

            passed.terminal = True  # type: ignore[attr-defined]
            # |q| grows at least like sinh t, so that it passes `last` in this time
            found = solve_ivp(
                field,
                (0, np.arcsinh(last) + 1),
                [1.0, 0.0],
                method="DOP853",
                events=passed,
                dense_output=True,
                rtol=rtol,
                atol=atol,
            )
            end = found.t_events[0][0]
            states.append(found.sol(fractions * end).T)
            reached.append(sign * end)
    return Trajectory(fractions, {"state": np.stack(states)}, {"reached": np.array(reached)})
