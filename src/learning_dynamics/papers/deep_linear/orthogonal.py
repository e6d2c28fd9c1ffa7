"""Random orthogonal matrices."""

from __future__ import annotations

import numpy as np


def orthogonal(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw an orthogonal matrix, uniformly."""
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    return Q * np.sign(np.diag(R))
