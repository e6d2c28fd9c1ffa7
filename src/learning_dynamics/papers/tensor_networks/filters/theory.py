"""Limit directions of two layers on one data point, filters of length one or two, and how fast they are reached."""

from __future__ import annotations

import numpy as np


def filtered_direction(x: np.ndarray, label: float, length: int) -> np.ndarray:
    """Return the limit direction of a two-layer convolutional network with filters of length 1 or 2 (Corollary 4).

    Raises
    ------
    ValueError
        If the length is another, or the input's autocorrelation at lag one is zero.
    """
    if length == 1:
        direction = label * x
    elif length == 2 and x @ np.roll(x, -1) != 0:
        sign = np.sign(x @ np.roll(x, -1))
        direction = label * (2 * x + sign * (np.roll(x, -1) + np.roll(x, 1)))
    else:
        raise ValueError(f"Corollary 4 gives no direction for filters of length {length} on {x}")
    return direction / np.linalg.norm(direction)


def filter_condition(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the largest lambda of Corollary 4's conditions for filters of length 1 or 2, as they are printed.

    Parameters
    ----------
    x : ndarray, shape (inputs,)
    first : ndarray, shape (1,) or (2,)
        Initial direction of the filter.
    second : ndarray, shape (inputs,)
        Initial direction of the last layer.
    """
    if len(first) == 1:
        return float(first[0] ** 2 - (x @ second) ** 2 / (x @ x))
    shifted = np.roll(x, -1)
    return float(
        min(
            (first[0] + sign * first[1]) ** 2 - ((x + sign * shifted) @ second) ** 2 / (x @ x + sign * (x @ shifted))
            for sign in (1, -1)
        )
    )


def largest_remainders(values: np.ndarray, first: np.ndarray, second: np.ndarray, sigma: float) -> np.ndarray:
    """Return how large singular coordinates can still be at log log t = sigma, relative to those of the top value.

    In singular coordinates the sums u of two layers on one point grow like ``exp(s_j T)`` and the differences w fall
    like ``exp(-s_j T)``, where T is the integral of the loss, whatever the loss. Because the margin, at least half of
    log t, is at most ``exp(2 s_1 T) sum_j s_j u_j**2 / 4`` with the sums at the start, T is at least what that gives,
    and a sum is at most ``exp(-(s_1 - s_j) T)`` times its share at the start: ``(log t)**(-(1 - s) / 2)`` with
    s = s_j / s_1.

    Parameters
    ----------
    values : ndarray, shape (m,)
        Singular values of M(x), descending.
    first, second : ndarray, shape (m,)
        Both layers at the start in singular coordinates, the second times the label.
    sigma : float
        log(1 + log(1 + t)).

    Returns
    -------
    ndarray, shape (m,)
        One for the coordinates of the top value.
    """
    top = values > values[0] * (1 - 1e-9)
    sums, differences = np.abs(first + second), np.abs(first - second)
    time = max(0.0, (sigma - np.log(np.sum(values * sums**2) / 2)) / (2 * values[0]))
    fallen = np.exp(-2 * values[0] * time)
    left = sums * np.exp((values - values[0]) * time) + differences * np.exp(-(values + values[0]) * time)
    largest = np.linalg.norm(sums[top]) - fallen * np.linalg.norm(differences[top])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top, 1.0, left / max(largest, 0.0))


def largest_gap(values: np.ndarray, remainders: np.ndarray) -> float:
    """Return the largest gap to the l1 max margin in singular coordinates that remainders leave, relative."""
    return float(np.sum((1 - values / values[0]) * remainders**2))


def largest_angle(x: np.ndarray, remainder: float) -> float:
    """Return the largest angle in degrees to Corollary 4's direction for filters of length two.

    The coefficients are a sum over pairs of singular vectors of the filter and of the last layer; those that are not
    both the top ones are at most `remainder` of them.
    """
    signs = np.array([1.0, -1.0]) * (1.0 if x @ np.roll(x, -1) > 0 else -1.0)  # of the top and of the other filter
    lasts = [x + sign * np.roll(x, -1) for sign in signs]
    lasts = [last / max(float(np.linalg.norm(last)), 1e-300) for last in lasts]
    sizes = np.array([[np.linalg.norm(last + sign * np.roll(last, 1)) for last in lasts] for sign in signs])
    share = (remainder * (sizes[0, 1] + sizes[1, 0]) + remainder**2 * sizes[1, 1]) / sizes[0, 0]
    return float(np.degrees(np.arcsin(min(share, 1.0))))
