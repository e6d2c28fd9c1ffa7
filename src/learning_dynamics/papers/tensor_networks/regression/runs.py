"""Limits of the flow of regression, and the functions that predict them (Theorem 4; Lemma 5.1)."""

import functools
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, flow_limit
from learning_dynamics.papers.tensor_networks.starts import Weights, undecided, weighted_layers
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory

Decomposable = Literal["diagonal", "convolutional", "decomposable"]


def interpolation(
    data: Arrays,
    *,
    network: Decomposable,
    weights: Weights,
    depths: list[Count],
    scales: list[Positive],
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Follow regression to its limit from v_l = alpha U_l eta for l < L and v_L = 0 (Theorem 4).

    U_l are the network's singular vectors, and alpha is each of `scales`. Entries of eta are one with equal `weights`,
    else random.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets, scales, parameters), the limits, with the scale in
        place of time; constants ``eta_<depth>``, shape (data sets, m), X, shape (data sets, samples, inputs), and y,
        shape (data sets, samples).
    """
    limit = functools.partial(flow_limit, integration=integration)
    trajectory = _limits(data, network=network, weights=weights, depths=depths, scales=scales, seed=seed, limit=limit)
    trajectory.undecided = undecided(trajectory.series)
    return trajectory


def interpolation_by_descent(
    data: Arrays,
    *,
    network: Decomposable,
    weights: Weights,
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    step: Positive,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent where `interpolation` follows the flow, with steps of `step` in units of 1 / curvature.

    The curvature is an estimate of the largest on the way, for each data set and scale (`_descent_limit`). The
    trajectory is as `interpolation` returns it.
    """
    limit = functools.partial(_descent_limit, step=step, residual=residual)
    return _limits(data, network=network, weights=weights, depths=depths, scales=scales, seed=seed, limit=limit)


def _limits(
    data: Arrays,
    *,
    network: str,
    weights: Weights,
    depths: list[int],
    scales: list[float],
    seed: int,
    limit: Callable[[TensorNetwork, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Trajectory:
    """Return the trajectory of limits of all data sets at all scales.

    `limit` takes a network, the inputs X and labels y of one data set, and a start, and returns a state.
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for depth in depths:
        model = network_of(network, X.shape[-1], depth, seed)
        eta, starts = weighted_layers(model, weights, len(X), seed)
        series[f"flow_{depth}"] = np.stack(
            [
                [limit(model, X[member], y[member], scale * starts[member]) for scale in scales]
                for member in progress(range(len(X)), f"depth {depth}")
            ]
        )
        constants[f"eta_{depth}"] = eta
    return Trajectory(np.array(scales), series, constants)


def _descent_limit(
    network: TensorNetwork, X: np.ndarray, y: np.ndarray, start: np.ndarray, *, step: float, residual: float
) -> np.ndarray:
    """Return where gradient descent ends, with steps of `step` in units of the inverse curvature.

    The curvature is the largest eigenvalue of J^T J, with J the derivatives of all outputs by all parameters. It is
    taken where every parameter is its start enlarged by one size for all, that of layers which give the labels.
    """
    tensors = network.data_tensor(X)
    # layers whose entries all have this size give outputs of the order of the largest label; an estimate, not a bound
    size = (np.max(np.abs(y)) / np.linalg.norm(X, axis=1).min()) ** (1 / network.depth)
    largest = start + np.where(start == 0.0, size, np.sign(start) * size)
    jacobian = np.stack([np.concatenate(contractions(tensor, network.layers(largest))) for tensor in tensors])
    curvature = float(np.linalg.norm(jacobian, 2)) ** 2
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


def depth_functions(*, depths: list[Count], records: Count, last: Positive, integration: Tolerances) -> Trajectory:
    """Integrate p' = p**(L-2) q, q' = p**(L-1) from (1, 0), both ways in time, until |q| passes `last` (Lemma 5.1).

    Returns
    -------
    Trajectory
        Time is the fraction of the time at which |q| passes `last`. Series ``state``, shape (2 * depths, times, 2), p
        and q, for each depth first forward and then backward in time; the constant ``reached``, shape (2 * depths,),
        the time at which |q| passes `last`, negative backward.

    Raises
    ------
    ProjectError
        If the time at which |q| passes `last` is within rounding of that at which q becomes infinite. The time between
        the two is of the order of ``last ** (2 - depth)``.
    """
    fractions = np.linspace(0, 1, records)
    states, passing_times = [], []
    for depth in depths:
        for sign in (1.0, -1.0):

            def field(_time: float, state: np.ndarray, depth: int = depth, sign: float = sign) -> list[float]:
                p, q = state
                return [sign * p ** (depth - 2) * q, sign * p ** (depth - 1)]

            def passes_last(_time: float, state: np.ndarray) -> float:
                return abs(state[1]) - last

            passes_last.terminal = True  # type: ignore[attr-defined]
            # |q| grows at least like sinh t, so that it passes `last` in less than this time. Backward, rtol is a
            # third, chosen, to keep the two integrations from being each other's mirror image.
            solution = solve_ivp(
                field,
                (0, np.arcsinh(last) + 1),
                [1.0, 0.0],
                method="DOP853",
                events=passes_last,
                dense_output=True,
                rtol=integration.rtol / (1 if sign > 0 else 3),
                atol=integration.atol,
            )
            if not len(solution.t_events[0]):
                raise ProjectError(f"depth {depth}: q passes {last:g} within rounding of its blow-up; lower `last`")
            end = solution.t_events[0][0]
            states.append(solution.sol(fractions * end).T)
            passing_times.append(sign * end)
    return Trajectory(fractions, {"state": np.stack(states)}, {"reached": np.array(passing_times)})
