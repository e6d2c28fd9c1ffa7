"""The integral of the preconditioned gradient along a closed curve, where it has a closed form."""

import numpy as np

# the networks of the closed curves
CURVES = ("one output, whitened inputs", "one output, correlated inputs", "two outputs, whitened inputs")


def sector_integral(depth: int, target: float, inner: float, outer: float, start: float, end: float) -> float:
    """Integral of P_W vec(grad) along an annular sector, for one output and whitened inputs.

    The loss is half the squared distance from a target of norm `target`; angles are measured from it. The
    part of the gradient along W is a gradient field at every depth, and the rest gives
    ``target (cos start - cos end) (outer**k - inner**k) (1 - N/k)`` with ``k = 3 - 2/N``, which is zero at
    depths 1 and 2.
    """
    power = 3 - 2 / depth
    cosines = np.cos(start) - np.cos(end)
    return float(target * cosines * (outer**power - inner**power) * (1 - depth / power))
