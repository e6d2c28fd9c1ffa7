"""The plane of three class means: coordinates by least squares, triangles by brute force, roots by scipy."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.portrait import theory
from tests.papers.neural_collapse import oracles


def clouds(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, 30, 2)) + 2 * rng.standard_normal((3, 1, 2))


def test_coordinates_are_those_of_a_least_squares_fit_in_the_plane():
    rng = np.random.default_rng(0)
    means, weights = rng.standard_normal((5, 7)), rng.standard_normal((5, 7))
    labels = np.repeat(np.arange(5), 50)
    features = means[labels] + rng.standard_normal((250, 7))
    centre = means[:3].mean(axis=0)
    # an orthonormal basis of the plane whose first vector points at the first mean
    basis = np.linalg.qr((means[:2] - centre).T)[0] * np.sign(np.linalg.qr((means[:2] - centre).T)[1].diagonal())

    def in_plane(vector):
        return np.linalg.lstsq(basis, vector, rcond=None)[0]

    rows = list(theory.coordinates(features, labels, means, weights))
    assert {row[0] for row in rows} == {"train"}
    found = {row[1:5]: row[5] for row in rows}
    assert len(found) == len(rows) == 2 * 3 * (2 + 40)
    for label in range(3):
        expected = {"mean": means[label] - centre, "classifier": weights[label] - weights[:3].mean(axis=0)}
        expected |= {example: features[50 * label + example] - centre for example in (0, 39)}
        for what, vector in expected.items():
            key = ("portrait_feature", what) if isinstance(what, int) else (f"portrait_{what}", -1)
            values = [found[key[0], axis, label, key[1]] for axis in (1, 2)]
            np.testing.assert_allclose(values, in_plane(vector), rtol=0, atol=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_nearest_triangle_by_trying_all_angles(mirrored):
    rng = np.random.default_rng(1)
    corners = np.exp(2j * np.pi * np.arange(3) / 3)
    points = (corners.conj() if mirrored else corners) * np.exp(0.7j) * 1.7 + 0.2 * rng.standard_normal(3)
    placed = theory.simplex_in_the_plane(np.column_stack([points.real, points.imag]))
    triangles = [base * np.exp(1j * np.linspace(0, 2 * np.pi, 20001))[:, None] for base in (corners, corners.conj())]
    every = np.concatenate(triangles)
    best = every[np.argmin(np.sum(np.abs(every - points) ** 2, axis=1))]
    np.testing.assert_allclose(placed[:, 0] + 1j * placed[:, 1], best, rtol=0, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(placed, axis=1), 1.0, rtol=1e-12)


def test_the_root_of_the_covariance_is_scipys():
    features = clouds(2)
    apart = features - features.mean(axis=1, keepdims=True)
    covariance = np.cov(apart.reshape(-1, 2).T, bias=True)
    np.testing.assert_allclose(theory.within_class_root(features), scipy.linalg.sqrtm(covariance), rtol=0, atol=1e-12)


def test_the_classifier_of_a_picture_is_the_solvers():
    features = clouds(3)
    H = features.reshape(-1, 2).T
    solved = oracles.least_squares(H, 3)
    weights, bias, loss = theory.least_squares_classifier(features)
    np.testing.assert_allclose(weights, solved[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(bias, solved[1], rtol=0, atol=1e-12)
    assert loss == pytest.approx(oracles.square_error(*solved, H, 3), rel=1e-12)
