"""Gradient flow on the squared loss of a linear tensor network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, outputs


def squared_loss_field(
    tensors: np.ndarray, labels: np.ndarray, network: TensorNetwork
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the vector field of gradient flow on ``sum_i (f(x_i) - y_i)**2 / 2``, states in one vector."""

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = network.layers(state)
        missing = labels - outputs(tensors, layers)
        return np.concatenate(contractions(np.tensordot(missing, tensors, axes=1), layers))

    return field
