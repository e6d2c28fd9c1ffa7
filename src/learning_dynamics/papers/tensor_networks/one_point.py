"""Where two layers end on one data point: Theorem 5 in closed form, its condition, and what vanishes last."""

from collections.abc import Sequence

import numpy as np


def one_point_limit(
    tensor: np.ndarray, label: float, first: np.ndarray, second: np.ndarray, *, scale: float, power: float = 2.0
) -> np.ndarray:
    """Return the limit of v_1 and v_2, in one vector, under gradient flow from alpha times the directions (Theorem 5).

    It is the state (75) at the nu with ``g(nu) = y / alpha**2`` (76, 78), with the increasing function g of Theorem 5.
    In the code a and b are the directions of the first and the second layer along the singular vectors of M(x).

    Parameters
    ----------
    tensor : ndarray, shape (k_1, k_2)
        M(x).
    label : float
        y.
    first, second : ndarray, shapes (k_1,), (k_2,)
        Initial directions of both layers.
    scale : float
        alpha.
    power : float
        The power in ``g(nu) = y / alpha**power``: 2 in the theorem; others are for comparison.
    """
    from scipy import optimize  # slow to import, and not needed for the condition

    U1, s, U2, a, b = _singular_coordinates(tensor, first, second)

    goal = label / scale**power

    def g(nu: float) -> float:
        """Sum over j of s_j ((a_j^2 + b_j^2) / 2 sinh(2 s_j nu) + a_j b_j cosh(2 s_j nu)): (76) over alpha^2."""
        return float(np.sum(s * ((a**2 + b**2) / 2 * np.sinh(2 * s * nu) + a * b * np.cosh(2 * s * nu))))

    bound = 1.0
    while g(bound) < goal or g(-bound) > goal:
        bound *= 2
    # 8.9e-16, four units of roundoff, is the least rtol that `brentq` takes
    nu = optimize.brentq(lambda nu: g(nu) - goal, -bound, bound, xtol=1e-15, rtol=8.9e-16)
    cosh, sinh = np.cosh(nu * s), np.sinh(nu * s)
    v1 = U1 @ (a * cosh + b * sinh) + first - U1 @ a
    v2 = U2 @ (a * sinh + b * cosh) + second - U2 @ b
    return scale * np.concatenate([v1, v2])


def one_point_condition(tensor: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest lambda with ``a_j**2 - b_j**2 >= lambda`` for all j (Theorems 3 and 5).

    a_j and b_j are the directions `first` and `second` of the two layers along the j-th singular vectors of `tensor`,
    M(x). The vectors of equal singular values may be rotated among themselves: the best rotation gives all j of such a
    group the same ``a_j**2 - b_j**2``, the mean of the group.
    """
    _, s, _, a, b = _singular_coordinates(tensor, first, second)
    # `group` numbers the groups of equal singular values: s = (3, 2, 2, 1) gives (0, 1, 1, 2). Values count as equal up
    # to 1e-9 of the largest, chosen far above rounding.
    group = np.cumsum(np.concatenate([[0], np.diff(s) < -1e-9 * s[0]]).astype(int))
    margins = [np.mean((a**2 - b**2)[group == g]) for g in np.unique(group)]
    return float(np.min(margins))


def remainder_bounds(
    values: np.ndarray, first: np.ndarray, second: np.ndarray, log_log_time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the sums and differences of two layers at a log log t, relative to the top sum.

    The flow is that of two layers on one point (x, y) under the exponential loss. The flow of the squared loss ends
    where the output is y. There the same bounds hold, from a scale alpha, with ``log(2 |y| / alpha**2)`` in place of
    log log t.

    In singular coordinates of M(x), and with the second layer times the sign of y, let u be the sum and w the
    difference of the layers. Whatever the loss, u_j grows like ``exp(s_j T)`` and w_j falls like ``exp(-s_j T)``. Here
    s_j are the singular values, and T is the integral over time of minus the loss's derivative by the margin. The
    margin is at least half of log t, and at most ``exp(2 s_1 T) sum_j s_j u_j**2 / 4`` with the u_j of the start.
    Together these bound T from below. Relative to the top sum, u_j falls by the factor ``exp(-(s_1 - s_j) T)`` from its
    share at the start, so that it is at most of order ``(log t)**(-(1 - s_j / s_1) / 2)``. The derivation is in
    docs/tensor_networks.md.

    Parameters
    ----------
    values : ndarray, shape (m,)
        Singular values of M(x), descending.
    first, second : ndarray, shape (m,)
        Both layers at the start in singular coordinates, the second times the sign of y.
    log_log_time : float
        log(1 + log(1 + t)).

    Returns
    -------
    sums, differences : ndarray, shape (m,)
        Bounds on |u_j| and |w_j|; one and zero for the coordinates of the largest singular value. Infinite or nan where
        the top sum does not exceed the top difference, so that there is no bound.
    """
    top = values > values[0] * (1 - 1e-9)  # equal to the largest, but for rounding
    sums, differences = np.abs(first + second), np.abs(first - second)
    # `time` is the lower bound on T; every bound that follows falls as T grows
    time = max(0.0, (log_log_time - np.log(np.sum(values * sums**2) / 2)) / (2 * values[0]))
    decay = np.exp(-2 * values[0] * time)
    # these, and `largest`, are in units of exp(s_1 T)
    grown, decayed = sums * np.exp((values - values[0]) * time), differences * np.exp(-(values + values[0]) * time)
    # What both are relative to: the length of the top sums less that of the top differences. Either layer has at least
    # half of that along the top singular vectors.
    largest = np.linalg.norm(sums[top]) - decay * np.linalg.norm(differences[top])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top, 1.0, grown / max(largest, 0.0)), np.where(top, 0.0, decayed / max(largest, 0.0))


def transient(
    tensor: np.ndarray, label: float, first: np.ndarray, second: np.ndarray, *, log_log_time: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the singular values of M(x), and the sums and differences of `remainder_bounds`, each of shape (m,).

    Parameters
    ----------
    tensor : ndarray, shape (k_1, k_2)
        M(x).
    label : float
    first, second : ndarray, shapes (k_1,), (k_2,)
        Both layers at the start, not in singular coordinates.
    log_log_time : float
        log(1 + log(1 + t)).
    """
    U1, s, U2 = np.linalg.svd(tensor, full_matrices=False)
    return s, *remainder_bounds(s, first @ U1, np.sign(label) * second @ U2.T, log_log_time)


def _singular_coordinates(tensor: np.ndarray, first: np.ndarray, second: np.ndarray) -> Sequence[np.ndarray]:
    """Return the nonzero singular values s of M(x) and their vectors, and both layers along these: U_1, s, U_2, a, b.

    Shapes are (k_1, m), (m,), (k_2, m), (m,) and (m,).
    """
    U1, s, U2 = np.linalg.svd(tensor, full_matrices=False)
    nonzero = s > 1e-12 * s[0]  # by more than rounding
    U1, s, U2 = U1[:, nonzero], s[nonzero], U2[nonzero].T
    return U1, s, U2, U1.T @ first, U2.T @ second
