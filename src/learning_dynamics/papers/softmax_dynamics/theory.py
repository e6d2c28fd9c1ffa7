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
    e_k - 1/V, with the k-th unit vector e_k. Row k of the result is sqrt(n) (e_k - 1/V), which stands for all n: A^T A
    is the same, and so are the singular values. Rows of classes in `learned`, numbers from 0 on, are zero.
    """
    classes = len(counts)
    weights = np.sqrt(np.asarray(counts, dtype=float))
    weights[list(learned)] = 0.0
    return weights[:, None] * (np.eye(classes) - 1 / classes)


def fastest_growth(counts: Sequence[int], learned: Sequence[int] = ()) -> float:
    """Return the largest relative growth rate that uniform predictions allow any singular value.

    It is the spectral norm of A: by eqs. 17 and 18 the rate is |g_i| = |u^T A v|, which is no more. The norm is below
    the root of the largest class size, and near it where classes are many. Rows of classes in `learned` are zero.
    """
    return float(np.linalg.norm(uniform_gain(counts, learned), 2))


def pair_times(counts: Sequence[int]) -> np.ndarray:
    """Return when each class is learned, in units of log(1 / scale), from small starts, shape (classes,).

    Our rule; the paper has none. While features are small, predictions are uniform, and the components of the features
    along the singular vectors of A grow exponentially, at its singular values s_1 >= s_2 >= ... The first component is
    of order one after the time 1 / s_1. Along it the two largest classes come to be opposite each other: both are
    learned. All other classes stay at the origin, where predictions are uniform. They go on growing in the directions
    of feature space that are left, now at the singular values s'_1 >= ... of A without the rows of the first pair. Of
    its way, log(1 / scale), the second component has gone the share s_2 / s_1 by then. Four classes have the times

        1 / s_1  (twice),  1 / s_1 + (1 - s_2 / s_1) / s'_1  (twice).

    The first pair's time is the limit of small starts. Later times are approximate: predictions for classes that are
    not learned do not stay uniform in the long run (see docs/which_population_decides.md), and the second class of a
    pair is taken to be learned with the first. The rule is meant for two pairs: a third can leave the origin within the
    plane that these span, without waiting for another direction.

    Parameters
    ----------
    counts : sequence of int
        Class sizes, largest first and all different, so that gaps of the rates are large against 1 / log(1 / scale).
    """
    pairs = (len(counts) + 1) // 2
    # how much each component that is not of order one yet has left to grow, in units of log(1 / scale)
    remaining, time, times = np.ones(pairs), 0.0, []
    for pair in range(pairs):
        # of A without the rows of the pairs that are learned, one for each component that is left
        rates = np.linalg.svd(uniform_gain(counts, range(2 * pair)), compute_uv=False)[: pairs - pair]
        step = remaining[0] / rates[0]
        time += step
        times.append(time)
        remaining = (remaining - step * rates)[1:]  # the first has none left
    return np.repeat(times, 2)[: len(counts)]


def times_one_by_one(counts: Sequence[int]) -> np.ndarray:
    """Return one over the singular values of A at uniform predictions, largest first, shape (classes,).

    They would be the times of learning if each class had a singular value to itself, and if what is learned did not
    change the rates. The last singular value is zero; the last class has that of the class before.
    """
    rates = np.linalg.svd(uniform_gain(counts), compute_uv=False)[:-1]
    return 1 / np.append(rates, rates[-1])


def rank_of_two_pairs(ratio: float) -> float:
    """Return RankMe of class means at sizes r^3 : r^2 : r : 1 in two dimensions, with equal margins.

    Our formula; the paper has none. A class of n examples with a direction to itself conserves ``n |f|^2 = |w|^2`` from
    a balanced start, so that at the margin ``m = |f| |w|`` its mean has ``|f|^2 = m / sqrt(n)``. The two frequent
    classes are opposite each other along one direction, the two rare ones along the other. The eigenvalues of the rare
    and of the frequent direction are as r : 1. RankMe over examples is the same number: each class counts n times, and
    the eigenvalues are as 1 : r.
    """
    shares = np.array([1.0, ratio]) / (1 + ratio)
    return float(np.exp(-np.sum(shares * np.log(shares))))
