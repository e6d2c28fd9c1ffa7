"""Gradient descent with a fixed step on the layers of deep linear networks, recorded as it goes."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.papers.deep_linear.networks import GradientAt, Layers, layer_gradients, product


def descend(
    layers: Sequence[np.ndarray],
    gradient_at: GradientAt,
    learning_rate: float | np.ndarray,
    recorded_steps: np.ndarray,
    *,
    bound: float = np.inf,
) -> list[Layers]:
    """Return the layers at the recorded steps: a list over these steps, of lists over layers.

    Parameters
    ----------
    layers : sequence of ndarray
        Where to start, first layer first; layer j has shape (..., d_j, d_{j-1}), with members along the leading axes.
        They are left as they are.
    gradient_at : callable
        From end-to-end matrices, shape (..., d_N, d_0), to the loss's gradient there, of the same shape.
    learning_rate : float or ndarray
        One for all members, or an array of shape (..., 1, 1) with one for each.
    recorded_steps : ndarray of int, ascending
        Numbers of steps after which to record; 0 is the start.
    bound : float
        A member whose end-to-end matrix has this Frobenius norm or more has diverged, and stays where it is.
    """
    current = [layer.copy() for layer in layers]
    snapshots: list[Layers] = []
    step = 0
    for until in recorded_steps:
        while step < until:
            W = product(current)
            changes = layer_gradients(current, gradient_at(W))
            # shape (..., 1, 1): members that have diverged have their changes multiplied by zero
            moving = (np.linalg.norm(W, axis=(-2, -1)) < bound)[..., None, None]
            current = [
                layer - learning_rate * (moving * change) for layer, change in zip(current, changes, strict=True)
            ]
            step += 1
        snapshots.append([layer.copy() for layer in current])
    return snapshots
