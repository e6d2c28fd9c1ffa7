"""Norms and transposes of stacks of matrices."""

from __future__ import annotations

import numpy as np


def norm(matrices: np.ndarray) -> np.ndarray:
    """Frobenius norms over leading axes, shape (..., 1)."""
    return np.linalg.norm(matrices, axis=(-2, -1))[..., None]


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Return the transposes over leading axes, shape (..., columns, rows)."""
    return np.swapaxes(matrices, -1, -2)
