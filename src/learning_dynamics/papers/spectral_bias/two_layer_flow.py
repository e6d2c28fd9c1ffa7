"""Gradient flow of a two-layer linear network, compiled (Varre et al. 2023, eq. 2.4): of one, and of each draw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import CONDITION, FIELD, flow, never
from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Positive
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble

# W1(0), W2(0), and orthonormal rows P to which those of W1(0) are parallel, or zeros for a start without such
Layers = tuple[np.ndarray, np.ndarray, np.ndarray]
Start = Callable[[np.random.Generator], Layers]


@dataclass(frozen=True)
class Arrival(Tolerances):
    """An integration until the network fits.

    Parameters
    ----------
    residual : float
        The flow has arrived once the relative residual |X beta - Y| / |Y|, of Frobenius norms, is at most this.
    patience : float
        The time by which it must have arrived; a draw that has not is undecided.
    """

    residual: Positive
    patience: Positive


@dataclass(frozen=True)
class Limit(Span, Arrival):
    """An integration that is recorded up to its horizon and followed further, until the network fits."""


@dataclass(frozen=True)
class NetworkFlow:
    """Layers along a flow and at its end.

    Attributes
    ----------
    W1, W2 : ndarray, shapes (times, inputs, width), (times, width, outputs)
    end : (ndarray, ndarray)
        Both layers where the flow ended, shapes (inputs, width), (width, outputs).
    end_time : float
        When it ended.
    steps : int
        How many steps the integrator took.
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
    """Follow dW1/dt = R W2^T, dW2/dt = W1^T R with R = X^T (Y - X W1 W2) from given layers (eq. 2.4).

    Steps of the integrator end on the recorded times.

    Parameters
    ----------
    X, Y : ndarray, shapes (samples, inputs), (samples, outputs)
    W1, W2 : ndarray, shapes (inputs, width), (width, outputs)
    times : ndarray, shape (times,), ascending
        When to record; the flow starts at the first of them.
    tolerances : Tolerances
    residual : float, optional
        Go on after the last of `times` until ||X W1 W2 - Y||_F is no larger than this. It is a norm, where
        `Arrival.residual` is relative to that of Y. Without it the flow ends on the last of `times`.
    last_time : float
        Stop here even if the residual is larger still; `end_time` is then `last_time`.

    Raises
    ------
    DivergenceError
        If the integrator fails.
    """
    (samples, inputs), (width, outputs) = X.shape, W2.shape
    condition, bound = (never, 0.0) if residual is None else (_is_fitted, residual)
    solution = flow(
        field,
        np.r_[X.ravel(), Y.ravel(), bound],
        (samples, inputs, width, outputs),
        two_layer.pack(W1, W2),
        times,
        rtol=tolerances.rtol,
        atol=tolerances.atol,
        until=condition,
        last_time=last_time,
        land=True,
    )
    layers = two_layer.unpack(solution.states, inputs, width, outputs)
    end = two_layer.unpack(solution.final_state, inputs, width, outputs)
    return NetworkFlow(*layers, end, solution.final_time, solution.steps)


def to_the_limit(data: Arrays, start: Start, integration: Limit, seed: int) -> Trajectory:
    """Follow the gradient flow of each draw, a pair of one data set and the layers that `start` draws for it.

    Layers are followed in a basis of the hidden directions that the flow cannot leave, so that rounding does not take
    them out of these. The docstring of the module `layers` lists the trajectory's arrays and their shapes.
    """

    def to_limit(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
        W1, W2, P = start(rng)
        Q = two_layer.hidden_basis(W1, W2)
        bound = integration.residual * float(np.linalg.norm(y))  # on the norm |X beta - Y| itself
        path = follow(
            x,
            y,
            W1 @ Q,
            Q.T @ W2,
            times=integration.times,
            tolerances=integration,
            residual=bound,
            last_time=integration.patience,
        )
        # the flow did not arrive before its patience ended; "not <" counts an end time of nan as well
        late = not path.end_time < integration.patience
        limit_W1, limit_W2 = (np.where(late, np.nan, layer) for layer in path.end)  # late, it has no limit
        return {
            "W1": path.W1,
            "W2": path.W2,
            "P": P @ Q,
            "limit_W1": limit_W1,
            "limit_W2": limit_W2,
            "limit_time": path.end_time,
            "steps": path.steps,
            "undecided": late,
        }

    rngs = generators(seed, "two_layer.initialisation", len(data["X"]))
    members = list(zip(rngs, data["X"], data["Y"], strict=True))
    return ensemble(to_limit, members, integration.times, "W1", "W2", label="gradient flow", **data)


@compiled(FIELD)
def field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Write the velocities dW1/dt = R W2^T and dW2/dt = W1^T R into `slope`, with R = X^T (Y - X W1 W2) (eq. 2.4).

    `state` and `slope` are packed layers. `data` has the entries of X, then those of Y, and last the bound of
    `_is_fitted`. `shape` has the numbers of samples, inputs, hidden units and outputs.
    """
    samples, inputs, width, outputs = shape[0], shape[1], shape[2], shape[3]
    X = data[: samples * inputs].reshape(samples, inputs)
    Y = data[samples * inputs : samples * (inputs + outputs)].reshape(samples, outputs)
    W1, W2 = state[: inputs * width].reshape(inputs, width), state[inputs * width :].reshape(width, outputs)
    R = np.dot(X.T, Y - np.dot(X, np.dot(W1, W2)))
    np.dot(R, W2.T, slope[: inputs * width].reshape(inputs, width))
    np.dot(W1.T, R, slope[inputs * width :].reshape(width, outputs))


@compiled(CONDITION)
def _is_fitted(state: np.ndarray, data: np.ndarray, shape: np.ndarray) -> bool:
    """Return whether ||X W1 W2 - Y||_F is at most the bound, the last of the data; arguments are those of `field`."""
    samples, inputs, width, outputs = shape[0], shape[1], shape[2], shape[3]
    X = data[: samples * inputs].reshape(samples, inputs)
    Y = data[samples * inputs : samples * (inputs + outputs)].reshape(samples, outputs)
    W1, W2 = state[: inputs * width].reshape(inputs, width), state[inputs * width :].reshape(width, outputs)
    return np.sum((np.dot(X, np.dot(W1, W2)) - Y) ** 2) <= data[-1] ** 2
