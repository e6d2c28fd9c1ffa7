"""How near features are to limits that they have on the central path: that of the SNR matrix, and neural collapse.

Shapes: X (..., P, C N) are renormalised features, with examples as columns, all of the first class first, N of each of
C classes; the start (P, C N) are those at time 0, without leading axes. The SNR matrix (..., P, C) has the class means
of X as columns, and singular values omega_j. In `collapse_along` class means are rows, (..., C, P). What is returned
has the leading axes of X.
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import models, quantities


def limit_gaps(X: np.ndarray, start: np.ndarray, classes: int) -> models.Numbers:
    """Return distances of features from what the SNR matrix at the start says, over leading axes of X.

    Its singular vectors there are u_j and v_j, j = 1, ..., C - 1, the columns of U and V.

    Quantities
    ----------
    snr_outside_first_vectors
        Distance of the SNR matrix from the nearest sum_j a_j u_j v_j^T, relative to the norm of the SNR matrix (Lemma
        6).
    snr_limit_distance
        ||SNR / omega_max - U V^T||_F with the largest singular value omega_max of SNR (eq. 10).
    features_limit_distance
        ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(N), for N examples of each class (eq. 11).
    """
    U, _, V = models.snr_vectors(start, classes)
    snr = models.signal_to_noise(X, classes)
    omega_max = np.linalg.svd(snr, compute_uv=False)[..., :1, None]  # shape (..., 1, 1)
    aligned = np.einsum("pj,...pc,cj->...j", U, snr, V)  # a_j = u_j^T SNR v_j, shape (..., C - 1)
    examples = X.shape[-1] // classes
    return {
        quantities.SNR_OUTSIDE_FIRST_VECTORS: _norm(snr - (U * aligned[..., None, :]) @ V.T) / _norm(snr),
        quantities.SNR_LIMIT_DISTANCE: _norm(snr / omega_max - U @ V.T),
        quantities.FEATURES_LIMIT_DISTANCE: _norm(X / omega_max - np.repeat(U @ V.T, examples, axis=-1))
        / np.sqrt(examples),
    }


def collapse_along(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure neural collapse of renormalised features and their least-squares classifier, over leading axes.

    Quantities
    ----------
    trace
        tr(pinv(Sigma_B) Sigma_W), which is C times NC1.
    nc2_norm_spread
        Standard deviation of the class means' norms over the mean of these norms.
    nc2_angle_distance
        Mean of |cos + 1 / (C - 1)| over pairs of class means.
    nc3
        || W / ||W||_F - M / ||M||_F ||_F^2 for the matrices W of classifiers and M of class means, a row for each
        class.
    nc4
        Share of examples that the classifier and the nearest class mean decide differently.
    """
    # as rows
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
