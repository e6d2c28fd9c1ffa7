"""What the paper predicts, as functions of arrays (Han, Papyan, Donoho 2022)."""

from __future__ import annotations

import numpy as np

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------

# test accuracy in percent at the first epoch without a train error, and at the end (Table 1)
PAPER_TABLE_1 = {
    ("mnist", "vgg"): (99.23, 99.59),
    ("mnist", "resnet"): (99.16, 99.70),
    ("mnist", "densenet"): (99.62, 99.70),
    ("fashion_mnist", "vgg"): (92.76, 92.95),
    ("fashion_mnist", "resnet"): (93.55, 93.76),
    ("fashion_mnist", "densenet"): (90.56, 92.95),
    ("svhn", "vgg"): (89.35, 93.91),
    ("svhn", "resnet"): (85.18, 92.65),
    ("svhn", "densenet"): (95.61, 95.23),
    ("cifar10", "vgg"): (83.13, 84.54),
    ("cifar10", "resnet"): (75.43, 76.39),
    ("cifar10", "densenet"): (91.77, 91.78),
    ("stl10", "vgg"): (60.43, 67.24),
    ("stl10", "resnet"): (59.35, 60.56),
    ("stl10", "densenet"): (58.74, 60.41),
}


def simplex_in_the_plane(means: np.ndarray) -> np.ndarray:
    """Return the equilateral triangle around the origin, of unit radius, that lies nearest to three points.

    Parameters
    ----------
    means : ndarray, shape (3, 2)

    Returns
    -------
    ndarray, shape (3, 2)
        Vertices in the order of the points.
    """
    corners = 2 * np.pi * np.arange(3) / 3
    best = None
    for turn in (1, -1):
        triangle = np.column_stack([np.cos(corners), turn * np.sin(corners)])
        U, _, Vt = np.linalg.svd(triangle.T @ means)
        rotation = U @ np.diag([1.0, np.linalg.det(U @ Vt)]) @ Vt
        placed = triangle @ rotation
        distance = float(np.sum((placed - means) ** 2))
        if best is None or distance < best[0]:
            best = (distance, placed)
    assert best is not None
    return best[1]


def within_class_root(features: np.ndarray) -> np.ndarray:
    """Return Sigma_W^(1/2), symmetric, of features of shape (classes, examples, dimensions)."""
    centred = features - features.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(
        np.einsum("cnp,cnq->pq", centred, centred) / (features.shape[0] * features.shape[1])
    )
    return (vectors * np.sqrt(values)) @ vectors.T


def least_squares_classifier(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights, biases and loss 1/2 Ave ||W h + b - y||^2 of the classifier that makes it smallest.

    Parameters
    ----------
    features : ndarray, shape (classes, examples, dimensions)
    """
    classes, examples, dimensions = features.shape
    extended = np.concatenate([features.reshape(-1, dimensions), np.ones((classes * examples, 1))], axis=1)
    targets = np.repeat(np.eye(classes), examples, axis=0)
    solution = np.linalg.lstsq(extended, targets, rcond=None)[0]
    residual = extended @ solution - targets
    return solution[:-1].T, solution[-1], 0.5 * float(np.sum(residual**2)) / (classes * examples)
