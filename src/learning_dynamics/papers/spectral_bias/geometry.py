"""Stacks of matrices: norms, angles between spans, and how far matrices are from sharing singular vectors."""

import numpy as np


def norm(matrices: np.ndarray) -> np.ndarray:
    """Frobenius norms over leading axes, shape (..., 1)."""
    return np.linalg.norm(matrices, axis=(-2, -1))[..., None]


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Return the transposes over leading axes, shape (..., columns, rows)."""
    return np.swapaxes(matrices, -1, -2)


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return above / below, and zero where both vanish (a commutator of zero with anything)."""
    return numerator / np.where(denominator == 0, 1.0, denominator)


def relative_commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """|AB - BA| / (|A| |B|), shape (..., 1); zero where a factor vanishes."""
    return ratio(norm(A @ B - B @ A), norm(A) * norm(B))


def outside_row_space(X: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Part of matrices, shape (..., inputs, columns), outside the span of the rows of X, relative to their norm."""
    inside = np.linalg.pinv(X) @ (X @ matrices)
    return ratio(norm(matrices - inside), norm(matrices))


def off_diagonal(matrices: np.ndarray, basis_of: np.ndarray) -> np.ndarray:
    """Part of matrices off the diagonal in the singular basis of another, relative to their norm; 0 for zero."""
    U, _, Vt = np.linalg.svd(basis_of, full_matrices=True)
    rotated = transposed(U) @ matrices @ transposed(Vt)
    diagonal = np.zeros_like(rotated)
    count = min(rotated.shape[-2:])
    diagonal[..., range(count), range(count)] = rotated[..., range(count), range(count)]
    return ratio(norm(rotated - diagonal), norm(matrices))


def span_overlap(rows: np.ndarray, other_rows: np.ndarray) -> np.ndarray:
    """Cosines of the principal angles between the spans of two sets of rows, descending, shape (..., count).

    Parameters
    ----------
    rows : ndarray, shape (..., count, inputs)
        Linearly independent.
    others : ndarray, shape (..., count, inputs)
    """
    basis, other_basis = (np.linalg.qr(transposed(matrix))[0] for matrix in (rows, other_rows))
    return np.clip(np.linalg.svd(transposed(basis) @ other_basis, compute_uv=False), 0.0, 1.0)
