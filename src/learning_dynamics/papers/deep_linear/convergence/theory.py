"""The guarantee of slide 22: its rate, its assumptions on the start, and how often a random start meets the first."""

import numpy as np
from scipy import stats

# Starts of descent under the guarantee, by which of its two assumptions they break
MEETS_BOTH = "assumptions hold"  # balanced, and the loss as barely below that of singular matrices as is allowed
ALLOWED_IMBALANCE = "imbalance allowed"  # the same end-to-end matrix, from layers as unbalanced as is allowed
BEYOND_SINGULAR = "beyond a singular matrix"  # balanced, one singular value with the wrong sign
UNBALANCED = "unbalanced"  # the end-to-end matrix of `MEETS_BOTH`, its first layers rescaled beyond what is allowed
UNBALANCED_SHORTER_STEP = "unbalanced, shorter step"  # the same, at a step divided by the square of the rescaling

# Starts of flows at given margins
SMALLEST_DIRECTION = "smallest direction"  # the target with its last singular value lowered to the margin
SMALLEST_DIRECTION_UNBALANCED = "smallest direction, imbalance allowed"  # the same, with all the imbalance allowed
RANDOM_DIRECTION = "random direction"  # as far from the target in a random direction as the margin allows

# Starts on other convex losses
BELOW = "below"  # with less loss than every singular matrix
BEYOND = "beyond"  # the optimum with one singular value's sign turned, which singular matrices separate from it

# Deviations of the entries of a random start with one output
OVER_DIMENSION, OVER_ROOT = "over the dimension", "over the root"


def guaranteed_rate(margin: np.ndarray | float, depth: np.ndarray | int) -> np.ndarray | float:
    """The rate r of loss(t) <= loss(0) exp(-r eta t): c^(2(N-1)/N) (slide 22; Arora et al. 2019, theorem 1).

    A flow has up to 2N times this rate. From the target with its smallest singular value s lowered to c the loss is
    ``(s - sigma)^2 / 2``, slide 33 gives ``d sigma / dt = N sigma^(2-2/N) (s - sigma)``, and so log loss falls at
    ``2N sigma^(2-2/N)``, at first ``2N c^(2-2/N)``.
    """
    return margin ** (2 * (depth - 1) / depth)


def allowed_imbalance(margin: float, depth: int, target: np.ndarray) -> float:
    """The imbalance that the guarantee allows: c^2 / (256 N^3 ||Phi||_F^(2(N-1)/N)) (Arora et al. 2019, theorem 1)."""
    return float(margin**2 / (256 * depth**3 * np.linalg.norm(target) ** (2 * (depth - 1) / depth)))


def start_deviation(deviation: float, dimension: int, wide: bool) -> float:
    """Standard deviation of a start's entries: `deviation` over the dimension, or (wide) over its root."""
    return deviation / dimension ** (0.5 if wide else 1.0)


def share_that_holds(dimension: int, wide: bool, deviation: float, margin: float) -> float:
    """Probability that a start of `start_deviation` is closer to the target than any of norm margin * deviation / d."""
    return share_within(dimension, start_deviation(deviation, dimension, wide), margin * deviation / dimension)


def share_within(dimension: int, deviation: float, margin: float) -> float:
    """Probability that a Gaussian row vector starts closer to a target of norm one than any of norm `margin` or less.

    Its entries have the given standard deviation; the squared distance is a noncentral chi-square.
    """
    return float(stats.ncx2.cdf(((1 - margin) / deviation) ** 2, dimension, 1 / deviation**2))
