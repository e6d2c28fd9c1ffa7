"""The minimiser of Q at initial scales below those at which flows start (Remark 4)."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm

# Initial scales alpha far below those at which flows start: the minimiser needs no flow.
# For three layers and more. At smaller scales solutions are within rounding of a blow-up time.
SMALL_DEEP = 1e-3
# For two layers, the two scales between which a power of alpha is measured. Chosen so small because columns of the
# features that nearly tie change the power by a term that falls like 1 / log(1 / alpha), and no faster.
SMALL = (1e-15, 1e-30)


def small_scale_minimiser(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, depth: int) -> np.ndarray:
    """Return the minimiser of Q at `SMALL_DEEP`, shape (m,); nan if it is not found.

    `features`, `labels`, `weights` and `depth` are those of `norm_like_minimiser`.
    """
    try:
        return norm_like_minimiser(features, labels, weights, scale=SMALL_DEEP, depth=depth)
    except ProjectError:
        return np.full(features.shape[1], np.nan)


def vanishing_power(features: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the power of alpha with which the minimiser of Q vanishes outside a support, and its prediction.

    The network has two layers. The support is that of the interpolating rho of least l1 norm. The power is that of the
    largest entry outside the support, relative to the largest of all entries, between the two scales of `SMALL`.

    The prediction is 2 (1 - s). Let p_j be the absolute value of the inner product of the multipliers of the least l1
    norm with column j of the features. It is one on the support, and s is the largest p_j outside it. Entry j of the
    minimiser is of order ``alpha**2 exp(2 log(1 / alpha) p_j)``, which is ``alpha**(2 (1 - p_j))``, because h_2(t) is
    sinh(2 t) / 2 and the multipliers of Q are those of the l1 norm times log(1 / alpha). Power and prediction are nan
    where the multipliers are not unique, or the minimiser is not found.

    Parameters
    ----------
    features, labels, weights
        As in `norm_like_minimiser`.
    """
    least = minimum_norm(features, labels, "l1")
    support = np.abs(least) > 1e-6 * np.abs(least).max()  # others are zero up to the convex solver's error
    # one equation for each entry of the support, one unknown multiplier for each point
    if support.sum() != len(features):  # the multipliers are not unique
        return np.nan, np.nan
    multipliers = np.linalg.solve(features[:, support].T, np.sign(least[support]))
    sizes = []  # for each scale the largest entry outside the support, relative to the largest of all
    for scale in SMALL:
        try:
            # Newton's method starts at the multipliers of Q to leading order in log(1 / alpha)
            start = np.log(1 / scale) * multipliers
            entries = np.abs(norm_like_minimiser(features, labels, weights, scale=scale, depth=2, start=start))
        except ProjectError:
            return np.nan, np.nan
        sizes.append(entries[~support].max() / entries.max())
    power = np.log(sizes[0] / sizes[1]) / np.log(SMALL[0] / SMALL[1])
    return float(power), float(2 * (1 - np.abs(multipliers @ features[:, ~support]).max()))
