"""How many steps gradient descent needs on a deep linear network with one output and whitened data.

With whitened inputs the loss is half the squared distance of the end-to-end weights from a target, up to a
constant. With one output the gradient of every layer is an outer product of two vectors, so that a step costs
products of matrices with vectors alone. Compiled, with three layers of width 10, a step takes 3 microseconds, where one
of `descent.descend` takes 40. A descent takes up to 5000 steps, at full scale a million, and a run has a descent from
each of dozens of starts at each of ten rates. A test compares the steps with plain descent.
"""

from collections.abc import Sequence

import numba
import numpy as np

AT_ONCE = 100_000  # the most steps in one call of compiled code, which no signal interrupts: 0.3 seconds
# what `_advance` returns instead of a number of steps: the descent has not arrived yet, or it has diverged
ON_ITS_WAY, LOST = -1, -2


def fewest_steps(
    layers: Sequence[np.ndarray], target: np.ndarray, rates: Sequence[float], *, tolerance: float, cap: int
) -> tuple[int, float]:
    """Return the fewest steps to a loss within `tolerance` of the least one, over learning rates, and that rate.

    Rates are tried from the largest down, each only for fewer steps than the best so far. The result is the same as if
    all were tried for `cap` steps; of rates that need equally few steps it is the largest.

    Parameters
    ----------
    layers : sequence of ndarray
        First layer first; the last has one row.
    target : ndarray, shape (d_0,)
    rates : sequence of float
    tolerance : float
        Descent has arrived where the loss exceeds the least one by at most this.
    cap : int
        The most steps that a descent may take.

    Returns
    -------
    steps : int
        -1 if no rate gets there.
    rate : float
        nan if no rate gets there.
    """
    best, best_rate = -1, np.nan
    for rate in sorted(rates, reverse=True):
        limit = cap if best < 0 else best - 1
        steps = _steps(layers, target, rate, tolerance=tolerance, cap=limit)
        if steps >= 0:
            best, best_rate = steps, rate
    return best, best_rate


def _steps(layers: Sequence[np.ndarray], target: np.ndarray, rate: float, *, tolerance: float, cap: int) -> int:
    """Return after how many steps the loss exceeds the least one by at most the tolerance; -1 if it never does."""
    moving = numba.typed.List([np.array(layer, order="C") for layer in layers])  # copies, which descend
    goal = np.ascontiguousarray(target)
    start_excess = -1.0  # not known yet
    tests = cap + 1  # how often the loss is compared with the tolerance: before each step, and after the last
    for begun in range(0, tests, AT_ONCE):
        steps, start_excess = _advance(moving, goal, rate, tolerance, min(AT_ONCE, tests - begun), start_excess)
        if steps == LOST:
            return -1
        if steps != ON_ITS_WAY:
            return begun + steps
    return -1


@numba.njit
def _advance(layers, target, rate, tolerance, count, start_excess):
    """Take up to `count` steps, changing the layers; return a number of steps or a code, and the excess at the start.

    The number is how many of these steps were taken until the loss exceeded the least one by at most the tolerance; the
    codes are `ON_ITS_WAY` and `LOST`. `start_excess`, the excess of the loss at the start of descent, is negative in
    the first call, which does not know it yet.

    With one output the gradient with respect to layer j = 0, ..., N - 1 is the outer product of ``above[j] = W_{N-1}
    ... W_{j+1}``, a row, and of ``below[j] = W_{j-1} ... W_0 r`` for the residual r, the end-to-end weights less the
    target (slide 15, which counts layers from 1).
    """
    depth = len(layers)
    above = [np.ones(1) for _ in range(depth)]
    below = [np.zeros(1) for _ in range(depth)]
    for step in range(count):
        for j in range(depth - 2, -1, -1):
            above[j] = np.dot(above[j + 1], layers[j + 1])
        residual = np.dot(above[0], layers[0]) - target
        excess = 0.5 * np.dot(residual, residual)
        if start_excess < 0:
            start_excess = excess
        if excess <= tolerance:
            return step, start_excess
        # chosen: a loss a million times the first has diverged, or one of a million where the first is small
        if np.isnan(excess) or excess >= 1e6 * (start_excess + 1.0):
            return LOST, start_excess
        below[0] = residual
        for j in range(1, depth):
            below[j] = np.dot(layers[j - 1], below[j - 1])
        for j in range(depth):
            layer, above_j, below_j = layers[j], above[j], below[j]
            for row in range(layer.shape[0]):
                scaled = rate * above_j[row]
                for column in range(layer.shape[1]):
                    layer[row, column] -= scaled * below_j[column]
    return ON_ITS_WAY, start_excess
