"""Errors, nuclear norm and effective rank of completed matrices."""

import numpy as np

from learning_dynamics.measures.spectra import effective_rank, singular_values


def measures_of(W: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return errors, nuclear norm and effective rank over leading axes of completed matrices; nan where W diverged.

    Quantities
    ----------
    error
        Mean square error over all entries.
    train_loss
        Mean square error over the observed entries.
    nuclear_norm
        Sum of the completed matrix's singular values.
    effective_rank
        exp of the entropy of the singular values' shares of their sum, of the completed matrix.
    true_nuclear_norm
        Nuclear norm of the matrix to complete.
    true_effective_rank
        Effective rank of the matrix to complete.
    """
    finite = np.isfinite(W).all(axis=(-2, -1))
    W = np.where(finite[..., None, None], W, truth)
    squares = (W - truth) ** 2
    spectrum, true_spectrum = singular_values(W), singular_values(truth)
    quantities = {
        "error": squares.mean(axis=(-2, -1)),
        "train_loss": np.sum(mask * squares, axis=(-2, -1)) / mask.sum(axis=(-2, -1)),
        "nuclear_norm": spectrum.sum(axis=-1),
        "effective_rank": effective_rank(spectrum),
    }
    quantities = {name: np.where(finite, values, np.nan) for name, values in quantities.items()}
    of_truth = {"true_nuclear_norm": true_spectrum.sum(axis=-1), "true_effective_rank": effective_rank(true_spectrum)}
    return quantities | of_truth
