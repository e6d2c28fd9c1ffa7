import numpy as np
import pytest

from learning_dynamics.measures.continuation import continued_svd, difference_rates, smallest_gap


def test_singular_values_keep_their_names_through_a_crossing():
    rng = np.random.default_rng(2)
    left, _ = np.linalg.qr(rng.standard_normal((4, 2)))
    right, _ = np.linalg.qr(rng.standard_normal((3, 2)))
    times = np.linspace(0, 1, 20)
    values = np.stack([2 - times, 0.5 + 2 * times], axis=1)  # they cross at one half
    matrices = np.einsum("ri,ti,ci->trc", left, values, right)[None]
    U, S, V = continued_svd(matrices, 2)
    np.testing.assert_allclose(S[0], values, rtol=1e-13)
    np.testing.assert_allclose(U[0] * S[0][:, None] @ np.swapaxes(V[0], -1, -2), matrices[0], atol=1e-14)
    assert np.all(np.sum(U[:, 1:] * U[:, :-1], axis=-2) > 0.999)


def test_difference_rates_of_a_known_curve():
    # sigma = |a|, b of diag(a, b): derivatives are known
    matrix, derivative = np.diag([2.0, 1.0]), np.array([[0.3, 5.0], [-5.0, -0.7]])
    # step^4 = 1e-12 truncation, and rounding of eps / 1e-3, times the speed of 7
    np.testing.assert_allclose(difference_rates(matrix, derivative, 2), [0.3, -0.7], atol=2e-11)


def test_a_matrix_at_rest_has_no_rates():
    np.testing.assert_array_equal(difference_rates(np.diag([2.0, 1.0]), np.zeros((2, 2)), 2), [0.0, 0.0])


def test_the_gap_counts_the_distance_to_zero():
    assert smallest_gap(np.array([3.0, 2.0, 0.4])) == pytest.approx(0.4)
    np.testing.assert_allclose(smallest_gap(np.array([[3.0, 2.5], [3.0, 0.1]])), [0.5, 0.1])
