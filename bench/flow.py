"""Gradient flow: one network, and ensembles of small ones, against scipy and against descent with a small step."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from bench.harness import Row, close
from learning_dynamics.dynamics import ensemble
from learning_dynamics.dynamics.gradient_flow import integrate

RTOL, ATOL = 1e-10, 1e-13


def rows() -> list[Row]:
    """One two-layer network at gamma = 1e-4, and 500 diagonal networks."""
    return [*network(), many()]


def network() -> list[Row]:
    """The two-layer linear network of fig1a at small scale: 10 inputs, 3 outputs, width 200, to t = 15."""
    rng = np.random.default_rng(0)
    inputs, width, outputs, gamma, horizon = 10, 200, 3, 1e-4, 15.0
    X = rng.standard_normal((5, inputs))
    Y = X @ rng.standard_normal((inputs, outputs))
    first = np.sqrt(2 * gamma) * np.linalg.qr(rng.standard_normal((width, inputs)))[0].T
    initial = np.concatenate([first.ravel(), np.zeros(width * outputs)])
    times = np.linspace(0.0, horizon, 151)

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        W1 = state[: inputs * width].reshape(inputs, width)
        W2 = state[inputs * width :].reshape(width, outputs)
        residual = X.T @ (Y - X @ (W1 @ W2)) / len(X)
        return np.concatenate([(residual @ W2.T).ravel(), (W1.T @ residual).ravel()])

    def ours() -> np.ndarray:
        return integrate(field, initial, times, rtol=RTOL, atol=ATOL).states

    def scipys() -> np.ndarray:
        return solve_ivp(field, (0, horizon), initial, "DOP853", times, rtol=RTOL, atol=ATOL).y.T

    def descended(steps: int) -> np.ndarray:
        state, states = initial.copy(), [initial]
        for taken in range(1, steps + 1):
            state = state + horizon / steps * field(0.0, state)
            if taken % (steps // 150) == 0:
                states.append(state)
        return np.array(states)

    # Euler's error along the way falls with the step: how many it takes for 1e-5
    few = 30 * 150
    followed = ours()
    error = np.abs(descended(few) - followed).max() / np.abs(followed).max()
    needed = few * error / 1e-5

    def agree_roughly(states: Any, others: Any) -> None:
        close(2 * error)(states, others)

    work = "flow of one network, gamma = 1e-4"
    return [
        Row(work, "scipy solve_ivp, DOP853", 1 / 1.1, ours, scipys, close(1e-7)),
        Row(
            work,
            "descent with a step for error 1e-5",
            100,
            ours,
            lambda: descended(few),
            agree_roughly,
            few / needed,
            f"the peer's {few} steps have error {error:.1g}; {needed:.2g} are needed",
        ),
    ]


def many() -> Row:
    """Diagonal networks on regression, 500 draws of data."""
    rng = np.random.default_rng(2)
    members, size, samples = 500, 10, 5
    X, y = rng.standard_normal((members, samples, size)), rng.standard_normal((members, samples))
    initial, times = np.full((members, 2 * size), 0.1), np.linspace(0.0, 10.0, 11)

    def field(states: np.ndarray, at: np.ndarray) -> np.ndarray:
        u, v = states[:, :size], states[:, size:]
        residual = y[at] - np.einsum("msi,mi->ms", X[at], u**2 - v**2)
        slope = np.einsum("msi,ms->mi", X[at], residual)
        return np.concatenate([2 * u * slope, -2 * v * slope], axis=1)

    def ours() -> np.ndarray:
        return ensemble.flow(field, initial, times, rtol=RTOL, atol=ATOL)

    def theirs() -> np.ndarray:
        ends = []
        for data, labels, start in zip(X, y, initial, strict=True):

            def alone(_time: float, state: np.ndarray, data: Any = data, labels: Any = labels) -> np.ndarray:
                u, v = state[:size], state[size:]
                slope = data.T @ (labels - data @ (u**2 - v**2))
                return np.concatenate([2 * u * slope, -2 * v * slope])

            ends.append(solve_ivp(alone, (0, 10.0), start, "DOP853", times, rtol=RTOL, atol=ATOL).y.T)
        return np.array(ends)

    return Row("flows of 500 small networks", "a loop of solve_ivp", 20, ours, theirs, close(1e-6))
