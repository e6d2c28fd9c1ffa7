"""Singular values and effective rank."""

import numpy as np
import pytest

from learning_dynamics.measures.spectra import difference_rates, effective_rank, singular_values, smallest_gap


@pytest.mark.parametrize("columns", [1, 3, 60])
def test_wide_matrices_lose_no_accuracy_to_the_qr(columns):
    matrix = np.random.default_rng(0).standard_normal((2, 4, columns))
    plain = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(singular_values(matrix), plain, rtol=1e-12, atol=1e-13)


def test_padding_and_cutting():
    values = singular_values(np.diag([3.0, 2.0]), 4)
    np.testing.assert_allclose(values, [3.0, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(singular_values(np.diag([3.0, 2.0]), 1), [3.0])


@pytest.mark.parametrize(("values", "rank"), [([1, 1, 1, 0], 3.0), ([2, 2, 2, 2], 4.0)])
def test_effective_rank_counts_equal_values(values, rank):
    assert effective_rank(np.array(values, dtype=float)) == pytest.approx(rank, rel=1e-14)


@pytest.mark.parametrize("values", [[], [[0, 0], [np.nan, 1]]])
def test_nothing_has_no_effective_rank(values):
    assert np.isnan(effective_rank(np.array(values, dtype=float))).all()


def test_difference_rates_of_a_known_curve_and_of_a_matrix_at_rest():
    # sigma = |a|, b of diag(a, b): derivatives are known
    matrix, derivative = np.diag([2.0, 1.0]), np.array([[0.3, 5.0], [-5.0, -0.7]])
    # step^4 = 1e-12 truncation, and rounding of eps / 1e-3, times the speed of 7
    np.testing.assert_allclose(difference_rates(matrix, derivative, 2), [0.3, -0.7], rtol=0, atol=2e-11)
    np.testing.assert_array_equal(difference_rates(matrix, np.zeros((2, 2)), 2), [0.0, 0.0])


def test_the_gap_counts_the_distance_to_zero():
    np.testing.assert_allclose(smallest_gap(np.array([[3.0, 2.5], [3.0, 0.1]])), [0.5, 0.1])
