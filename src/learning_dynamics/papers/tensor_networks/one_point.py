"""Where two layers end on one data point: Theorem 5 in closed form, and its condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def one_point_limit(
    tensor: np.ndarray, label: float, scale: float, first: np.ndarray, second: np.ndarray, *, power: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of v_1 and v_2 under gradient flow from alpha times the directions (Theorem 5).

    Parameters
    ----------
    tensor : ndarray, shape (k_1, k_2)
        M(x).
    label, scale : float
        y and alpha.
    first, second : ndarray, shapes (k_1,), (k_2,)
        Initial directions of both layers.
    power : float
        Of alpha in ``g(nu) = y / alpha**power``: 2 in the theorem; others are for comparison.
    """
    from scipy import optimize  # slow to import, for those who ask for the condition alone

    U1, s, U2, a, b = _singular_coordinates(tensor, first, second)

    def excess(nu: float) -> float:
        return float(
            np.sum(s * ((a**2 + b**2) / 2 * np.sinh(2 * s * nu) + a * b * np.cosh(2 * s * nu))) - label / scale**power
        )

    bound = 1.0
    while excess(bound) < 0 or excess(-bound) > 0:
        bound *= 2
    nu = optimize.brentq(excess, -bound, bound, xtol=1e-15, rtol=8.9e-16)
    cosh, sinh = np.cosh(nu * s), np.sinh(nu * s)
    return (
        scale * (U1 @ (a * cosh + b * sinh) + first - U1 @ a),
        scale * (U2 @ (a * sinh + b * cosh) + second - U2 @ b),
    )


def one_point_condition(tensor: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest lambda with ``a_j**2 - b_j**2 >= lambda`` for all j (Theorems 3 and 5).

    Singular vectors of equal singular values may be rotated among themselves; the best rotation spreads the
    sum of ``a_j**2 - b_j**2`` over the group evenly.
    """
    _, s, _, a, b = _singular_coordinates(tensor, first, second)
    group = np.cumsum(np.concatenate([[0], np.diff(s) < -1e-9 * s[0]]).astype(int))
    margins = [np.mean((a**2 - b**2)[group == g]) for g in np.unique(group)]
    return float(np.min(margins))


def _singular_coordinates(tensor: np.ndarray, first: np.ndarray, second: np.ndarray) -> Sequence[np.ndarray]:
    U1, s, U2 = np.linalg.svd(tensor, full_matrices=False)
    kept = s > 1e-12 * s[0]
    U1, s, U2 = U1[:, kept], s[kept], U2[kept].T
    return U1, s, U2, U1.T @ first, U2.T @ second
