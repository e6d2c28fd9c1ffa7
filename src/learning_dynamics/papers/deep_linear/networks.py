"""Deep linear networks: layers W_1 ... W_N whose product W_N ... W_1 is the model.

Layers are a list, first layer first; layer j has shape (..., d_j, d_{j-1}), and d_0, ..., d_N are the widths. W is the
product, the end-to-end matrix, and G the loss's gradient at W. Layers are balanced if W_{j+1}^T W_{j+1} = W_j W_j^T for
all j (slide 14). Formulas are those of the slides that docstrings name, from Arora, Cohen and Hazan 2018 and Arora,
Cohen, Golowich and Hu 2019.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances, integrate
from learning_dynamics.errors import DivergenceError

Layers = list[np.ndarray]
GradientAt = Callable[[np.ndarray], np.ndarray]  # G as a function of W, both of shape (..., d_N, d_0)
Field = Callable[[float, np.ndarray], np.ndarray]  # the velocity of a packed state, from time and state


def product(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the end-to-end matrix W_N ... W_1, shape (..., d_N, d_0)."""
    W = layers[0]
    for layer in layers[1:]:
        W = layer @ W
    return W


def widths_of(layers: Sequence[np.ndarray]) -> list[int]:
    """Return the widths d_0 ... d_N of layers."""
    return [layers[0].shape[-1], *(layer.shape[-2] for layer in layers)]


def layer_gradients(layers: Sequence[np.ndarray], gradient: np.ndarray) -> Layers:
    """Return the gradient with respect to each layer, for the gradient G with respect to the end-to-end matrix.

    With respect to W_j it is (W_N ... W_{j+1})^T G (W_{j-1} ... W_1)^T (slide 15).
    """
    # layers[j] is W_{j+1}, and below[j - 1] is W_j ... W_1
    below = list(accumulate(layers[:-1], lambda lower, upper: upper @ lower))
    gradients: Layers = []
    backward = gradient  # in the loop (W_N ... W_{j+2})^T G
    for j in range(len(layers) - 1, 0, -1):
        gradients.append(backward @ np.swapaxes(below[j - 1], -1, -2))
        backward = np.swapaxes(layers[j], -1, -2) @ backward
    return [backward, *reversed(gradients)]


