"""The values of a range of ``robustness:``: those that are judged first, and those between two of them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# all are chosen
DECADE = 10.0  # ranges whose ends have this ratio or more are spaced by the logarithm
MIN_RATIO = 1.1  # bisection stops where two values of a setting have this ratio or less: a turn is known to a tenth
MAX_BISECTIONS = 12  # of one interval; from a decade five reach `MIN_RATIO`
N_POINTS = 9  # of an evenly spaced grid, unless the entry says how many


def grid_of(entry: Mapping[str, Any]) -> list[Any]:
    """Return the values of an entry that are judged first: its ``grid``, or a grid over its ``range``, ends included.

    The grid of a range has ``points`` values. Without that key it has a value for each decade, at least five, where the
    ends are positive and a decade or more apart, and `N_POINTS` elsewhere. Whole numbers that coincide when rounded
    count once.
    """
    if "grid" in entry:
        return list(entry["grid"])
    low, high = entry["range"]
    if by_decades(low, high):
        decades = round(math.log10(high) - math.log10(low))
        points = np.geomspace(low, high, entry.get("points") or max(5, decades + 1))
    else:
        points = np.linspace(low, high, entry.get("points") or N_POINTS)
    if all(isinstance(end, int) for end in (low, high)):
        return sorted({round(point) for point in points})
    inner = {float(f"{point:.4g}") for point in points[1:-1]}
    return [low, *sorted(point for point in inner if low < point < high), high]


def midpoint(low: Any, high: Any) -> Any:
    """Return the value halfway between two at which a verdict differs; None where they are close enough.

    That is the case where whole numbers follow one another, and where real ones have a ratio of `MIN_RATIO` or less; if
    the lower is not positive, where their difference is at most `MIN_RATIO` - 1 times the larger absolute value.
    """
    if all(isinstance(end, int) for end in (low, high)):
        return None if high - low <= 1 else (low + high) // 2
    if low > 0:
        # halfway between their logarithms; the product of ends that are tiny would underflow
        size, middle = low, math.sqrt(low) * math.sqrt(high)
    else:
        size, middle = max(-low, high), (low + high) / 2
    if high - low <= (MIN_RATIO - 1) * size:
        return None
    return float(f"{middle:.4g}")


def by_decades(low: float, high: float) -> bool:
    """Whether a range is spaced by the logarithm."""
    return low > 0 and high / low >= DECADE
