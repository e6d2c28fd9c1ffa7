"""What the appendix predicts of singular values (Li et al. 2025, appendix B), and what we predict of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def singular_value_rates(U: np.ndarray, derivative: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return d sigma_k / dt = u_k^T (dM/dt) v_k, shape (..., k) (Lemma B.1).

    Parameters
    ----------
    U, V : ndarray, shapes (..., rows, k) and (..., columns, k)
        Singular vectors as columns.
    derivative : ndarray, shape (..., rows, columns)
    """
    return np.sum(U * (derivative @ V), axis=-2)


def gains(U: np.ndarray, A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return g_i = u_1i^T A v_2i, shape (..., k); singular values grow at ``-eta g_i sigma_i`` (Theorem B.3)."""
    return np.sum(U * (A @ V), axis=-2)


def fastest_growth(counts: Sequence[int]) -> float:
    """Return the largest relative growth rate that uniform predictions allow any singular value.

    It is the spectral norm of A, and A is minus the one-hot labels with their class mean projected out,
    so that it lies below the root of the largest class size, and near it where classes are many.
    """
    sizes = np.asarray(counts, dtype=float)
    # A^T A in closed form: examples of one class have equal rows
    gram = np.diag(sizes) - (sizes[:, None] + sizes[None, :] - sizes.mean()) / len(sizes)
    return float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))


def rank_of_two_pairs(ratio: float) -> float:
    """Return RankMe of class means in two dimensions, sizes r^3 : r^2 : r : 1, equal margins; over examples as well.

    Along one direction of its own a class of n examples, from a balanced start, conserves ``n |f|^2 = |w|^2``: at the
    margin ``m = |f| |w|`` its mean has ``|f|^2 = m / sqrt(n)``. With the two frequent classes opposite each other, and
    the two rare ones across, the eigenvalues of the rare pair and of the frequent one are as r : 1 if classes count
    once, and as 1 : r if they count as often as they have examples. Ours; the paper has no such formula.
    """
    shares = np.array([1.0, ratio]) / (1 + ratio)
    return float(np.exp(-np.sum(shares * np.log(shares))))
