"""Singular values and what is counted from them."""

import numpy as np


def singular_values(matrices: np.ndarray, count: int | None = None) -> np.ndarray:
    """Return singular values over any leading axes, descending, padded with zeros or cut to `count`.

    Wide matrices go through a QR decomposition first, which keeps full accuracy and halves the time.
    """
    rows, columns = matrices.shape[-2:]
    if columns >= 4 * rows:  # chosen: what counts as wide
        values = np.linalg.svd(np.linalg.qr(np.swapaxes(matrices, -1, -2), mode="r"), compute_uv=False)
    else:
        values = np.linalg.svd(matrices, compute_uv=False)
    if count is None:
        return values
    padded = np.zeros((*values.shape[:-1], count))
    kept = min(count, values.shape[-1])
    padded[..., :kept] = values[..., :kept]
    return padded


def effective_rank(values: np.ndarray) -> np.ndarray:
    """Return exp of the entropy of the singular values' shares of their sum, along the last axis; nan where it is 0."""
    total = values.sum(axis=-1, keepdims=True)
    shares = values / np.where(total > 0, total, np.nan)
    terms = np.where(shares == 0, 0.0, shares * np.log(np.where(shares > 0, shares, 1.0)))
    return np.where(total[..., 0] > 0, np.exp(-terms.sum(axis=-1)), np.nan)


def difference_rates(matrices: np.ndarray, derivatives: np.ndarray, count: int, step: float = 1e-3) -> np.ndarray:
    """Return d sigma_k / dt, k = 1..count in descending order, by fourth-order central differences.

    Each matrix is moved along its derivative by at most twice `step` of the smallest gap between its
    singular values (and zero). In units of the derivative's norm the truncation error is of order
    ``step**4`` and rounding of order ``eps * sigma_1 / (step * gap)``, where eps is 2.2e-16 and sigma_1 the largest
    singular value. The two are alike at ``eps**(1/5)``, 7e-4, if the gap is as large as sigma_1: near the default.

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
