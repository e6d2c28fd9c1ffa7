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

    W is the product of the layers, n by n, and G the loss's gradient at W. W itself is large. The run keeps its
    singular values, and G in the basis of W's first `top` singular vectors, the columns of U and V. It completes the
    first `draws` matrices of the data.

    Returns
    -------
    Trajectory
        Times are learning rate times steps, at `points` evenly spaced steps from 0 to `iterations`. Series:

        - singular_values of W, shape (draws, points, n), the largest first
        - rotated_gradient, U^T G V, (draws, points, top, top)
        - train_loss and error, (draws, points): mean square errors of W over observed and over all entries

        Constant rank, shape (draws,), of the matrices to complete.
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
    # entry by entry the gradient is 2 mask / (number of observed entries) times the residual: half the sum of its
    # products with the residual is the training loss
    series = {
        "singular_values": spectrum,
        "rotated_gradient": np.swapaxes(U[..., :top], -1, -2) @ gradient @ np.swapaxes(Vt[..., :top, :], -1, -2),
        "train_loss": np.sum(gradient * residual, axis=(-2, -1)) / 2,
        "error": np.mean(residual**2, axis=(-2, -1)),
    }
    return Trajectory(steps * learning_rate, series, {"rank": np.linalg.matrix_rank(truth)})
