"""Gradient descent of a ReLU student."""

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble


def relu_descent(
    data: Arrays,
    *,
    neurons: Count,
    scale: Positive,
    step: Positive,
    first_time: Positive,
    horizon: Positive,
    decade: NonNegative,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent of a ReLU student whose weights in both layers start as `scale` times standard Gaussian ones.

    Near zero weights grow exponentially, so that from a small scale training takes longer by a time in proportion to
    the scale's logarithm. The descent ends at `horizon`, plus `decade` for each factor of ten by which the scale is
    below one.

    Returns
    -------
    Trajectory
        Members are draws of the data, each with a start of its own. Time is step size times number of steps: 0, and up
        to `points` times evenly spaced in the logarithm from `first_time` to the end; times that round to the same step
        are one. Series loss, shape (draws, times), and sigma, the singular values of the hidden layer, shape (draws,
        times, min(neurons, inputs)). Constants X, y, teacher_W, and the layers at the end: limit_W1, with a row for
        each neuron, shape (draws, neurons, inputs), and limit_W2, the output weights, shape (draws, neurons).
    """
    from learning_dynamics.papers.spectral_bias.relu import (
        models as relu_student,  # imports numba, which no other run waits for
    )

    X, y = data["X"], data["y"]
    end = horizon + decade * max(0.0, -np.log10(scale))
    recorded_steps = np.unique(np.r_[0, np.rint(np.geomspace(first_time, end, points) / step)]).astype(int)

    def follow(rng: np.random.Generator, x: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
        W, a = scale * rng.standard_normal((neurons, x.shape[-1])), scale * rng.standard_normal(neurons)
        W1, W2 = relu_student.descend(W, a, x, labels, step=step, recorded_steps=recorded_steps)
        # singular values of a matrix with nan are an error: those of a draw that diverged are nan, at all times
        finite = np.isfinite(W1).all()
        sigma = np.where(finite, singular_values(np.where(finite, W1, 1.0)), np.nan)
        losses = relu_student.loss(W1, W2, x, labels)
        return {"loss": losses, "sigma": sigma, "limit_W1": W1[-1], "limit_W2": W2[-1]}

    members = list(zip(generators(seed, "relu_student.initialisation", len(X)), X, y, strict=True))
    constants = {"X": X, "y": y, "teacher_W": data["teacher_W"]}
    return ensemble(follow, members, step * recorded_steps, "loss", "sigma", label="ReLU student", **constants)
