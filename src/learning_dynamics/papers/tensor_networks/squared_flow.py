"""Gradient flow on the squared loss of a linear tensor network, over time and to its limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, outputs

# Error of what a flow conserves, and of times, relative, in units of rtol: at most 40 on the draws tried; the bound
# leaves room for other draws and machines.
FLOW_ERROR = 100.0


def squared_loss_field(
    tensors: np.ndarray, labels: np.ndarray, network: TensorNetwork
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the vector field of gradient flow on ``sum_i (f(x_i) - y_i)**2 / 2``, states in one vector."""
    rows = tensors.reshape(len(tensors), -1)

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = network.layers(state)
        missing = labels - outputs(tensors, layers)
        return np.concatenate(contractions((missing @ rows).reshape(network.lengths), layers))

    return field


def flow_limit(
    network: TensorNetwork, X: np.ndarray, y: np.ndarray, start: np.ndarray, residual: float, rtol: float, atol: float
) -> np.ndarray:
    """Return the state where gradient flow has brought every residual below `residual` times the largest label.

    A flow that stays at a saddle is returned from there, and its residuals tell; one that the integrator gives up is
    nan.
    """
    tensors = network.data_tensor(X)
    bound = residual * float(np.max(np.abs(y)))

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(outputs(tensors, network.layers(state)) - y)) <= bound)

    # no deadline: from a small scale the flow leaves the saddle at zero after a time like scale**(2 - depth)
    try:
        return integrate(
            squared_loss_field(tensors, y, network), start, np.zeros(1),
            rtol=rtol, atol=atol, method="LSODA", until=converged, last_time=1e30,
        ).final_state  # fmt: skip
    except DivergenceError:
        return np.full(len(start), np.nan)
