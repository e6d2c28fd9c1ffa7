"""What the paper predicts, as functions of arrays (Varre et al. 2023)."""

from __future__ import annotations

import numpy as np


def minimum_norm_interpolator(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return beta_* = pinv(X) Y, shape (..., inputs, outputs) (Theorem 3.1 (ii))."""
    return np.linalg.pinv(X) @ Y


def hidden_singular_values(beta_singular_values: np.ndarray, gamma: float, inputs: int) -> np.ndarray:
    """Singular values of the hidden layer W1 that go with a predictor's.

    They are ``sqrt(gamma + sqrt(gamma**2 + s**2))`` for the predictor's singular values s, padded with
    zeros: along the whole flow (Lemma C.10), and at its end for those of the minimum-norm interpolator
    (Corollary 3.1).

    Parameters
    ----------
    beta_singular_values : ndarray, shape (..., k), descending
        Of the linear predictor beta; k <= inputs.
    gamma : float
        Initialisation scale; W1 starts at ``sqrt(2 * gamma) * P``.
    inputs : int
        How many to return.

    Returns
    -------
    ndarray, shape (..., inputs), descending
    """
    padded = _padded(beta_singular_values, inputs)
    return np.sqrt(gamma + np.hypot(gamma, padded))


def output_singular_values(beta_singular_values: np.ndarray, gamma: float) -> np.ndarray:
    """Singular values of the weight layer W2 that go with a predictor's, same shape (Lemma C.10).

    ``sqrt(sqrt(gamma**2 + s**2) - gamma)``, written without the cancellation at small s.
    """
    return beta_singular_values / np.sqrt(gamma + np.hypot(gamma, beta_singular_values))


def _padded(values: np.ndarray, count: int) -> np.ndarray:
    padding = [(0, 0)] * (values.ndim - 1) + [(0, count - values.shape[-1])]
    return np.pad(values, padding)
