"""The predictions of spectral_bias against each other, against formulas as printed, and against simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.label_noise import theory as label_noise_theory
from learning_dynamics.papers.spectral_bias.noise import models
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory
from learning_dynamics.papers.spectral_bias.reductions import models as reductions

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


@settings(max_examples=50)
@given(sigma=st.floats(1e-2, 5.0), gamma=SCALES)
def test_mirror_coordinates_have_their_curvature(sigma, gamma):
    step = 1e-5 * sigma
    for coordinate, curvature in (
        (theory.mirror_coordinate, theory.mirror_curvature),
        (theory.printed_mirror_coordinate, theory.printed_mirror_curvature),
    ):
        slope = (coordinate(sigma + step, gamma) - coordinate(sigma - step, gamma)) / (2 * step)
        # central difference: third derivatives are below 10 / sigma^3; rounding 1e-16 / step
        assert slope == pytest.approx(curvature(sigma, gamma), abs=1e-9 / sigma * max(1.0, 1 / sigma))


@settings(max_examples=50)
@given(size=st.floats(1e-2, 5.0), gamma=SCALES)
def test_predictor_from_mirror_inverts_the_potentials_gradient(size, gamma):
    step = 1e-3 * size
    slope = (theory.potential(size + step, gamma) - theory.potential(size - step, gamma)) / (2 * step)
    # central difference: the step squared, and rounding of the potential over the step
    rounding = 1e-15 * (size + gamma) ** 1.5 / step
    assert slope == pytest.approx(size / np.sqrt(gamma + np.hypot(size, gamma)), rel=1e-5, abs=rounding)
    mirror = np.array([size, 0.0]) / np.sqrt(gamma + np.hypot(size, gamma))
    np.testing.assert_allclose(reductions.predictor_from_mirror(mirror, gamma), [size, 0.0], rtol=1e-12)


def test_the_commutators_second_moment_solves_its_equation():
    step = 1e-4
    for inputs in (2, 5):
        # q' = 2 p - 2 q and p' = (d - 1) q, with q the sum over rows: q'' = 2 (d - 1) q - 2 q'
        q = inputs * noise_theory.commutator_second_moment(inputs, np.array([0.5 - step, 0.5, 0.5 + step]))
        first, second = (q[2] - q[0]) / (2 * step), (q[2] - 2 * q[1] + q[0]) / step**2
        assert second == pytest.approx(2 * (inputs - 1) * q[1] - 2 * first, rel=1e-6)


@pytest.mark.parametrize("printed", [True, False])
def test_both_potentials_have_half_the_nuclear_norm_as_their_slope(printed):
    sigma = np.array([2.0, 0.5])
    values = [theory.spectral_potential(sigma, np.array(gamma), printed=printed) for gamma in (1e-8, 1e-12)]
    assert (values[1] - values[0]) / np.log(1e4) == pytest.approx(0.5 * sigma.sum(), rel=1e-12)


def test_the_corrected_potential_has_the_mirror_coordinate_as_its_gradient():
    sigma, gamma, step = 0.7, np.array(0.1), 1e-6
    above, below = (
        theory.spectral_potential(np.array([sigma + side * step]), gamma, printed=False) for side in (1, -1)
    )
    # central difference: the step squared, and rounding over the step
    assert (above - below) / (2 * step) == pytest.approx(theory.mirror_coordinate(sigma, gamma), rel=1e-8)


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


def test_moments_solve_their_equation():
    step = 1e-5
    times = np.array([0.7 - step, 0.7, 0.7 + step])
    for inputs in (2, 5):
        u, v = noise_theory.second_moments(inputs, times)
        assert (u[2] - u[0]) / (2 * step) == pytest.approx(inputs * v[1], rel=1e-8)
        assert (v[2] - v[0]) / (2 * step) == pytest.approx(u[1], rel=1e-8)


def test_the_commutators_mean_stays_and_its_median_falls():
    sizes = np.full(400, 0.01)
    W, a, _ = models.simulate(2, 4096, sizes, np.array([200, 400]), seed=5)
    entries = np.abs(W[:, :, 0, 0] * a[:, :, 1] - W[:, :, 0, 1] * a[:, :, 0])
    error = entries.std(axis=0) / np.sqrt(len(entries))
    assert (np.abs(entries.mean(axis=0) - noise_theory.commutator_mean_limit()) < 5 * error).all()
    early, late = np.median(entries, axis=0)
    assert late < 0.8 * early
