"""Gradient flow on the squared loss of a linear tensor network, over time and to its limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances, integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, outputs
from learning_dynamics.progress import progress
from learning_dynamics.settings import Positive

# Bound on the relative error of a flow's conserved quantities and times, in units of rtol. It was at most 40 on the
# draws tried; the bound leaves room for other draws and machines.
FLOW_ERROR = 100.0


@dataclass(frozen=True)
class Limit(Tolerances):
    """An integration until the network fits.

    Parameters
    ----------
    residual : float
        The flow has arrived where every residual is below this part of the largest label.
    """

    residual: Positive


def squared_loss_field(
    tensors: np.ndarray, labels: np.ndarray, network: TensorNetwork
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the vector field of gradient flow on ``sum_i (f(x_i) - y_i)**2 / 2``, a function of time and state.

    Parameters
    ----------
    tensors : ndarray, shape (samples, k_1, ..., k_L)
        M(x_i).
    labels : ndarray, shape (samples,)
    """
    rows = tensors.reshape(len(tensors), -1)  # a row for each M(x_i)

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = network.layers(state)
        residuals = labels - outputs(tensors, layers)
        # minus the gradient by v_l: sum_i (y_i - f(x_i)) M(x_i), contracted with all layers but v_l
        return np.concatenate(contractions((residuals @ rows).reshape(network.lengths), layers))

    return field


def flow_states(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    start: np.ndarray,
    *,
    times: np.ndarray,
    integration: Tolerances,
) -> np.ndarray:
    """Return the states of gradient flow at given times, shape (times, parameters)."""
    field = squared_loss_field(network.data_tensor(X), y, network)
    return integrate(field, start, times, rtol=integration.rtol, atol=integration.atol).states


def limit_of(
    field: Callable[[float, np.ndarray], np.ndarray],
    residuals: Callable[[np.ndarray], np.ndarray],
    y: np.ndarray,
    start: np.ndarray,
    *,
    integration: Limit,
) -> np.ndarray:
    """Return the state of a flow where it has arrived: every residual is small relative to the largest label.

    The state is nan if the integrator gives up. The flow is that of any vector field; `flow_limit` is for a network's.

    Parameters
    ----------
    field : callable
        The vector field, of time and state.
    residuals : callable
        The residuals at a state.
    y : ndarray
        The labels, of any shape.
    start : ndarray, shape (parameters,)
    """
    bound = integration.residual * float(np.max(np.abs(y)))

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(residuals(state))) <= bound)

    # no deadline: from a small scale the flow leaves the saddle at zero after a time like scale**(2 - depth)
    try:
        return integrate(
            field,
            start,
            np.zeros(1),
            rtol=integration.rtol,
            atol=integration.atol,
            method="LSODA",
            until=converged,
            last_time=1e30,
        ).final_state
    except DivergenceError:
        return np.full(len(start), np.nan)


def flow_limit(
    network: TensorNetwork, X: np.ndarray, y: np.ndarray, start: np.ndarray, *, integration: Limit
) -> np.ndarray:
    """Return the state where gradient flow has arrived, shape (parameters,).

    If the flow stays at a saddle, this is the saddle, whose residuals are large. It is nan if the integrator gives up.
    """
    tensors = network.data_tensor(X)

    def residuals(state: np.ndarray) -> np.ndarray:
        return outputs(tensors, network.layers(state)) - y

    return limit_of(squared_loss_field(tensors, y, network), residuals, y, start, integration=integration)


def flow_limits(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    starts: np.ndarray,
    *,
    scales: Sequence[float],
    integration: Limit,
) -> np.ndarray:
    """Return `flow_limit` of each data set from its start at every scale, shape (data sets, scales, parameters).

    `starts`, shape (data sets, parameters), are those at scale one; each scale multiplies them.
    """
    return np.array(
        [
            [
                flow_limit(network, X[member], y[member], scale * starts[member], integration=integration)
                for scale in scales
            ]
            for member in progress(range(len(X)), f"{network.name}, {network.depth} layers")
        ]
    )
