"""How far coefficients are from what is predicted: angles and relative distances."""

from __future__ import annotations

import numpy as np


def angle_between(beta: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return angles in degrees between vectors, accurate near zero."""
    unit = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
    direction = direction / np.linalg.norm(direction)
    return np.degrees(
        2 * np.arctan2(np.linalg.norm(unit - direction, axis=-1), np.linalg.norm(unit + direction, axis=-1))
    )


def relative_distance(found: np.ndarray, reference: np.ndarray) -> float:
    """Return the distance between two arrays relative to the norm of the reference."""
    return float(np.linalg.norm(found - reference) / np.linalg.norm(reference))
