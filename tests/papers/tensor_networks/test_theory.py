"""The paper's formulas against integration, optimisation and each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import theory
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.initialisation import factors
from learning_dynamics.papers.tensor_networks.squared_loss import squared_loss_field

DEPTHS = [2, 3, 4, 5]


@pytest.mark.parametrize(("depth", "time"), [(2, np.inf), (3, np.pi / 2), (4, 1.0)])
def test_blow_up_times(depth, time):
    assert theory.blow_up_time(depth) == pytest.approx(time, rel=1e-14)


@pytest.mark.parametrize("depth", DEPTHS)
def test_q_solves_its_equation(depth):
    end = 0.9 * min(theory.blow_up_time(depth), 3.0)
    found = solve_ivp(
        lambda _t, s: [s[0] ** (depth - 2) * s[1], s[0] ** (depth - 1)], (0, end), [1.0, 0.0], method="DOP853",
        rtol=1e-12, atol=1e-14, t_eval=np.linspace(0, end, 9),
    )  # fmt: skip
    np.testing.assert_allclose(theory.depth_q(found.t, depth), found.y[1], rtol=1e-9, atol=1e-14)


@settings(max_examples=40)
@given(depth=st.sampled_from(DEPTHS), size=st.floats(-8, 8), sign=st.sampled_from([-1.0, 1.0]))
def test_h_inverts(depth, size, sign):
    z = sign * 10.0**size
    # close to the blow-up h amplifies the rounding of t by at most z**((L-2)/L) * L
    amplified = 1 + abs(z) ** ((depth - 2) / depth) * depth**2
    assert theory.depth_h(theory.depth_h_inverse(z, depth), depth) == pytest.approx(z, rel=1e-13 * amplified + 1e-12)


@pytest.mark.parametrize("depth", DEPTHS)
def test_penalty_is_the_integral_of_the_inverse(depth):
    integral, _ = quad(lambda z: float(theory.depth_h_inverse(z, depth)), 0, 3.0, epsabs=1e-11)
    assert float(theory.depth_penalty(3.0, depth)) == pytest.approx(integral, rel=1e-9)


@pytest.mark.parametrize("scale", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_minimiser_is_stationary_and_interpolates(depth, scale):
    rng = np.random.default_rng(4)
    features, y, eta = rng.standard_normal((2, 5)), rng.standard_normal(2), 0.5 + rng.uniform(size=5)
    rho = theory.norm_like_minimiser(features, y, eta, scale, depth)
    np.testing.assert_allclose(features @ rho, y, rtol=1e-9)
    slope = theory.depth_h_inverse(rho / (scale * eta) ** depth, depth) * (scale * eta) ** (2 - depth)
    # the gradient of Q lies in the span of the features
    left = slope - np.linalg.lstsq(features.T, slope, rcond=None)[0] @ features
    np.testing.assert_allclose(left, 0.0, atol=1e-8 * np.abs(slope).max())


def test_a_scale_beyond_double_precision_is_an_error():
    with pytest.raises(ProjectError, match="not found"):
        theory.norm_like_minimiser(np.array([[1.0, 2.0]]), np.array([1.0]), np.ones(2), 1e-12, 5)


@pytest.mark.parametrize("label", [1.0, -0.6])
@pytest.mark.parametrize("architecture", ["diagonal", "convolutional", "fully_connected"])
def test_one_point_limit_is_where_the_flow_ends(architecture, label):
    network, x, scale = network_of(architecture, 3, 2, seed=0), np.array([1.0, 2.0, -0.4]), 0.4
    directions = factors(architecture, np.array([0.5, -1.0, 0.8]), 0.7)
    first, second = network.layers(directions)
    predicted = np.concatenate(theory.one_point_limit(network.data_tensor(x), label, scale, first, second))
    field = squared_loss_field(network.data_tensor(x[None]), np.array([label]), network)
    flow = integrate(field, scale * directions, np.array([0.0, 60.0]), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(flow.final_state, predicted, rtol=1e-8, atol=1e-9)
    assert theory.one_point_condition(network.data_tensor(x), first, second) > 0


@pytest.mark.parametrize("sign", [1, -1])
def test_filters_of_length_two_pass_by_the_sign_of_the_autocorrelation(sign):
    x = np.array([2.0, 1.5, 0.5, 0.2, 0.3, 1.0]) * np.array([1, sign] * 3)
    network_direction = theory.filtered_direction(x, 1.0, 2)
    gain = np.abs(np.fft.rfft(network_direction)) / np.abs(np.fft.rfft(x))
    assert np.argmax(gain) == (0 if sign > 0 else 3)
    with pytest.raises(ValueError, match="no direction"):
        theory.filtered_direction(x, 1.0, 3)
