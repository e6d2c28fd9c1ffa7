"""Two-layer linear networks: rows that fit into a width, and the hidden directions that descent never leaves."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias import two_layer


def test_more_rows_than_width_are_refused():
    with pytest.raises(ValueError, match="3 orthonormal rows do not fit into width 2"):
        two_layer.orthonormal_rows(np.random.default_rng(1), 3, 2)


@pytest.mark.parametrize("width", [5, 6])
def test_a_layer_no_wider_than_inputs_and_outputs_keeps_all_directions(width):
    rng = np.random.default_rng(0)
    Q = two_layer.hidden_basis(rng.standard_normal((4, width)), rng.standard_normal((width, 2)))
    np.testing.assert_array_equal(Q, np.eye(width))


def test_descent_does_not_leave_the_hidden_directions_it_starts_in():
    rng = np.random.default_rng(0)
    inputs, width, outputs = 4, 30, 2
    W1, W2 = rng.standard_normal((inputs, width)), rng.standard_normal((width, outputs))
    Q = two_layer.hidden_basis(W1, W2)
    assert Q.shape == (width, inputs + outputs)
    X, Y = rng.standard_normal((6, inputs)), rng.standard_normal((6, outputs))
    for _ in range(20):  # steps of 1e-3 down the gradient of 1/2 |X W1 W2 - Y|^2
        R = X.T @ (Y - X @ W1 @ W2)
        W1, W2 = W1 + 1e-3 * R @ W2.T, W2 + 1e-3 * W1.T @ R
    # entries below 4, rounded in each of 20 steps, and in a sum over all directions
    rounding = 4 * (20 + width) * np.finfo(float).eps
    np.testing.assert_allclose(W1 @ Q @ Q.T, W1, rtol=0, atol=rounding)
    np.testing.assert_allclose(Q @ (Q.T @ W2), W2, rtol=0, atol=rounding)
