"""Gradient descent on multilinear models, compiled: millions of tiny steps at tens of nanoseconds each.

The data tensors enter as a list of their non-zero entries, so that one kernel serves every order and every
architecture. Each run is computed alone and in a fixed order of operations: its result does not depend on
the runs beside it. The kernel is compiled once in each process, when first needed, and kept in memory only: a disk
cache would be written by parallel jobs at the same time.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from learning_dynamics.errors import DivergenceError

Loss = Literal["squared", "exponential"]
# steps of compiled code, which no signal interrupts; chosen: at tens of nanoseconds a step they take milliseconds
AT_ONCE = 100_000


@dataclass(frozen=True)
class Descent:
    """What gradient descent leaves behind.

    Attributes
    ----------
    states : ndarray, shape (runs, records, parameters)
        Parameters at the requested steps; at the last step where a run stopped earlier.
    final_states : ndarray, shape (runs, parameters)
    steps : ndarray of int, shape (runs,)
        Steps taken.
    """

    states: np.ndarray
    final_states: np.ndarray
    steps: np.ndarray


def descend(
    tensors: np.ndarray,
    labels: np.ndarray,
    initial: np.ndarray,
    *,
    loss: Loss,
    step: float,
    steps: int,
    records: np.ndarray | None = None,
    tolerance: float = 0.0,
) -> Descent:
    """Run gradient descent on ``sum_i loss(M_i o (v_1, ..., v_L), y_i)`` from each initial state.

    ``M o (v_1, ..., v_L)`` is the sum over k_1, ..., k_L of ``M[k_1, ..., k_L] v_1[k_1] ... v_L[k_L]``.

    Parameters
    ----------
    tensors : ndarray, shape (samples, k_1, ..., k_L)
        Data tensors M_i.
    labels : ndarray, shape (samples,)
    initial : ndarray, shape (runs, k_1 + ... + k_L)
        All layers in one vector.
    loss : str
        squared, ``(f - y)**2 / 2``; or exponential, ``exp(-y f)``.
    step : float
        Learning rate.
    steps : int
        How many steps to take at most.
    records : ndarray of int, ascending, optional
        After how many steps to record; 0 is the initial state.
    tolerance : float
        Stop when every derivative of the loss by an output is at most this in absolute value.

    Raises
    ------
    DivergenceError
        If parameters leave the finite numbers.
    """
    records = np.empty(0, dtype=np.int64) if records is None else np.asarray(records, dtype=np.int64)
    # entries that are not zero in every sample: where they are in a data tensor, shape (entries, L), and their values
    positions = np.argwhere(np.any(tensors != 0, axis=0))
    values = np.ascontiguousarray(tensors[(slice(None), *positions.T)], dtype=float)  # shape (samples, entries)
    # layers follow one another in the state
    offsets = np.concatenate([[0], np.cumsum(tensors.shape[1:])[:-1]])
    parameters = np.ascontiguousarray(positions + offsets, dtype=np.int64)
    states = np.empty((len(initial), len(records), initial.shape[1]))
    final = np.array(initial, dtype=float)
    taken = np.zeros(len(initial), dtype=np.int64)
    for run in range(len(initial)):
        for begun in range(0, steps + 1, AT_ONCE):
            until = min(begun + AT_ONCE, steps)
            taken[run] = _compiled()(
                parameters,
                values,
                np.asarray(labels, dtype=float),
                final[run],
                loss == "exponential",
                float(step),
                begun,
                until,
                records,
                states[run],
                float(tolerance),
            )
            if taken[run] < until:
                break
        states[run, records > taken[run]] = final[run]
        if not np.isfinite(final[run]).all():
            raise DivergenceError(f"gradient descent diverged at step size {step:g} (run {run}); take smaller steps")
    return Descent(states, final, taken)


@functools.cache
def _compiled() -> Callable[..., int]:
    import numba  # slow to import, for stages that only read a descent

    return numba.njit(_kernel)


def _kernel(parameters, values, labels, state, exponential, step, taken, steps, records, states, tolerance):
    """Descend from `state`, in place, from `taken` steps on up to `steps`; return how many were taken.

    Entry e of the data tensors has in sample i the value ``values[i, e]``, and multiplies the product of the parameters
    ``state[parameters[e, layer]]``, one of each layer.
    """
    entries, depth = parameters.shape
    samples = values.shape[0]
    gradient = np.zeros(len(state))
    by_output = np.empty(samples)  # derivatives of the loss
    product = np.empty(entries)
    recorded = 0
    while recorded < len(records) and records[recorded] < taken:
        recorded += 1
    while True:
        while recorded < len(records) and records[recorded] == taken:
            # by entries, here and below: numba takes three times as long to compile assignments to slices
            for j in range(len(state)):
                states[recorded, j] = state[j]
            recorded += 1
        if taken == steps:
            break
        for e in range(entries):
            product[e] = 1.0
            for layer in range(depth):
                product[e] *= state[parameters[e, layer]]
        largest = 0.0
        for i in range(samples):
            output = 0.0
            for e in range(entries):
                output += values[i, e] * product[e]
            if exponential:
                by_output[i] = -labels[i] * np.exp(-labels[i] * output)
            else:
                by_output[i] = output - labels[i]
            if not np.isfinite(by_output[i]):
                for j in range(len(state)):
                    state[j] = np.nan
                return taken
            largest = max(largest, abs(by_output[i]))
        if largest <= tolerance:
            break
        for e in range(entries):
            by_product = 0.0
            for i in range(samples):
                by_product += by_output[i] * values[i, e]
            for layer in range(depth):
                by_parameter = by_product
                for other in range(depth):
                    if other != layer:
                        by_parameter *= state[parameters[e, other]]
                gradient[parameters[e, layer]] += by_parameter
        for j in range(len(state)):
            state[j] -= step * gradient[j]
            gradient[j] = 0.0
        taken += 1
    return taken
