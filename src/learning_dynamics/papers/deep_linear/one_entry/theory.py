"""How two singular values depend on each other under one linear measurement."""

import numpy as np


def smaller_singular_value(larger: np.ndarray, start: float, ratio: float, depth: int) -> np.ndarray:
    """Singular value sigma_2 as a function of sigma_1, both from `start`, under <A, W> with A = diag(1, ratio).

    With fixed alignment ``d sigma_2 / d sigma_1 = ratio (sigma_2 / sigma_1) ** (2 - 2/N)``: linear at depth 1, a power
    at depth 2; from depth 3 on it never exceeds `limiting_singular_value`.
    """
    if depth == 1:
        return start + ratio * (larger - start)
    if depth == 2:
        return start * (larger / start) ** ratio
    power = 1 - 2 / depth
    return (start**-power - ratio * (start**-power - larger**-power)) ** (-1 / power)


def limiting_singular_value(start: float, ratio: float, depth: int) -> float:
    """The asymptote of sigma_2 as sigma_1 grows without bound, for depth >= 3."""
    power = 1 - 2 / depth
    return start * (1 - ratio) ** (-1 / power)
