"""What the slides predict, as functions of arrays (Cohen 2019, and the papers that they present)."""

from __future__ import annotations

import numpy as np


def relation_coordinate(values: np.ndarray, depth: int) -> np.ndarray:
    """Return the coordinate in which two singular values are affine functions of each other.

    Under one linear measurement with fixed alignment, ``d sigma_2 / d sigma_1`` is a constant times
    ``(sigma_2 / sigma_1) ** (2 - 2/N)``: affine in sigma at depth 1, in log sigma at depth 2, and in
    ``sigma ** -(1 - 2/N)`` from depth 3 on.
    """
    if depth == 1:
        return values
    return np.log(values) if depth == 2 else values ** -(1 - 2 / depth)


def smaller_singular_value(larger: np.ndarray, start: float, ratio: float, depth: int) -> np.ndarray:
    """Singular value sigma_2 as a function of sigma_1, both from `start`, under <A, W> with A = diag(1, ratio).

    Linear at depth 1, a power at depth 2; from depth 3 on it never exceeds `limiting_singular_value`.
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


def sector_integral(depth: int, target: float, inner: float, outer: float, start: float, end: float) -> float:
    """Integral of P_W vec(grad) along an annular sector, for one output and whitened inputs.

    The loss is half the squared distance from a target of norm `target`; angles are measured from it. The
    part of the gradient along W is a gradient field at every depth, and the rest gives
    ``target (cos start - cos end) (outer**k - inner**k) (1 - N/k)`` with ``k = 3 - 2/N``, which is zero at
    depths 1 and 2.
    """
    power = 3 - 2 / depth
    turned = np.cos(start) - np.cos(end)
    return float(target * turned * (outer**power - inner**power) * (1 - depth / power))


def guaranteed_rate(margin: float, depth: int) -> float:
    """The rate r of loss(t) <= loss(0) exp(-r eta t): c^(2(N-1)/N) (Arora et al. 2019, theorem 1)."""
    return float(margin ** (2 * (depth - 1) / depth))
