"""What is predicted of growth in steps."""

import numpy as np


def state(step: np.ndarray, rate: float, initial: np.ndarray) -> np.ndarray:
    """Return x after each step, shape (members, steps)."""
    return initial[:, None] * (1 + rate) ** step
