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
    """Return the layers at the recorded steps.

    Parameters
    ----------
    layers : sequence of ndarray
        Where to start, first layer first, over any leading axes.
    gradient_at : callable
        From end-to-end matrices to the loss's gradient there, the same shape.
    learning_rate : float or ndarray
        One for all, or with two axes of length one behind the leading axes.
    recorded_steps : ndarray of int, ascending
        Steps after which to record; 0 is the start.
    bound : float
        A member whose end-to-end matrix leaves this Frobenius norm stays where it is: it has diverged.
    """
    current = [layer.copy() for layer in layers]
    snapshots: list[Layers] = []
    step = 0
    for until in recorded_steps:
        while step < until:
            W = product(current)
            changes = layer_gradients(current, gradient_at(W))
            moving = (np.linalg.norm(W, axis=(-2, -1)) < bound)[..., None, None]
            current = [
                layer - learning_rate * (moving * change) for layer, change in zip(current, changes, strict=True)
            ]
            step += 1
        snapshots.append([layer.copy() for layer in current])
    return snapshots
