"""Neural collapse in numbers: class means, covariances and classifiers to the quantities NC1 to NC4.

C classes, features in R^P; class means are rows, shape (..., C, P), over any leading axes. mu_G is the average of the
class means, Sigma_W the covariance of features within classes, Sigma_B that of the class means around mu_G, Sigma_T
their sum; W and b are the classifier's weights and biases. Definitions follow Papyan, Han, Donoho 2020 (figures 2 to 7)
and Han, Papyan, Donoho 2022 (sections 1.1 and 2). Everything is float64.
"""

from typing import Any

import numpy as np

from learning_dynamics.measures import algebra

# networks compute features in float32: what is smaller, relative to them, is its rounding
FLOAT32_ROUNDING = float(np.finfo(np.float32).eps)


def centred_means(means: np.ndarray) -> np.ndarray:
    """Return class means less their unweighted average, shape (..., C, P)."""
    return means - means.mean(axis=-2, keepdims=True)


def variability(within: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return Tr(Sigma_W pinv(Sigma_B)) / C, the measure of variability collapse (NC1), over leading axes.

    Sigma_B has rank C - 1 at most; its pseudo-inverse is cut there, because in floating point a smallest
    eigenvalue that should be zero is not. Infinite if the centred means span fewer directions.
    """
    classes, features = means.shape[-2:]
    if features < classes - 1:
        return np.full(means.shape[:-2], np.inf)
    _, values, directions = np.linalg.svd(centred_means(means), full_matrices=False)
    values, directions = values[..., : classes - 1], directions[..., : classes - 1, :]
    size = np.maximum(values[..., 0], np.abs(means).max(axis=(-2, -1)))
    noise = np.einsum("...kp,...pq,...kq->...k", directions, within, directions)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Sigma_B has the eigenvalues values**2 / C: this C and that of the definition cancel
        found = np.sum(noise / values**2, axis=-1)
    return np.where(values[..., -1] > FLOAT32_ROUNDING * size, found, np.inf)


def relative_spread_of_norms(vectors: np.ndarray) -> np.ndarray:
    """Return the standard deviation over the mean of the rows' norms (equinormness, NC2)."""
    norms = np.linalg.norm(vectors, axis=-1)
    return norms.std(axis=-1) / norms.mean(axis=-1)


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines between all pairs of different rows, shape (..., C (C - 1) / 2)."""
    directions = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    first, second = np.triu_indices(vectors.shape[-2], k=1)
    return (directions @ np.swapaxes(directions, -1, -2))[..., first, second]


def spread_of_cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the cosines between rows (equiangularity, NC2)."""
    return cosines(vectors).std(axis=-1)


def distance_from_maximal_angles(vectors: np.ndarray) -> np.ndarray:
    """Return the mean of |cos + 1 / (C - 1)| over pairs of rows (maximal equiangularity, NC2)."""
    return np.abs(cosines(vectors) + 1 / (vectors.shape[-2] - 1)).mean(axis=-1)


def self_duality(classifiers: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return || W / ||W||_F - M / ||M||_F ||_F^2 for classifiers W and centred means M, rows by class (NC3)."""
    difference = _of_unit_norm(classifiers) - _of_unit_norm(centred_means(means))
    return np.sum(difference**2, axis=(-2, -1))


def rank_and_signal_to_noise(within: np.ndarray, means: np.ndarray, device: Any = "cpu") -> tuple[int, np.ndarray]:
    """Return the numerical rank of Sigma_W and the non-zero singular values of Sigma_W^(-1/2) M.

    M are the centred class means. Directions in which features vary no more than float32 rounds, those of units that
    are dead or constant on every image, are left out of both (Han, Papyan, Donoho 2022, section 3.2): the floor is the
    square of float32's rounding times the features' mean square.

    Parameters
    ----------
    within, means : ndarray, shapes (P, P) and (C, P)
    device : str or torch.device
        Where eigenvectors are computed, once.

    Returns
    -------
    rank : int
    singular_values : ndarray, shape (C - 1,), descending
    """
    floor = FLOAT32_ROUNDING**2 * float(np.trace(within) + np.mean(np.sum(means**2, axis=1)))
    values, directions = algebra.eigh(within, device)
    kept = values > floor
    whitened = (centred_means(means) @ directions[:, kept]) / np.sqrt(values[kept])
    return int(kept.sum()), np.linalg.svd(whitened, compute_uv=False)[: len(means) - 1]


def least_squares_classifier(within: np.ndarray, means: np.ndarray, decay: float, device: Any = "cpu") -> np.ndarray:
    """Return the extended least-squares classifier [W, b], shape (..., C, P + 1) (Proposition 1).

    M^T (Sigma_T + mu_G mu_G^T + decay I)^{-1} / C in extended features, whose last entry is one. M has the extended
    class means as columns, not centred.

    Parameters
    ----------
    within, means : ndarray
        Sigma_W, shape (..., P, P), and class means, shape (..., C, P), over balanced classes.
    decay : float
        lambda >= 0, the weight of ||W||_F^2 / 2 + ||b||^2 / 2 in the loss.
    device : str or torch.device
        Where the equations are solved.
    """
    extended = _extended(means)
    solved = algebra.solve(_second_moment(within, means, decay), np.swapaxes(extended, -1, -2), device)
    return np.swapaxes(solved, -1, -2) / means.shape[-2]


def decomposition(
    within: np.ndarray, means: np.ndarray, classifier: np.ndarray, decay: float, device: Any = "cpu"
) -> dict[str, np.ndarray]:
    """Return the three terms of the MSE loss (Han, Papyan, Donoho 2022, theorems 1 and 2), and what decay adds to each.

    Parameters
    ----------
    within, means, decay, device
        As in `least_squares_classifier`.
    classifier : ndarray, shape (..., C, P + 1)
        Weights with a last column of biases.

    Returns
    -------
    dict
        ``loss_nc1``, ``loss_nc23``, ``loss_ls_perp``, which add up to the loss. Of the first and the last,
        ``loss_nc1_decay`` and ``loss_ls_perp_decay`` are the parts of weight decay: without them the terms are
        squared errors of predictions.
    """
    optimum = least_squares_classifier(within, means, decay, device)
    extended = _extended(means)
    excess = classifier - optimum
    scores = optimum @ np.swapaxes(extended, -1, -2)
    return {
        "loss_nc1": 0.5 * _trace_form(optimum, _noise(within, decay)),
        "loss_nc1_decay": 0.5 * decay * np.sum(optimum**2, axis=(-2, -1)),
        "loss_nc23": np.sum((scores - np.eye(means.shape[-2])) ** 2, axis=(-2, -1)) / (2 * means.shape[-2]),
        "loss_ls_perp": 0.5 * _trace_form(excess, _second_moment(within, means, decay)),
        "loss_ls_perp_decay": 0.5 * decay * np.sum(excess**2, axis=(-2, -1)),
    }


def _extended(means: np.ndarray) -> np.ndarray:
    return np.concatenate([means, np.ones((*means.shape[:-1], 1))], axis=-1)


def _noise(within: np.ndarray, decay: float) -> np.ndarray:
    """Return Sigma_W + decay I in extended features."""
    widened = np.pad(within, [(0, 0)] * (within.ndim - 2) + [(0, 1), (0, 1)])
    return widened + decay * np.eye(widened.shape[-1])


def _second_moment(within: np.ndarray, means: np.ndarray, decay: float) -> np.ndarray:
    """Return Sigma_T + mu_G mu_G^T + decay I in extended features: the uncentred second moment, regularised."""
    extended = _extended(means)
    return _noise(within, decay) + np.swapaxes(extended, -1, -2) @ extended / means.shape[-2]


def _trace_form(rows: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return tr(R S R^T)."""
    return np.sum((rows @ metric) * rows, axis=(-2, -1))


def _of_unit_norm(matrices: np.ndarray) -> np.ndarray:
    return matrices / np.linalg.norm(matrices, axis=(-2, -1), keepdims=True)
