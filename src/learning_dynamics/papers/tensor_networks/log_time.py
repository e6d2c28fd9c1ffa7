"""Gradient flow of the exponential loss followed to times that no floating-point number holds.

The loss falls like 1/t and directions settle like powers of log t, so time enters as tau = log(1 + t), and
tau itself through sigma = log(1 + tau). The growing factor dt/dtau = 1 + t and the vanishing weights
exp(-y f) are formed together, as exp(tau - y f), which stays of order one over tau: nothing under- or
overflows, at t = 1e60 or at t = exp(1e6).
"""

from __future__ import annotations

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, integrate
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, outputs


def log_time_flow(
    network: TensorNetwork,
    X: np.ndarray,
    labels: np.ndarray,
    initial: np.ndarray,
    taus: np.ndarray,
    *,
    rtol: float,
    atol: float,
) -> Flow:
    """Follow the gradient flow of ``sum_i exp(-y_i f(x_i))`` and record it at the times ``tau = log(1 + t)``.

    Parameters
    ----------
    network : TensorNetwork
    X : ndarray, shape (samples, inputs)
    labels : ndarray, shape (samples,), of 1 and -1
    initial : ndarray, shape (parameters,)
        The state at tau = 0.
    taus : ndarray, ascending, from 0

    Raises
    ------
    DivergenceError
        If the integrator fails.
    """
    signed = labels[:, None] * X
    tensors = network.data_tensor(signed)

    def field(sigma: float, state: np.ndarray) -> np.ndarray:
        tau, layers = np.expm1(sigma), network.layers(state)
        # sigma: dtau/dsigma = 1 + tau. Capped, so that an overshooting trial step is rejected rather than infinite
        weights = np.exp(np.minimum(tau + sigma - outputs(tensors, layers), 200.0))
        return np.concatenate(contractions(np.tensordot(weights, tensors, axes=1), layers))

    return integrate(field, initial, np.log1p(taus), rtol=rtol, atol=atol, method="LSODA")


def residual_directions(network: TensorNetwork, X: np.ndarray, labels: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the unit vectors along -X^T r, shape (..., inputs), at states of any size.

    The weights exp(-y f) are scaled by the largest, which leaves the direction and cannot underflow.
    """
    margins = network.coefficients(states) @ (labels[:, None] * X).T
    weights = np.exp(margins.min(axis=-1, keepdims=True) - margins) * labels
    pushed = weights @ X
    return pushed / np.linalg.norm(pushed, axis=-1, keepdims=True)
