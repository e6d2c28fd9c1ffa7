"""Plateaus of a training loss: stretches of time during which it hardly falls, between drops."""

from __future__ import annotations

import numpy as np


def plateaus(time: np.ndarray, loss: np.ndarray, flat: float, floor: float, least: float) -> list[tuple[int, int]]:
    """Return the plateaus of a loss curve as pairs of first and last index.

    A plateau is a stretch on which the relative speed -d log(loss)/dt stays below `flat` times its largest
    value on the curve, on which the loss is still above `floor` times its first value, and which lasts at
    least `least` in time.

    Parameters
    ----------
    time, loss : ndarray, shape (times,)
    flat, floor, least : float
    """
    speed = -np.gradient(np.log(np.maximum(loss, np.finfo(float).tiny)), time)
    above = loss > floor * loss[0]
    quiet = above & (speed < flat * speed[above].max())
    edges = np.flatnonzero(np.diff(np.r_[False, quiet, False].astype(int)))
    found = zip(edges[::2], edges[1::2] - 1, strict=True)
    return [(int(first), int(last)) for first, last in found if time[last] - time[first] >= least]
