"""Gradient descent with label noise: from a large scale to its end, and over many paths where noise dominates."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.label_noise import models
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble


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

    `step` is the step size, and every `every`-th of `steps` steps is recorded.

    Returns
    -------
    Trajectory
        Members are draws, each a data set with a P of its own. Time is step size times number of steps. Series W1,
        shape (draws, times, inputs, hidden), and W2, shape (draws, times, hidden, outputs); constants X, Y, and P,
        shape (draws, inputs, hidden), orthonormal rows with W1(0) = sqrt(2 gamma) P. Layers and P are recorded in an
        orthonormal basis of the hidden directions that descent cannot leave: hidden is their number, inputs + outputs,
        or the width if this is smaller.
    """
    X, Y = data["X"], data["Y"]
    inputs = X.shape[-1]
    rngs = generators(seed, "two_layer.initialisation", len(X))
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    W1_start, W2_start = np.sqrt(2 * gamma) * P, np.zeros((len(X), width, Y.shape[-1]))
    W1, W2 = models.descend(
        W1_start,
        W2_start,
        X,
        Y,
        step=step,
        steps=steps,
        every=every,
        noise=noise,
        rngs=generators(seed, "label_noise", len(X)),
    )
    times = step * every * np.arange(W1.shape[1])
    # orthonormal columns, shape (draws, width, hidden)
    Q = two_layer.hidden_basis(W1_start, W2_start)
    layers = {"W1": W1 @ Q[:, None], "W2": np.swapaxes(Q, -1, -2)[:, None] @ W2}
    return Trajectory(times, layers, {"X": X, "Y": Y, "P": P @ Q})


def label_noise_ensemble(
    data: Arrays,
    *,
    gamma: Positive,
    step: Positive,
    steps: Count,
    every: Count,
    noise: Positive,
    paths: Count,
    seed: Seed,
) -> Trajectory:
    """Many paths of label-noise descent on each data set, from W(0) = sqrt(2 gamma) I and a(0) = 0.

    W has a column for each hidden unit, and as many of these as inputs; a has one output. X = U D V^T is the singular
    value decomposition of the data.

    Returns
    -------
    Trajectory
        Members are the data sets. Time is (step * noise)^2 times the number of steps: in this time appendix D's process
        has no constants left. Series output_mean, the mean over paths of |a|^2, shape (sets, times); rows_mean, the
        mean over paths of the squared norm of each row of V^T W, shape (sets, times, samples); and outside, shape
        (sets, times), the norm of what W has gained outside the span of the rows of X, over |W|, the largest over
        paths. Constants X, Y.

    Raises
    ------
    ProjectError
        If there are more samples than inputs, so that V^T W has not a row for each sample.
    """
    X, Y = data["X"], data["Y"]
    samples, inputs = X.shape[1:]
    if samples > inputs:
        raise ProjectError(
            f"label_noise_ensemble needs data with at most as many samples as inputs, not {samples} and {inputs}; "
            f"set `samples` to {inputs} or below"
        )

    def moments(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Arrays:
        of_paths = (np.broadcast_to(array, (paths, *array.shape)) for array in (x, y))
        start = np.repeat(np.sqrt(2 * gamma) * np.eye(inputs)[None], paths, axis=0)
        zero = np.zeros((paths, inputs, y.shape[-1]))
        # paths are the members of this descent, and share one generator
        W, a = models.descend(
            *(start, zero, *of_paths), step=step, steps=steps, every=every, noise=noise, rngs=[rng], shared=True
        )
        _, _, Vt = np.linalg.svd(x, full_matrices=False)  # V^T, whose rows are the right singular vectors of X
        return _path_moments(W, a, Vt)

    members = list(zip(generators(seed, "label_noise.ensemble", len(X)), X, Y, strict=True))
    times = (step * noise) ** 2 * every * np.arange(steps // every + 1)
    return ensemble(moments, members, times, "output_mean", "rows_mean", "outside", label="label noise", X=X, Y=Y)


def _path_moments(W: np.ndarray, a: np.ndarray, Vt: np.ndarray) -> Arrays:
    """Return what `label_noise_ensemble` records of one data set's paths, arrays of shape (times,) or (times, samples).

    W has the shape (paths, times, d, d), a (paths, times, d, 1), Vt (samples, d), where d is the number of inputs.
    """
    # |a|^2, shape (paths, times), and the squared norms of the rows of V^T W, shape (paths, times, samples)
    output, rows = np.sum(a**2, axis=(-2, -1)), np.sum((Vt @ W) ** 2, axis=-1)
    change = W - W[:, :1]
    outside = np.linalg.norm(change - Vt.T @ (Vt @ change), axis=(-2, -1)) / np.linalg.norm(W, axis=(-2, -1))
    return {"outside": outside.max(axis=0), "output_mean": output.mean(axis=0), "rows_mean": rows.mean(axis=0)}
