"""The noise-driven process: its schedules and its random numbers."""

import numpy as np
import pytest
from scipy.stats import norm

from learning_dynamics.papers.spectral_bias.noise import models

EPS = np.finfo(float).eps
every_step_and_horizon = pytest.mark.parametrize(
    ("step", "horizon"),
    [
        (0.05, 10.0),
        (0.01, 1.0),
        (0.3, 1.0),  # no whole number of steps
        (2.0, 1.0),  # one step, which is cut
    ],
)


@pytest.mark.parametrize("schedule", ["constant", "inverse square root"])
@every_step_and_horizon
def test_steps_are_positive_and_add_up(schedule, step, horizon):
    sizes = models.step_sizes(schedule, step, horizon)
    assert (sizes > 0).all()
    # two sums are rounded, by EPS / 2 a step: this one, and that by which the last step is cut
    assert sizes.sum() == pytest.approx(horizon, rel=len(sizes) * EPS)


def assert_all_but_the_last_are(sizes, expected):
    """Assert that steps are as expected, up to rounding, and that the last one is no longer than that."""
    # on either side a root and a division, each rounded by EPS / 2
    np.testing.assert_allclose(sizes[:-1], expected[:-1], rtol=2 * EPS)
    # the last step takes up the rounding of the sum
    assert sizes[-1] <= expected[-1] + len(sizes) * EPS * sizes.sum()


@every_step_and_horizon
def test_constant_steps_are_equal_but_the_last(step, horizon):
    sizes = models.step_sizes("constant", step, horizon)
    assert_all_but_the_last_are(sizes, np.full(len(sizes), step))


@every_step_and_horizon
def test_steps_but_the_last_fall_like_one_over_the_root_of_their_number(step, horizon):
    sizes = models.step_sizes("inverse square root", step, horizon)
    assert_all_but_the_last_are(sizes, step / np.sqrt(np.arange(1, len(sizes) + 1)))


def test_paths_do_not_depend_on_how_many_batches_follow():
    sizes, recorded_steps = np.full(3, 0.1), np.array([0, 3])
    few = models.simulate(2, models.BATCH, sizes, recorded_steps, seed=4)
    more = models.simulate(2, models.BATCH + 10, sizes, recorded_steps, seed=4)
    for name, first, second in zip(("W", "a", "average"), few, more, strict=True):
        np.testing.assert_array_equal(first, second[: models.BATCH], err_msg=name)


@pytest.fixture(scope="module")
def pairs():
    """Four million pairs of numbers that share a radius."""
    return models.standard_normals(np.random.default_rng(6), (2, 4_000_000))


@pytest.mark.parametrize(
    ("powers", "mean", "variance"),
    [
        ((1, 0), 0, 1),
        ((0, 1), 0, 1),
        ((2, 0), 1, 2),
        ((0, 2), 1, 2),
        ((3, 0), 0, 15),
        ((4, 0), 3, 96),
        ((0, 4), 3, 96),
        ((1, 1), 0, 1),
        ((2, 2), 1, 8),
        ((2, 1), 0, 3),
        ((1, 3), 0, 15),
    ],
)
def test_moments_are_those_of_standard_normal_numbers(pairs, powers, mean, variance):
    """Of single numbers and of pairs, within four standard errors."""
    x, y = pairs
    values = x ** powers[0] * y ** powers[1]
    assert abs(values.mean() - mean) < 4 * np.sqrt(variance / len(x))


@pytest.mark.parametrize("edge", [1.0, 2.0, 3.0, 4.0, 4.5])
@pytest.mark.parametrize("which", [0, 1], ids=["first of a pair", "second of a pair"])
def test_tails_are_those_of_standard_normal_numbers(pairs, edge, which):
    expected = 2 * norm.sf(edge)
    beyond = (np.abs(pairs[which]) > edge).mean()
    assert abs(beyond - expected) < 4 * np.sqrt(expected / pairs.shape[1])


def test_large_radii_are_not_cut_off():
    """A uniform number of 24 bits is 2^-24 at least: from that, a radius would be sqrt(48 ln 2) = 5.8 at most."""

    class Far:
        """A generator whose exponential numbers are all 40, which happens once in 10^17."""

        def standard_exponential(self, count):
            return np.full(count, 40.0)

        def random(self, count, dtype):
            return np.linspace(0.0, 1.0, count, endpoint=False, dtype=dtype)

    far = models.standard_normals(Far(), (2, 8))
    # cosine and sine of an angle of 24 bits
    np.testing.assert_allclose(np.hypot(*far), np.sqrt(80.0), rtol=2.0**-23)
    assert far.max() == np.sqrt(80.0)  # the first angle is zero


every_shape = pytest.mark.parametrize("shape", [(3,), (1, 1, 1), (3, 5, 7), (4, 2, 6)])


@every_shape
def test_there_are_as_many_numbers_as_wanted(shape):
    assert models.standard_normals(np.random.default_rng(0), shape).shape == shape


@every_shape
def test_no_number_repeats(shape):
    found = models.standard_normals(np.random.default_rng(0), shape)
    assert len(np.unique(found)) == found.size