def imbalance(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j (slide 22), shape (...); zero for one layer."""
    norms = [np.linalg.norm(difference, axis=(-2, -1)) for difference in gram_differences(layers)]
    return np.max(norms, axis=0) if norms else np.zeros(layers[0].shape[:-2])


def gaussian_layers(rng: np.random.Generator, widths: Sequence[int]) -> Layers:
    """Return layers of widths d_0 ... d_N with standard normal entries."""
    return [rng.standard_normal((rows, columns)) for columns, rows in pairwise(widths)]


def balanced_layers(W: np.ndarray, widths: Sequence[int]) -> Layers:
    """Return balanced layers whose product is W; at depth 1 a copy of W.

    The singular values of every layer are the N-th roots of W's. The left singular vectors of each layer are the right
    ones of the next: unit vectors between the layers, W's own at both ends (Arora et al. 2019, procedure 1).

    Parameters
    ----------
    W : ndarray, shape (d_N, d_0)
    widths : sequence of int
        d_0, d_1, ..., d_N; inner ones at least min(d_0, d_N).

    Raises
    ------
    ValueError
        If the outer widths are not W's shape, or an inner one is below the rank that W may have.
    """
    depth, rank = len(widths) - 1, min(W.shape)
    if min(widths) < rank or (widths[-1], widths[0]) != W.shape:
        raise ValueError(f"widths {list(widths)} do not fit a matrix of shape {W.shape}")
    if depth == 1:
        return [W.copy()]
    U, values, Vt = np.linalg.svd(W, full_matrices=False)
    roots = values ** (1 / depth)
    layers = []
    for j in range(depth):
        layer = np.zeros((widths[j + 1], widths[j]))
        if j == 0:
            layer[:rank] = roots[:, None] * Vt
        elif j == depth - 1:
            layer[:, :rank] = U * roots
        else:
            layer[np.arange(rank), np.arange(rank)] = roots
        layers.append(layer)
    return layers


def end_to_end_velocity(W: np.ndarray, gradient: np.ndarray, depth: int) -> np.ndarray:
    """Return dW/dt of the end-to-end matrix of a balanced network of N layers under gradient flow; N is `depth`.

    It is -sum_j [W W^T]^((N-j)/N) G [W^T W]^((j-1)/N), the end-to-end dynamics (slide 16); at depth 1 it is -G. In the
    basis of W's singular vectors each entry of G is multiplied by one of `preconditioner_factors`. W and G are one
    matrix each, shape (d_N, d_0).
    """
    # all singular vectors: U is d_N by d_N and Vt d_0 by d_0, while there are min(d_N, d_0) singular values
    U, values, Vt = np.linalg.svd(W)
    rotated = U.T @ gradient @ Vt.T
    return -U @ (preconditioner_factors(values, W.shape, depth) * rotated) @ Vt


def towards(target: np.ndarray) -> GradientAt:
    """Return the gradient of ||W - target||_F^2 / 2, as a function of W."""
    return lambda W: W - target


def observed(truth: np.ndarray, mask: np.ndarray) -> GradientAt:
    """Return the gradient of the mean square error over observed entries, as a function of W.

    `truth` is the matrix to complete, and `mask` says which of its entries are observed. Both have the shape of W,
    (..., n, n), or one that broadcasts to it. The mean of a member is over the observed entries of its own mask.
    """
    weight = 2 * mask / mask.sum(axis=(-2, -1), keepdims=True)
    return lambda W: weight * (W - truth)


def preconditioner_of_layers(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the map from G to -dW/dt that layers, balanced or not, make under gradient flow.

    By the product rule it takes G to sum_j (W_N ... W_{j+1})(W_N ... W_{j+1})^T G (W_{j-1} ... W_1)^T (W_{j-1} ... W_1)
    (slide 17). It is a matrix of shape (d_N d_0, d_N d_0), for G and dW/dt as vectors, row by row. On such vectors
    kron(A, B^T) takes G to A G B; here A and B are symmetric. Each layer is one matrix.
    """
    size = layers[-1].shape[0] * layers[0].shape[1]
    total = np.zeros((size, size))
    for j in range(len(layers)):
        # layers[j] is W_{j+1}: above is W_N ... W_{j+2}, and below W_j ... W_1
        above = np.eye(layers[-1].shape[0])
        for layer in reversed(layers[j + 1 :]):
            above = above @ layer
        below = np.eye(layers[0].shape[1])
        for layer in layers[:j]:
            below = layer @ below
        total = total + np.kron(above @ above.T, below.T @ below)
    return total


def preconditioner_factors(values: np.ndarray, shape: tuple[int, ...], depth: int) -> np.ndarray:
    """Return the eigenvalues of P_W, the map from G to -dW/dt in `end_to_end_velocity`, shape (d_N, d_0).

    That at (r, s) is sum_j sigma_r^(2(N-j)/N) sigma_s^(2(j-1)/N), by slide 16, for the depth N. `values` are the
    min(d_N, d_0) singular values of W, of the given shape; sigma_r beyond them are zero.
    """
    # padded with zeros: as many as W has rows, and as many as it has columns
    sigma_r, sigma_s = (np.pad(values, (0, count - len(values))) for count in shape)
    # 0 ** 0 is 1 here, as the zeroth power of a matrix is the identity
    return np.sum(
        [
            sigma_r[:, None] ** (2 * (depth - j) / depth) * sigma_s[None, :] ** (2 * (j - 1) / depth)
            for j in range(1, depth + 1)
        ],
        axis=0,
    )


def projections(U: np.ndarray, matrices: np.ndarray, Vt: np.ndarray) -> np.ndarray:
    """Return <M, u_r v_r^T> = u_r^T M v_r, shape (..., r), for columns u_r of U and rows v_r of Vt.

    Shapes of U, of the matrices M and of Vt are (..., d_N, r), (..., d_N, d_0) and (..., r, d_0).
    """
    return np.einsum("...ir,...ij,...rj->...r", U, matrices, Vt)


def singular_value_rates(W: np.ndarray, gradient: np.ndarray, depth: int) -> np.ndarray:
    """Return d(sigma_r)/dt = -N sigma_r^(2 - 2/N) <G, u_r v_r^T> (slide 33), shape (..., min(d_N, d_0)).

    N is `depth`; sigma_r, u_r and v_r are W's singular values, the largest first, and singular vectors.
    """
    U, values, Vt = np.linalg.svd(W, full_matrices=False)
    return -depth * values ** (2 - 2 / depth) * projections(U, gradient, Vt)


def count_parameters(widths: Sequence[int]) -> int:
    """Return how many entries the layers of widths d_0 ... d_N have together."""
    return sum(rows * columns for columns, rows in pairwise(widths))


def pack(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return all entries of layers of shape (d_j, d_{j-1}) as one vector, first layer first and each row by row."""
    return np.concatenate([layer.ravel() for layer in layers])


def unpack(state: np.ndarray, widths: Sequence[int]) -> Layers:
    """Return the layers of packed states, for widths d_0 ... d_N.

    States have shape (..., size). A state may be longer than its layers are: entries behind them are not read.
    """
    layers, start = [], 0
    for columns, rows in pairwise(widths):
        layers.append(state[..., start : start + rows * columns].reshape(*state.shape[:-1], rows, columns))
        start += rows * columns
    return layers


def product_change(layers: Sequence[np.ndarray], changes: Sequence[np.ndarray]) -> np.ndarray:
    """Return the change of the end-to-end matrix to first order in changes of the layers, by the product rule.

    It is sum_j W_N ... W_{j+1} (change of W_j) W_{j-1} ... W_1; `changes` have the shapes of the layers.
    """
    return np.sum([product([*layers[:j], change, *layers[j + 1 :]]) for j, change in enumerate(changes)], axis=0)


def flow_field(gradient_at: GradientAt, widths: Sequence[int]) -> Field:
    """Return gradient flow's vector field on packed layers, for the loss whose gradient at W is given."""

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = unpack(state, widths)
        return -pack(layer_gradients(layers, gradient_at(product(layers))))

    return field


def flow(
    field: Field,
    initial: np.ndarray,
    times: np.ndarray,
    tolerances: Tolerances,
    *,
    method: str = "DOP853",
    land: bool = False,
) -> np.ndarray:
    """Return the states of a flow at `times`, shape (times, size); nan throughout if it cannot be integrated.

    `initial` is the state at the first time. With `land` the integrator's steps end at each of `times`; else states at
    `times` are interpolated between its steps, and may be further off than the tolerances say.
    """
    try:
        return integrate(
            field, initial, times, rtol=tolerances.rtol, atol=tolerances.atol, method=method, land=land
        ).states
    except DivergenceError:
        return np.full((len(times), len(initial)), np.nan)


def path(
    layers: Sequence[np.ndarray], gradient_at: GradientAt, times: np.ndarray, tolerances: Tolerances, **options: Any
) -> np.ndarray:
    """Return the end-to-end matrix at `times` of gradient flow from given layers, shape (times, d_N, d_0).

    It is nan throughout if the flow cannot be integrated. `options` are `method` and `land` of `flow`.
    """
    widths = widths_of(layers)
    states = flow(flow_field(gradient_at, widths), pack(layers), times, tolerances, **options)
    return product(unpack(states, widths))


def grams(layers: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the pairs W_{j+1}^T W_{j+1} and W_j W_j^T for j = 1, ..., N - 1, each of shape (..., d_j, d_j)."""
    return [
        (np.swapaxes(above, -1, -2) @ above, below @ np.swapaxes(below, -1, -2)) for below, above in pairwise(layers)
    ]


def gram_differences(layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return W_{j+1}^T W_{j+1} - W_j W_j^T, which gradient flow conserves (slide 15), for j = 1, ..., N - 1."""
    return [above - below for above, below in grams(layers)]
