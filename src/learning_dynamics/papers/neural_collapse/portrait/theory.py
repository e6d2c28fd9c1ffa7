"""The plane of three class means: coordinates in it, the simplex in it, and fibres of features (section 3.1, D.1)."""

from collections.abc import Iterator

import numpy as np

CLASSES = 3  # the number of class means that span a plane
IMAGES = 40  # the number of images of each class whose features are drawn; chosen


def coordinates(
    features: np.ndarray, labels: np.ndarray, means: np.ndarray, weights: np.ndarray
) -> Iterator[tuple[str, str, int, int, int, float]]:
    """Yield rows (split, quantity, coordinate, label, example, value) of vectors in the plane of three class means.

    `coordinate` is 1 or 2. `example` counts the images of a class from 0; class means and classifiers are no image's
    and have -1.

    Shapes, for C classes and P features: `features` (images, P) of train images, of which the first `IMAGES` of each of
    the classes 0, 1 and 2 are used; `labels` (images,); class means (C, P); weights of the last layer (C, P), whose
    rows are called classifiers.

    Quantities
    ----------
    portrait_feature
        Coordinates 1 and 2 of the features of the first images of each class, in the plane of the first three class
        means. The origin is the average of these means, and the first axis points at the mean of class 0.
    portrait_mean
        Coordinates of the three class means in the plane of ``portrait_feature``.
    portrait_classifier
        Coordinates of the three classifiers, less their average, in the plane of ``portrait_feature``.
    """
    chosen = means[:CLASSES]
    centre = chosen.mean(axis=0)
    first_axis = chosen[0] - centre
    # the part of class 1's mean that is orthogonal to the first axis
    second_axis = chosen[1] - centre - (chosen[1] - centre) @ first_axis / (first_axis @ first_axis) * first_axis
    plane = np.stack([first_axis / np.linalg.norm(first_axis), second_axis / np.linalg.norm(second_axis)])
    classifiers = weights[:CLASSES] - weights[:CLASSES].mean(axis=0)
    for label in range(CLASSES):
        for name, vector in (("mean", chosen[label] - centre), ("classifier", classifiers[label])):
            for axis, value in enumerate(plane @ vector, start=1):
                yield "train", f"portrait_{name}", axis, label, -1, float(value)
        class_features = features[labels == label][:IMAGES]
        for example, row in enumerate((class_features - centre) @ plane.T):
            for axis, value in enumerate(row, start=1):
                yield "train", "portrait_feature", axis, label, example, float(value)


def simplex_in_the_plane(means: np.ndarray) -> np.ndarray:
    """Return the equilateral triangle around the origin, of unit radius, that is nearest to three points.

    The radius is fixed, not fitted: callers scale class means so that their mean distance from the origin is one.

    Parameters
    ----------
    means : ndarray, shape (3, 2)

    Returns
    -------
    ndarray, shape (3, 2)
        Vertices in the order of the points.
    """
    corners = 2 * np.pi * np.arange(3) / 3  # angles of the vertices

    def nearest(turn: int) -> np.ndarray:
        """Return the nearest triangle of those with corners anticlockwise (`turn` 1) or clockwise (-1)."""
        triangle = np.column_stack([np.cos(corners), turn * np.sin(corners)])
        # the rotation, without reflection, that brings it nearest (orthogonal Procrustes)
        U, _, Vt = np.linalg.svd(triangle.T @ means)
        return triangle @ (U @ np.diag([1.0, np.linalg.det(U @ Vt)]) @ Vt)

    return min(map(nearest, (1, -1)), key=lambda triangle: np.sum((triangle - means) ** 2))


def within_class_root(features: np.ndarray) -> np.ndarray:
    """Return Sigma_W^(1/2), symmetric, of features of shape (classes, examples, dimensions)."""
    centred = features - features.mean(axis=1, keepdims=True)
    # the sum of outer products over the number of all examples
    values, vectors = np.linalg.eigh(np.einsum("cnp,cnq->pq", centred, centred) / features[..., 0].size)
    return (vectors * np.sqrt(values)) @ vectors.T


def least_squares_classifier(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the classifier W, b that makes 1/2 Ave ||W h + b - y||^2 smallest, and this loss.

    Parameters
    ----------
    features : ndarray, shape (classes, examples, dimensions)
        The features h; y is one-hot.

    Returns
    -------
    weights : ndarray, shape (classes, dimensions)
    biases : ndarray, shape (classes,)
    loss : float
    """
    classes, examples, dimensions = features.shape
    # rows are examples, all of the first class first, in `extended` and in `targets`
    extended = np.concatenate([features.reshape(-1, dimensions), np.ones((classes * examples, 1))], axis=1)
    targets = np.repeat(np.eye(classes), examples, axis=0)
    solution = np.linalg.lstsq(extended, targets, rcond=None)[0]
    residual = extended @ solution - targets
    return solution[:-1].T, solution[-1], 0.5 * float(np.sum(residual**2)) / (classes * examples)
