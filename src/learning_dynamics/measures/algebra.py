"""Eigenvectors and linear equations of large matrices, in float64, by numpy or on a GPU."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Algebra:
    """Where the cubic work on matrices is done; arrays go in and come out.

    Attributes
    ----------
    eigh : callable
        A symmetric matrix, shape (P, P), to eigenvalues, ascending, and eigenvectors as columns.
    solve : callable
        Matrices, shape (..., P, P), and right sides, shape (..., P, C), to solutions of the latter's shape.
    """

    eigh: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    solve: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _by_numpy(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


NUMPY = Algebra(_by_numpy, np.linalg.solve)


def algebra_on(device: Any) -> Algebra:
    """Return the algebra of a torch device: numpy's on a processor, whose results do not depend on torch."""
    return NUMPY if device.type == "cpu" else torch_algebra(device)


def torch_algebra(device: Any) -> Algebra:
    """Return the algebra of torch on a device."""
    import torch

    def there(array: np.ndarray) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    def eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = torch.linalg.eigh(there(matrix))
        return values.cpu().numpy(), vectors.cpu().numpy()

    def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        return torch.linalg.solve(there(matrix), there(right)).cpu().numpy()

    return Algebra(eigh, solve)
