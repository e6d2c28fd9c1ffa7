"""Gradient descent with label noise, and the process that noise alone drives (section 4)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics import euler_maruyama
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.noise import label_noise
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def label_noise_descent(
    data: Arrays,
    *,
    width: Count,
    gamma: Positive,
    step: Positive,
    steps: Count,
    every: Count,
    noise: NonNegative,
    seed: Seed,
) -> Trajectory:
    """Gradient descent from the orthogonal initialisation, with fresh label noise at every step if `noise` > 0.

    Returns
    -------
    Trajectory
        Time is step size times number of steps. Series W1, W2; constants X, Y, P.
    """
    X, Y = data["X"], data["Y"]
    inputs = X.shape[-1]
    rngs = generators(seed, "two_layer.initialisation", len(X))
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    W1, W2 = label_noise.descend(
        np.sqrt(2 * gamma) * P,
        np.zeros((len(X), width, Y.shape[-1])),
        X,
        Y,
        step=step,
        steps=steps,
        every=every,
        noise=noise,
        rngs=generators(seed, "label_noise", len(X)),
    )
    times = step * every * np.arange(W1.shape[1])
    return Trajectory(times, {"W1": W1, "W2": W2}, {"X": X, "Y": Y, "P": P})


def noise_process(
    *,
    inputs: Count,
    paths: Count,
    horizon: Positive,
    points: Count,
    step: Positive,
    schedule: Literal["constant", "inverse square root"],
    seed: Seed,
) -> Trajectory:
    """Paths of dW = dB a^T, da = W^T dB from W(0) = I, a(0) = 0, by the Euler-Maruyama method (eq. 4.1).

    Returns
    -------
    Trajectory
        Recorded at the first steps at or after `points` evenly spaced times. Series W1 (the paper's W), W2
        (a) and average, the exponential moving average of a.
    """
    sizes = euler_maruyama.step_sizes(schedule, step, horizon)
    reached = np.r_[0.0, np.cumsum(sizes)]
    # one long step may pass several of the times
    record = np.unique(np.searchsorted(reached, np.linspace(0.0, horizon, points) * (1 - 1e-9)))
    W, a, average = euler_maruyama.simulate(inputs, paths, sizes, record, seed)
    return Trajectory(reached[record], {"W1": W, "W2": a, "average": average})


def noise_paths(
    *,
    inputs: Count,
    paths: Count,
    horizon: Positive,
    points: Count,
    step: Positive,
    schedule: Literal["constant", "inverse square root"],
    seed: Seed,
) -> Trajectory:
    """A few paths of the noise-driven process, to be looked at one by one; see `noise_process`."""
    return noise_process(
        inputs=inputs, paths=paths, horizon=horizon, points=points, step=step, schedule=schedule, seed=seed
    )


def noise_growth(
    *, inputs: Count, paths: Count, horizon: Positive, points: Count, step: Positive, seed: Seed
) -> Trajectory:
    """Long renormalised paths of the noise-driven process, for the rates at which single paths grow.

    Returns
    -------
    Trajectory
        Series log_growth, shape (paths, points, 2): see `euler_maruyama.log_growth`.
    """
    every = 10
    spacing = every * max(1, round(horizon / (step * every * points)))
    growth = euler_maruyama.log_growth(inputs, paths, step, spacing * points, points, every, seed)
    return Trajectory(step * spacing * np.arange(1, points + 1), {"log_growth": growth})
