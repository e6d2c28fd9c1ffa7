"""Gradient descent of a ReLU student."""

from __future__ import annotations

import numpy as np

from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def relu_descent(
    data: Arrays,
    *,
    neurons: Count,
    scale: Positive,
    step: Positive,
    start: Positive,
    horizon: Positive,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent of a ReLU student whose weights in both layers start as `scale` times Gaussian ones.

    Returns
    -------
    Trajectory
        Time is step size times number of steps: 0, and up to `points` times evenly spaced in the logarithm
        from `start` to `horizon`. Series W1, the hidden layer with a row for each neuron, and W2, the output
        weights; constants X, y, teacher_W.
    """
    from learning_dynamics.papers.spectral_bias.relu import (
        models as relu_student,  # imports numba, which no other run waits for
    )

    X, y = data["X"], data["y"]
    record = np.unique(np.r_[0, np.rint(np.geomspace(start, horizon, points) / step)]).astype(int)
    W1 = np.empty((len(X), len(record), neurons, X.shape[-1]))
    W2 = np.empty((len(X), len(record), neurons))
    rngs = generators(seed, "relu_student.initialisation", len(X))
    for member, rng in enumerate(progress(rngs, "ReLU student")):
        W, a = scale * rng.standard_normal((neurons, X.shape[-1])), scale * rng.standard_normal(neurons)
        W1[member], W2[member] = relu_student.descend(W, a, X[member], y[member], step, record)
    return Trajectory(step * record, {"W1": W1, "W2": W2}, {"X": X, "y": y, "teacher_W": data["teacher_W"]})
