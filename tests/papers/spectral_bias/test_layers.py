"""Stacks of matrices: spans, commutators, parts off the diagonal."""

import numpy as np

from learning_dynamics.papers.spectral_bias import layers


def test_a_span_has_angles_of_zero_with_itself_and_right_ones_with_its_complement():
    rows = np.random.default_rng(0).standard_normal((3, 2, 4))
    np.testing.assert_allclose(layers.span_overlap(rows, np.array([[1.0, 2.0], [0.0, 3.0]]) @ rows), 1.0, atol=1e-14)
    complement = np.linalg.svd(rows)[2][:, 2:]
    np.testing.assert_allclose(layers.span_overlap(rows, complement), 0.0, atol=1e-14)


def test_what_lies_in_the_row_space_is_not_outside():
    X = np.random.default_rng(1).standard_normal((2, 3, 5))
    inside = np.swapaxes(X, 1, 2) @ np.ones((3, 2))
    assert (layers.outside_row_space(X, inside) < 1e-13).all()
    across = np.linalg.svd(X)[2][:, 3:].swapaxes(1, 2)
    np.testing.assert_allclose(layers.outside_row_space(X, across), 1.0, atol=1e-13)


def test_nothing_of_a_matrix_is_off_the_diagonal_in_its_own_basis():
    matrices = np.random.default_rng(2).standard_normal((2, 4, 3))
    assert (layers.off_diagonal(matrices, matrices) < 1e-13).all()
    assert (layers.off_diagonal(0 * matrices, matrices) == 0).all()


def test_matrices_that_commute_have_no_commutator():
    A = np.random.default_rng(3).standard_normal((3, 3))
    assert layers.relative_commutator(A, A @ A) < 1e-14
    assert layers.relative_commutator(A, A.T) > 1e-3
