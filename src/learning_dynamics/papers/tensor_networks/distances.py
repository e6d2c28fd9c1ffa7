"""Distances and angles between points, and between their directions."""

import numpy as np


def angle_between(beta: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return angles in degrees between vectors, shape (..., entries), and a direction, shape (entries,).

    They are accurate near zero, and nan for vectors that are zero.
    """
    with np.errstate(invalid="ignore"):
        unit = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
    return angle_between_units(unit, direction / np.linalg.norm(direction))


def angle_between_units(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return angles in degrees between unit vectors, accurate near zero."""
    # half the angle is in a right triangle with these sides; an arccos of the inner product would lose small angles
    opposite, adjacent = np.linalg.norm(first - second, axis=-1), np.linalg.norm(first + second, axis=-1)
    return np.degrees(2 * np.arctan2(opposite, adjacent))


def spread(points: np.ndarray) -> float:
    """Return the largest distance between two of some points, shape (points, entries)."""
    return float(np.max(np.linalg.norm(points[:, None] - points, axis=-1)))
