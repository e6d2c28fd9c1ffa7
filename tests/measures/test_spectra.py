"""Singular values, their effective rank, rates and gaps, against numpy and against matrices with known ones."""

import numpy as np
import pytest

from learning_dynamics.measures.spectra import difference_rates, effective_rank, singular_values, smallest_gap


# matrices of 4 rows and 60 columns, as of 16 or more, go through a QR decomposition
@pytest.mark.parametrize("columns", [1, 3, 60])
def test_singular_values_of_matrices_of_any_width_are_numpys(columns):
    matrix = np.random.default_rng(0).standard_normal((2, 4, columns))
    plain = np.linalg.svd(matrix, compute_uv=False)
    # 240 roundings of numbers of order one at most
    np.testing.assert_allclose(singular_values(matrix), plain, rtol=0, atol=240 * np.finfo(float).eps)


def test_fewer_singular_values_than_asked_for_are_padded_with_zeros():
    np.testing.assert_allclose(singular_values(np.diag([3.0, 2.0]), count=4), [3.0, 2.0, 0.0, 0.0])


def test_more_singular_values_than_asked_for_are_cut_to_the_largest():
    np.testing.assert_allclose(singular_values(np.diag([3.0, 2.0]), count=1), [3.0])


def test_effective_rank_is_the_exponential_of_the_entropy_of_shares():
    # of shares 1/2, 1/4 and 1/4 the entropy is 1/2 log 2 + 2/4 log 4 = 3/2 log 2
    assert effective_rank(np.array([4.0, 2.0, 2.0])) == pytest.approx(2**1.5, rel=1e-14)


@pytest.mark.parametrize(("values", "rank"), [([1, 1, 1, 0], 3.0), ([2, 2, 2, 2], 4.0)])
def test_effective_rank_counts_equal_values(values, rank):
    assert effective_rank(np.array(values, dtype=float)) == pytest.approx(rank, rel=1e-14)


@pytest.mark.parametrize(
    "values", [pytest.param([], id="none"), pytest.param([0, 0], id="zeros"), pytest.param([np.nan, 1], id="a nan")]
)
def test_values_without_a_positive_sum_have_no_effective_rank(values):
    assert np.isnan(effective_rank(np.array(values, dtype=float))).all()


def test_rates_of_singular_values_are_the_derivative_along_the_singular_vectors():
    # singular vectors of a diagonal matrix are the axes, so that rates are the derivative's diagonal
    matrix, derivative = np.diag([2.0, 1.0]), np.array([[0.3, 5.0], [-5.0, -0.7]])
    rates = difference_rates(matrix, derivative, count=2, step=1e-3)
    # in units of the derivative's norm, 7, differences err by step^4 and round by sigma_1 eps / step, sigma_1 = 2
    np.testing.assert_allclose(rates, [0.3, -0.7], rtol=0, atol=2e-11)


def test_rates_of_a_matrix_at_rest_are_zero():
    np.testing.assert_array_equal(difference_rates(np.diag([2.0, 1.0]), np.zeros((2, 2)), count=2), [0.0, 0.0])


def test_the_smallest_gap_is_between_two_singular_values_or_between_one_and_zero():
    np.testing.assert_allclose(smallest_gap(np.array([3.0, 2.5])), 3.0 - 2.5)
    np.testing.assert_allclose(smallest_gap(np.array([3.0, 0.1])), 0.1)
