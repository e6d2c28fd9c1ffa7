"""Singular triples in descending order, of one factor and of a pair, and effective ranks of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from learning_dynamics.measures.rank import rankme
from learning_dynamics.measures.spectra import effective_rank, singular_values

SVD = tuple[np.ndarray, np.ndarray, np.ndarray]
# RankMe on the covariance about the mean (the paper's) and about zero, and Roy and Vetterli's rank of singular values
RANKS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "rankme_centred": lambda f: rankme(f, centred=True),
    "rankme": lambda f: rankme(f, centred=False),
    "effective_rank": lambda f: effective_rank(singular_values(f)),
}


def sorted_svd(matrices: np.ndarray) -> SVD:
    """Return U, S, V, singular vectors as columns, singular values descending."""
    U, S, Vt = np.linalg.svd(matrices, full_matrices=False)
    return U, S, np.swapaxes(Vt, -1, -2)


def paired_svd(f: np.ndarray, W: np.ndarray) -> tuple[SVD, SVD]:
    """Return both factors' triples, descending, with W's signs turned so that v_1i and u_2i agree."""
    (U1, S1, V1), (U2, S2, V2) = sorted_svd(f), sorted_svd(W)
    turn = np.where(np.sum(V1 * U2, axis=-2) < 0, -1.0, 1.0)[..., None, :]
    return (U1, S1, V1), (U2 * turn, S2, V2 * turn)


def alignment(f: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return |cos| of the angle between the leading eigenvectors of f^T f and W W^T, over any leading axes.

    Independent directions in the plane have 2/pi on average.
    """
    leading = [np.linalg.eigh(gram)[1][..., -1] for gram in (np.swapaxes(f, -1, -2) @ f, W @ np.swapaxes(W, -1, -2))]
    return np.abs(np.sum(leading[0] * leading[1], axis=-1))


def separation(points: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return how far a group's mean lies from the others' mean, in units of the spread within the two.

    Parameters
    ----------
    points : ndarray, shape (..., points, dimensions)
    group : ndarray of bool, shape (points,)

    Returns
    -------
    ndarray, shape (...)
        Distance of means over the root mean square distance of a point from its own mean; infinite without spread.
    """
    inside, outside = points[..., group, :], points[..., ~group, :]
    centres = [part.mean(axis=-2, keepdims=True) for part in (inside, outside)]
    spread = sum(
        np.sum((part - centre) ** 2, axis=(-2, -1)) for part, centre in zip((inside, outside), centres, strict=True)
    )
    distance = np.linalg.norm(centres[0] - centres[1], axis=(-2, -1))
    with np.errstate(divide="ignore"):
        return distance / np.sqrt(spread / points.shape[-2])
