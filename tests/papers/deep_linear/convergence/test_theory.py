"""Theory of the guarantee: shares of random starts by counting, losses of singular matrices, and rates of a fall."""

import numpy as np
import pytest

from learning_dynamics.papers.deep_linear.convergence import theory
from learning_dynamics.papers.deep_linear.convergence.convex import LOSSES
from learning_dynamics.papers.deep_linear.convergence.metrics import _smallest_rate


@pytest.mark.parametrize("dimension", [1, 40])
def test_share_within_is_that_of_gaussian_starts_by_counting(dimension):
    deviation, margin, draws = 0.5 / dimension, 0.01, 20_000
    starts = deviation * np.random.default_rng(0).standard_normal((draws, dimension))
    share = np.mean(np.linalg.norm(starts - np.eye(dimension)[0], axis=1) < 1 - margin)
    # the standard error of a share is at most 0.5 / sqrt(draws)
    assert theory.share_within(dimension, deviation, margin) == pytest.approx(share, abs=4 * 0.5 / np.sqrt(draws))


def nearest_singular(W):
    """Return W with its last singular value set to zero."""
    U, values, Vt = np.linalg.svd(W)
    return (U * [*values[:-1], 0.0]) @ Vt


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    "step", [pytest.param(None, id="anywhere"), pytest.param(0.1, id="near the target, where the bound is sharpest")]
)
def test_no_singular_matrix_has_less_loss_than_the_bound(name, step):
    loss, rng = LOSSES[name], np.random.default_rng(2)
    for draw in range(200):
        target, S, W = rng.standard_normal((3, 3, 3))  # S: a root of the inputs' covariance
        singular = nearest_singular(W if step is None else target + step * W)
        assert loss.value(singular - target, S) >= loss.least_on_singular(target, S) - 1e-12, f"{draw=}"


FLOOR = 1e-12  # relative loss below which rates of fall are not read
TIME = np.linspace(0.0, 30.0, 61)[None]  # of one member: shape (1, times), half a unit apart


def test_a_loss_that_rises_again_from_below_the_floor_has_the_rate_at_which_it_fell():
    loss = np.exp(-2 * TIME)
    loss[TIME >= 15] = 2 * FLOOR  # at the time 14 exp(-28) has been below the floor
    assert _smallest_rate(loss, TIME, FLOOR) == pytest.approx(2.0)


def test_a_loss_that_stays_above_the_floor_counts_to_the_end():
    loss = np.exp(-2 * TIME)
    loss[TIME >= 5] = np.exp(-2 * 5)
    assert _smallest_rate(loss, TIME, FLOOR) == pytest.approx(2 * 5 / TIME.max())
