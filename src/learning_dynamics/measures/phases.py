"""Falls and rises of a series: the swings that exceed a threshold, whatever wiggles lie between them."""

from __future__ import annotations

import numpy as np


def swings(series: np.ndarray, threshold: float, count: int) -> np.ndarray:
    """Return the first `count` alternating swings of each series: negative for a fall, positive for a rise.

    A swing ends at an extremum from which the series later retreats by at least `threshold`; smaller
    retreats belong to the swing. The last swing may end with the series.

    Parameters
    ----------
    series : ndarray, shape (members, times)
    threshold : float
        Smallest change that counts, above zero.
    count : int
        How many swings to return; missing ones are zero.

    Returns
    -------
    ndarray, shape (members, count)
    """
    found = np.zeros((len(series), count))
    for member, values in enumerate(series):
        turning = _turning_points(values, threshold)[: count + 1]
        found[member, : max(len(turning) - 1, 0)] = np.diff(turning)
    return found


def _turning_points(values: np.ndarray, threshold: float) -> list[float]:
    """Return alternating extrema of a series, consecutive ones at least `threshold` apart."""
    points: list[float] = []
    low = high = float(values[0])
    direction = 0
    for value in values[1:].tolist():
        low, high = min(low, value), max(high, value)
        if direction >= 0 and value <= high - threshold:
            points = [high] if direction == 0 else [*points, high]
            direction, low = -1, value
        elif direction <= 0 and value >= low + threshold:
            points = [low] if direction == 0 else [*points, low]
            direction, high = 1, value
    if direction:
        points.append(high if direction > 0 else low)
    return points
