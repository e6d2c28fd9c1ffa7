"""Least quasi-norms where they are known by hand or by a convex program, and data that no solution fits."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import solutions
from learning_dynamics.papers.tensor_networks.solutions import least_quasi_norm, minimum_norm, norm_of


def test_contradictory_constraints_have_no_solution():
    with pytest.raises(ValueError, match="Infeasible"):
        minimum_norm(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0]), "l2")


@pytest.mark.parametrize("seed", range(4))
def test_quasi_norm_of_power_one_is_the_convex_optimum(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((2, 5)), np.array([1.0, -1.0])
    best = minimum_norm(X, y, "l1", classification=True)
    # `least_quasi_norm` compares vertices, which are exact; a hundred times the convex solver's tolerance
    assert least_quasi_norm(X, y, 1.0) == pytest.approx(norm_of(best, "l1"), rel=100 * solutions.TOLERANCE)


def test_quasi_norm_below_one_prefers_one_entry():
    X, y = np.array([[1.0, 0.0, 0.4], [0.0, 1.0, 0.4]]), np.ones(2)
    # one entry of 2.5 costs 1.84, and two of one cost 2; in the l1 norm the two cost less
    assert least_quasi_norm(X, y, 2 / 3) == pytest.approx(2.5 ** (2 / 3), rel=1e-12)


def test_a_solution_that_rounding_stops_short_is_accepted_within_its_tolerance_alone(monkeypatch):
    X, y = np.random.default_rng(5).standard_normal((3, 5)), np.ones(3)
    reached = minimum_norm(X, y, "l1", classification=True)
    monkeypatch.setattr(solutions, "TOLERANCE", 1e-30)  # below rounding: no problem is solved to it
    almost = minimum_norm(X, y, "l1", classification=True)
    np.testing.assert_allclose(almost, reached, rtol=0, atol=10 * solutions.ACCEPTED_TOLERANCE)
    monkeypatch.setattr(solutions, "ACCEPTED_TOLERANCE", 1e-29)
    with pytest.raises(ValueError, match="no l1 solution"):
        minimum_norm(X, y, "l1", classification=True)
