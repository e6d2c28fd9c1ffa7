"""The plane of three class means: coordinates by least squares, triangles by brute force, roots by scipy."""

import numpy as np
import pandas as pd
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.portrait import theory
from learning_dynamics.tidy import select
from tests.papers.neural_collapse import oracles

IMAGES = theory.IMAGES  # of each class in the portrait
ALL_IMAGES = 50  # of each class below
assert IMAGES < ALL_IMAGES  # so that the portrait leaves some out
SHOWN_CLASSES = 3


def clouds_in_the_plane(seed):
    """Return features of three classes in two dimensions, shape (classes, examples, 2)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, 30, 2)) + 2 * rng.standard_normal((3, 1, 2))


class HighDimensionalFeatures:
    """Features, class means and classifiers of five classes in seven dimensions, of which three are portrayed."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.means, self.weights = rng.standard_normal((5, 7)), rng.standard_normal((5, 7))
        self.labels = np.repeat(np.arange(5), ALL_IMAGES)
        self.features = self.means[self.labels] + rng.standard_normal((len(self.labels), 7))
        rows = theory.coordinates(self.features, self.labels, self.means, self.weights)
        self.table = pd.DataFrame(rows, columns=["split", "quantity", "axis", "label", "example", "value"])
        self.centre = self.means[:SHOWN_CLASSES].mean(axis=0)
        self.weights_centre = self.weights[:SHOWN_CLASSES].mean(axis=0)

    def portrayed(self, quantity, label, example=-1):
        """Return both coordinates of a vector that the portrait has; means and classifiers have the example -1."""
        return select(self.table, quantity, label=label, example=example).sort_values("axis")["value"]

    def in_plane(self, vector):
        """Return the coordinates of a vector in the plane of the first three means, by least squares.

        The first axis points at the first mean, the second to the side of the second mean.
        """
        basis, triangular = np.linalg.qr((self.means[:2] - self.centre).T)
        return np.linalg.lstsq(basis * np.sign(triangular.diagonal()), vector, rcond=None)[0]


@pytest.fixture(scope="module")
def high_dimensional():
    return HighDimensionalFeatures()


def test_the_portrait_has_both_coordinates_of_means_classifiers_and_the_first_images(high_dimensional):
    assert set(high_dimensional.table["split"]) == {"train"}
    # two coordinates of a mean, of a classifier and of images
    assert len(high_dimensional.table) == 2 * SHOWN_CLASSES * (1 + 1 + IMAGES)


@pytest.mark.parametrize("label", range(SHOWN_CLASSES))
def test_coordinates_of_class_means_are_those_of_a_least_squares_fit(label, high_dimensional):
    expected = high_dimensional.in_plane(high_dimensional.means[label] - high_dimensional.centre)
    portrayed = high_dimensional.portrayed("portrait_mean", label)
    np.testing.assert_allclose(portrayed, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("label", range(SHOWN_CLASSES))
def test_coordinates_of_classifiers_are_those_of_a_least_squares_fit(label, high_dimensional):
    expected = high_dimensional.in_plane(high_dimensional.weights[label] - high_dimensional.weights_centre)
    portrayed = high_dimensional.portrayed("portrait_classifier", label)
    np.testing.assert_allclose(portrayed, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("example", [0, IMAGES - 1])
@pytest.mark.parametrize("label", range(SHOWN_CLASSES))
def test_coordinates_of_features_are_those_of_a_least_squares_fit(label, example, high_dimensional):
    feature = high_dimensional.features[high_dimensional.labels == label][example]
    expected = high_dimensional.in_plane(feature - high_dimensional.centre)
    portrayed = high_dimensional.portrayed("portrait_feature", label, example)
    np.testing.assert_allclose(portrayed, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True], ids=["as drawn", "mirrored"])
def test_the_nearest_triangle_is_the_best_of_all_angles_of_both_orientations(mirrored):
    # as complex numbers: corners of a triangle, turned by 0.7, 1.7 times as large, and moved a little
    corners = np.exp(2j * np.pi * np.arange(3) / 3)
    noise = 0.2 * np.random.default_rng(1).standard_normal(3)
    points = (corners.conj() if mirrored else corners) * np.exp(0.7j) * 1.7 + noise
    turns = np.exp(1j * np.linspace(0, 2 * np.pi, 20001))[:, None]
    triangles = np.concatenate([corners * turns, corners.conj() * turns])
    best = triangles[np.argmin(np.sum(np.abs(triangles - points) ** 2, axis=1))]
    nearest = theory.simplex_in_the_plane(np.column_stack([points.real, points.imag]))  # shape (corners, x and y)
    # the angles that are tried are 3e-4 apart
    np.testing.assert_allclose(nearest[:, 0] + 1j * nearest[:, 1], best, rtol=0, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(nearest, axis=1), 1.0, rtol=1e-12)


def test_the_root_of_the_within_class_covariance_is_scipys():
    features = clouds_in_the_plane(2)
    deviations = features - features.mean(axis=1, keepdims=True)
    covariance = np.cov(deviations.reshape(-1, 2).T, bias=True)
    np.testing.assert_allclose(theory.within_class_root(features), scipy.linalg.sqrtm(covariance), rtol=0, atol=1e-12)


def test_the_least_squares_classifier_in_the_plane_is_the_solvers():
    features = clouds_in_the_plane(3)
    H = features.reshape(-1, 2).T
    W, b = oracles.least_squares(H, 3)
    weights, bias, loss = theory.least_squares_classifier(features)
    np.testing.assert_allclose(weights, W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bias, b, rtol=0, atol=1e-12)
    assert loss == pytest.approx(oracles.square_error(W, b, H, 3), rel=1e-12)
