"""Eigenvectors and linear equations of large matrices, in float64: by numpy on a processor, by torch on a GPU.

Results of a processor do not depend on torch.
"""

from typing import Any

import numpy as np


def eigh(matrix: np.ndarray, device: Any = "cpu") -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors as columns of a symmetric matrix, shape (P, P)."""
    if str(device) == "cpu":
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    import torch

    values, vectors = torch.linalg.eigh(torch.as_tensor(matrix, device=device))
    return values.cpu().numpy(), vectors.cpu().numpy()


def solve(matrix: np.ndarray, right: np.ndarray, device: Any = "cpu") -> np.ndarray:
    """Return the solutions of equations, shape (..., P, C), by matrices, shape (..., P, P), and right sides."""
    if str(device) == "cpu":
        return np.linalg.solve(matrix, right)
    import torch

    return (
        torch.linalg.solve(torch.as_tensor(matrix, device=device), torch.as_tensor(right, device=device)).cpu().numpy()
    )
