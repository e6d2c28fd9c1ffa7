"""The integral of the preconditioned gradient along a closed curve, where it has a closed form."""

from collections.abc import Sequence

import numpy as np


def sector_integral(depth: int, target: float, sector: Sequence[float]) -> float:
    """Integral of P_W vec(grad) around an annular sector, for one output and whitened inputs.

    `sector` has its inner and outer radius, and the angles in radians at which it starts and ends.

    The loss is half the squared distance from a target of norm `target`; angles are measured from it. With one output
    and N layers slide 16 gives ``P_W grad = |W|**(2 - 2/N) (grad + (N - 1) <w, grad> w)`` for the unit vector w along
    W. The gradient is W less the target. Its part W gives a field along W that depends on ``|W|`` alone, whose integral
    vanishes; the target is left. Along the rays from `inner` to `outer` it gives, with ``k = 3 - 2/N``,
    ``N target (cos end - cos start) (outer**k - inner**k) / k``, and along the arcs, where w is normal to the curve,
    ``target (cos start - cos end) (outer**k - inner**k)``, as ``|W|**(2 - 2/N) |W| = |W|**k``. Their sum,
    ``target (cos start - cos end) (outer**k - inner**k) (1 - N/k)``, is zero at depths 1 and 2.
    """
    inner, outer, start, end = sector
    power = 3 - 2 / depth
    cosines = np.cos(start) - np.cos(end)
    return float(target * cosines * (outer**power - inner**power) * (1 - depth / power))
