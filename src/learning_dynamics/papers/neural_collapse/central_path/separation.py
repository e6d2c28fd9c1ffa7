"""What the SNR matrix says of how classes are separated: by its rank, by direction, and by pair of classes.

Shapes: H (P, C N) are one draw's features, with examples as columns, all of the first class first, N of each of C
classes; X are the same features renormalised. The SNR matrix (P, C) is Sigma_W^{-1/2} times the class means less their
mean (eq. 8), so that its columns are the class means of X. It has the singular values omega_j and the singular vectors
u_j and v_j, the columns of U and V (Definition 2). Noise is what deviations from class means are called.
"""

import numpy as np
from scipy.linalg import eigh

from learning_dynamics.papers.neural_collapse.central_path import models, quantities

# factor by which class means are scaled along the direction in which they are separated least; chosen
FLATTENED = 1e-3


def separations(H: np.ndarray, X: np.ndarray, classes: int) -> models.Numbers:
    """Measure the rank of the SNR matrix of several class means, and how far classes are apart.

    Quantities
    ----------
    snr_rank
        Rank of the SNR matrix of features whose class means span 1, 2, ..., C - 1 directions: these class means are
        those of X projected onto the first u_j, and deviations are those of X. Index: the number of directions.
    class_separation
        Root of the sum over classes of the squared centred class means of H along a direction, over the standard
        deviation of noise along it, for the directions at which this ratio is stationary, descending. This is
        discriminant analysis.
    class_separation--without_noise
        Singular values of the centred class means of H, descending: the same root of sums, without division by noise.
    least_pair_distance
        Smallest distance of two class means of X, which is that of H in units of the noise (Mahalanobis).
    least_pair_distance--flattened
        ``least_pair_distance`` with the class means scaled by a thousandth along the direction in which they are
        separated least.
    """
    U, omega, V = models.snr_vectors(X, classes)
    M = models.centred(models.class_means(H, classes))
    # squares of the stationary values, which `eigh` returns ascending
    stationary = eigh(M @ M.T, models.within_covariance(H, classes), eigvals_only=True)[::-1][: classes - 1]
    flattened = np.append(omega[:-1], FLATTENED * omega[-1])
    return {
        # class means that are the first `count` terms of sum_j omega_j u_j v_j^T
        quantities.SNR_RANK: np.array(
            [_rank_of_snr(U[:, :count] * omega[:count] @ V[:, :count].T, X, classes) for count in range(1, classes)]
        ),
        quantities.CLASS_SEPARATION: np.sqrt(stationary),
        quantities.CLASS_SEPARATION_WITHOUT_NOISE: np.linalg.svd(M, compute_uv=False)[: classes - 1],
        quantities.LEAST_PAIR_DISTANCE: _least_pair_distance(U * omega @ V.T),
        quantities.LEAST_PAIR_DISTANCE_FLATTENED: _least_pair_distance(U * flattened @ V.T),
    }


def _rank_of_snr(M: np.ndarray, X: np.ndarray, classes: int) -> int:
    """Return the rank of the SNR matrix of class means M, (P, C), with the deviations of X."""
    H = models.deviations(X, classes) + np.repeat(M, X.shape[1] // classes, axis=1)
    # 1e-9 is chosen: singular values that should be zero are of the order of rounding
    return int(np.linalg.matrix_rank(models.signal_to_noise(H, classes), rtol=1e-9))


def _least_pair_distance(M: np.ndarray) -> float:
    """Return the smallest distance of two columns of M."""
    distances = np.linalg.norm(M[:, :, None] - M[:, None], axis=0)  # of (P, C, C): shape (C, C)
    return float(distances[np.triu_indices(len(distances), 1)].min())
