"""Flows of two-layer linear networks to their limits: the basis they are followed in, small scales, and divergence."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.two_layer_flow import Limit, follow, to_the_limit

RTOL = 1e-10
RESIDUAL = 1e-8  # relative to the labels: at it a flow has arrived at its limit
WIDTH = 40
SMALL_SCALES = pytest.mark.parametrize("gamma", [1e-8, 1e-24])

# all four arrays differ, so that none can be taken for another
TWO_DRAWS = {"X": np.stack([np.eye(2), 3 * np.eye(2)]), "Y": np.stack([4 * np.eye(2), 5 * np.eye(2)])}
FITTING = 2 * np.eye(2)  # where W1 and W2 are this, X W1 W2 is the first draw's Y, exactly
TIMES = 5  # that are recorded


@pytest.fixture(scope="module")
def one_of_two_diverges():
    """Return the trajectory of two draws: the first fits as it starts, the second diverges."""
    # draws take these layers in turn; the square of 1e160 is no finite number
    layers = iter([FITTING, 1e160 * np.eye(2)])

    def start(_rng):
        W1 = W2 = next(layers)
        P = np.eye(2)  # is recorded, and plays no part in the flow
        return W1, W2, P

    limit = Limit(horizon=1.0, points=TIMES, residual=1e-3, patience=1e3, rtol=1e-6, atol=1e-9)
    return to_the_limit(TWO_DRAWS, start, limit, seed=0)


def test_a_draw_that_diverges_is_undecided_and_has_no_states(one_of_two_diverges):
    trajectory = one_of_two_diverges
    assert trajectory.undecided[1]
    assert np.isnan(trajectory.series["W1"][1]).all()
    assert trajectory.constants["steps"][1] == 0


def test_a_draw_that_fits_stays_as_it_starts_where_another_diverges(one_of_two_diverges):
    trajectory = one_of_two_diverges
    assert not trajectory.undecided[0]
    np.testing.assert_array_equal(trajectory.series["W1"][0], [FITTING] * TIMES)


@pytest.mark.parametrize("array", ["X", "Y"])
def test_the_data_are_among_the_trajectorys_constants(one_of_two_diverges, array):
    np.testing.assert_array_equal(one_of_two_diverges.constants[array], TWO_DRAWS[array])


def test_a_wide_network_is_followed_in_the_hidden_directions_that_it_starts_in():
    rng = np.random.default_rng(0)
    inputs, outputs, times = 3, 2, 3
    X, Y = rng.standard_normal((4, inputs)), rng.standard_normal((4, outputs))
    W1, W2 = rng.standard_normal((inputs, WIDTH)) / 4, rng.standard_normal((WIDTH, outputs)) / 4
    limit = Limit(horizon=1.0, points=times, residual=1e-3, patience=1e3, rtol=RTOL, atol=RTOL)
    data = {"X": X[None], "Y": Y[None]}
    no_P = np.zeros_like(W1)
    narrow = to_the_limit(data, lambda _rng: (W1, W2, no_P), limit, seed=0).series
    assert narrow["W1"].shape == (1, times, inputs, inputs + outputs)
    full = follow(X, Y, W1, W2, times=limit.times, tolerances=limit)
    # in each step either flow errs by RTOL times entries, which are below 3, and by as much as atol, RTOL again
    tolerance = 2 * full.steps * (3 + 1) * RTOL
    np.testing.assert_allclose(narrow["W1"][0] @ narrow["W2"][0], full.W1 @ full.W2, rtol=0, atol=tolerance)


def data_and_flow(gamma):
    """Return data of one draw with one output, and its trajectory from W1 = sqrt(2 gamma) P and W2 = 0."""
    rng = np.random.default_rng(0)
    samples, inputs = 2, 6
    data = {"X": rng.standard_normal((1, samples, inputs)), "Y": rng.standard_normal((1, samples, 1))}
    size = np.sqrt(2 * gamma)

    def start(rng):
        P = two_layer.orthonormal_rows(rng, inputs, WIDTH)
        return size * P, np.zeros((WIDTH, 1)), P

    limit = Limit(horizon=1.0, points=2, residual=RESIDUAL, patience=1e4, rtol=RTOL, atol=RTOL * size)
    return data, to_the_limit(data, start, limit, seed=0)


@SMALL_SCALES
def test_singular_values_that_are_not_learnt_keep_their_size(gamma):
    """With one output a single value of W1 grows; the others stay at sqrt(2 gamma) (Corollary 3.1)."""
    _, trajectory = data_and_flow(gamma)
    size = np.sqrt(2 * gamma)
    values = np.linalg.svd(trajectory.constants["limit_W1"][0], compute_uv=False)
    # relative to `size`: RTOL in each step, as much by atol, and ten roundings of the learnt value, which is of order
    # one and so 1 / size times as large
    tolerance = 2 * RTOL * trajectory.constants["steps"][0] + 10 * np.finfo(float).eps / size
    np.testing.assert_allclose(values[1:] / size, 1.0, rtol=0, atol=tolerance)


@SMALL_SCALES
def test_the_limit_fits_the_labels_to_the_residual_asked_for(gamma):
    data, trajectory = data_and_flow(gamma)
    W1, W2 = trajectory.constants["limit_W1"][0], trajectory.constants["limit_W2"][0]
    X, Y = data["X"][0], data["Y"][0]
    assert np.linalg.norm(X @ W1 @ W2 - Y) < RESIDUAL * np.linalg.norm(Y)
