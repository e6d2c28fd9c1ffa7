"""What is measured of regression, flows, minimisers and depth functions, against other methods.

Flows are compared with scipy's integrator, minimisers with brute-force optima and linear programs, and the functions
p, q and h of Lemma 5.1 with closed forms.

- A diagonal or convolutional network has the coefficients beta = S^T rho, with a matrix S and the entrywise product rho
  of all L layers in singular coordinates, which are the entries themselves, or those of the Fourier transform. All
  layers but the last start at alpha eta in these coordinates, and the last at zero.
- p and q solve p' = p^(L-2) q and q' = p^(L-1) from p = 1 and q = 0, h is p^(L-1) q, and H the integral of its inverse
  (Lemma 5.1). By Theorem 4 flows tend to the interpolator of least Q, a function of rho (see `brute_force`).
"""

import functools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.optimize import brentq, minimize

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.regression import metrics, runs, theory
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import read

RTOL = 1e-10  # of flows to a limit
SCALES = [0.3, 1.0]
SETTINGS = {"weights": "random", "depths": [2, 3], "scales": SCALES, "residual": 1e-10, "seed": 3}
FLOW = SETTINGS | {"rtol": RTOL, "atol": 1e-13}


@functools.cache
def limits(network):
    """Return the limits of two data sets, and what is measured of them."""
    data = points.regression(samples=1, inputs=3, seeds=2, even=network == "convolutional", seed=3)
    trajectory = plain.trajectory_with_settings(runs.interpolation, data, network=network, **FLOW)
    return trajectory, metrics.interpolation(trajectory)


@functools.cache
def end_by_an_integrator(network, depth, scale):
    """Return the layers where the flow of the second data set ends, by time 40."""
    trajectory, _ = limits(network)
    X, y, eta = (trajectory.constants[name][1] for name in ("X", "y", f"eta_{depth}"))
    layer = eta if network == "diagonal" else np.fft.ifft(eta, norm="ortho").real
    start = scale * np.concatenate([layer] * (depth - 1) + [np.zeros(3)])
    _, end = plain.flow(plain.loss_of(network, depth, X, y, "squared"), start, np.array([0.0, 40.0]))
    residuals = X @ plain.beta_of(network, 3, depth, end) - y
    assert np.abs(residuals).max() < 0.01 * FLOW["residual"] * np.abs(y).max(), "not at rest at time 40"
    return end


EACH_NETWORK = pytest.mark.parametrize("network", ["diagonal", "convolutional"])
EACH_DEPTH = pytest.mark.parametrize("depth", [2, 3])
EACH_SCALE = pytest.mark.parametrize("scale", SCALES)
OF_A_FLOW = 200 * RTOL  # the flows take some 200 steps, and err by RTOL in each


@EACH_NETWORK
@EACH_DEPTH
@EACH_SCALE
def test_flows_end_where_an_integrator_ends(network, depth, scale):
    trajectory, _ = limits(network)
    state = trajectory.series[f"flow_{depth}"][1, SCALES.index(scale)]
    np.testing.assert_allclose(state, end_by_an_integrator(network, depth, scale), rtol=0, atol=OF_A_FLOW)


@EACH_NETWORK
@EACH_DEPTH
@EACH_SCALE
@pytest.mark.parametrize("column", ["value", "predicted"])
def test_coefficients_are_those_where_an_integrator_ends(network, depth, scale, column):
    _, table = limits(network)
    expected = plain.beta_of(network, 3, depth, end_by_an_integrator(network, depth, scale))
    beta = read(table, "coefficient", column, seed=1, depth=depth, scale=scale)
    np.testing.assert_allclose(beta, expected, rtol=0, atol=OF_A_FLOW)


@EACH_NETWORK
def test_random_weights_have_both_signs_and_sizes_between_a_half_and_one_and_a_half(network):
    trajectory, _ = limits(network)
    weights = np.concatenate([trajectory.constants[f"eta_{depth}"].ravel() for depth in (2, 3)])
    assert set(np.sign(weights)) == {-1.0, 1.0}
    sizes = np.abs(weights)
    assert 0.5 <= sizes.min() < sizes.max() <= 1.5


