"""Singular triples in descending order, of one matrix and of a pair of factors."""

from __future__ import annotations

import numpy as np

SVD = tuple[np.ndarray, np.ndarray, np.ndarray]


def sorted_svd(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return U, S, V, singular vectors as columns, singular values descending."""
    U, S, Vt = np.linalg.svd(matrices, full_matrices=False)
    return U, S, np.swapaxes(Vt, -1, -2)


def paired_svd(f: np.ndarray, W: np.ndarray) -> tuple[SVD, SVD]:
    """Return both factors' triples, descending, with W's signs turned so that v_1i and u_2i agree."""
    (U1, S1, V1), (U2, S2, V2) = sorted_svd(f), sorted_svd(W)
    turn = np.where(np.sum(V1 * U2, axis=-2) < 0, -1.0, 1.0)[..., None, :]
    return (U1, S1, V1), (U2 * turn, S2, V2 * turn)
