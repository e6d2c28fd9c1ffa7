"""Flows of two-layer linear networks to their limits: the basis they are followed in, small scales, and divergence."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.two_layer_flow import Limit, follow, to_the_limit

RTOL = 1e-10
WIDTH = 40
SMALL_SCALES = pytest.mark.parametrize("gamma", [1e-8, 1e-24])


@pytest.fixture(scope="module")
def one_lost():
    """Data of two draws and their trajectory: the first fits as it starts, the second is lost."""
    data = {"X": np.stack([np.eye(2)] * 2), "Y": np.stack([np.eye(2)] * 2)}
    # draws take these in turn; the square of 1e160 is no finite number
    layers = iter([np.eye(2), 1e160 * np.eye(2)])

    def start(_rng):
        W1 = W2 = next(layers)
        return W1, W2, np.eye(2)

    limit = Limit(horizon=1.0, points=5, residual=1e-3, patience=1e3, rtol=1e-6, atol=1e-9)
    return data, to_the_limit(data, start, limit, seed=0)


def test_a_draw_that_diverges_is_undecided_and_has_no_states(one_lost):
    _, trajectory = one_lost
    assert trajectory.undecided[1]
    assert np.isnan(trajectory.series["W1"][1]).all()
    assert trajectory.constants["steps"][1] == 0


def test_a_draw_is_kept_where_another_diverges(one_lost):
    _, trajectory = one_lost
    assert not trajectory.undecided[0]
    assert np.isfinite(trajectory.series["W1"][0]).all()


@pytest.mark.parametrize("array", ["X", "Y"])
def test_the_data_are_among_the_constants(one_lost, array):
    data, trajectory = one_lost
    np.testing.assert_array_equal(trajectory.constants[array], data[array])


def test_a_wide_network_is_followed_in_the_hidden_directions_that_it_starts_in():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    W1, W2 = rng.standard_normal((3, WIDTH)) / 4, rng.standard_normal((WIDTH, 2)) / 4
    limit = Limit(horizon=1.0, points=3, residual=1e-3, patience=1e3, rtol=RTOL, atol=RTOL)
    along = to_the_limit({"X": X[None], "Y": Y[None]}, lambda _rng: (W1, W2, np.zeros_like(W1)), limit, seed=0).series
    assert along["W1"].shape == (1, 3, 3, 3 + 2)
    wide = follow(X, Y, W1, W2, limit.times, limit)
    # each step of either flow errs by RTOL of entries below 3, and by RTOL
    tolerance = 2 * wide.steps * 4 * RTOL
    np.testing.assert_allclose(along["W1"][0] @ along["W2"][0], wide.W1 @ wide.W2, rtol=0, atol=tolerance)


def followed_from(gamma):
    """Return a problem with one output, and its trajectory from sqrt(2 gamma) P and zero."""
    rng = np.random.default_rng(0)
    data = {"X": rng.standard_normal((1, 2, 6)), "Y": rng.standard_normal((1, 2, 1))}
    size = np.sqrt(2 * gamma)

    def start(rng):
        P = two_layer.orthonormal_rows(rng, 6, WIDTH)
        return size * P, np.zeros((WIDTH, 1)), P

    limit = Limit(horizon=1.0, points=2, residual=1e-8, patience=1e4, rtol=RTOL, atol=RTOL * size)
    return data, to_the_limit(data, start, limit, seed=0)


@SMALL_SCALES
def test_singular_values_that_are_not_learnt_keep_their_size(gamma):
    """With one output a single value of W1 grows; the others stay at sqrt(2 gamma) (Corollary 3.1)."""
    _, trajectory = followed_from(gamma)
    size = np.sqrt(2 * gamma)
    values = np.linalg.svd(trajectory.constants["limit_W1"][0], compute_uv=False)
    # of their size: RTOL in each step, as much by atol, and ten roundings of the learnt value, which is of order one
    tolerance = 2 * RTOL * trajectory.constants["steps"][0] + 10 * np.finfo(float).eps / size
    np.testing.assert_allclose(values[1:] / size, 1.0, rtol=0, atol=tolerance)


@SMALL_SCALES
def test_the_limit_fits_the_labels_to_the_residual_asked_for(gamma):
    data, trajectory = followed_from(gamma)
    W1, W2 = (trajectory.constants[name][0] for name in ("limit_W1", "limit_W2"))
    assert np.linalg.norm(data["X"][0] @ W1 @ W2 - data["Y"][0]) < 1e-8 * np.linalg.norm(data["Y"][0])
