"""The integral of the preconditioned gradient along a closed curve, where it has a closed form."""

from collections.abc import Sequence

import numpy as np


def sector_integral(depth: int, target: float, sector: Sequence[float]) -> float:
    """Return the integral of P_W vec(G) . dW around an annular sector, for one output and whitened inputs.

    `sector` has its inner and outer radius, and the angles `start` and `end` between which it extends, in radians. The
    curve goes out along the ray at `start`, along the outer arc to `end`, in along that ray, and back along the inner
    arc. W is the end-to-end row vector, G the loss's gradient at W, P_W the preconditioner of slide 16.

    The loss is half the squared distance from a target of norm `target`; angles are measured from the target. With one
    output and N layers slide 16 gives ``P_W G = |W|**(2 - 2/N) (G + (N - 1) <w, G> w)`` for the unit vector w along W.
    G is W less the target. The part W of G gives a field along W that depends on ``|W|`` alone, whose integral
    vanishes. The other part, minus the target, contributes, with ``k = 3 - 2/N``,

    - along the two rays ``N target (cos end - cos start) (outer**k - inner**k) / k``,
    - along the two arcs, where w is normal to the curve and ``|W|**(2 - 2/N) |W| = |W|**k``,
      ``target (cos start - cos end) (outer**k - inner**k)``,
    - together ``target (cos start - cos end) (outer**k - inner**k) (1 - N/k)``, which is zero at depths 1 and 2.
    """
    inner, outer, start, end = sector
    power = 3 - 2 / depth
    cosines = np.cos(start) - np.cos(end)
    return float(target * cosines * (outer**power - inner**power) * (1 - depth / power))
