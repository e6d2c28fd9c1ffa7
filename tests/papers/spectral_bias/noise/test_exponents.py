"""Growth rates along long paths of the noise-driven process, against the derived ones of `noise.theory`."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias.noise import exponents
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory

EPS = np.finfo(float).eps


def measured_rates(inputs, step, paths=60, blocks=500, every=20):
    """Return growth rates of all directions, with the step and with twice the step, shape (paths, 2, inputs + 1).

    A block is a number `every` of steps; the first 20 blocks are not counted.
    """
    sums = []
    for path in range(paths):
        rng = np.random.default_rng(path)
        sums.append(exponents.lyapunov_sums(np.ones(inputs), step, rng, burn_blocks=20, blocks=blocks, every=every))
    return np.array(sums) / (blocks * every * step)


def test_derived_rates_in_one_dimension_are_those_of_geometric_brownian_motion():
    """W + a and W - a are exp(B - t / 2) and exp(-B - t / 2), and B / t vanishes."""
    np.testing.assert_array_equal(noise_theory.lyapunov_exponents(1), [-0.5, -0.5])


def test_a_path_in_one_dimension_is_geometric_brownian_motion():
    step, every, blocks = 0.1, 2, 50
    rng = np.random.default_rng(3)
    with_step, with_twice_the_step = exponents.lyapunov_sums(
        np.ones(1), step, rng, burn_blocks=1, blocks=blocks, every=every
    )
    noise = np.random.default_rng(3).standard_normal((every + blocks * every, 1))
    B = np.sqrt(step) * noise[every:].sum()  # the first block is not counted
    time = step * blocks * every
    rounding = blocks * every * 10 * EPS  # some ten operations a step
    # of W + a, then of W - a, for which the scheme is exact
    np.testing.assert_allclose(with_step, [B - time / 2, -B - time / 2], rtol=rounding)
    np.testing.assert_allclose(with_twice_the_step, with_step, rtol=rounding)


STEP = 0.04  # step size times d, the number of inputs, as the fastest direction shrinks at about the rate d


@pytest.fixture(scope="module", params=[2, 3, 6], ids="inputs={}".format)
def long_paths(request):
    """Return d, the number of inputs, and the growth rates of 60 paths as `measured_rates` returns them."""
    inputs = request.param
    return inputs, measured_rates(inputs, STEP / inputs)


def test_rates_of_long_paths_add_up_to_the_trace_of_the_drift(long_paths):
    """A step's noise, a boost, keeps volumes; its drift shrinks them by the factor exp(-d step)."""
    inputs, rates = long_paths
    # some ten operations a step on each of the d + 1 directions, in units of what a step adds
    np.testing.assert_allclose(rates.sum(axis=-1), -inputs, rtol=10 * (inputs + 1) * EPS / STEP)


def test_long_paths_grow_at_the_derived_rates(long_paths):
    inputs, rates = long_paths
    with_step, with_twice_the_step = rates[:, 0], rates[:, 1]
    extrapolated = 2 * with_step - with_twice_the_step  # without the scheme's error of first order in the step
    standard_error = extrapolated.std(axis=0) / np.sqrt(len(rates))
    # the error of second order: the fastest rate, which is about d, times the square of what it shrinks in a step, STEP
    second_order = inputs * STEP**2
    distance = np.abs(extrapolated.mean(axis=0) - noise_theory.lyapunov_exponents(inputs))
    # four standard errors of 60 paths are 0.01 to 0.05: the test fails on rates that are a few hundredths off
    np.testing.assert_array_less(distance, 4 * standard_error + second_order)
