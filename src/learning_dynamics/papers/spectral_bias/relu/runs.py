"""Gradient descent of a ReLU student."""

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def relu_descent(
    data: Arrays,
    *,
    neurons: Count,
    scale: Positive,
    step: Positive,
    start: Positive,
    horizon: Positive,
    decade: NonNegative,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent of a ReLU student whose weights in both layers start as `scale` times Gaussian ones.

    Near zero weights grow exponentially, so that a small start costs a logarithm: the descent ends at `horizon`, plus
    `decade` for each factor of ten by which the scale lies below one.

    Returns
    -------
    Trajectory
        Time is step size times number of steps: 0, and up to `points` times evenly spaced in the logarithm
        from `start` to the end. Series loss, and sigma, the singular values of the hidden layer; constants X, y,
        teacher_W, and the layers at the end: limit_W1, with a row for each neuron, and limit_W2, the output weights.
    """
    from learning_dynamics.papers.spectral_bias.relu import (
        models as relu_student,  # imports numba, which no other run waits for
    )

    X, y = data["X"], data["y"]
    end = horizon + decade * max(0.0, -np.log10(scale))
    record = np.unique(np.r_[0, np.rint(np.geomspace(start, end, points) / step)]).astype(int)
    losses, sigma = np.empty((len(X), len(record))), np.empty((len(X), len(record), min(neurons, X.shape[-1])))
    limit_W1, limit_W2 = np.empty((len(X), neurons, X.shape[-1])), np.empty((len(X), neurons))
    rngs = generators(seed, "relu_student.initialisation", len(X))
    for member, rng in enumerate(progress(rngs, "ReLU student")):
        W, a = scale * rng.standard_normal((neurons, X.shape[-1])), scale * rng.standard_normal(neurons)
        W1, W2 = relu_student.descend(W, a, X[member], y[member], step, record)
        losses[member] = relu_student.loss(W1, W2, X[member], y[member])
        sigma[member] = singular_values(W1) if np.isfinite(W1).all() else np.nan
        limit_W1[member], limit_W2[member] = W1[-1], W2[-1]
    constants = {"X": X, "y": y, "teacher_W": data["teacher_W"], "limit_W1": limit_W1, "limit_W2": limit_W2}
    return Trajectory(step * record, {"loss": losses, "sigma": sigma}, constants)
