"""What the appendix predicts of singular values (Li et al. 2025, appendix B), and what we predict of ranks.

f has a row of features for each example, W is the classifier, and A is the derivative of the loss by the logits f W:
under cross-entropy their softmax minus the one-hot labels. By gradient flow df/dt = -eta A W^T and dW/dt = -eta f^T A,
with the learning rate eta (eq. 12). sigma_1i, u_1i and v_1i are the i-th singular value of f, the largest first, and
its left and right singular vectors; sigma_2i, u_2i and v_2i are those of W. V is the number of classes; an argument V
is a matrix instead, with right singular vectors as columns.
"""

from collections.abc import Sequence

import numpy as np


def singular_value_rates(U: np.ndarray, derivative: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return d sigma_k / dt = u_k^T (dM/dt) v_k for each singular value of a matrix M(t), shape (..., values).

    This is Lemma B.1 (eq. 13).

    Parameters
    ----------
    U, V : ndarray, shapes (..., rows, values) and (..., columns, values)
        Left and right singular vectors u_k and v_k of M, as columns.
    derivative : ndarray, shape (..., rows, columns)
        dM/dt.
    """
    # the sum over rows of u_k times (dM/dt) v_k, for all k at once
    return np.sum(U * (derivative @ V), axis=-2)


def gains(U: np.ndarray, A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return g_i = u_1i^T A v_2i, shape (..., values): a singular value grows where g_i is negative.

    From balanced factors, f^T f = W W^T, d sigma_1i / dt = -eta g_i sigma_2i and d sigma_2i / dt = -eta g_i sigma_1i
    (eqs. 17 and 18).

    Parameters
    ----------
    U, V : ndarray, shapes (..., examples, values) and (..., classes, values)
        The vectors u_1i, left ones of f, and v_2i, right ones of W, as columns.
    A : ndarray, shape (..., examples, classes)
    """
    return np.sum(U * (A @ V), axis=-2)


def uniform_gain(counts: Sequence[int], learned: Sequence[int] = ()) -> np.ndarray:
    """Return -A at uniform predictions, with one row sqrt(n) (e_k - 1/V) for the n examples of each class k.

    At uniform predictions A is 1/V minus the one-hot labels (eq. 12), with V classes. The n examples of class k then
    have the same row of -A, e_k - 1/V, where e_k is the k-th unit vector. One row that is sqrt(n) times as long
    replaces these n rows: A^T A is the same, and so are the singular values that are not zero, and the right singular
    vectors.

    Parameters
    ----------
    counts : sequence of int
        The class sizes n.
    learned : sequence of int
        Classes, counted from 0, whose rows of A are zero because their examples are predicted.

    Returns
    -------
    ndarray, shape (classes, classes)
        A row for each class, a column for each class's logit.
    """
    classes = len(counts)
    weights = np.sqrt(np.asarray(counts, dtype=float))
    weights[list(learned)] = 0.0
    return weights[:, None] * (np.eye(classes) - 1 / classes)


def fastest_growth(counts: Sequence[int], learned: Sequence[int] = ()) -> float:
    """Return the largest relative growth rate, d log(sigma) / dt, of a singular value at uniform predictions.

    From balanced factors and with learning rate one the rate is |g_i| = |u_1i^T A v_2i| (eqs. 17 and 18), which is at
    most the spectral norm of A. This norm is returned. It is below the root of the largest class size, and near it
    where classes are many. Rows of classes in `learned` are zero, as in `uniform_gain`.
    """
    return float(np.linalg.norm(uniform_gain(counts, learned), 2))


def pair_times(counts: Sequence[int]) -> np.ndarray:
    """Return when each class is learned, in units of log(1 / scale), from small starts, shape (classes,).

    This is our rule; the paper has none. While features are small, predictions are uniform, and the components of the
    features along the left singular vectors of A grow exponentially, at its singular values s_1 >= s_2 >= ... In these
    units the first component is of order one after the time 1 / s_1. Along it the two largest classes come to be
    opposite each other: both are learned. All other classes stay at the origin, where predictions are uniform. They go
    on growing in the directions of feature space that are left, now at the singular values s'_1 >= ... of A without the
    rows of the first pair. A component has to grow by the factor 1 / scale. When the first pair is learned, the second
    component has grown by the factor (1 / scale)^(s_2 / s_1): of the logarithm of its growth the share 1 - s_2 / s_1 is
    left. Four classes have the times

        1 / s_1  (twice),  1 / s_1 + (1 - s_2 / s_1) / s'_1  (twice).

    The first pair's time is the limit of small starts. Later times are approximate: predictions for classes that are
    not learned do not stay uniform in the long run (see docs/which_population_decides.md), and the second class of a
    pair is taken to be learned with the first. The rule is meant for two pairs: a third can leave the origin within the
    plane that these span, without waiting for another direction.

    Parameters
    ----------
    counts : sequence of int
        Class sizes, largest first and all different. The differences between singular values of A must be large against
        1 / log(1 / scale).
    """
    pairs = (len(counts) + 1) // 2
    # An entry for each component that is not of order one yet: what it has left to grow, as a logarithm in units of
    # log(1 / scale). Each pair of classes needs one component; an odd number of classes leaves the last one alone.
    remaining, time, times = np.ones(pairs), 0.0, []
    for pair in range(pairs):
        # `pair` pairs are learned, the classes range(2 * pair), and pairs - pair components are left. Rates are the
        # singular values of A without the rows of these classes, the largest first, one for each component left
        rates = np.linalg.svd(uniform_gain(counts, range(2 * pair)), compute_uv=False)[: pairs - pair]
        step = remaining[0] / rates[0]
        time += step
        times.append(time)
        remaining = (remaining - step * rates)[1:]  # the first has none left
    return np.repeat(times, 2)[: len(counts)]  # cut where the last pair has one class


def times_one_by_one(counts: Sequence[int]) -> np.ndarray:
    """Return one over the singular values of A at uniform predictions, largest first, shape (classes,).

    They would be the times of learning, in units of log(1 / scale), if each class had a singular value to itself, and
    if what is learned did not change the rates. The smallest singular value is zero, since each row of A sums to zero;
    the last class has the time of the class before it.
    """
    rates = np.linalg.svd(uniform_gain(counts), compute_uv=False)[:-1]
    return 1 / np.append(rates, rates[-1])


def rank_of_two_pairs(ratio: float) -> float:
    """Return RankMe of class means at sizes r^3 : r^2 : r : 1 in two dimensions, with equal margins; `ratio` is r.

    RankMe is the exponential of the entropy of the eigenvalues of the covariance, the variances along principal
    directions, as shares of their sum.

    This is our formula; the paper has none. Let a class of n examples, with the mean f and the column w of the
    classifier, have a direction to itself. From a balanced start it conserves ``n |f|^2 = |w|^2``, so that at the
    margin ``m = |f| |w|`` it has ``|f|^2 = m / sqrt(n)``. The two frequent classes are opposite each other along one
    direction, the two rare ones along the other. The variances of class means along the rare direction and along the
    frequent one are then as r : 1. Over examples each class counts n times, and they are as 1 : r, which gives the same
    RankMe.
    """
    shares = np.array([1.0, ratio]) / (1 + ratio)
    return float(np.exp(-np.sum(shares * np.log(shares))))
