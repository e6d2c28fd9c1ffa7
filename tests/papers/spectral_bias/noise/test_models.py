"""The noise-driven process: its schedules of steps, and its random numbers against the normal law."""

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
def test_steps_are_positive_and_add_up_to_the_horizon(schedule, step, horizon):
    sizes = models.step_sizes(schedule, step, horizon)
    assert (sizes > 0).all()
    # two sums are rounded, by EPS / 2 a step: this one, and that by which the last step is cut
    assert sizes.sum() == pytest.approx(horizon, rel=len(sizes) * EPS)


def assert_equal_but_for_a_shorter_last(sizes, expected):
    """Assert that steps are as expected, up to rounding, and that the last one is no longer than expected."""
    # on either side a root and a division, each rounded by EPS / 2
    np.testing.assert_allclose(sizes[:-1], expected[:-1], rtol=2 * EPS)
    # the last step takes up the rounding of the sum
    assert sizes[-1] <= expected[-1] + len(sizes) * EPS * sizes.sum()


@every_step_and_horizon
def test_constant_steps_are_equal_but_for_a_shorter_last(step, horizon):
    sizes = models.step_sizes("constant", step, horizon)
    assert_equal_but_for_a_shorter_last(sizes, np.full(len(sizes), step))


@every_step_and_horizon
def test_steps_fall_as_one_over_the_root_of_their_number_but_for_a_shorter_last(step, horizon):
    sizes = models.step_sizes("inverse square root", step, horizon)
    assert_equal_but_for_a_shorter_last(sizes, step / np.sqrt(np.arange(1, len(sizes) + 1)))


def test_paths_do_not_depend_on_how_many_batches_follow():
    sizes, recorded_steps = np.full(3, 0.1), np.array([0, 3])
    one_batch = models.simulate(2, paths=models.BATCH, sizes=sizes, recorded_steps=recorded_steps, seed=4)
    two_batches = models.simulate(2, paths=models.BATCH + 10, sizes=sizes, recorded_steps=recorded_steps, seed=4)
    for name, alone, followed in zip(("W", "a", "average"), one_batch, two_batches, strict=True):
        np.testing.assert_array_equal(alone, followed[: models.BATCH], err_msg=name)


@pytest.fixture(scope="module")
def pairs():
    """Return four million pairs of numbers, shape (2, 4000000); a pair is made from one radius and one angle."""
    return models.standard_normals(np.random.default_rng(6), (2, 4_000_000))


@pytest.mark.parametrize(
    ("powers", "mean", "variance"),
    [
        # of a standard normal number the even moments E x^2, x^4, x^6 and x^8 are 1, 3, 15 and 105
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
def test_moments_are_those_of_independent_standard_normal_numbers(pairs, powers, mean, variance):
    """The mean of x^p y^q over pairs (x, y), within four standard errors."""
    x, y = pairs
    p, q = powers
    standard_error = np.sqrt(variance / len(x))
    assert abs((x**p * y**q).mean() - mean) < 4 * standard_error


@pytest.mark.parametrize("edge", [1.0, 2.0, 3.0, 4.0, 4.5])
@pytest.mark.parametrize("which", [0, 1], ids=["first of a pair", "second of a pair"])
def test_tails_are_those_of_standard_normal_numbers(pairs, edge, which):
    expected = 2 * norm.sf(edge)
    beyond = (np.abs(pairs[which]) > edge).mean()
    standard_error = np.sqrt(expected / pairs.shape[1])  # of a small share
    assert abs(beyond - expected) < 4 * standard_error


def test_large_radii_are_not_cut_off():
    """A uniform number of 24 bits is 2^-24 at least: from that, a radius would be sqrt(48 ln 2) = 5.8 at most."""

    class GeneratorOfLargeRadii:
        """A generator whose exponential numbers are all 40: a larger one comes once in 10^17."""

        def standard_exponential(self, count):
            return np.full(count, 40.0)

        def random(self, count, dtype):
            return np.linspace(0.0, 1.0, count, endpoint=False, dtype=dtype)

    x, y = models.standard_normals(GeneratorOfLargeRadii(), (2, 8))
    radius = np.sqrt(2 * 40.0)
    # cosine and sine are of an angle of 24 bits
    np.testing.assert_allclose(np.hypot(x, y), radius, rtol=2.0**-23)
    assert x.max() == radius  # the first angle is zero


every_shape = pytest.mark.parametrize("shape", [(3,), (1, 1, 1), (3, 5, 7), (4, 2, 6)])


@every_shape
def test_numbers_have_the_shape_asked_for(shape):
    assert models.standard_normals(np.random.default_rng(0), shape).shape == shape


@every_shape
def test_no_number_repeats(shape):
    numbers = models.standard_normals(np.random.default_rng(0), shape)
    assert len(np.unique(numbers)) == numbers.size
