"""How often a start meets the first assumption, how low losses of singular matrices are, and the rate of a fall."""

import numpy as np
import pytest

from learning_dynamics.papers.deep_linear.convergence import theory
from learning_dynamics.papers.deep_linear.convergence.convex import LOSSES
from learning_dynamics.papers.deep_linear.convergence.metrics import _smallest_rate


@pytest.mark.parametrize("dimension", [1, 40])
def test_share_within_is_a_share_of_gaussian_starts(dimension):
    deviation, margin, draws = 0.5 / dimension, 0.01, 20_000
    starts = deviation * np.random.default_rng(0).standard_normal((draws, dimension))
    share = np.mean(np.linalg.norm(starts - np.eye(dimension)[0], axis=1) < 1 - margin)
    # four standard errors of a share
    assert abs(share - theory.share_within(dimension, deviation, margin)) < 4 * 0.5 / np.sqrt(draws)


@pytest.mark.parametrize("name", LOSSES)
def test_no_singular_matrix_has_less_than_the_bound(name):
    loss, rng = LOSSES[name], np.random.default_rng(2)
    for draw in range(200):
        target, S, W = rng.standard_normal((3, 3, 3))
        U, values, Vt = np.linalg.svd(W)
        nearby = target + 0.1 * W
        u, s, vt = np.linalg.svd(nearby)
        for singular in ((U * [*values[:-1], 0.0]) @ Vt, (u * [*s[:-1], 0.0]) @ vt):
            assert loss.value(singular - target, S) >= loss.least_on_singular(target, S) - 1e-12, f"{draw=}"


def test_a_loss_that_rises_again_from_below_the_floor_has_the_rate_it_fell_at():
    time = np.linspace(0.0, 30.0, 61)[None]
    loss = np.exp(-2 * time)
    loss[0, 30:] = 2e-12
    assert _smallest_rate(loss, time, 1e-12) == pytest.approx(2.0)
    # while it stays above the floor it counts
    loss[0, 10:] = np.exp(-10.0)
    assert _smallest_rate(loss, time, 1e-12) == pytest.approx(1 / 3)
