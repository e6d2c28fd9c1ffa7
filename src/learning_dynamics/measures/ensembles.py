"""Means and quantiles of many independent paths, with confidence intervals."""

from collections.abc import Sequence

import numpy as np
from scipy import stats


def mean_interval(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean over the first axis, and the lower and the upper end of its normal confidence interval."""
    mean = values.mean(axis=0)
    half = stats.norm.ppf(0.5 + level / 2) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return mean, mean - half, mean + half


def quantile_intervals(
    values: np.ndarray, shares: Sequence[float], level: float = 0.95
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return quantiles over the first axis, each with the lower and the upper end of its confidence interval.

    The ends are two of the sorted values. The number of values below a quantile has a binomial distribution, whatever
    the distribution of the values, so that the interval holds for tails however heavy. Where values are too few for the
    level, the interval ends at the least or the largest of them.

    Parameters
    ----------
    shares : sequence of float
        Which quantiles: 0.5 is the median.
    """
    ordered = np.sort(values, axis=0)
    count = len(values)
    tail = (1 - level) / 2
    found = []
    for share, quantile in zip(shares, np.quantile(ordered, shares, axis=0), strict=True):
        # The l-th smallest value, whose index is l - 1, is above the quantile if fewer than l values are below it. For
        # l = ppf(tail) this has at most the probability `tail`; likewise for the upper end.
        low = int(np.clip(stats.binom.ppf(tail, count, share) - 1, 0, count - 1))
        high = int(np.clip(stats.binom.ppf(1 - tail, count, share), 0, count - 1))
        found.append((quantile, ordered[low], ordered[high]))
    return found