@EACH_NETWORK
def test_equal_weights_are_ones(network):
    data = points.regression(samples=1, inputs=3, seeds=2, even=network == "convolutional", seed=3)
    settings = FLOW | {"weights": "equal", "depths": [3], "scales": [1.0]}
    trajectory = plain.trajectory_with_settings(runs.interpolation, data, network=network, **settings)
    np.testing.assert_array_equal(trajectory.constants["eta_3"], np.ones((2, 3)))


@pytest.fixture(scope="module")
def descents():
    """The limits of flows, and those of descent with steps of 0.02 and of 0.01 in units of the inverse curvature."""
    data = points.regression(samples=1, inputs=3, seeds=1, seed=3)
    flow = plain.trajectory_with_settings(runs.interpolation, data, network="diagonal", **FLOW)
    coarse, fine = (
        runs.interpolation_by_descent(data, network="diagonal", step=step, **SETTINGS) for step in (0.02, 0.01)
    )
    return flow, coarse, fine


@EACH_DEPTH
def test_gradient_descent_ends_off_the_flow_by_an_error_of_first_order_in_the_step(descents, depth):
    flow, coarse, fine = descents
    name = f"flow_{depth}"
    error, error_of_half_the_step = (np.abs(run.series[name] - flow.series[name]).max() for run in (coarse, fine))
    assert error < 0.02  # the step
    assert error / error_of_half_the_step == pytest.approx(2, rel=0.02)  # the second order is smaller by a step


def last_component(z, depth):
    """Return q at the time at which h_L = p^(L-1) q takes a positive value z; p^2 = 1 + q^2."""
    return brentq(lambda q: q * (1 + q**2) ** ((depth - 1) / 2) - z, 0, z, xtol=1e-14)


def time_of_h(z, depth):
    """Return the time at which h_L is z: the integral of dq / p^(L-1), with q = sinh u."""
    return quad(lambda u: np.cosh(u) ** (2 - depth), 0, np.arcsinh(last_component(z, depth)))[0]


def brute_force(X, y, eta, scale, depth, xatol=1e-7):
    """Return the rho with X rho = y of least Q = sum_j (alpha |eta_j|)^2 H(rho_j / (alpha |eta_j|)^L).

    H is the integral of the time of h, by parts |z| t - q^2 / 2, with t integrated numerically. Nelder and Mead's
    simplex seeks the least Q along the null space of X.
    """

    def H(z):
        return abs(z) * time_of_h(abs(z), depth) - last_component(abs(z), depth) ** 2 / 2

    size, least, free = scale * np.abs(eta), np.linalg.pinv(X) @ y, null_space(X).T

    def cost(place):
        return size**2 @ [H(z) for z in (least + place @ free) / size**depth]

    options = {"xatol": xatol, "fatol": 1e-14, "maxiter": 800}
    optimum = minimize(cost, np.zeros(len(free)), method="Nelder-Mead", options=options)
    return least + optimum.x @ free


SIMPLEX = 1e-6  # ten times what the simplex is across at its end


@functools.cache
def predictions(depth):
    """Return inputs, label and weights of a single data set, and what is predicted for it at the scales 0.3 to 1."""
    rng = np.random.default_rng(4)
    data = {"X": rng.standard_normal((1, 1, 2)), "y": rng.standard_normal((1, 1))}
    settings = FLOW | {"depths": [depth]}
    trajectory = plain.trajectory_with_settings(runs.interpolation, data, network="diagonal", **settings)
    X, y, eta = (trajectory.constants[name][0] for name in ("X", "y", f"eta_{depth}"))
    return X, y, eta, metrics.interpolation(trajectory)


@EACH_DEPTH
@pytest.mark.parametrize(
    ("quantity", "layers_more", "factor"), [("coefficient", 0, 1), ("other_depth", 1, 1), ("other_scale", 0, 2)]
)
def test_predicted_minimisers_are_brute_force_optima(depth, quantity, layers_more, factor):
    X, y, eta, table = predictions(depth)
    expected = brute_force(X, y, eta, factor * 0.3, depth + layers_more)
    np.testing.assert_allclose(read(table, quantity, "predicted", scale=0.3), expected, rtol=0, atol=SIMPLEX)


@EACH_DEPTH
@pytest.mark.parametrize("place", [0, 30, -1])
def test_the_curve_of_minimisers_over_scales_has_brute_force_optima(depth, place):
    X, y, eta, table = predictions(depth)
    scale = read(table, "minimiser_curve", "scale")[place]
    expected = brute_force(X, y, eta, scale, depth)[0]
    assert read(table, "minimiser_curve")[place] == pytest.approx(expected, rel=0, abs=SIMPLEX)


