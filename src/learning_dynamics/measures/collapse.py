"""Neural collapse in numbers: class means, covariances and classifiers to the quantities NC1 to NC4.

C classes, features in R^P. Definitions follow Papyan, Han, Donoho 2020 (figures 2 to 7) and Han, Papyan,
Donoho 2022 (sections 1.1 and 2). Moments are accumulated batch by batch, so that no more than one batch of
features is ever held. Everything is float64.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

FLOAT32_ROUNDING = float(np.finfo(np.float32).eps)


class ClassMoments:
    """Class means and within-class covariance of features that arrive in batches.

    Classes weigh equally, whatever their numbers of examples: covariances are averaged first within each
    class, then over classes.

    Parameters
    ----------
    counts : ndarray of int, shape (C,)
        How many examples of each class there will be.
    features : int
        P.

    Attributes
    ----------
    means : ndarray, shape (C, P)
    within : ndarray, shape (P, P)
        The within-class covariance Sigma_W (Han, Papyan, Donoho 2022, eq. 1).
    """

    def __init__(self, counts: np.ndarray, features: int) -> None:
        self._counts = np.asarray(counts)
        self._seen = np.zeros(len(counts))
        self.means = np.zeros((len(counts), features))
        self.within = np.zeros((features, features))

    def update(self, features: np.ndarray, labels: np.ndarray) -> None:
        """Add a batch: features, shape (examples, P), and their labels.

        Batches are merged around their own means (Chan, Golub, LeVeque 1983), which loses no digits when
        the features have collapsed onto means far from zero.
        """
        features = np.asarray(features, dtype=np.float64)
        for label in np.unique(labels):
            batch = features[labels == label]
            seen, new = self._seen[label], len(batch)
            mean = batch.mean(axis=0)
            shift = mean - self.means[label]
            centred = batch - mean
            scatter = centred.T @ centred + (seen * new / (seen + new)) * np.outer(shift, shift)
            self.within += scatter / (self._counts[label] * len(self._counts))
            self.means[label] += shift * new / (seen + new)
            self._seen[label] += new


def centred_means(means: np.ndarray) -> np.ndarray:
    """Return class means less their unweighted average, shape (C, P)."""
    return means - means.mean(axis=0)


def variability(within: np.ndarray, means: np.ndarray) -> float:
    """Return Tr(Sigma_W pinv(Sigma_B)) / C, the measure of variability collapse (NC1).

    Sigma_B has rank C - 1 at most; its pseudo-inverse is cut there, because in floating point a smallest
    eigenvalue that should be zero is not. Infinite if the centred means span fewer directions.
    """
    classes = len(means)
    _, values, directions = np.linalg.svd(centred_means(means), full_matrices=False)
    rank = min(classes - 1, len(values))
    kept, directions = values[:rank], directions[:rank]
    if rank < classes - 1 or kept[-1] <= FLOAT32_ROUNDING * max(kept[0], np.abs(means).max()):
        return float("inf")
    noise = np.einsum("kp,pq,kq->k", directions, within, directions)
    return float(np.sum(noise / kept**2))


def relative_spread_of_norms(vectors: np.ndarray) -> float:
    """Return the standard deviation over the mean of the rows' norms (equinormness, NC2)."""
    norms = np.linalg.norm(vectors, axis=1)
    return float(norms.std() / norms.mean())


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines between all pairs of different rows, shape (C (C - 1) / 2,)."""
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (directions @ directions.T)[np.triu_indices(len(vectors), k=1)]


def spread_of_cosines(vectors: np.ndarray) -> float:
    """Return the standard deviation of the cosines between rows (equiangularity, NC2)."""
    return float(cosines(vectors).std())


def distance_from_maximal_angles(vectors: np.ndarray) -> float:
    """Return the mean of |cos + 1 / (C - 1)| over pairs of rows (maximal equiangularity, NC2)."""
    return float(np.abs(cosines(vectors) + 1 / (len(vectors) - 1)).mean())


def self_duality(classifiers: np.ndarray, means: np.ndarray) -> float:
    """Return || W / ||W||_F - M / ||M||_F ||_F^2 for classifiers W and centred means M, rows by class (NC3)."""
    centred = centred_means(means)
    return float(np.sum((classifiers / np.linalg.norm(classifiers) - centred / np.linalg.norm(centred)) ** 2))


def nearest_mean(features: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return for each row of features the class whose mean is nearest (NC4)."""
    features = np.asarray(features, dtype=np.float64)
    return np.argmin(np.sum(means**2, axis=1) - 2 * features @ means.T, axis=1)


def signal_to_noise(within: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the non-zero singular values of Sigma_W^(-1/2) M, M the centred class means, shape (C - 1,), descending.

    Directions in which features vary no more than float32 rounds, such as those of dead units, are left out
    (Han, Papyan, Donoho 2022, section 3.2).
    """
    values, directions = np.linalg.eigh(within)
    size = np.trace(within) + np.mean(np.sum(means**2, axis=1))
    kept = values > FLOAT32_ROUNDING**2 * size
    whitened = (centred_means(means) @ directions[:, kept]) / np.sqrt(values[kept])
    return np.linalg.svd(whitened, compute_uv=False)[: len(means) - 1]


def decomposition(
    within: np.ndarray, means: np.ndarray, classifiers: np.ndarray, biases: np.ndarray, decay: float
) -> dict[str, float]:
    """Return the three terms of the MSE loss (Han, Papyan, Donoho 2022, theorems 1 and 2).

    Parameters
    ----------
    within, means : ndarray
        Sigma_W, shape (P, P), and class means, shape (C, P), over balanced classes.
    classifiers, biases : ndarray
        W, shape (C, P), and b, shape (C,).
    decay : float
        lambda > 0, the weight of ||W||_F^2 / 2 + ||b||^2 / 2 in the loss.

    Returns
    -------
    dict
        ``loss_nc1``, ``loss_nc23``, ``loss_ls_perp``; they add up to the loss.
    """
    classes, features = means.shape
    extended_means = np.hstack([means, np.ones((classes, 1))])
    noise = np.pad(within, (0, 1)) + decay * np.eye(features + 1)
    moment = noise + extended_means.T @ extended_means / classes
    least_squares = linalg.solve(moment, extended_means.T / classes, assume_a="pos").T
    deviation = np.hstack([classifiers, biases[:, None]]) - least_squares
    return {
        "loss_nc1": 0.5 * float(np.sum((least_squares @ noise) * least_squares)),
        "loss_nc23": float(np.sum((least_squares @ extended_means.T - np.eye(classes)) ** 2)) / (2 * classes),
        "loss_ls_perp": 0.5 * float(np.sum((deviation @ moment) * deviation)),
    }
