"""Solutions of least norm where they are known by hand."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks.solutions import (
    least_quasi_norm,
    minimum_matrix_norm,
    minimum_norm,
    norm_of,
)

KNOWN = {"l2": [0.2, 0.4], "l1": [0.0, 0.5], "dft_l1": [1 / 3, 1 / 3]}


@pytest.mark.parametrize("norm", KNOWN)
def test_interpolators_of_one_point(norm):
    found = minimum_norm(np.array([[1.0, 2.0]]), np.array([1.0]), norm)
    np.testing.assert_allclose(found, KNOWN[norm], atol=1e-8)


@pytest.mark.parametrize("norm", KNOWN)
def test_max_margin_of_two_points_has_the_same_direction(norm):
    found = minimum_norm(np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0]), norm, classification=True)
    np.testing.assert_allclose(found, KNOWN[norm], atol=1e-7)


def test_contradictory_constraints_have_no_solution():
    with pytest.raises(ValueError, match="Infeasible"):
        minimum_norm(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0]), "l2")


def test_matrices_of_least_norm():
    sensors, y = np.diag([2.0, 1.0])[None], np.array([1.0])
    np.testing.assert_allclose(minimum_matrix_norm(sensors, y, "nuclear"), np.diag([0.5, 0.0]), atol=1e-6)
    np.testing.assert_allclose(minimum_matrix_norm(sensors, y, "frobenius"), np.diag([0.4, 0.2]), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_quasi_norm_of_power_one_is_the_convex_optimum(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((2, 5)), np.array([1.0, -1.0])
    best = minimum_norm(X, y, "l1", classification=True)
    assert least_quasi_norm(X, y, 1.0) == pytest.approx(norm_of(best, "l1"), rel=1e-8)


def test_quasi_norm_below_one_prefers_one_entry():
    X, y = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9]]), np.ones(2)
    # one entry of 1 / 0.9, or two of one
    assert least_quasi_norm(X, y, 2 / 3) == pytest.approx((1 / 0.9) ** (2 / 3), rel=1e-12)
