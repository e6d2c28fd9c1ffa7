"""Measures of stacks of matrices: the part outside the rows of X, and the part off the diagonal of a singular basis."""

import numpy as np

from learning_dynamics.papers.spectral_bias import layers

ROUNDING = 1e-13  # hundreds of roundings, of numbers of order one

# two draws of three samples in five dimensions
X = np.random.default_rng(1).standard_normal((2, 3, 5))


def test_combinations_of_the_rows_of_x_have_no_part_outside_their_span():
    combinations = np.swapaxes(X, 1, 2) @ np.ones((3, 2))
    np.testing.assert_array_less(layers.outside_row_space(X, combinations), ROUNDING)


def test_vectors_orthogonal_to_the_rows_of_x_are_wholly_outside_their_span():
    orthogonal = np.linalg.svd(X)[2][:, 3:].swapaxes(1, 2)  # the right singular vectors beyond the third
    np.testing.assert_allclose(layers.outside_row_space(X, orthogonal), 1.0, rtol=0, atol=ROUNDING)


def test_a_matrix_has_no_part_off_the_diagonal_of_its_own_singular_basis():
    matrices = np.random.default_rng(2).standard_normal((2, 4, 3))
    np.testing.assert_array_less(layers.off_diagonal(matrices, basis_of=matrices), ROUNDING)


def test_the_part_off_the_diagonal_is_relative_to_the_whole_matrix():
    # the singular basis of a diagonal matrix is that of the coordinates; (3, 4) has length 5
    off = layers.off_diagonal(np.array([[3.0, 4.0], [0.0, 0.0]]), basis_of=np.diag([2.0, 1.0]))
    np.testing.assert_allclose(off, 4 / 5, rtol=ROUNDING)
