"""Effective numbers of dimensions of a cloud of features: exponentials of the entropy of a spectrum."""

import numpy as np

from learning_dynamics.measures.spectra import effective_rank


def rankme(features: np.ndarray, *, centred: bool) -> np.ndarray:
    """Return exp of the entropy of the feature covariance's eigenvalues, each as a share of their sum.

    It lies between one and the number of feature dimensions (RankMe on a covariance: Li et al. 2025).

    Parameters
    ----------
    features : ndarray, shape (..., examples, dimensions)
    centred : bool
        Whether the mean feature is taken away first.

    Returns
    -------
    ndarray, shape (...)
    """
    if centred:
        features = features - features.mean(axis=-2, keepdims=True)
    covariance = np.swapaxes(features, -1, -2) @ features
    return effective_rank(np.clip(np.linalg.eigvalsh(covariance), 0.0, None))
