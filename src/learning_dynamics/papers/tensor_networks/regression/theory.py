"""The minimiser of Q at initial scales below those at which flows start (Remark 4)."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm

# scales far below those at which flows start: the minimiser needs no flow
SMALL_DEEP = 1e-3  # for three layers and more; at smaller scales solutions are within rounding of a blow-up time
# For two layers; chosen: what columns that nearly tie change of the power falls like 1 / log(1 / alpha) only.
SMALL = (1e-15, 1e-30)


def small_scale_minimiser(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, depth: int) -> np.ndarray:
    """Return the minimiser of Q at `SMALL_DEEP`, shape (m,); nan if it is not found. See `norm_like_minimiser`."""
    try:
        return norm_like_minimiser(features, labels, weights, scale=SMALL_DEEP, depth=depth)
    except ProjectError:
        return np.full(features.shape[1], np.nan)


def vanishing_power(features: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the power of alpha with which the minimiser vanishes outside a support, and its prediction.

    The support is that of the least l1 norm. The power is that of the largest entry outside it, relative to the
    largest of all, between the two scales of `SMALL`, for two layers.

    The prediction is 2 (1 - s). Let p_j be the product, in absolute value, of the multipliers of the least l1 norm with
    column j of the features: it is one on the support, and s is the largest of those outside it. Entry j of the
    minimiser is of order ``alpha**2 exp(2 log(1 / alpha) p_j)``, because h_2(t) is sinh(2 t) / 2 and the multipliers
    of Q are those of the l1 norm times log(1 / alpha). Both are nan where the multipliers are not unique, or the
    minimiser is not found.

    Parameters
    ----------
    features, labels, weights
        As in `norm_like_minimiser`.
    """
    least = minimum_norm(features, labels, "l1")
    support = np.abs(least) > 1e-6 * np.abs(least).max()  # others are zero up to the convex solver's error
    if support.sum() != len(features):  # the multipliers are not unique
        return np.nan, np.nan
    multipliers = np.linalg.solve(features[:, support].T, np.sign(least[support]))
    sizes = []  # of the largest entry outside the support, relative to the largest of all
    for scale in SMALL:
        try:
            # the multipliers of Q, to leading order in log(1 / alpha)
            start = np.log(1 / scale) * multipliers
            entries = np.abs(norm_like_minimiser(features, labels, weights, scale=scale, depth=2, start=start))
        except ProjectError:
            return np.nan, np.nan
        sizes.append(entries[~support].max() / entries.max())
    power = np.log(sizes[0] / sizes[1]) / np.log(SMALL[0] / SMALL[1])
    return float(power), float(2 * (1 - np.abs(multipliers @ features[:, ~support]).max()))
