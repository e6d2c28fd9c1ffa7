"""The minimiser of Q at initial scales below those that a flow is followed from (Remark 4)."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm

SMALL_DEEP = 1e-3  # for three layers and more, where smaller ones lie within rounding of a blow-up time
SMALL = (1e-15, 1e-30)  # far below any scale that a flow is followed from: the minimiser needs no flow


def small_scale_minimiser(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, depth: int) -> np.ndarray:
    """Return the minimiser of Q at `SMALL_DEEP`, shape (m,); nan if it is not found. See `norm_like_minimiser`."""
    try:
        return norm_like_minimiser(features, labels, weights, scale=SMALL_DEEP, depth=depth)
    except ProjectError:
        return np.full(features.shape[1], np.nan)


def vanishing_power(features: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the power of alpha with which entries of the minimiser outside a support vanish, and its prediction.

    The power is that of the largest such entry between the two scales of `SMALL`, for two layers. It is predicted to
    be 2 (1 - s), with s the largest product of a column outside the support with the multipliers of the least l1 norm:
    each entry is alpha**2 times an exponential of 2 log(1 / alpha) times its column's product, which is one, up to
    sign, on the support. Nan where multipliers are many, or the minimiser is not found.

    Parameters
    ----------
    features, labels, weights
        As in `norm_like_minimiser`.
    """
    least = minimum_norm(features, labels, "l1")
    support = np.abs(least) > 1e-6 * np.abs(least).max()
    if support.sum() != len(features):
        return np.nan, np.nan
    multipliers = np.linalg.solve(features[:, support].T, np.sign(least[support]))
    sizes = []
    for scale in SMALL:
        try:
            start = np.log(1 / scale) * multipliers
            entries = np.abs(norm_like_minimiser(features, labels, weights, scale=scale, depth=2, start=start))
        except ProjectError:
            return np.nan, np.nan
        sizes.append(entries[~support].max() / entries.max())
    power = np.log(sizes[0] / sizes[1]) / np.log(SMALL[0] / SMALL[1])
    return float(power), float(2 * (1 - np.abs(multipliers @ features[:, ~support]).max()))
