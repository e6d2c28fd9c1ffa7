"""Stacks of matrices: what lies outside a span, and off the diagonal."""

import numpy as np

from learning_dynamics.papers.spectral_bias import layers


def test_what_lies_in_the_row_space_is_not_outside():
    X = np.random.default_rng(1).standard_normal((2, 3, 5))
    inside = np.swapaxes(X, 1, 2) @ np.ones((3, 2))
    assert (layers.outside_row_space(X, inside) < 1e-13).all()
    across = np.linalg.svd(X)[2][:, 3:].swapaxes(1, 2)
    np.testing.assert_allclose(layers.outside_row_space(X, across), 1.0, rtol=0, atol=1e-13)


def test_nothing_of_a_matrix_is_off_the_diagonal_in_its_own_basis():
    matrices = np.random.default_rng(2).standard_normal((2, 4, 3))
    assert (layers.off_diagonal(matrices, matrices) < 1e-13).all()
