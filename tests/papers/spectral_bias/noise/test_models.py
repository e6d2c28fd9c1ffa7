"""The noise-driven process: its schedules, its random numbers, its rates, and what is read of a path."""

import numpy as np
import pytest
from scipy.stats import norm

from learning_dynamics.papers.spectral_bias.noise import exponents, models, observables
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory


@pytest.mark.parametrize("schedule", ["constant", "inverse square root"])
@pytest.mark.parametrize(("step", "horizon"), [(0.05, 10.0), (0.01, 1.0), (0.3, 1.0), (2.0, 1.0)])
def test_steps_are_positive_and_add_up(schedule, step, horizon):
    sizes = models.step_sizes(schedule, step, horizon)
    assert (sizes > 0).all()
    assert sizes.sum() == pytest.approx(horizon)
    if schedule == "inverse square root" and len(sizes) > 5:
        np.testing.assert_allclose(sizes[:4], step / np.sqrt([1, 2, 3, 4]))


def test_paths_do_not_depend_on_how_many_batches_follow():
    sizes, record = np.full(3, 0.1), np.array([0, 3])
    few = models.simulate(2, models.BATCH, sizes, record, seed=4)
    more = models.simulate(2, models.BATCH + 10, sizes, record, seed=4)
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
@pytest.mark.parametrize("of_pair", [0, 1])
def test_tails_are_those_of_standard_normal_numbers(pairs, edge, of_pair):
    expected = 2 * norm.sf(edge)
    beyond = (np.abs(pairs[of_pair]) > edge).mean()
    assert abs(beyond - expected) < 4 * np.sqrt(expected / pairs.shape[1])


def test_numbers_are_as_large_as_they_come():
    """Of uniform numbers of single precision alone, none would be larger than sqrt(48 ln 2)."""

    class Far:
        """A generator whose exponential numbers are all 40, which happens once in 10^17."""

        def standard_exponential(self, count):
            return np.full(count, 40.0)

        def random(self, count, dtype):
            return np.linspace(0.0, 1.0, count, endpoint=False, dtype=dtype)

    far = models.standard_normals(Far(), (2, 8))
    np.testing.assert_allclose(np.hypot(*far), np.sqrt(80.0), rtol=2e-7)
    assert far.max() == np.sqrt(80.0)


@pytest.mark.parametrize("shape", [(3,), (1, 1, 1), (3, 5, 7), (4, 2, 6)])
def test_there_are_as_many_numbers_as_wanted(shape):
    found = models.standard_normals(np.random.default_rng(0), shape)
    assert found.shape == shape
    assert len(np.unique(found)) == found.size


def rates(weights, step, paths=60, blocks=500, every=20):
    """Growth rates of all directions, both steps, shape (paths, 2, d + 1)."""
    found = [
        exponents.lyapunov_sums(
            np.array(weights), step, np.random.default_rng(path), burn=20, blocks=blocks, every=every
        )
        for path in range(paths)
    ]
    return np.array(found) / (blocks * every * step)


def test_in_one_dimension_rates_are_those_of_geometric_brownian_motion():
    step, every, blocks = 0.1, 2, 50
    rng = np.random.default_rng(3)
    noise = np.random.default_rng(3).standard_normal((blocks * every + every, 1))
    sums = exponents.lyapunov_sums(np.ones(1), step, rng, burn=1, blocks=blocks, every=every)
    # W +- a = exp(+-B - t / 2), and the scheme is exact: what the first block adds is left out
    walk, time = np.sqrt(step) * noise[every:].sum(), step * blocks * every
    np.testing.assert_allclose(sums[0], [walk - time / 2, -walk - time / 2], rtol=1e-12)
    np.testing.assert_allclose(sums[1], sums[0], rtol=1e-12)
    np.testing.assert_allclose(noise_theory.lyapunov_exponents(1), -0.5)


@pytest.mark.parametrize("inputs", [2, 3, 6])
def test_long_paths_grow_at_the_rates_that_are_known(inputs):
    found = rates(np.ones(inputs), 0.04 / inputs)
    extrapolated = 2 * found[:, 0] - found[:, 1]
    error = extrapolated.std(axis=0) / np.sqrt(len(found))
    # boosts keep volumes, so that the rates add up to the drift's trace; a sum of rounded logarithms
    np.testing.assert_allclose(found.sum(axis=-1), -inputs, rtol=1e-9)
    # the scheme's second order: the squared step times the dimension
    mean = extrapolated.mean(axis=0)
    assert (np.abs(mean - noise_theory.lyapunov_exponents(inputs)) < 4 * error + 0.002 * inputs).all()
    assert (np.diff(mean) < 4 * error.max()).all()


@pytest.mark.parametrize("inputs", [2, 5])
def test_commutators_of_rows_keep_their_accuracy(inputs):
    rng = np.random.default_rng(5)
    W, a = rng.standard_normal((4, inputs, inputs)), rng.standard_normal((4, inputs))
    # a row that is all but parallel to a, whose angle a difference of squares would lose
    W[0, 0] = a[0] + 1e-9 * W[0, 1]
    norms = observables.commutator_norms(W, a)
    # what lies across a is left of a difference, and rounds at the size of the row: d terms of an inner product, the
    # unit vector twice, a product and the difference, each by half an eps and in both of what is compared; no bound
    # in units of the result holds, which is 1e9 times smaller in the row that is all but parallel
    rounding = (2 * inputs + 6) * np.finfo(float).eps
    outer = W[..., :, None] * a[:, None, None, :]  # w_i a^T, by path and row
    commutators = outer - np.swapaxes(outer, -1, -2)
    factors = np.sqrt(2) * np.linalg.norm(W, axis=2) * np.linalg.norm(a, axis=1)[:, None]
    errors = np.abs(norms - np.linalg.norm(commutators, axis=(2, 3)))
    assert (errors < rounding * factors).all(), errors / factors
    sizes = np.linalg.norm(W[:, 0], axis=1) * np.linalg.norm(a, axis=1)
    sines = observables.on_each_path(W, a, np.zeros((4, inputs)))["sine_of_angle"]
    np.testing.assert_allclose(sines, norms[:, 0] / np.sqrt(2) / sizes, rtol=0, atol=rounding)
