"""Gradient flow of a two-layer linear network, from orthogonal or Gaussian weights to its limit."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.errors import DivergenceError, ProjectError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def linear_flow(
    data: Arrays,
    *,
    init: Literal["orthogonal", "gaussian"],
    width: Count,
    gamma: Positive | None = None,
    variance: Positive | None = None,
    output_variance: Positive | None = None,
    horizon: Positive,
    points: Count,
    residual: Positive,
    patience: Positive,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from W1(0) = sqrt(2 gamma) P, or Gaussian W1(0), and W2(0) zero or Gaussian (eq. 2.4).

    The flow is recorded at `points` times from 0 to `horizon` and followed further, until the norm of
    X beta - Y falls below `residual` times that of Y, or to time `patience`; that end is kept as the limit.

    Parameters
    ----------
    data : dict
        X, shape (members, samples, inputs); Y, shape (members, samples, outputs).

    Returns
    -------
    Trajectory
        Series W1, W2; constants X, Y, P (of the orthogonal initialisation), limit_W1, limit_W2, limit_time.
    """
    X, Y = data["X"], data["Y"]
    members, _, inputs = X.shape
    outputs = Y.shape[-1]
    if inputs > width and init == "orthogonal":
        raise ProjectError(f"width {width} is below the {inputs} inputs: rows of W1 cannot be orthonormal; widen it")
    times = np.linspace(0.0, horizon, points)
    W1 = np.empty((members, points, inputs, width))
    W2 = np.empty((members, points, width, outputs))
    limit_W1, limit_W2 = np.empty((members, inputs, width)), np.empty((members, width, outputs))
    limit_time, P = np.empty(members), np.zeros((members, inputs, width))
    rngs = generators(seed, "two_layer.initialisation", members)
    for member, rng in enumerate(progress(rngs, "gradient flow")):
        if init == "orthogonal":
            P[member] = two_layer.orthonormal_rows(rng, inputs, width)
            start = np.sqrt(2 * _needed(gamma, "gamma", init)) * P[member]
        else:
            start = two_layer.gaussian_layer(rng, inputs, width, _needed(variance, "variance", init))
        start_W2 = np.zeros((width, outputs))
        if output_variance is not None:
            start_W2 = two_layer.gaussian_layer(rng, width, outputs, output_variance)
        bound = residual * float(np.linalg.norm(Y[member]))

        def converged(state: np.ndarray, member: int = member, bound: float = bound) -> bool:
            layers = two_layer.unpack(state, inputs, width, outputs)
            return bool(np.sqrt(2 * two_layer.loss(*layers, X[member], Y[member])) <= bound)

        try:
            flow = integrate(
                two_layer.flow_field(X[member], Y[member], width),
                two_layer.pack(start, start_W2),
                times,
                rtol=rtol,
                atol=atol,
                until=converged,
                last_time=patience,
            )
        except DivergenceError as error:
            raise DivergenceError(f"member {member}: {error}") from None
        W1[member], W2[member] = two_layer.unpack(flow.states, inputs, width, outputs)
        limit_W1[member], limit_W2[member] = two_layer.unpack(flow.final_state, inputs, width, outputs)
        limit_time[member] = flow.final_time
    constants = {"X": X, "Y": Y, "limit_W1": limit_W1, "limit_W2": limit_W2, "limit_time": limit_time}
    if init == "orthogonal":
        constants["P"] = P
    return Trajectory(times, {"W1": W1, "W2": W2}, constants)


def _needed(value: float | None, name: str, init: str) -> float:
    if value is None:
        raise ProjectError(f"init `{init}` needs `{name}`; add it to the run")
    return value
