"""Discrete gradient descent of a square two-layer linear network with one output (appendix C.1)."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.label_noise import models
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectories import Arrays, Trajectory


def linear_descent(data: Arrays, *, gamma: Positive, step: Positive, steps: Count) -> Trajectory:
    """Gradient descent on |Y - X W1 W2|^2 / 2 from W1(0) = sqrt(2 gamma) I and W2(0) = 0, as wide as there are inputs.

    The data have one output. W1 and W2 are the paper's W and a.

    Returns
    -------
    Trajectory
        Members are the draws of the data. Time is the number of steps, and every step is recorded. Series W1, shape
        (draws, times, inputs, inputs), and W2, shape (draws, times, inputs, 1); constants X, shape (draws, samples,
        inputs), and Y, shape (draws, samples, 1).

    Raises
    ------
    ProjectError
        If the data have several outputs.
    """
    X, Y = data["X"], data["Y"]
    if Y.shape[-1] != 1:
        raise ProjectError(f"linear_descent needs data with one output, not {Y.shape[-1]}; set `outputs: 1`")
    inputs = X.shape[-1]
    W1_start = np.repeat(np.sqrt(2 * gamma) * np.eye(inputs)[None], len(X), axis=0)
    W2_start = np.zeros((len(X), inputs, 1))
    # no label noise, and so no generators of noise
    W1, W2 = models.descend(W1_start, W2_start, X, Y, step=step, steps=steps, every=1, noise=0.0, rngs=[])
    return Trajectory(np.arange(steps + 1.0), {"W1": W1, "W2": W2}, {"X": X, "Y": Y})
