"""Convex losses of a matrix's difference from an optimum, with lower bounds on the loss of singular matrices.

W is the end-to-end matrix, W* the optimum, R = W - W* their difference. S is a square root of the inputs' covariance
S S^T; only the loss with correlated inputs reads it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Pair = Callable[[np.ndarray, np.ndarray], np.ndarray]  # a function of two arrays, R and S


@dataclass(frozen=True)
class Loss:
    """A loss with its least value, zero, at the optimum.

    Attributes
    ----------
    value, gradient : callable
        Functions of the residual R = W - W*, shape (..., d, d), and a square root S of the inputs' covariance, shape
        (d, d). They return the loss, shape (...), and its gradient, shape (..., d, d).
    least_on_singular : callable
        A function of W* and S. It returns a lower bound on the loss of singular W. Bounds follow from the smallest
        singular values of W* and W* S: a singular W has ||R||_F >= sigma_min(W*) and ||R S||_F >= sigma_min(W* S).
    """

    value: Pair
    gradient: Pair
    least_on_singular: Callable[[np.ndarray, np.ndarray], float]


def _sigma_min(W: np.ndarray) -> float:
    """Return the smallest singular value of a square matrix."""
    return float(np.linalg.svd(W, compute_uv=False)[-1])


LOSSES = {
    "squared, correlated inputs": Loss(
        lambda R, S: 0.5 * np.sum((R @ S) ** 2, axis=(-2, -1)),
        lambda R, S: R @ S @ S.T,
        lambda W, S: 0.5 * _sigma_min(W @ S) ** 2,
    ),
    # log cosh is concave in the square of its argument: at a given ||R||_F the sum over entries is least where one of
    # them has all of it
    "log cosh": Loss(
        lambda R, S: np.sum(np.log(np.cosh(R)), axis=(-2, -1)),
        lambda R, S: np.tanh(R),
        lambda W, S: np.log(np.cosh(_sigma_min(W))),
    ),
    # at a given ||R||_F a sum of fourth powers is least where all entries have the same size
    "squares and fourth powers": Loss(
        lambda R, S: np.sum(0.5 * R**2 + 0.25 * R**4, axis=(-2, -1)),
        lambda R, S: R + R**3,
        lambda W, S: 0.5 * _sigma_min(W) ** 2 + 0.25 * _sigma_min(W) ** 4 / W.size,
    ),
}
