"""Gradient flow of deep fully connected networks of equal widths, as products of matrices, compiled (appendix H).

A `TensorNetwork` would be too slow: its data tensor for d inputs and L layers has d slices of d^(2L - 1) entries each.
"""

import functools

import numpy as np

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import CONDITION, FIELD, flow
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.squared_flow import Limit


def matrices(states: np.ndarray, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return W_1, ..., W_(L-1), shape (..., L - 1, d, d), and w_L, shape (..., d), with d = `inputs`.

    States, shape (..., parameters), have vec(W_1), ..., vec(W_(L-1)), column by column, and then w_L.
    """
    # read row by row, what is kept column by column is the transpose
    columns = states[..., :-inputs].reshape(*states.shape[:-1], -1, inputs, inputs)
    return columns.mT, states[..., -inputs:]


def coefficients(states: np.ndarray, inputs: int) -> np.ndarray:
    """Return beta = W_1 ... W_(L-1) w_L, shape (..., d)."""
    layers, beta = matrices(states, inputs)
    for place in reversed(range(layers.shape[-3])):
        beta = (layers[..., place, :, :] @ beta[..., None])[..., 0]
    return beta


# The times at which a path is recorded, as shares of the time at which the flow arrives. They are dense at the start,
# where layers turn while they are small, and at the end: there layers leave the saddle at zero, within a time that does
# not depend on the scale. Chosen: four a decade, from 1e-8 after the start, and to 1e-8 before the end.
RECORDED = np.unique(np.concatenate([np.logspace(-8, 0, 33), 1 - np.logspace(-8, -1, 29)]))


def flow_limit(X: np.ndarray, y: np.ndarray, start: np.ndarray, integration: Limit) -> tuple[np.ndarray, np.ndarray]:
    """Return the state where gradient flow has arrived, and the states at the times `RECORDED`, (times, parameters).

    If the flow stays at a saddle, the first is the saddle, whose residuals are large. States are nan where the
    integrator gives up.
    """
    samples, inputs = X.shape
    depth = 1 + (len(start) - inputs) // inputs**2  # a state has L - 1 square matrices and one vector
    bound = integration.residual * np.max(np.abs(y))
    from_start = functools.partial(
        flow,
        field,
        np.r_[X.ravel(), y, bound],
        (samples, inputs, depth),
        start,
        rtol=integration.rtol,
        atol=integration.atol,
    )
    nowhere = np.full((len(RECORDED), len(start)), np.nan)
    # no deadline: from a small scale the flow leaves the saddle at zero after a time like scale**(2 - depth)
    try:
        end = from_start(np.zeros(1), until=converged, last_time=1e30)
    except DivergenceError:
        return np.full(len(start), np.nan), nowhere
    try:
        return end.final_state, from_start(end.final_time * RECORDED).states
    except DivergenceError:  # a flow that stays at a saddle, which ends at `last_time`
        return end.final_state, nowhere


@compiled(FIELD)
def field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Write minus the gradient of ``sum_i (f(x_i) - y_i)**2 / 2`` into `slope`, which has the layout of `state`.

    The part for W_l is a b^T, with b = W_(l+1) ... w_L and a = W_(l-1)^T ... W_1^T X^T (y - X beta). `data` are X, y
    and the bound of `converged` in one vector; `shape` has the numbers of samples, inputs and layers.
    """
    samples, inputs, depth = shape[0], shape[1], shape[2]
    X = data[: samples * inputs].reshape(samples, inputs)
    # layers[l] is W_(l+1) transposed, as states have matrices column by column
    layers = state[:-inputs].reshape(depth - 1, inputs, inputs)
    after = np.empty((depth, inputs))  # after[l] is W_(l+2) ... w_L
    after[-1] = state[-inputs:]
    for place in range(depth - 2, -1, -1):
        after[place] = np.dot(after[place + 1], layers[place])
    # after[0] is beta; y is between X and the bound. `before` is the a of W_1, then of each next layer in turn.
    before = np.dot(data[samples * inputs : -1] - np.dot(X, after[0]), X)
    layer_slopes = slope[:-inputs].reshape(depth - 1, inputs, inputs)
    for place in range(depth - 1):
        layer_slopes[place] = np.outer(after[place + 1], before)  # b a^T: transposed, as in the state
        before = np.dot(layers[place], before)
    slope[-inputs:] = before


@compiled(CONDITION)
def converged(state: np.ndarray, data: np.ndarray, shape: np.ndarray) -> bool:
    """Return whether no residual is larger than the bound, the last entry of `data`."""
    samples, inputs, depth = shape[0], shape[1], shape[2]
    X = data[: samples * inputs].reshape(samples, inputs)
    layers = state[:-inputs].reshape(depth - 1, inputs, inputs)  # transposed
    beta = state[-inputs:]  # w_L, then multiplied by W_(L-1), ..., W_1
    for place in range(depth - 2, -1, -1):
        beta = np.dot(beta, layers[place])
    return np.max(np.abs(data[samples * inputs : -1] - np.dot(X, beta))) <= data[-1]
