"""Two-layer linear networks: what is kept of them, how small a start may be, and how many hidden directions count."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow


def test_a_network_that_blows_up_is_undecided_and_keeps_its_data():
    data = {"X": np.stack([np.eye(2)] * 2), "Y": np.stack([np.eye(2)] * 2)}
    layers = iter([np.eye(2), 1e160 * np.eye(2)])
    limit = two_layer_flow.Limit(horizon=1.0, points=5, residual=1e-3, patience=1e3, rtol=1e-6, atol=1e-9)
    run = two_layer_flow.to_the_limit(data, lambda _: (layer := next(layers), layer, np.eye(2)), limit, 0)
    assert run.undecided.tolist() == [False, True]
    assert np.isfinite(run.series["W1"][0]).all()
    assert np.isnan(run.series["W1"][1]).all()
    assert run.constants["steps"][1] == 0
    np.testing.assert_array_equal(run.constants["Y"], data["Y"])


@pytest.mark.parametrize("gamma", [1e-8, 1e-24])
def test_directions_that_are_not_learnt_keep_their_size_down_to_the_least_scale(gamma):
    """Without data beyond two directions the others keep sqrt(2 gamma): nothing leaks from the wide network's basis."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 6)), rng.standard_normal((2, 1))
    P = two_layer.orthonormal_rows(rng, 6, 40)
    Q = two_layer.hidden_basis(np.sqrt(2 * gamma) * P, np.zeros((40, 1)))
    start = np.sqrt(2 * gamma) * P @ Q, np.zeros((Q.shape[1], 1))
    found = two_layer_flow.follow(
        X,
        Y,
        *start,
        times=np.zeros(1),
        tolerances=Tolerances(1e-10, 1e-4 * gamma),
        residual=1e-8 * np.linalg.norm(Y),
        last_time=1e4,
    )
    values = np.linalg.svd(found.end[0], compute_uv=False)
    # all directions but the learnt one; rounding of what is learnt, of size one, beside theirs, some steps long
    np.testing.assert_allclose(values[1:] / np.sqrt(2 * gamma), 1.0, atol=1e-6 + 10 * 2.2e-16 / np.sqrt(2 * gamma))
    assert np.linalg.norm(X @ found.end[0] @ found.end[1] - Y) < 1e-8 * np.linalg.norm(Y)


def test_more_rows_than_width_are_refused():
    with pytest.raises(ValueError, match="3 orthonormal rows do not fit into width 2"):
        two_layer.orthonormal_rows(np.random.default_rng(1), 3, 2)


@pytest.mark.parametrize(("inputs", "width", "outputs"), [(4, 30, 2), (4, 5, 2), (3, 5, 2)])
def test_descent_does_not_leave_the_hidden_directions_it_starts_in(inputs, width, outputs):
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((inputs, width)), rng.standard_normal((width, outputs))
    Q = two_layer.hidden_basis(W1, W2)
    assert Q.shape == (width, min(width, inputs + outputs))
    X, Y = rng.standard_normal((6, inputs)), rng.standard_normal((6, outputs))
    for _ in range(20):
        R = X.T @ (Y - X @ W1 @ W2)
        W1, W2 = W1 + 1e-3 * R @ W2.T, W2 + 1e-3 * W1.T @ R
    np.testing.assert_allclose(W1 @ Q @ Q.T, W1, atol=1e-13)
    np.testing.assert_allclose(Q @ (Q.T @ W2), W2, atol=1e-13)
