"""How many steps the end-to-end update takes to fit a regression at its best learning rate, in compiled loops."""

from __future__ import annotations

import numba
import numpy as np


def fewest_steps(
    start: np.ndarray, X: np.ndarray, Y: np.ndarray, exponent: float, depth: int, rates: np.ndarray, target: float,
    cap: int,
) -> np.ndarray:  # fmt: skip
    """Return for each learning rate the steps to a mean of |x.w - y|^p of `target`.

    The update is that of `lp_regression.descend` by the end-to-end rule; at depth 1 it is gradient descent. Rates are
    tried from the largest down, each only for fewer steps than the best so far: a rate that needs as many, or does not
    get there, has -1.

    Parameters
    ----------
    start : ndarray, shape (features,)
    X, Y : ndarray, shape (samples, features) and (samples,)
    rates : ndarray, shape (rates,), ascending
    cap : int
        The most steps to wait.
    """
    found = np.full(len(rates), -1)
    limit = cap
    for place in reversed(range(len(rates))):
        found[place] = _steps(start, X, Y, exponent, depth, rates[place], target, limit)
        if found[place] >= 0:
            limit = found[place] - 1
    return found


@numba.njit
def _steps(start, X, Y, exponent, depth, rate, target, cap):
    samples, features = X.shape
    weights, slope = start.copy(), np.zeros(features)
    first = -1.0
    for step in range(cap + 1):
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
            return step
        if not loss < 1e6 * first:
            return -1
        size, along = 0.0, 0.0
        for k in range(features):
            size += weights[k] ** 2
            along += weights[k] * slope[k]
        factor = rate * size ** (1 - 1 / depth)
        for k in range(features):
            weights[k] -= factor * (slope[k] + (depth - 1) * along / size * weights[k])
    return -1
