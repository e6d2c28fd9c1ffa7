"""Which singular value of the gradient moves which singular value of W, and by how much in a step.

W is the product of a network's layers; the gradient is the loss's, at W.
"""

import numpy as np


def learned(values: np.ndarray, truth: np.ndarray, share: float) -> np.ndarray:
    """Return how many leading singular values of W have passed a share of the true ones, shape (...).

    One counts only if all larger ones count.

    Parameters
    ----------
    values, truth : ndarray, shape (..., rank)
        Singular values of W and of the matrix to complete, the largest first.
    share : float
    """
    # the cumulative product is one up to the first that has not passed its share, and zero from there on
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
        In the basis of the singular vectors of W: U^T gradient V, with zeros in the first `number` rows and columns.
    """
    # which vectors are kept, shape (members, n)
    outside = np.arange(gradient.shape[-1]) >= number[:, None]
    rotated = np.swapaxes(U, -1, -2) @ gradient @ np.swapaxes(Vt, -1, -2)
    return outside[:, :, None] * rotated * outside[:, None, :]


def step_growth(values: np.ndarray, learning_rate: float) -> np.ndarray:
    """Return the logarithm of the factor by which one step of descent multiplies singular values of two small layers.

    `values` are singular values g of the gradient, and the learning rate is eta. Along the pair of singular vectors of
    g, a step adds eta g times each layer to the other one. So it multiplies the sum of the layers by ``1 + eta g``, and
    the layers' product, in which the sum soon dominates, by the square of this factor; its logarithm is ``2 log(1 + eta
    g)``. In a flow for the time eta it would be ``2 eta g``.
    """
    return 2 * np.log1p(learning_rate * values)
