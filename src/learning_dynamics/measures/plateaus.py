"""Plateaus of a training loss: stretches of time during which it hardly falls, between drops."""

import numpy as np


def plateaus(time: np.ndarray, loss: np.ndarray, slope: float, floor: float, least: float) -> list[tuple[int, int]]:
    """Return the plateaus of a loss curve as pairs of first and last index.

    A plateau is a stretch on which the loss falls more slowly than time to the power of -`slope`, on which it
    is still above `floor` times its first value, and over which time grows at least `least`-fold. Logarithms
    of time are compared because each escape from a saddle takes longer than the one before.

    Parameters
    ----------
    time, loss : ndarray, shape (times,)
        Times ascending and positive.
    slope, floor, least : float
    """
    falling = -np.gradient(np.log(np.maximum(loss, np.finfo(float).tiny)), np.log(time))
    quiet = (falling < slope) & (loss > floor * loss[0])
    edges = np.flatnonzero(np.diff(np.r_[False, quiet, False].astype(int)))
    found = zip(edges[::2], edges[1::2] - 1, strict=True)
    return [(int(first), int(last)) for first, last in found if time[last] >= least * time[first]]
