"""How near features are to the limits that the central path has: of the SNR matrix, and neural collapse itself.

Shapes: X (..., P, C N), examples as columns, sorted by class, N of each; the start (P, C N), without leading axes.
Class means are rows, (..., C, P), in `collapse_along`. What is returned has the leading axes.
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import models, quantities


def limit_gaps(X: np.ndarray, start: np.ndarray, classes: int) -> models.Numbers:
    """Distances of features from what the singular vectors at the start say, over leading axes of X.

    Quantities
    ----------
    snr_outside_first_vectors
        The part of the SNR matrix outside of sum_j x_j u_j v_j^T, u_j and v_j its singular vectors at the start,
        relative to all of it (Lemma 6).
    snr_limit_distance
        ||SNR / omega_max - U V^T||_F, U and V of the start (eq. 10).
    features_limit_distance
        ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(N), for N examples of each class (eq. 11).
    """
    U, _, V = models.snr_vectors(start, classes)
    snr = models.signal_to_noise(X, classes)
    omega_max = np.linalg.svd(snr, compute_uv=False)[..., :1, None]  # shape (..., 1, 1)
    aligned = np.einsum("pj,...pc,cj->...j", U, snr, V)  # x_j = u_j^T SNR v_j, shape (..., C - 1)
    examples = X.shape[-1] // classes
    return {
        quantities.SNR_OUTSIDE_FIRST_VECTORS: _norm(snr - (U * aligned[..., None, :]) @ V.T) / _norm(snr),
        quantities.SNR_LIMIT_DISTANCE: _norm(snr / omega_max - U @ V.T),
        quantities.FEATURES_LIMIT_DISTANCE: _norm(X / omega_max - np.repeat(U @ V.T, examples, axis=-1))
        / np.sqrt(examples),
    }


def collapse_along(X: np.ndarray, classes: int) -> models.Numbers:
    """Neural collapse of renormalised features and their least-squares classifier, over leading axes.

    Quantities
    ----------
    trace
        tr(pinv(Sigma_B) Sigma_W).
    nc2_norm_spread
        Standard deviation of the class means' norms over the mean of these.
    nc2_angle_distance
        Mean of |cos + 1 / (C - 1)| over pairs of class means.
    nc3
        || W / ||W||_F - M / ||M||_F ||_F^2 for the classifier W and class means M, as rows.
    nc4
        Share of examples that the classifier and the nearest class mean label differently.
    """
    means = models.class_means(X, classes).mT
    # the features' mean is zero, so that the bias is 1/C for every class and changes no argmax
    W = models.classifier(X, classes)
    # |x - mu_c|^2 is least where mu_c . x - |mu_c|^2 / 2 is largest, shape (..., C, C N)
    nearest = means @ X - 0.5 * np.sum(means**2, axis=-1, keepdims=True)
    return {
        quantities.TRACE: classes * collapse.variability(models.within_covariance(X, classes), means),
        quantities.NC2_NORM_SPREAD: collapse.relative_spread_of_norms(means),
        quantities.NC2_ANGLE_DISTANCE: collapse.distance_from_maximal_angles(means),
        quantities.NC3: collapse.self_duality(W, means),
        quantities.NC4: np.mean(np.argmax(W @ X, axis=-2) != np.argmax(nearest, axis=-2), axis=-1),
    }


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, axis=(-2, -1))
