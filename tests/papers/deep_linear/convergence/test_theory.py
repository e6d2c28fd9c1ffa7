"""What the guarantee promises, and how often a start meets its first assumption, against plain counting."""

import numpy as np
import pytest

from learning_dynamics.papers.deep_linear.convergence import theory
from learning_dynamics.papers.deep_linear.convergence.convex import LOSSES


@pytest.mark.parametrize("dimension", [1, 3, 40])
def test_share_within_is_a_share_of_gaussian_starts(dimension):
    deviation, margin, draws = 0.5 / dimension, 0.01, 20_000
    starts = deviation * np.random.default_rng(0).standard_normal((draws, dimension))
    share = np.mean(np.linalg.norm(starts - np.eye(dimension)[0], axis=1) < 1 - margin)
    # four standard errors of a share
    assert abs(share - theory.share_within(dimension, deviation, margin)) < 4 * 0.5 / np.sqrt(draws)


@pytest.mark.parametrize("name", LOSSES)
def test_no_singular_matrix_has_less_than_the_bound(name):
    loss, rng = LOSSES[name], np.random.default_rng(2)
    for _ in range(200):
        target, S, W = rng.standard_normal((3, 3, 3))
        U, values, Vt = np.linalg.svd(W)
        nearby = target + 0.1 * W
        u, s, vt = np.linalg.svd(nearby)
        for singular in ((U * [*values[:-1], 0.0]) @ Vt, (u * [*s[:-1], 0.0]) @ vt):
            assert loss.value(singular - target, S) >= loss.least_on_singular(target, S) - 1e-12
