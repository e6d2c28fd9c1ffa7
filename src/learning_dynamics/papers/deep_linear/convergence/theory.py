"""The guarantee of slide 22: its rate, its assumptions on the start, and how often a random start meets the first.

It is about gradient descent of N layers on the loss ||W - W*||_F^2 / 2 of their product W, with the target W*. The
first assumption is that every matrix with a singular value up to the margin c > 0 has more loss than the start; the
second is that the start's imbalance max_j ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F is at most `allowed_imbalance`.
"""

import numpy as np
from scipy import stats


def guaranteed_rate(margin: np.ndarray | float, depth: np.ndarray | int) -> np.ndarray | float:
    """The rate r of loss(t) <= loss(0) exp(-r eta t): c^(2(N-1)/N) (slide 22; Arora et al. 2019, theorem 1).

    c is the margin, N the depth, t the number of steps and eta their size. A flow's loss may fall faster. An example
    starts at the target with its smallest singular value s lowered to c. While this singular value sigma(t) grows from
    c to s, the loss is ``(s - sigma)^2 / 2``, and slide 33 gives ``d sigma / dt = N sigma^(2-2/N) (s - sigma)``. So log
    loss falls at the rate ``2N sigma^(2-2/N)``: at first this is ``2N c^(2-2/N)``, 2N times the guaranteed rate.
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

    The start's entries have the standard deviation `start_deviation`, and the margin c is ``margin * deviation /
    dimension``. The assumption is that the start is closer to the target than every row vector of norm c or less.
    """
    return share_within(dimension, start_deviation(deviation, dimension, over_root), margin * deviation / dimension)


def share_within(dimension: int, deviation: float, margin: float) -> float:
    """Probability that a Gaussian row vector is closer to a target of norm one than all of norm `margin` or less.

    Entries of the Gaussian vector have the given standard deviation. Row vectors of norm `margin` or less are at a
    distance of at least ``1 - margin`` from the target. The Gaussian vector's squared distance from the target, over
    the variance, has a noncentral chi-square distribution.
    """
    return float(stats.ncx2.cdf(((1 - margin) / deviation) ** 2, dimension, 1 / deviation**2))
