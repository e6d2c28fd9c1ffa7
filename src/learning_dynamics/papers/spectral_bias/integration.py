"""Integration of one ensemble member, which an error names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, integrate
from learning_dynamics.errors import DivergenceError


def integrated(field: Callable, initial: np.ndarray, times: np.ndarray, rtol: float, atol: float, member: int) -> Flow:
    """Return the flow of a field, or raise `DivergenceError` that names the member."""
    try:
        return integrate(field, initial, times, rtol=rtol, atol=atol)
    except DivergenceError as error:
        raise DivergenceError(f"member {member}: {error}") from None