EACH_LEAST_NORM = pytest.mark.parametrize("norm", ["plain_l1", "plain_l2", "weighted_l1", "weighted_l2"])


@EACH_LEAST_NORM
def test_the_minimiser_at_a_small_scale_is_a_brute_force_optimum(norm):
    X, y, eta, table = predictions(3)
    expected = brute_force(X, y, eta, 1e-3, 3, xatol=1e-13)
    # the entry outside the support is of order alpha^3, 1e-9, of which a hundredth is allowed
    np.testing.assert_allclose(read(table, f"small_{norm}", scale=1e-3), expected, rtol=0, atol=1e-11)


@EACH_LEAST_NORM
def test_the_minimiser_at_a_small_scale_is_predicted_by_each_solution_of_least_norm(norm):
    """These do not depend on the scale."""
    _, _, _, table = predictions(3)
    predicted = read(table, f"small_{norm}", "predicted", scale=1e-3)
    np.testing.assert_array_equal(predicted, read(table, norm, "predicted", scale=0.3))


# the powers 2 (1 - s) are 1 and 2/3; with weights of both signs, which change no power
@pytest.mark.parametrize(("x", "s"), [([1.0, 2.0], 1 / 2), ([-2.0, 3.0], 2 / 3)])
def test_the_minimiser_of_two_layers_vanishes_off_the_support_like_a_power_of_the_scale(x, s):
    """On one point the support is the largest |x_j|, and s the other relative to it.

    By (66) with h(t) = sinh(2 t) / 2 an entry is alpha^2 eta_j^2 sinh(2 x_j nu) / 2, with nu like log(1 / alpha).
    """
    power, predicted = theory.vanishing_power(np.array([x]), np.array([-1.0]), np.array([-0.7, 1.4]))
    assert predicted == pytest.approx(2 * (1 - s), abs=1e-11)  # ten times the tolerance of the cone program
    assert power == pytest.approx(2 * (1 - s), abs=1e-9)  # minimisers fit the label to 1e-8, a part of a log of 1e15


@EACH_DEPTH
@EACH_LEAST_NORM
def test_solutions_of_least_norm_are_those_of_other_methods(depth, norm):
    """A linear program, and the pseudo-inverse."""
    X, y, eta, table = predictions(depth)
    # Remark 4's weights: |eta|^(2 - L) in the l1 norm, eta^(2 - 2 L) in the square of the l2 norm
    l1_weights, l2_weights = eta ** (depth - 2), eta ** (depth - 1)
    expected = {
        "plain_l1": plain.least_l1(X, y),
        "plain_l2": np.linalg.pinv(X) @ y,
        "weighted_l1": l1_weights * plain.least_l1(X * l1_weights, y),
        "weighted_l2": l2_weights * (np.linalg.pinv(X * l2_weights) @ y),
    }
    solution = read(table, norm, "predicted", scale=0.3)
    # ten times the tolerance of the cone program, `solutions.TOLERANCE`
    np.testing.assert_allclose(solution, expected[norm], rtol=0, atol=1e-11)


@functools.cache
def table_and_printed_minimiser():
    """Return what is measured of a convolutional network, and the minimiser of Q as Corollary 6 is printed."""
    data = points.regression(samples=1, inputs=3, seeds=1, even=True, seed=3)
    settings = FLOW | {"depths": [3], "scales": [0.4]}
    trajectory = plain.trajectory_with_settings(runs.interpolation, data, network="convolutional", **settings)
    F = np.fft.fft(np.eye(3), norm="ortho").real  # of even sequences
    minimiser = F @ brute_force(data["X"][0] @ F, data["y"][0], trajectory.constants["eta_3"][0], 0.4, 3)
    return metrics.interpolation(trajectory), minimiser


def test_the_printed_prediction_lacks_the_factor_of_the_transform():
    table, minimiser = table_and_printed_minimiser()
    np.testing.assert_allclose(read(table, "printed_minimiser", "predicted"), minimiser, rtol=0, atol=SIMPLEX)


