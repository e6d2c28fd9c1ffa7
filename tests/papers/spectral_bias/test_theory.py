"""The predictions of spectral_bias against each other, against formulas as printed, and against simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.label_noise import theory as label_noise_theory
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory

SCALES = st.floats(1e-3, 10.0)


@settings(max_examples=50)
@given(s=st.floats(0.05, 5.0), gamma=SCALES, time=st.floats(0.0, 20.0))
def test_learning_curve_is_the_printed_formula(s, gamma, time):
    root = np.sqrt(s**2 + gamma**2)
    decay = np.exp(-2 * time * root)
    fraction = (gamma + root - decay * (root - gamma)) / (gamma + root + decay * (root - gamma))
    alpha = np.sqrt(1 + gamma**2 / s**2) * fraction - gamma / s
    printed = 2 * gamma * alpha / (1 - alpha**2)
    # the printed form cancels: relative rounding of 1 - alpha^2 ~ gamma / s, and of alpha ~ s / gamma
    rounding = 1e-13 * (s / gamma + gamma / s) ** 2
    np.testing.assert_allclose(theory.learning_curve(s, gamma, time), printed, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("s", [0.3, 1.0, 2.0])
def test_learning_curve_tends_to_the_jump(s):
    times = np.array([0.5, 1.0, 1.5]) / (2 * s)
    gamma = 1e-200
    found = theory.learning_curve(np.array(s), np.array(gamma), times * np.log(1 / gamma))
    np.testing.assert_allclose(found, theory.jump(np.array(s), times), atol=1e-9)


@pytest.mark.parametrize("printed", [True, False])
def test_both_potentials_have_half_the_nuclear_norm_as_their_slope(printed):
    sigma = np.array([2.0, 0.5])
    values = [theory.spectral_potential(sigma, np.array(gamma), printed=printed) for gamma in (1e-8, 1e-12)]
    assert (values[1] - values[0]) / np.log(1e4) == pytest.approx(0.5 * sigma.sum(), rel=1e-12)


def test_equal_weights_give_the_moments_of_the_process():
    time = np.array([0.3, 1.0])
    _, output = noise_theory.second_moments(3, time)
    found = label_noise_theory.output_second_moment(np.ones(3), np.ones(3), time)
    np.testing.assert_allclose(found, 3 * output, rtol=1e-12)


def test_small_steps_have_the_moments_of_the_process():
    weights, start = np.array([1.0, 0.3]), np.array([0.5, 2.0])
    found = label_noise_theory.euler_output_second_moment(weights, start, 1e-4, 10_000)
    # first order in the step
    assert found == pytest.approx(label_noise_theory.output_second_moment(weights, start, np.array([1.0]))[0], rel=1e-3)
