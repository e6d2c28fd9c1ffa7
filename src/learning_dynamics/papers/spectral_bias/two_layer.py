"""Two-layer linear networks f(x) = (W1 W2)^T x under the square loss (Varre et al. 2023, section 2)."""

import numpy as np


def loss(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return 1/2 ||X W1 W2 - Y||_F^2, shape (...), over any leading axes of all four (Varre et al. 2023, eq. 2.2)."""
    return 0.5 * np.sum((X @ (W1 @ W2) - Y) ** 2, axis=(-2, -1))


def pack(W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """Return both layers as one vector, the entries of W1 before those of W2: the state of an integrator."""
    return np.concatenate([W1.ravel(), W2.ravel()])


def unpack(state: np.ndarray, inputs: int, width: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return W1, shape (..., inputs, width), and W2, shape (..., width, outputs), from states that `pack` returned.

    States have the shape (..., entries), with the entries of both layers and no others.
    """
    split = inputs * width
    lead = state.shape[:-1]
    return state[..., :split].reshape(*lead, inputs, width), state[..., split:].reshape(*lead, width, outputs)


def orthonormal_rows(rng: np.random.Generator, rows: int, width: int) -> np.ndarray:
    """Return P, shape (rows, width), with P P^T = I, uniform on the Stiefel manifold.

    Raises
    ------
    ValueError
        If there are more rows than the width.
    """
    if rows > width:
        raise ValueError(f"{rows} orthonormal rows do not fit into width {width}")
    # Q is uniform once its signs make the diagonal of R positive
    Q, R = np.linalg.qr(rng.standard_normal((width, rows)))
    return (Q * np.sign(np.diag(R))).T


def hidden_basis(W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of hidden directions that descent from these layers never leaves.

    The rows of the gradient of W1, and the columns of that of W2, are in the span of the rows of W1 and the columns of
    W2. With a basis Q of this span, W1 Q and Q^T W2 are a narrower network, which moves as the wide one does: its
    products, norms and singular values are those of W1 and W2.

    Parameters
    ----------
    W1, W2 : ndarray, shapes (..., inputs, width), (..., width, outputs)
        Layers at the start.

    Returns
    -------
    ndarray, shape (..., width, min(width, inputs + outputs))
        Q, with a basis vector in each column; the identity where the width is no larger than inputs + outputs.
    """
    width = W1.shape[-1]
    spanning = np.concatenate([np.swapaxes(W1, -1, -2), W2], axis=-1)
    if spanning.shape[-1] >= width:
        return np.broadcast_to(np.eye(width), (*W1.shape[:-2], width, width))
    return np.linalg.qr(spanning)[0]


def gaussian_layer(rng: np.random.Generator, rows: int, columns: int, variance: float) -> np.ndarray:
    """Return a matrix of independent centred Gaussian entries of the given variance, shape (rows, columns)."""
    return rng.normal(scale=np.sqrt(variance), size=(rows, columns))


def unequal_scales(gamma: float, spread: float, inputs: int) -> np.ndarray:
    """Return scales from gamma / spread to gamma * spread, evenly in the logarithm, shape (inputs,)."""
    return np.geomspace(gamma / spread, gamma * spread, inputs)
