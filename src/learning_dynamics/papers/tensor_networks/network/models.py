"""The activations that the tensor formulation is tried with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda t: t,
    "tanh": np.tanh,
    "relu": lambda t: np.maximum(t, 0.0),
    "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
    "softplus": lambda t: np.logaddexp(0.0, t),
}
