"""Gradient flow of each draw to its limit, nan where the integrator cannot get through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.trajectory import Arrays, Trajectory

# from a generator: W1(0), W2(0), and the rows P that W1 starts along (zeros where there are none)
Start = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


def followed(
    field: Callable[[float, np.ndarray], np.ndarray],
    initial: np.ndarray,
    times: np.ndarray,
    *,
    rtol: float,
    atol: float,
    until: Callable[[np.ndarray], bool] | None = None,
    last_time: float = np.inf,
) -> Flow:
    """Return the flow with its steps ending on the recorded times; nan throughout, with 0 steps, if it diverges."""
    try:
        return integrate(field, initial, times, rtol=rtol, atol=atol, until=until, last_time=last_time, land=True)
    except DivergenceError:
        return Flow(np.full((len(times), len(initial)), np.nan), np.full(len(initial), np.nan), np.nan, 0, 0)


def to_the_limit(
    data: Arrays,
    start: Start,
    width: int,
    horizon: float,
    points: int,
    residual: float,
    patience: float,
    rtol: float,
    atol: float,
    seed: int,
) -> Trajectory:
    """Follow the gradient flow of each draw from where `start` puts it; see `flow.linear_flow` for the settings."""
    X, Y = data["X"], data["Y"]
    members, _, inputs = X.shape
    outputs = Y.shape[-1]
    times, kept = np.linspace(0.0, horizon, points), min(width, inputs + outputs)
    W1, W2 = np.empty((members, points, inputs, kept)), np.empty((members, points, kept, outputs))
    limit_W1, limit_W2 = np.empty((members, inputs, kept)), np.empty((members, kept, outputs))
    limit_time, P = np.empty(members), np.zeros((members, inputs, kept))
    steps = np.zeros(members, dtype=int)
    for member, rng in enumerate(progress(generators(seed, "two_layer.initialisation", members), "gradient flow")):
        first, second, along = start(rng)
        Q = two_layer.hidden_basis(first, second)
        P[member] = along @ Q
        bound = residual * float(np.linalg.norm(Y[member]))

        def converged(state: np.ndarray, member: int = member, bound: float = bound) -> bool:
            layers = two_layer.unpack(state, inputs, width, outputs)
            return bool(np.sqrt(2 * two_layer.loss(*layers, X[member], Y[member])) <= bound)

        flow = followed(
            two_layer.flow_field(X[member], Y[member], width),
            two_layer.pack(first, second),
            times,
            rtol=rtol,
            atol=atol,
            until=converged,
            last_time=patience,
        )
        wide_W1, wide_W2 = two_layer.unpack(flow.states, inputs, width, outputs)
        W1[member], W2[member] = wide_W1 @ Q, Q.T @ wide_W2
        wide_W1, wide_W2 = two_layer.unpack(flow.final_state, inputs, width, outputs)
        limit_W1[member], limit_W2[member] = wide_W1 @ Q, Q.T @ wide_W2
        limit_time[member], steps[member] = flow.final_time, flow.steps
    # a draw that did not arrive has no limit
    late = ~(limit_time < patience)
    limit_W1[late], limit_W2[late] = np.nan, np.nan
    ends = {"limit_W1": limit_W1, "limit_W2": limit_W2, "limit_time": limit_time, "steps": steps}
    return Trajectory(times, {"W1": W1, "W2": W2}, {"X": X, "Y": Y, "P": P, **ends}, undecided=late)
