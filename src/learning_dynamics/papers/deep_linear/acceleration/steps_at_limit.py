"""How many steps the end-to-end update takes at the largest learning rate that is stable, in compiled loops."""

import numba
import numpy as np

PATIENCE = 300  # times the fewest steps so far: a rate that needs more is not in proportion to its neighbours
AT_ONCE = 100_000  # steps of compiled code, which no signal interrupts
LOST = -2


def steps_at_limit(
    start: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    exponent: float,
    depth: int,
    rates: np.ndarray,
    target: float,
    cap: int,
    *,
    below: int,
    slack: float,
) -> tuple[int, float, int]:
    """Return the steps to a mean of |x.w - y|^p of `target` at the largest stable rate, that rate, and the fewest.

    The update is that of `lp_regression.descend` by the end-to-end rule; at depth 1 it is gradient descent. A rate is
    stable if it and the next `below` smaller ones all arrive, and none of them takes more than `slack` times the steps
    that it would if steps were inversely proportional to rates. A larger rate may arrive by luck, with fewer steps.

    Parameters
    ----------
    start : ndarray, shape (features,)
    X, Y : ndarray, shape (samples, features) and (samples,)
    rates : ndarray, shape (rates,), ascending
    cap : int
        The most steps to wait.

    Returns
    -------
    steps : int
        -1 if no rate is stable, or the largest of all is.
    rate : float
        0 if there is none.
    fewest : int
        Over all rates that were tried; -1 if none arrived.
    """
    steps = np.full(len(rates), -1)
    fewest, limit = -1, cap
    for place in reversed(range(len(rates))):
        steps[place] = _steps(start, X, Y, exponent, depth, rates[place], target, limit)
        neighbours = steps[place : place + below + 1]
        if steps[place] >= 0 and (fewest < 0 or steps[place] < fewest):
            fewest = int(steps[place])
            limit = min(cap, PATIENCE * max(fewest, 1))
        highest = place + below
        if highest < len(rates) and np.all(neighbours >= 0):
            in_proportion = steps[highest] * rates[highest] / rates[place : highest + 1]
            if np.all(neighbours <= slack * in_proportion):
                if highest == len(rates) - 1:
                    break
                return int(steps[highest]), float(rates[highest]), fewest
    return -1, 0.0, fewest


def _steps(
    start: np.ndarray, X: np.ndarray, Y: np.ndarray, exponent: float, depth: int, rate: float, target: float, cap: int
) -> int:
    weights, first = start.copy(), -1.0
    for begun in range(0, cap + 1, AT_ONCE):
        count = min(AT_ONCE, cap + 1 - begun)
        steps, first = _advance(weights, X, Y, exponent, depth, rate, target, count, first)
        if steps != -1:
            return begun + steps if steps >= 0 else -1
    return -1


@numba.njit
def _advance(weights, X, Y, exponent, depth, rate, target, count, first):
    samples, features = X.shape
    slope = np.zeros(features)
    for step in range(count):
        loss = 0.0
        slope[:] = 0.0
        for i in range(samples):
            residual = -Y[i]
            for k in range(features):
                residual += X[i, k] * weights[k]
            power = abs(residual) ** (exponent - 2)
            loss += power * residual**2 / samples
            for k in range(features):
                slope[k] += exponent * power * residual * X[i, k] / samples
        if first < 0:
            first = loss
        if loss <= target:
            return step, first
        if not loss < 1e6 * first:
            return LOST, first
        size, inner = 0.0, 0.0
        for k in range(features):
            size += weights[k] ** 2
            inner += weights[k] * slope[k]
        factor = rate * size ** (1 - 1 / depth)
        for k in range(features):
            weights[k] -= factor * (slope[k] + (depth - 1) * inner / size * weights[k])
    return -1, first
