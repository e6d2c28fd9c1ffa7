"""Two-layer linear networks: rows that fit into a width, and the hidden directions that descent never leaves."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias import two_layer

INPUTS, OUTPUTS = 4, 2


def test_more_orthonormal_rows_than_the_width_are_refused():
    with pytest.raises(ValueError, match="3 orthonormal rows do not fit into width 2"):
        two_layer.orthonormal_rows(np.random.default_rng(1), rows=3, width=2)


@pytest.mark.parametrize("width", [INPUTS + OUTPUTS - 1, INPUTS + OUTPUTS])
def test_a_layer_no_wider_than_inputs_and_outputs_together_keeps_all_directions(width):
    rng = np.random.default_rng(0)
    Q = two_layer.hidden_basis(rng.standard_normal((INPUTS, width)), rng.standard_normal((width, OUTPUTS)))
    np.testing.assert_array_equal(Q, np.eye(width))


def test_descent_does_not_leave_the_hidden_directions_it_starts_in():
    rng = np.random.default_rng(0)
    width, steps, step = 30, 20, 1e-3
    W1, W2 = rng.standard_normal((INPUTS, width)), rng.standard_normal((width, OUTPUTS))
    Q = two_layer.hidden_basis(W1, W2)
    assert Q.shape == (width, INPUTS + OUTPUTS)
    X, Y = rng.standard_normal((6, INPUTS)), rng.standard_normal((6, OUTPUTS))
    for _ in range(steps):  # down the gradient of |X W1 W2 - Y|^2 / 2
        R = X.T @ (Y - X @ W1 @ W2)
        W1, W2 = W1 + step * R @ W2.T, W2 + step * W1.T @ R
    # entries, which are below 4, are rounded in each step, and in the sums over all hidden directions below
    rounding = 4 * (steps + width) * np.finfo(float).eps
    np.testing.assert_allclose(W1 @ Q @ Q.T, W1, rtol=0, atol=rounding)
    np.testing.assert_allclose(Q @ (Q.T @ W2), W2, rtol=0, atol=rounding)
