"""Singular values followed through time by their vectors, so that two that cross keep their names."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def continued_svd(matrices: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the top singular triples of each matrix, in an order that is continuous in time.

    The first matrix's are in descending order. After that each triple goes to the one before it whose
    left and right vectors it overlaps most, the assignment being the best one overall; signs are turned
    so that overlaps are positive.

    Parameters
    ----------
    matrices : ndarray, shape (members, times, rows, columns)
    count : int
        How many triples to follow; at most min(rows, columns).

    Returns
    -------
    U : ndarray, shape (members, times, rows, count)
    S : ndarray, shape (members, times, count)
    V : ndarray, shape (members, times, columns, count)
    """
    U, S, Vt = np.linalg.svd(matrices, full_matrices=False)
    U, S, V = U[..., :count], S[..., :count], np.swapaxes(Vt, -1, -2)[..., :count]
    for member in range(len(matrices)):
        for time in range(1, matrices.shape[1]):
            before, now = (member, time - 1), (member, time)
            overlap = U[before].T @ U[now] + V[before].T @ V[now]
            _, order = linear_sum_assignment(-np.abs(overlap))
            signs = np.where(np.diag(overlap[:, order]) < 0, -1.0, 1.0)
            U[now], V[now] = U[now][:, order] * signs, V[now][:, order] * signs
            S[now] = S[now][order]
    return U, S, V


def difference_rates(matrices: np.ndarray, derivatives: np.ndarray, count: int, step: float = 1e-3) -> np.ndarray:
    """Return d sigma_k / dt, k = 1..count in descending order, by fourth-order central differences.

    Each matrix is moved along its derivative by at most twice `step` of the smallest gap between its
    singular values (and zero). In units of the derivative's norm the truncation error is of order
    ``step**4`` and rounding of order ``eps * sigma_1 / (step * gap)``.

    Parameters
    ----------
    matrices, derivatives : ndarray, shape (..., rows, columns)

    Returns
    -------
    ndarray, shape (..., count)
    """
    gap = smallest_gap(np.linalg.svd(matrices, compute_uv=False))
    speed = np.linalg.norm(derivatives, axis=(-2, -1))
    h = step * gap / np.where(speed > 0, speed, 1.0)

    def moved(by: float) -> np.ndarray:
        return np.linalg.svd(matrices + (by * h)[..., None, None] * derivatives, compute_uv=False)[..., :count]

    return (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * np.where(h > 0, h, 1.0)[..., None])


def smallest_gap(singular_values: np.ndarray) -> np.ndarray:
    """Return the smallest distance between neighbours of a descending spectrum that ends at zero."""
    padded = np.concatenate([singular_values, np.zeros_like(singular_values[..., :1])], axis=-1)
    return np.min(-np.diff(padded, axis=-1), axis=-1)
