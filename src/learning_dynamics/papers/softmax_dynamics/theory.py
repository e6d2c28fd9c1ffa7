"""What the appendix predicts of singular values (Li et al. 2025, appendix B), and what we predict of ranks."""

from collections.abc import Sequence

import numpy as np


def singular_value_rates(U: np.ndarray, derivative: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return d sigma_k / dt = u_k^T (dM/dt) v_k, shape (..., k) (Lemma B.1, eq. 13).

    Parameters
    ----------
    U, V : ndarray, shapes (..., rows, k) and (..., columns, k)
        Singular vectors as columns.
    derivative : ndarray, shape (..., rows, columns)
    """
    return np.sum(U * (derivative @ V), axis=-2)


def gains(U: np.ndarray, A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return g_i = u_1i^T A v_2i, shape (..., k); singular values grow at ``-eta g_i sigma_i`` (eqs. 17 to 19)."""
    return np.sum(U * (A @ V), axis=-2)


def uniform_gain(counts: Sequence[int], learned: Sequence[int] = ()) -> np.ndarray:
    """Return minus A at uniform predictions, with the examples of each class as one row, shape (classes, classes).

    There A is 1/V less the one-hot labels (eq. 12), so that the n examples of class k have the same row of -A,
    e_k - 1/V. One row of sqrt(n) (e_k - 1/V) for all of them leaves A^T A as it is, and with it singular values. Rows
    of classes in `learned` are zero.
    """
    classes = len(counts)
    weights = np.sqrt(np.asarray(counts, dtype=float))
    weights[list(learned)] = 0.0
    return weights[:, None] * (np.eye(classes) - 1 / classes)


def fastest_growth(counts: Sequence[int], learned: Sequence[int] = ()) -> float:
    """Return the largest relative growth rate that uniform predictions allow any singular value.

    It is the spectral norm of A, by eqs. 17 and 18, as |g_i| = |u^T A v| is no more. It lies below the root of the
    largest class size, and near it where classes are many. Rows of classes in `learned` are zero.
    """
    return float(np.linalg.norm(uniform_gain(counts, learned), 2))


def pair_times(counts: Sequence[int]) -> np.ndarray:
    """Return when each class is learned, in units of log(1 / scale), from small starts, shape (classes,).

    Ours; derived here. While features are small, predictions are uniform and every feature direction grows alike, at
    the singular values s_1 >= s_2 >= ... of A. The first to be of order one is the leading singular vector, after the
    time 1 / s_1. In that one direction the two largest classes come to lie opposite each other: both are learned. All
    others stay at the origin, where predictions are uniform, and go on growing across it, now by the singular values of
    A without the rows of what is learned. The k-th direction after the leading one has grown by s_(1 + k) meanwhile, as
    what grew faster points along directions that are taken.

    The first pair's is the limit of small starts. Later ones take predictions of what is left to be uniform, which they
    do not stay in the long run (see docs/which_population_decides.md), and call the second class of a pair learned with
    the first.

    It is meant for two pairs. Within the plane that these span a third can leave the origin as well, so that the rule,
    which waits for another direction, need not hold from there on.

    Parameters
    ----------
    counts : sequence of int
        Class sizes, largest first and all different, so that gaps of the rates are large against 1 / log(1 / scale).
    """
    pairs = (len(counts) + 1) // 2
    # how much each direction that is not taken yet has left to grow, in units of log(1 / scale)
    remaining, time, times = np.ones(pairs), 0.0, []
    for pair in range(pairs):
        # of A without the rows of the pairs that are learned, as many as directions are left
        rates = np.linalg.svd(uniform_gain(counts, range(2 * pair)), compute_uv=False)[: pairs - pair]
        step = remaining[0] / rates[0]
        time += step
        times.append(time)
        remaining = (remaining - step * rates)[1:]
    return np.repeat(times, 2)[: len(counts)]


def times_one_by_one(counts: Sequence[int]) -> np.ndarray:
    """Return one over the singular values of A at uniform predictions, in their order, shape (classes,).

    `pair_times` would give these if each class had a singular value to itself and stages did not change the rates. The
    last singular value is zero; the last class shares that of the class before.
    """
    rates = np.linalg.svd(uniform_gain(counts), compute_uv=False)[:-1]
    return 1 / np.append(rates, rates[-1])


def rank_of_two_pairs(ratio: float) -> float:
    """Return RankMe of class means in two dimensions, sizes r^3 : r^2 : r : 1, equal margins; over examples as well.

    Along one direction of its own a class of n examples, from a balanced start, conserves ``n |f|^2 = |w|^2``: at the
    margin ``m = |f| |w|`` its mean has ``|f|^2 = m / sqrt(n)``. With the two frequent classes opposite each other, and
    the two rare ones across, the eigenvalues of the rare pair and of the frequent one are as r : 1 if classes count
    once, and as 1 : r if they count as often as they have examples. Ours; the paper has no such formula.
    """
    shares = np.array([1.0, ratio]) / (1 + ratio)
    return float(np.exp(-np.sum(shares * np.log(shares))))
