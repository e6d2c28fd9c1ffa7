"""Which singular value of the gradient moves which singular value of W, and by how much in a step."""

import numpy as np


def learned(values: np.ndarray, truth: np.ndarray, share: float) -> np.ndarray:
    """Return how many leading singular values of W have passed a share of the true ones, shape (...).

    Parameters
    ----------
    values, truth : ndarray, shape (..., rank)
        Descending. A later one counts only after those before it.
    share : float
    """
    return np.cumprod(values >= share * truth, axis=-1).sum(axis=-1)


def set_aside(gradient: np.ndarray, U: np.ndarray, Vt: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the gradient with the first `number` left and right singular vectors of W projected out.

    Parameters
    ----------
    gradient, U, Vt : ndarray, shape (members, n, n)
        Columns of U and rows of Vt are the singular vectors of W.
    number : ndarray of int, shape (members,)

    Returns
    -------
    ndarray, shape (members, n, n)
        In the basis of the singular vectors: zeros in the first `number` rows and columns.
    """
    # shape (members, n): which vectors are kept
    outside = np.arange(gradient.shape[-1]) >= number[:, None]
    rotated = np.swapaxes(U, -1, -2) @ gradient @ np.swapaxes(Vt, -1, -2)
    return outside[:, :, None] * rotated * outside[:, None, :]


def step_growth(values: np.ndarray, learning_rate: float) -> np.ndarray:
    """Return the logarithm of the factor by which one step of descent multiplies singular values of two small layers.

    Along a pair of the gradient's singular vectors, of value g, a step eta adds eta g times each layer to the other:
    their sum is multiplied by ``1 + eta g``, and the product of the layers by its square. A flow would have
    ``2 eta g``.
    """
    return 2 * np.log1p(learning_rate * values)
