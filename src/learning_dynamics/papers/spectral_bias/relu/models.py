"""Two-layer ReLU networks f(x) = sum_j a_j relu(w_j . x), and their compiled gradient descent.

The vector field jumps where a neuron's activation changes on a sample. An adaptive integrator is drawn into
ever smaller steps there; gradient descent with a small fixed step is not, and follows the flow to first order
in the step.
"""

from __future__ import annotations

import numba
import numpy as np


def loss(W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the mean of (f(x_i) - y_i)^2 / 2 over samples, over any leading axes (Varre et al. 2023, eq. 2.1).

    Parameters
    ----------
    W : ndarray, shape (..., neurons, inputs)
    a : ndarray, shape (..., neurons)
    X : ndarray, shape (..., samples, inputs)
    y : ndarray, shape (..., samples)
    """
    active = np.maximum(X @ np.swapaxes(W, -1, -2), 0.0)
    return 0.5 * np.mean(((active @ a[..., None])[..., 0] - y) ** 2, axis=-1)


def descend(
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, step: float, record: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take steps of gradient descent on the loss and record both layers.

    Parameters
    ----------
    W, a : ndarray, shapes (neurons, inputs), (neurons,)
        Where to start; left unchanged.
    X, y : ndarray, shapes (samples, inputs), (samples,)
    record : ndarray of int, ascending
        After how many steps to record; 0 is the start. The last one ends the descent.

    Returns
    -------
    tuple of ndarray, shapes (records, neurons, inputs), (records, neurons)
    """
    recorded = np.empty((len(record), *W.shape)), np.empty((len(record), *a.shape))
    _descend(W.copy(), a.copy(), X, y, step, np.diff(record, prepend=0), *recorded)
    return recorded


@numba.njit
def _descend(W, a, X, y, step, between, recorded_W, recorded_a):
    samples, inputs = X.shape
    neurons = len(a)
    preactivation = np.empty(neurons)
    gradient_W, gradient_a = np.empty_like(W), np.empty_like(a)
    for record in range(len(between)):
        for _ in range(between[record]):
            gradient_W[:] = 0.0
            gradient_a[:] = 0.0
            for sample in range(samples):
                output = 0.0
                for neuron in range(neurons):
                    total = 0.0
                    for entry in range(inputs):
                        total += W[neuron, entry] * X[sample, entry]
                    preactivation[neuron] = total
                    if total > 0.0:
                        output += a[neuron] * total
                residual = (y[sample] - output) / samples
                for neuron in range(neurons):
                    if preactivation[neuron] > 0.0:
                        gradient_a[neuron] += residual * preactivation[neuron]
                        for entry in range(inputs):
                            gradient_W[neuron, entry] += residual * a[neuron] * X[sample, entry]
            W += step * gradient_W
            a += step * gradient_a
        recorded_W[record] = W
        recorded_a[record] = a
