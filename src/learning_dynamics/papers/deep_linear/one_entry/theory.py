"""How two singular values of W, the product of N balanced layers, depend on each other under one linear measurement."""

import numpy as np


def smaller_singular_value(sigma_1: np.ndarray, start: float, ratio: float, depth: int) -> np.ndarray:
    """Singular value sigma_2 as a function of sigma_1 under <A, W> with A = diag(1, ratio), if both begin at `start`.

    `sigma_1` may have any shape, and the result has the same. The loss's gradient at W is a multiple e(t) A of A, and
    the singular vectors of W stay those of A. So slide 33 gives ``d sigma_r / dt = -N e s_r sigma_r ** (2 - 2/N)``,
    where s = (1, ratio) are the singular values of A. By division ``d sigma_2 / d sigma_1 = ratio (sigma_2 / sigma_1)
    ** (2 - 2/N)``. At depth 1 the solution is linear in sigma_1, at depth 2 a power of sigma_1. From depth 3 on
    ``sigma_2 ** (2/N - 1)`` is linear in ``sigma_1 ** (2/N - 1)``, and sigma_2 stays below `limiting_singular_value`.
    """
    if depth == 1:
        return start + ratio * (sigma_1 - start)
    if depth == 2:
        return start * (sigma_1 / start) ** ratio
    power = 1 - 2 / depth
    return (start**-power - ratio * (start**-power - sigma_1**-power)) ** (-1 / power)


def limiting_singular_value(start: float, ratio: float, depth: int) -> float:
    """The limit of `smaller_singular_value` as sigma_1 grows without bound, for a depth of at least 3 and ratio < 1."""
    power = 1 - 2 / depth
    return start * (1 - ratio) ** (-1 / power)
