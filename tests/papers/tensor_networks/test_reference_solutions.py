"""Solutions of least norm where they are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks.reference_solutions import minimum_matrix_norm, minimum_norm

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
    with pytest.raises(ValueError, match="infeasible"):
        minimum_norm(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0]), "l2")


def test_matrices_of_least_norm():
    sensors, y = np.diag([2.0, 1.0])[None], np.array([1.0])
    np.testing.assert_allclose(minimum_matrix_norm(sensors, y, "nuclear"), np.diag([0.5, 0.0]), atol=1e-6)
    np.testing.assert_allclose(minimum_matrix_norm(sensors, y, "frobenius"), np.diag([0.4, 0.2]), atol=1e-6)
