"""Two-layer linear networks: flows that diverge, starts at the smallest scales, and which hidden directions count."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow


def test_a_draw_that_diverges_is_undecided_and_the_other_is_kept():
    data = {"X": np.stack([np.eye(2)] * 2), "Y": np.stack([np.eye(2)] * 2)}
    starts = iter([(W1, W1, np.eye(2)) for W1 in (np.eye(2), 1e160 * np.eye(2))])  # W1, W2 and P of each draw
    limit = two_layer_flow.Limit(horizon=1.0, points=5, residual=1e-3, patience=1e3, rtol=1e-6, atol=1e-9)
    trajectory = two_layer_flow.to_the_limit(data, lambda _rng: next(starts), limit, 0)
    assert trajectory.undecided.tolist() == [False, True]
    assert np.isfinite(trajectory.series["W1"][0]).all()
    assert np.isnan(trajectory.series["W1"][1]).all()
    assert trajectory.constants["steps"][1] == 0
    np.testing.assert_array_equal(trajectory.constants["Y"], data["Y"])


@pytest.mark.parametrize("gamma", [1e-8, 1e-24])
def test_singular_values_that_are_not_learnt_keep_their_size_at_the_smallest_scales(gamma):
    """With one output a single value of W1 grows; the others stay at sqrt(2 gamma) (Corollary 3.1).

    Rounding of the wide layer in the basis Q would move them.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 6)), rng.standard_normal((2, 1))
    P = two_layer.orthonormal_rows(rng, 6, 40)
    Q = two_layer.hidden_basis(np.sqrt(2 * gamma) * P, np.zeros((40, 1)))
    flow = two_layer_flow.follow(
        X,
        Y,
        np.sqrt(2 * gamma) * P @ Q,
        np.zeros((Q.shape[1], 1)),
        times=np.zeros(1),
        tolerances=Tolerances(1e-10, 1e-4 * gamma),
        residual=1e-8 * np.linalg.norm(Y),
        last_time=1e4,
    )
    W1, W2 = flow.end
    not_learnt = np.linalg.svd(W1, compute_uv=False)[1:]
    # relative to their size: the integrator's error, and ten roundings of the learnt value, which is of order one
    tolerance = 1e-6 + 10 * 2.2e-16 / np.sqrt(2 * gamma)
    np.testing.assert_allclose(not_learnt / np.sqrt(2 * gamma), 1.0, atol=tolerance)
    assert np.linalg.norm(X @ W1 @ W2 - Y) < 1e-8 * np.linalg.norm(Y)


def test_more_rows_than_width_are_refused():
    with pytest.raises(ValueError, match="3 orthonormal rows do not fit into width 2"):
        two_layer.orthonormal_rows(np.random.default_rng(1), 3, 2)


# wider than inputs + outputs, narrower, and as wide
@pytest.mark.parametrize(("inputs", "width", "outputs"), [(4, 30, 2), (4, 5, 2), (3, 5, 2)])
def test_descent_does_not_leave_the_hidden_directions_it_starts_in(inputs, width, outputs):
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((inputs, width)), rng.standard_normal((width, outputs))
    Q = two_layer.hidden_basis(W1, W2)
    assert Q.shape == (width, min(width, inputs + outputs))
    X, Y = rng.standard_normal((6, inputs)), rng.standard_normal((6, outputs))
    for _ in range(20):  # steps of 1e-3 down the gradient of 1/2 |X W1 W2 - Y|^2
        R = X.T @ (Y - X @ W1 @ W2)
        W1, W2 = W1 + 1e-3 * R @ W2.T, W2 + 1e-3 * W1.T @ R
    # rounding of entries of order one over 20 steps
    np.testing.assert_allclose(W1 @ Q @ Q.T, W1, atol=1e-13)
    np.testing.assert_allclose(Q @ (Q.T @ W2), W2, atol=1e-13)
