"""Falls and rises of a series: the swings that exceed a threshold, and how many members show which."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

# RankMe falls, rises, falls again: each phase by the swing that ends with it (Li et al. 2025)
PHASES = {"warm-up": "first", "entropy-seeking": "second", "compression-seeking": "third"}


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


def shows(swung: pd.DataFrame, phase: str) -> pd.Series:
    """Return which members show the phases up to `phase`, in order, from their start on.

    Parameters
    ----------
    swung : DataFrame
        One row per member; columns first, second and third as from `swings`.
    phase : str
        A key of `PHASES`.
    """
    # swings alternate: whatever follows a fall is a rise
    return (swung["first"] < 0) & (swung[PHASES[phase]] != 0)


def share_interval(shown: pd.Series) -> tuple[float, float, float]:
    """Return the share of members that are true, and its 95 % Wilson interval: share, low, high."""
    interval = stats.binomtest(int(shown.sum()), len(shown)).proportion_ci(0.95, method="wilson")
    return float(shown.mean()), float(interval.low), float(interval.high)
