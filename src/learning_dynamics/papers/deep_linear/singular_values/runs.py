"""Singular values on their way in matrix completion."""

import numpy as np

from learning_dynamics.papers.deep_linear import descent, networks
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectories import Arrays, Trajectory


def singular_value_paths(
    data: Arrays,
    *,
    depth: Count,
    scale: Positive,
    learning_rate: Positive,
    iterations: Count,
    points: Count,
    draws: Count,
    top: Count,
) -> Trajectory:
    """Plain gradient descent from scaled identity layers, whose product is scale times the identity.

    End-to-end matrices are large. The run keeps the spectrum of each, and the gradient in the basis of its leading
    singular vectors, as many as `top` says.

    Returns
    -------
    Trajectory
        At `points` steps, evenly spaced, series singular_values, shape (draws, points, n); rotated_gradient, U^T grad
        V, shape (draws, points, top, top); train_loss and error, mean squares over observed and over all entries, shape
        (draws, points). Constant rank, of the matrices to complete, shape (draws,).
    """
    truth, mask = data["truth"][:draws], data["mask"][:draws]
    identity = np.broadcast_to(np.eye(truth.shape[-1]), truth.shape)
    steps = np.linspace(0, iterations, points).round().astype(int)
    start = [scale ** (1 / depth) * identity] * depth
    recorded_layers = descent.descend(start, networks.observed(truth, mask), learning_rate, steps)
    W = np.stack([networks.product(layers) for layers in recorded_layers], axis=1)
    residual = W - truth[:, None]
    U, spectrum, Vt = np.linalg.svd(W)
    gradient = networks.observed(truth[:, None], mask[:, None])(W)
    # the gradient is 2 mask / (number of entries) times the residual: half its sum with the residual is the loss
    series = {
        "singular_values": spectrum,
        "rotated_gradient": np.swapaxes(U[..., :top], -1, -2) @ gradient @ np.swapaxes(Vt[..., :top, :], -1, -2),
        "train_loss": np.sum(gradient * residual, axis=(-2, -1)) / 2,
        "error": np.mean(residual**2, axis=(-2, -1)),
    }
    return Trajectory(steps * learning_rate, series, {"rank": np.linalg.matrix_rank(truth)})
