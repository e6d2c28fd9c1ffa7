"""Two-layer ReLU networks f(x) = sum_j a_j relu(w_j . x), and their compiled gradient descent.

W has a row w_j for each hidden neuron, and a an output weight a_j. The gradient jumps where w_j . x_i changes sign, for
a neuron j and a sample i. An adaptive integrator takes ever smaller steps there. Gradient descent with a small fixed
step does not, and follows the flow to first order in the step.
"""

import numba
import numpy as np

AT_ONCE = 100_000  # steps in one call of compiled code, which no signal interrupts: for a large network a few seconds


def loss(W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the mean of (f(x_i) - y_i)^2 / 2 over samples, shape (...) (Varre et al. 2023, eq. 2.1).

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
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, *, step: float, recorded_steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take steps of gradient descent on `loss`, and return both layers at the recorded steps.

    Parameters
    ----------
    W, a : ndarray, shapes (neurons, inputs), (neurons,)
        Where to start; left unchanged.
    X, y : ndarray, shapes (samples, inputs), (samples,)
    recorded_steps : ndarray of int, ascending
        After how many steps to record; 0 is the start. The last one ends the descent.

    Returns
    -------
    tuple of ndarray, shapes (records, neurons, inputs), (records, neurons)
    """
    recorded = np.empty((len(recorded_steps), *W.shape)), np.empty((len(recorded_steps), *a.shape))
    weights, outer = np.array(W.T, order="C", dtype=float), np.array(a, dtype=float)
    for index, steps in enumerate(np.diff(recorded_steps, prepend=0).tolist()):
        for start in range(0, steps, AT_ONCE):
            _descend(weights, outer, X, y, step, min(AT_ONCE, steps - start))
        recorded[0][index], recorded[1][index] = weights.T, outer
    return recorded


# loops are written out, neurons innermost: arrays as operands would take five times as long to compile
@numba.njit
def _descend(weights, outer, X, y, step, steps):
    """Take steps of descent in place: `weights` is W^T, shape (inputs, neurons), and `outer` is a, shape (neurons,).

    Each step computes `active`, relu(w_j . x_i), shape (samples, neurons), then `residual`, (y_i - f(x_i)) / samples,
    and then `slope_weights` and `slope_outer`, minus the gradients of the loss by `weights` and `outer`. It moves both
    layers by the step times these.
    """
    samples, inputs = X.shape
    neurons = len(outer)
    slope_weights, slope_outer = np.empty((inputs, neurons)), np.empty(neurons)
    active, residual = np.empty((samples, neurons)), np.empty(samples)
    for _ in range(steps):
        for sample in range(samples):
            for neuron in range(neurons):
                active[sample, neuron] = 0.0
            for entry in range(inputs):
                for neuron in range(neurons):
                    active[sample, neuron] += weights[entry, neuron] * X[sample, entry]
            for neuron in range(neurons):
                active[sample, neuron] = max(active[sample, neuron], 0.0)
            residual[sample] = 0.0
        for neuron in range(neurons):
            for sample in range(samples):
                residual[sample] += outer[neuron] * active[sample, neuron]
        for sample in range(samples):
            residual[sample] = (y[sample] - residual[sample]) / samples
        for neuron in range(neurons):
            slope_outer[neuron] = 0.0
            for entry in range(inputs):
                slope_weights[entry, neuron] = 0.0
        for sample in range(samples):
            for neuron in range(neurons):
                slope_outer[neuron] += residual[sample] * active[sample, neuron]
                # from here on `active` is minus the derivative of the loss by w_j . x_i
                active[sample, neuron] = residual[sample] * outer[neuron] if active[sample, neuron] > 0.0 else 0.0
            for entry in range(inputs):
                for neuron in range(neurons):
                    slope_weights[entry, neuron] += active[sample, neuron] * X[sample, entry]
        for neuron in range(neurons):
            outer[neuron] += step * slope_outer[neuron]
            for entry in range(inputs):
                weights[entry, neuron] += step * slope_weights[entry, neuron]
