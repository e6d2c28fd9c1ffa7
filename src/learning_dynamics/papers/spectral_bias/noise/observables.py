"""Observables of each path of the noise-driven process at one time: squares, commutators, angle, determinant."""

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias.noise import quantities


def on_each_path(W: np.ndarray, a: np.ndarray, average: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers of each path by which claims and figures know an ensemble: arrays of shape (paths,).

    Quantities
    ----------
    hidden_square
        Squared norm of a column of W, the mean over columns.
    output_square
        Squared entry of a, the mean over entries.
    average_square
        Squared entry of the exponential moving average of a, the mean over entries.
    commutator_entry
        Mean of |e_i| over the rows w_i of W, where e_i = W_i1 a_2 - W_i2 a_1 is the entry of the commutator
        [w_i, a] = w_i a^T - a w_i^T in row 1 and column 2.
    commutator_entry_squared
        Mean of e_i^2 over the rows of W.
    commutator_length
        Root of the sum of e_i^2 over the rows of W: the length of W_.1 a_2 - W_.2 a_1, with the first two columns of W.
    sine_of_angle
        Sine of the angle between the first row of W and a.
    determinant
        Determinant of W.
    sigma_1
        Largest singular value of W.

    Parameters
    ----------
    W : ndarray, shape (paths, d, d)
    a, average : ndarray, shape (paths, d)
        a, and its exponential moving average.
    """
    # e_i of each row i, shape (paths, d)
    entries = W[:, :, 0] * a[:, None, 1] - W[:, :, 1] * a[:, None, 0]
    first_row = W[:, 0]
    # |w| |a| of the first row w, and |w| |a| times the sine of the angle between w and a, shape (paths,). The norm of
    # the commutator [w, a] is sqrt(2) times the latter
    sizes = np.linalg.norm(first_row, axis=1) * np.linalg.norm(a, axis=1)
    across = commutator_norms(W[:, :1], a)[:, 0] / np.sqrt(2.0)
    return {
        quantities.HIDDEN_SQUARE: (W**2).sum(axis=1).mean(axis=1),
        quantities.OUTPUT_SQUARE: (a**2).mean(axis=1),
        quantities.AVERAGE_SQUARE: (average**2).mean(axis=1),
        quantities.COMMUTATOR_ENTRY: np.abs(entries).mean(axis=1),
        quantities.COMMUTATOR_ENTRY_SQUARED: (entries**2).mean(axis=1),
        quantities.COMMUTATOR_LENGTH: np.linalg.norm(entries, axis=1),
        quantities.SINE_OF_ANGLE: across / np.where(sizes > 0, sizes, 1.0),
        quantities.DETERMINANT: np.linalg.det(W),
        quantities.SIGMA_1: singular_values(W)[:, 0],
    }


def commutator_norms(W: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the Frobenius norms of w_i a^T - a w_i^T for the rows w_i of W, shape (..., rows).

    They are sqrt(2 (|w_i|^2 |a|^2 - (w_i . a)^2)). As this difference of squares would cancel, they are computed as
    sqrt(2) |a| times the length of the part of w_i across a.

    Parameters
    ----------
    W : ndarray, shape (..., rows, d)
        Some of the rows, or all.
    a : ndarray, shape (..., d)
    """
    size = np.linalg.norm(a, axis=-1)[..., None]
    unit = a / np.where(size > 0, size, 1.0)
    across = W - (W @ unit[..., None]) * unit[..., None, :]
    return np.sqrt(2.0) * np.linalg.norm(across, axis=-1) * size
