"""The guarantee of slide 22: its rate, its assumptions on the start, and how often a random start meets the first."""

import numpy as np
from scipy import stats


def guaranteed_rate(margin: np.ndarray | float, depth: np.ndarray | int) -> np.ndarray | float:
    """The rate r of loss(t) <= loss(0) exp(-r eta t): c^(2(N-1)/N) (slide 22; Arora et al. 2019, theorem 1).

    c is the margin, N the depth, t the number of steps and eta their size. A flow has up to 2N times this rate. From
    the target with its smallest singular value s lowered to c the loss is ``(s - sigma)^2 / 2``, slide 33 gives
    ``d sigma / dt = N sigma^(2-2/N) (s - sigma)``, and so log loss falls at ``2N sigma^(2-2/N)``, at first
    ``2N c^(2-2/N)``.
    """
    return margin ** (2 * (depth - 1) / depth)


def allowed_imbalance(margin: float, depth: int, target: np.ndarray) -> float:
    """The imbalance that the guarantee allows: c^2 / (256 N^3 ||W*||_F^(2(N-1)/N)) (Arora et al. 2019, theorem 1).

    W* is the target, and c the margin.
    """
    return float(margin**2 / (256 * depth**3 * np.linalg.norm(target) ** (2 * (depth - 1) / depth)))


def start_deviation(deviation: float, dimension: int, over_root: bool) -> float:
    """Standard deviation of a start's entries: `deviation` over the dimension or over its root."""
    return deviation / dimension ** (0.5 if over_root else 1.0)


def probability_of_assumption(dimension: int, deviation: float, margin: float, *, over_root: bool) -> float:
    """Probability that a random start with one output meets the first assumption, for a target of norm one.

    Its entries have the deviation `start_deviation`, and c is ``margin * deviation / dimension``. The assumption is
    that the start is closer to the target than every row vector of norm c or less.
    """
    return share_within(dimension, start_deviation(deviation, dimension, over_root), margin * deviation / dimension)


def share_within(dimension: int, deviation: float, margin: float) -> float:
    """Probability that a Gaussian row vector is closer to a target of norm one than any of norm `margin` or less.

    Its entries have the given standard deviation. Those vectors are at a distance of at least ``1 - margin``, and the
    squared distance over the variance has a noncentral chi-square distribution.
    """
    return float(stats.ncx2.cdf(((1 - margin) / deviation) ** 2, dimension, 1 / deviation**2))
