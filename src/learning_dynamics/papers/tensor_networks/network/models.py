"""Outputs of a network by the tensor formulation (2) and layer by layer, (3) to (5), with several activations."""

from collections.abc import Callable, Sequence

import numpy as np

ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda t: t,
    "tanh": np.tanh,
    "relu": lambda t: np.maximum(t, 0.0),
    "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
    "softplus": lambda t: np.logaddexp(0.0, t),
}


def contracted(tensor: np.ndarray, layers: Sequence[np.ndarray], activation: Callable) -> float:
    """Return the output (2): the activation is applied entry by entry after each contraction but the last.

    Parameters
    ----------
    tensor : ndarray, shape (k_1, ..., k_L)
        M(x).
    layers : sequence of ndarray, shapes (k_l,)
    activation : callable
        A function of arrays, entry by entry.
    """
    *hidden, last = layers
    for layer in hidden:
        tensor = activation(np.tensordot(layer, tensor, axes=1))
    return float(last @ tensor)


def layer_by_layer(architecture: str, x: np.ndarray, layers: Sequence[np.ndarray], activation: Callable) -> float:
    """Return the output (3), (4) or (5) of a diagonal, convolutional or fully connected network.

    Parameters
    ----------
    architecture : str
        diagonal or fully_connected; any other name is that of a convolutional network.
    x : ndarray, shape (inputs,)
    layers : sequence of ndarray, shapes (k_l,)
        Weights; a matrix is a vector, column by column.
    activation : callable
        Applied after each layer but the last.
    """
    *hidden, last = layers
    for layer in hidden:
        if architecture == "diagonal":
            x = x * layer
        elif architecture == "fully_connected":
            x = x @ layer.reshape(len(x), -1, order="F")
        else:
            # entry i is the sum over j of weight j times x at position i + j, modulo the inputs
            x = np.sum([weight * np.roll(x, -shift) for shift, weight in enumerate(layer)], axis=0)
        x = activation(x)
    return float(x @ last)