def test_flows_do_not_end_at_the_printed_prediction():
    table, minimiser = table_and_printed_minimiser()
    # the distance is 0.03; flows err by 2e-8, the simplex by 1e-6
    assert np.abs(read(table, "printed_minimiser") - minimiser).max() > 1e-3


def test_the_minimiser_at_small_scales_is_near_the_solution_of_least_l1_norm():
    X, y, eta = np.array([[1.0, 2.0]]), np.array([1.0]), np.array([1.0, 1.0])
    # the first entry is alpha^3 h_3(t) with h_3(t) = 2 at t = pi / 4, half the blow-up time, which the second's is near
    np.testing.assert_allclose(theory.small_scale_minimiser(X, y, eta, 3), [0, 0.5], rtol=0, atol=2e-9)


def test_a_minimiser_that_is_not_found_is_nan():
    """From starts so small that an argument of h is within rounding of its blow-up time."""
    X, y, eta = np.array([[1.0, 2.0]]), np.array([1.0]), np.array([1e-12, 1e-12])
    assert np.isnan(theory.small_scale_minimiser(X, y, eta, 5)).all()


LAST = 20.0  # of q
CLOSED = {  # q, h and the time at which q takes a value
    2: (np.sinh, lambda t: np.sinh(t) * np.cosh(t), np.arcsinh),
    3: (np.tan, lambda t: np.tan(t) / np.cos(t) ** 2, np.arctan),
    4: (lambda t: t / np.sqrt(1 - t * t), lambda t: t / (1 - t * t) ** 2, lambda q: q / np.sqrt(1 + q * q)),
}
INTEGRATED = 1e-9  # relative error of times: 100 times the integrator's rtol, as `squared_flow.FLOW_ERROR`
ROUNDED = 10 * np.finfo(float).eps
EACH_SIGN = pytest.mark.parametrize("sign", [1, -1])


@functools.cache
def depth_functions(depth):
    """Return what is measured of p and q forward and backward in time, until q passes `LAST`."""
    trajectory = plain.trajectory_with_settings(
        runs.depth_functions, depths=[depth], records=9, last=LAST, rtol=1e-11, atol=1e-14
    )
    return metrics.depth_functions(trajectory)


@EACH_SIGN
def test_times_have_the_sign_of_their_direction(sign):
    assert (sign * read(depth_functions(3), "q", "time", sign=sign)[1:] > 0).all()


@pytest.mark.parametrize("depth", CLOSED)
@EACH_SIGN
@pytest.mark.parametrize(
    ("quantity", "column", "error"),
    [
        ("q", "value", INTEGRATED),
        ("q", "predicted", ROUNDED),
        ("h", "value", INTEGRATED),
        ("h", "predicted", ROUNDED),
        ("time_of_h", "predicted", INTEGRATED),  # of an h that is integrated
        ("time_of_last_q", "value", INTEGRATED),
        ("time_of_last_q", "predicted", ROUNDED),
    ],
)
def test_depth_functions_have_their_closed_forms(depth, sign, quantity, column, error):
    table = depth_functions(depth)
    q, h, time_of_q = CLOSED[depth]
    t = read(table, "q", "time", sign=sign)
    expected = {"q": q(t), "h": h(t), "time_of_h": t, "time_of_last_q": time_of_q(sign * LAST)}[quantity]
    # near the blow-up a relative error of h is that of t times h' / h, at most L q^(L - 2); that of q is smaller
    growth = depth * LAST ** (depth - 2) if quantity in ("q", "h") else 1.0
    np.testing.assert_allclose(read(table, quantity, column, sign=sign), expected, rtol=growth * error, atol=0)


@pytest.mark.parametrize("depth", [2, 3, 5])
@EACH_SIGN
@pytest.mark.parametrize("column", ["value", "predicted"])
def test_penalties_are_integrals_of_the_inverse_of_h(depth, sign, column):
    table = depth_functions(depth)
    # H is even; the last h of five layers, 3e6, is beyond what nested quadratures resolve
    after_start = np.abs(read(table, "h", sign=sign))[1:-1]
    # H(h) / h
    expected = [quad(time_of_h, 0, z, args=(depth,), epsabs=0, epsrel=1e-11)[0] / z for z in after_start]
    np.testing.assert_allclose(read(table, "penalty_over_h", column, sign=sign)[:-1], expected, rtol=INTEGRATED)
