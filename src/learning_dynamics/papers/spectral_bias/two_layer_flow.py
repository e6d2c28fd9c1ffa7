"""Gradient flow of a two-layer linear network, compiled (Varre et al. 2023, eq. 2.4)."""

from dataclasses import dataclass

import numpy as np

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import CONDITION, FIELD, flow, never
from learning_dynamics.dynamics.gradient_flow import Flow, Tolerances
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.spectral_bias import two_layer


@dataclass(frozen=True)
class NetworkFlow:
    """Layers along a flow and at its end; all nan, with 0 steps, where the integrator failed.

    Attributes
    ----------
    W1, W2 : ndarray, shapes (times, inputs, width), (times, width, outputs)
    end : (ndarray, ndarray)
        Both layers where the flow ended, shapes (inputs, width), (width, outputs).
    end_time : float
    steps : int
    """

    W1: np.ndarray
    W2: np.ndarray
    end: tuple[np.ndarray, np.ndarray]
    end_time: float
    steps: int


def follow(
    X: np.ndarray,
    Y: np.ndarray,
    W1: np.ndarray,
    W2: np.ndarray,
    times: np.ndarray,
    tolerances: Tolerances,
    *,
    residual: float | None = None,
    last_time: float = np.inf,
) -> NetworkFlow:
    """Follow the flow from given layers, with steps that end on the recorded times.

    Parameters
    ----------
    X, Y : ndarray, shapes (samples, inputs), (samples, outputs)
    W1, W2 : ndarray, shapes (inputs, width), (width, outputs)
    times : ndarray, shape (times,), ascending
    tolerances : Tolerances
    residual : float, optional
        Go on after the last time until ||X W1 W2 - Y||_F is no larger than this, or to `last_time`.
    """
    (samples, inputs), (width, outputs) = X.shape, W2.shape
    start = two_layer.pack(W1, W2)
    condition, bound = (never, 0.0) if residual is None else (_is_fitted, residual)
    try:
        solution = flow(
            field,
            np.r_[X.ravel(), Y.ravel(), bound],
            (samples, inputs, width, outputs),
            start,
            times,
            rtol=tolerances.rtol,
            atol=tolerances.atol,
            until=condition,
            last_time=last_time,
            land=True,
        )
    except DivergenceError:
        solution = Flow(np.full((len(times), len(start)), np.nan), np.full(len(start), np.nan), np.nan, 0, 0)
    hidden_states, output_states = two_layer.unpack(solution.states, inputs, width, outputs)
    end = two_layer.unpack(solution.final_state, inputs, width, outputs)
    return NetworkFlow(hidden_states, output_states, end, solution.final_time, solution.steps)


@compiled(FIELD)
def field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Minus the loss's gradient by packed layers; data are X and Y, one after the other, then the condition's bound."""
    samples, inputs, width, outputs = shape[0], shape[1], shape[2], shape[3]
    X = data[: samples * inputs].reshape(samples, inputs)
    Y = data[samples * inputs : samples * (inputs + outputs)].reshape(samples, outputs)
    W1, W2 = state[: inputs * width].reshape(inputs, width), state[inputs * width :].reshape(width, outputs)
    R = np.dot(X.T, Y - np.dot(X, np.dot(W1, W2)))
    np.dot(R, W2.T, slope[: inputs * width].reshape(inputs, width))
    np.dot(W1.T, R, slope[inputs * width :].reshape(width, outputs))


@compiled(CONDITION)
def _is_fitted(state: np.ndarray, data: np.ndarray, shape: np.ndarray) -> bool:
    samples, inputs, width, outputs = shape[0], shape[1], shape[2], shape[3]
    X = data[: samples * inputs].reshape(samples, inputs)
    Y = data[samples * inputs : samples * (inputs + outputs)].reshape(samples, outputs)
    W1, W2 = state[: inputs * width].reshape(inputs, width), state[inputs * width :].reshape(width, outputs)
    return np.sum((np.dot(X, np.dot(W1, W2)) - Y) ** 2) <= data[-1] ** 2
