"""Gradient flow against scipy's integrator on the full network, and its metrics computed again by other means.

The other means are torch's gradients, finite differences, roots of polynomials, least squares, and sums entry by entry.
"""

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from scipy.linalg import null_space

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.flow import metrics, potential, runs
from learning_dynamics.papers.spectral_bias.two_layer_flow import Limit
from learning_dynamics.seeds import generators
from tests.papers.spectral_bias.plain import at_rest, by_time, flow, spectrum, trajectory_and_table

# three different numbers, so that no transposed matrix fits
SAMPLES, INPUTS, OUTPUTS = 3, 4, 2
SHAPE = {"samples": SAMPLES, "inputs": INPUTS, "outputs": OUTPUTS}
GAMMA = 0.2
# Both integrators take a relative tolerance of 1e-11, and errors are a few hundred of it: numbers agree to 1e-8. A
# spectrum is the root of eigenvalues, so that where it vanishes it agrees to 1e-7. Inverses of Z1, quotients of small
# numbers and other quadratic expressions lose one to three digits more: rtol is 1e-7 to 1e-5 there.
INTEGRATION = {"horizon": 2.0, "points": 5, "residual": 1e-10, "patience": 1e4, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": 9, "gamma": GAMMA, "integration": INTEGRATION}
PERTURBATIONS = 30  # of the limit, in which the increase of the potential is measured
LATE = 300.0  # `at_rest` asserts that scipy's flows have come to rest by then
VARIANCE = 0.3  # of the entries of the narrower of balanced layers
BALANCED = {"width": 9, "variance": VARIANCE, "integration": INTEGRATION}


@pytest.fixture(scope="module")
def data():
    return regression.gaussian(**SHAPE, seeds=2, seed=5)


@pytest.fixture(scope="module")
def linear(data):
    """Return trajectory and table of the flow from orthogonal rows of one length."""
    # decay rates are read until the residual has come down to 1e-6, with some digits left
    measuring = {"settled": 1e-6, "perturbations": PERTURBATIONS}
    return trajectory_and_table(runs.linear_flow, metrics.linear_flow, SETTINGS, data, measuring=measuring, seed=3)


def series(table, quantity, draw, *, column="value"):
    """Return a quantity along the flow of one draw, shape (times, entries)."""
    return by_time(table, quantity, column=column, seed=draw, phase="flow")


def at_limit(table, quantity, draw, *, column="value"):
    """Return a quantity at the limit of one draw, shape (entries,)."""
    return by_time(table, quantity, column=column, seed=draw, phase="limit")[0]


def of_draw(table, quantity, draw):
    """Return the number that a draw as a whole has."""
    return by_time(table, quantity, seed=draw, phase="draw")[0, 0]


def another_start(draw):
    """Return sqrt(2 gamma) times orthonormal rows in another hidden space, wider than the run's, and a zero layer."""
    width = SETTINGS["width"] + 3
    rows = np.linalg.qr(np.random.default_rng(draw).standard_normal((width, INPUTS)))[0].T
    return np.sqrt(2 * GAMMA) * rows, np.zeros((width, OUTPUTS))


def another_network(data, draw, times):
    """Return both layers at the times, by scipy, of a network from another start."""
    return flow(data["X"][draw], data["Y"][draw], *another_start(draw), times)


def minimum_norm_interpolator(X, Y):
    return np.linalg.lstsq(X, Y, rcond=None)[0]


@pytest.mark.parametrize("draw", [0, 1])
def test_spectra_are_those_of_any_network_from_orthogonal_rows(data, linear, draw):
    trajectory, table = linear
    W1, W2 = another_network(data, draw, trajectory.time)
    for column in ("value", "predicted"):
        sigma_w1, sigma_w2 = (series(table, name, draw, column=column) for name in ("sigma_w1", "sigma_w2"))
        np.testing.assert_allclose(sigma_w1, spectrum(W1), rtol=1e-8, err_msg=column)
        np.testing.assert_allclose(sigma_w2, spectrum(W2), rtol=0, atol=1e-7, err_msg=column)
    np.testing.assert_allclose(series(table, "sigma_beta", draw), spectrum(W1 @ W2, OUTPUTS), rtol=0, atol=1e-7)


@pytest.mark.parametrize("draw", [0, 1])
def test_loss_residual_and_condition_are_those_of_any_network_from_orthogonal_rows(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = another_network(data, draw, trajectory.time)
    sigma_w1 = spectrum(W1)
    losses = 0.5 * np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2))
    expected = {
        "loss": losses,
        "residual": np.sqrt(2 * losses / np.sum(Y**2)),
        "condition_of_Z1": sigma_w1[:, 0] / sigma_w1[:, -1],
        "largest_eigenvalue": sigma_w1[:, 0] ** 2,
    }
    for quantity, values in expected.items():
        # the loss is small against the parameters, whose error it has
        np.testing.assert_allclose(series(table, quantity, draw)[:, 0], values, rtol=1e-7, err_msg=quantity)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_imbalance_stays(linear, draw):
    """Z1^T Z1 - Z2 Z2^T = 2 gamma I (Lemma 3.2)."""
    _, table = linear
    np.testing.assert_allclose(series(table, "imbalance", draw), 2 * GAMMA, rtol=1e-8)
    np.testing.assert_allclose(series(table, "imbalance", draw, column="predicted"), 2 * GAMMA, rtol=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_limit_is_the_minimum_norm_interpolator(data, linear, draw):
    trajectory, table = linear
    star = minimum_norm_interpolator(data["X"][draw], data["Y"][draw])
    beta = trajectory.constants["limit_W1"][draw] @ trajectory.constants["limit_W2"][draw]
    # the flow is stopped at a residual of 1e-10
    np.testing.assert_allclose(beta, star, rtol=0, atol=1e-9)
    np.testing.assert_allclose(at_limit(table, "sigma_beta", draw, column="predicted"), spectrum(star, OUTPUTS))


@pytest.mark.parametrize("draw", [0, 1])
def test_the_predicted_spectra_at_the_limit_are_those_of_a_network_after_a_long_time(data, linear, draw):
    _, table = linear
    W1, W2 = at_rest(data["X"][draw], data["Y"][draw], *another_start(draw), LATE)
    sigma_w1, sigma_w2 = (at_limit(table, name, draw, column="predicted") for name in ("sigma_w1", "sigma_w2"))
    np.testing.assert_allclose(sigma_w1, spectrum(W1, INPUTS), rtol=1e-8)
    np.testing.assert_allclose(sigma_w2, spectrum(W2, OUTPUTS), rtol=1e-7)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_distance_from_the_minimum_norm_interpolator_is_within_the_bound_by_the_residual(data, linear, draw):
    """|beta - beta_*| <= |X beta - Y| / sigma_min(X) for beta in the row space of X: both are in the table."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    star = minimum_norm_interpolator(X, Y)
    beta = trajectory.series["W1"][draw] @ trajectory.series["W2"][draw]
    distance = np.linalg.norm(beta - star, axis=(1, 2)) / np.linalg.norm(star)
    np.testing.assert_allclose(series(table, "distance", draw)[:, 0], distance)
    bound = np.linalg.norm(X @ beta - Y, axis=(1, 2)) / spectrum(X)[-1] / np.linalg.norm(star)
    np.testing.assert_allclose(series(table, "distance_bound", draw)[:, 0], bound)
    assert (distance <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize("draw", [0, 1])
def test_singular_values_of_w1_are_left_open_by_their_slope_times_the_distance_of_beta(data, linear, draw):
    """To first order, sigma_i(W1) is off by |beta - beta_*| times d sigma_i(W1) / d sigma_i(beta)."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = trajectory.constants["limit_W1"][draw], trajectory.constants["limit_W2"][draw]
    distance_bound = np.linalg.norm(X @ W1 @ W2 - Y) / spectrum(X)[-1]
    sigma = spectrum(minimum_norm_interpolator(X, Y), OUTPUTS)

    def sigma_w1(sigma_beta):
        # for each one the positive root of w^4 - 2 gamma w^2 = sigma_beta^2 (Lemma C.10)
        return np.array([max(np.roots([1, -2 * GAMMA, -(value**2)]).real) ** 0.5 for value in sigma_beta])

    slopes = (sigma_w1(sigma * (1 + 1e-6)) - sigma_w1(sigma * (1 - 1e-6))) / (2e-6 * sigma)
    expected = slopes.max() * distance_bound / sigma_w1(sigma)[0]
    # slopes are central differences over 1e-6 of sigma; rounding is that of values of order one
    assert at_limit(table, "sigma_w1_left_open", draw)[0] == pytest.approx(expected, rel=1e-4, abs=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("quantity", ["decay_rate_of_R", "decay_rate_of_residual"])
def test_decay_rates_are_those_of_finite_differences(data, linear, draw, quantity):
    """-d|v|^2/dt / |v|^2, v being Y - X beta or X^T (Y - X beta), in units of gamma lambda_min(X X^T) (Lemma C.6)."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    factor = {"decay_rate_of_R": X.T, "decay_rate_of_residual": np.eye(SAMPLES)}[quantity]
    unit = GAMMA * spectrum(X)[-1] ** 2
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    R = X.T @ (Y - X @ W1 @ W2)
    W1_slope, W2_slope = R @ np.swapaxes(W2, -1, -2), np.swapaxes(W1, -1, -2) @ R  # dW1/dt, dW2/dt

    def squares_after(time):
        beta = (W1 + time * W1_slope) @ (W2 + time * W2_slope)
        return np.sum((factor @ (Y - X @ beta)) ** 2, axis=(1, 2))

    step = 1e-4  # in time: central differences err by its square, and by rounding over it
    rates = (squares_after(-step) - squares_after(step)) / (2 * step) / squares_after(0.0) / unit
    np.testing.assert_allclose(series(table, quantity, draw)[:, 0], rates, rtol=1e-5)
    assert of_draw(table, quantity, draw) == pytest.approx(min(rates), rel=1e-5)  # a draw's number is its least


@pytest.mark.parametrize("draw", [0, 1])
def test_the_distance_of_parameters_from_their_limit_and_the_bound_on_it_are_those_of_both_layers(data, linear, draw):
    """The parameters are both layers; the bound is |Y - X beta| / sqrt(2 gamma lambda_min(X X^T)) (Theorem 3.1 (i))."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    end_W1, end_W2 = trajectory.constants["limit_W1"][draw], trajectory.constants["limit_W2"][draw]
    size = np.sqrt(np.sum(end_W1**2) + np.sum(end_W2**2))
    distance = np.sqrt(np.sum((W1 - end_W1) ** 2, axis=(1, 2)) + np.sum((W2 - end_W2) ** 2, axis=(1, 2)))
    smallest = np.sqrt(2 * GAMMA) * spectrum(X)[-1]  # sqrt(2 gamma lambda_min(X X^T))
    bound = np.linalg.norm(Y - X @ W1 @ W2, axis=(1, 2)) / smallest
    measured = series(table, "parameter_distance", draw)[:, 0]
    predicted = series(table, "parameter_distance", draw, column="predicted")[:, 0]
    np.testing.assert_allclose(measured, distance / size, rtol=1e-6)
    np.testing.assert_allclose(predicted, bound / size, rtol=1e-6)
    assert of_draw(table, "distance_over_its_bound", draw) == pytest.approx(np.max(distance / bound))
    bound_at_end = np.linalg.norm(Y - X @ end_W1 @ end_W2) / smallest
    assert of_draw(table, "bound_at_end", draw) == pytest.approx(bound_at_end / size, rel=1e-6)


@pytest.mark.parametrize("draw", [0, 1])
def test_each_draw_has_the_inverse_condition_of_its_data(data, linear, draw):
    _, table = linear
    sigma = spectrum(data["X"][draw])
    assert of_draw(table, "inverse_condition_of_X", draw) == pytest.approx(sigma[-1] / sigma[0])


@pytest.mark.parametrize("draw", [0, 1])
def test_each_draw_has_the_number_of_samples(linear, draw):
    _, table = linear
    assert of_draw(table, "samples", draw) == SAMPLES


# -- states on no flow -------------------------------------------------------------------------------------------------

RECORD = 3  # the one before the last of the recorded times, when beta is neither zero nor at its limit


class State(NamedTuple):
    """A network at one time, in the span of the rows of P (Lemma 3.1)."""

    Z1: np.ndarray  # W1 P^T, shape (inputs, inputs)
    Z2: np.ndarray  # P W2, shape (inputs, outputs)
    beta: np.ndarray  # W1 W2, shape (inputs, outputs)
    alpha: np.ndarray  # Z1^{-T} Z2, shape (inputs, outputs) (Lemma 3.3)


def state_on_the_way(trajectory, draw):
    """Return a draw's state at `RECORD`."""
    P = trajectory.constants["P"][draw]
    W1, W2 = trajectory.series["W1"][draw, RECORD], trajectory.series["W2"][draw, RECORD]
    Z1, Z2 = W1 @ P.T, P @ W2
    return State(Z1, Z2, beta=W1 @ W2, alpha=np.linalg.inv(Z1.T) @ Z2)


def limit_in_square_form(trajectory, draw):
    """Return Z1 = W1 P^T, shape (inputs, inputs), and Z2 = P W2, shape (inputs, outputs), at the limit (Lemma 3.1)."""
    P = trajectory.constants["P"][draw]
    return trajectory.constants["limit_W1"][draw] @ P.T, P @ trajectory.constants["limit_W2"][draw]


@pytest.fixture(scope="module")
def off_the_flow(linear):
    """Return trajectory and table of states on no flow, whose imbalance and alpha are not those of the lemmas."""
    trajectory, _ = linear
    rng = np.random.default_rng(4)
    series = {name: layer + 0.1 * rng.standard_normal(layer.shape) for name, layer in trajectory.series.items()}
    limit_W2 = trajectory.constants["limit_W2"]
    moved_limit_W2 = limit_W2 + 0.1 * rng.standard_normal(limit_W2.shape)
    moved = replace(trajectory, series=series, constants=trajectory.constants | {"limit_W2": moved_limit_W2})
    return moved, metrics.linear_flow(moved, settled=1e-6, perturbations=1)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_imbalance_is_measured_on_states_that_do_not_keep_it(off_the_flow, draw):
    """Eigenvalues of Z1^T Z1 - Z2 Z2^T, ascending."""
    trajectory, table = off_the_flow
    state = state_on_the_way(trajectory, draw)
    imbalance = state.Z1.T @ state.Z1 - state.Z2 @ state.Z2.T
    eigenvalues = np.sort(np.linalg.eigvals(imbalance).real)
    np.testing.assert_allclose(series(table, "imbalance", draw)[RECORD], eigenvalues, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("draw", [0, 1])
def test_alpha_outside_data_is_the_share_of_alpha_in_the_kernel_of_x(data, off_the_flow, draw):
    trajectory, table = off_the_flow
    kernel = null_space(data["X"][draw])
    alpha = state_on_the_way(trajectory, draw).alpha
    outside = np.linalg.norm(kernel.T @ alpha) / np.linalg.norm(alpha)
    assert series(table, "alpha_outside_data", draw)[RECORD, 0] == pytest.approx(outside)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_gradient_in_w2_is_of_the_part_of_alpha_in_the_kernel_of_x(data, off_the_flow, draw):
    """Z2 - Z1^T X^+ X alpha is Z1^T (alpha - X^+ X alpha), as Z2 = Z1^T alpha."""
    trajectory, table = off_the_flow
    kernel = null_space(data["X"][draw])
    Z1, Z2 = limit_in_square_form(trajectory, draw)
    gradient = Z1.T @ kernel @ kernel.T @ np.linalg.inv(Z1.T) @ Z2
    expected = np.linalg.norm(gradient) / np.linalg.norm(Z2)
    assert at_limit(table, "gradient_W2", draw)[0] == pytest.approx(expected)


# -- the potential at the limit ----------------------------------------------------------------------------------------


def lagrangian_gradient_W1(X, Z1, Z2, log_dets):
    """Return |dL/dZ1| / |Z1| by torch, of the Lagrangian L of the potential with a multiple of its logarithm (eq. 3.1).

    The multiplier for X Z1 Z2 = Y is the one that makes dL/dZ2 smallest.
    """
    X = torch.tensor(X)
    Z1, Z2 = (torch.tensor(layer, requires_grad=True) for layer in (Z1, Z2))
    squares = 0.5 * (Z1**2).sum() + 0.5 * (Z2**2).sum()
    value = squares - log_dets * GAMMA * torch.logdet(Z1 @ Z1.T)
    (value_gradient_Z2,) = torch.autograd.grad(value, [Z2], retain_graph=True)
    # shape (entries of Z2, entries of X Z1 Z2)
    jacobian = torch.autograd.functional.jacobian(lambda moved: X @ Z1 @ moved, Z2)
    constraint_gradients = jacobian.reshape(SAMPLES * OUTPUTS, INPUTS * OUTPUTS).T
    multiplier = torch.linalg.lstsq(constraint_gradients, value_gradient_Z2.reshape(-1, 1)).solution
    lagrangian = value - (multiplier.reshape(SAMPLES, OUTPUTS) * (X @ Z1 @ Z2)).sum()
    (gradient_Z1,) = torch.autograd.grad(lagrangian, [Z1])
    return (gradient_Z1.norm() / Z1.norm()).item()


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize(
    ("quantity", "log_dets"),
    [("gradient_W1", 1.0), ("gradient_W1_without_log_det", 0.0), ("gradient_W1_twice_log_det", 2.0)],
)
def test_the_gradient_of_the_lagrangian_in_w1_is_torchs(data, linear, draw, quantity, log_dets):
    trajectory, table = linear
    gradient = lagrangian_gradient_W1(data["X"][draw], *limit_in_square_form(trajectory, draw), log_dets)
    # at log_dets = 1 the gradient is zero, but for the residual of 1e-10 at which the flow is stopped
    assert at_limit(table, quantity, draw)[0] == pytest.approx(gradient, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_limit_is_stationary_in_both_layers(data, linear, draw):
    trajectory, table = linear
    small = 1e-9  # the flow is stopped at a residual of 1e-10
    assert lagrangian_gradient_W1(data["X"][draw], *limit_in_square_form(trajectory, draw), log_dets=1.0) < small
    assert at_limit(table, "gradient_W2", draw)[0] < small


def potential_of(Z1, Z2, gamma):
    """Return the potential of eq. 3.1, in which the orthonormal rows of P change nothing."""
    return 0.5 * np.sum(Z1**2) + 0.5 * np.sum(Z2**2) - gamma * np.log(np.linalg.det(Z1 @ Z1.T))


def test_the_increase_of_the_potential_is_the_smallest_over_interpolators_nearby(data, linear):
    trajectory, table = linear
    Z1, Z2 = limit_in_square_form(trajectory, 0)
    X, Y = data["X"][0], data["Y"][0]
    gammas = {"increase": GAMMA, "increase_without_log_det": 0.0, "increase_twice_log_det": 2 * GAMMA}
    increases = {quantity: [] for quantity in gammas}
    # a standard normal matrix of shape (inputs, inputs) has a norm of about `inputs`, which makes the step of a
    # thousandth of the layer's norm; Z2 has the same divisor
    step = 1e-3 / INPUTS
    (rng,) = generators(0, "spectral_bias.perturbations", members=1)  # the perturbations of the metric
    for direction in rng.standard_normal((PERTURBATIONS, INPUTS * (INPUTS + OUTPUTS))):
        moved_Z1 = Z1 + step * np.linalg.norm(Z1) * direction[: INPUTS**2].reshape(INPUTS, INPUTS)
        moved_Z2 = Z2 + step * np.linalg.norm(Z2) * direction[INPUTS**2 :].reshape(INPUTS, OUTPUTS)
        # to the nearest second layer that interpolates
        moved_Z2 += np.linalg.lstsq(X @ moved_Z1, Y - X @ moved_Z1 @ moved_Z2, rcond=None)[0]
        squared_length = np.sum((moved_Z1 - Z1) ** 2) + np.sum((moved_Z2 - Z2) ** 2)
        for quantity, gamma in gammas.items():
            increase = potential_of(moved_Z1, moved_Z2, gamma) - potential_of(Z1, Z2, gamma)
            increases[quantity].append(increase / squared_length)
    for quantity, values in increases.items():
        assert at_limit(table, quantity, 0)[0] == pytest.approx(min(values), rel=1e-6), quantity
    assert min(increases["increase"]) > 0


def test_the_gradient_in_w2_does_not_vanish_at_another_interpolator(linear):
    """The gradient is linear in Z2, and Z2 steps by a thousandth of its norm, less what interpolation forbids.

    The data, three samples of four inputs, leave the step one direction, and so a tenth of it or more; Z1, of a
    condition below three, leaves another tenth. At the limit itself the gradient is below 1e-9.
    """
    _, table = linear
    assert 1e-5 < at_limit(table, "gradient_W2_elsewhere", 0)[0] < 1e-3


Z = np.eye(3) + 0.3 * np.random.default_rng(7).standard_normal((3, 3))
EQUAL_ENTRIES, UNEQUAL_ENTRIES = np.array([0.4, 0.4, 0.4]), np.array([0.1, 0.4, 1.6])  # diagonals of D


@pytest.mark.parametrize(("diagonal", "is_symmetric"), [(EQUAL_ENTRIES, True), (UNEQUAL_ENTRIES, False)])
def test_asymmetry_is_that_of_finite_differences(diagonal, is_symmetric):
    """The derivative of F(Z) = Z - Z^{-T} D is symmetric if D is a multiple of the identity (Lemma C.4)."""
    step = 1e-5

    def term_in_D(Z):
        return -np.linalg.inv(Z).T @ np.diag(diagonal)

    derivative = np.empty((9, 9))  # of each entry of the term, along each entry of Z
    for entry in range(9):
        shift = np.zeros(9)
        shift[entry] = step
        before, after = term_in_D(Z - shift.reshape(3, 3)), term_in_D(Z + shift.reshape(3, 3))
        derivative[:, entry] = (after - before).ravel() / (2 * step)
    (pairs,) = generators(0, "spectral_bias.directions", members=1)  # the directions of the metric
    asymmetries = []
    for H, K in pairs.standard_normal((potential.PAIRS, 2, 9)):
        along_H, along_K = derivative @ H, derivative @ K
        size = np.linalg.norm(K) * np.linalg.norm(along_H) + np.linalg.norm(H) * np.linalg.norm(along_K)
        asymmetries.append(abs(K @ along_H - H @ along_K) / size)
    asymmetry = float(potential.relative_asymmetry(Z, diagonal))
    # central differences err by the square of the step, 1e-10, and by rounding over it, 1e-11
    assert asymmetry == pytest.approx(max(asymmetries), rel=1e-6, abs=1e-8)
    rounding = 1e-13
    assert (asymmetry < rounding) == is_symmetric


@pytest.mark.parametrize("diagonal", [EQUAL_ENTRIES, UNEQUAL_ENTRIES])
def test_asymmetry_does_not_depend_on_the_units_of_z_and_d(diagonal):
    asymmetry = float(potential.relative_asymmetry(Z, diagonal))
    scaled = float(potential.relative_asymmetry(3.0 * Z, 50.0 * diagonal))
    # for equal entries both are zero, but for rounding
    assert scaled == pytest.approx(asymmetry, rel=1e-9, abs=1e-13)


# -- predictor and alpha along the flow --------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [0, 1])
def test_parts_off_the_diagonal_are_in_the_singular_basis_of_the_limit(data, linear, draw):
    trajectory, table = linear
    state = state_on_the_way(trajectory, draw)
    U, _, Vt = np.linalg.svd(minimum_norm_interpolator(data["X"][draw], data["Y"][draw]))
    for quantity, matrix in (("beta_off_diagonal", state.beta), ("alpha_off_diagonal", state.alpha)):
        squares = (U.T @ matrix @ Vt.T) ** 2
        off_diagonal = np.sqrt(1 - np.trace(squares) / np.sum(squares))
        assert series(table, quantity, draw)[RECORD, 0] == pytest.approx(off_diagonal, rel=1e-7), quantity


@pytest.mark.parametrize("draw", [0, 1])
def test_alpha_is_in_the_span_of_the_data(data, linear, draw):
    """The span of the rows of X (Lemma C.3)."""
    trajectory, table = linear
    alpha = state_on_the_way(trajectory, draw).alpha
    kernel = null_space(data["X"][draw])
    outside = np.linalg.norm(kernel.T @ alpha) / np.linalg.norm(alpha)
    assert series(table, "alpha_outside_data", draw)[RECORD, 0] == pytest.approx(outside, abs=1e-9)
    assert outside < 1e-9


@pytest.mark.parametrize("draw", [0, 1])
def test_asymmetries_of_the_proofs_products_are_sums_over_pairs_of_entries(data, linear, draw):
    """|A - A^T| of the products of (C.17), (C.18) and (C.22), relative to the factors' norms, of R at time 0."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    Z1, Z2, beta, alpha = state_on_the_way(trajectory, draw)
    R = X.T @ (Y - X @ beta)
    R_at_0 = np.linalg.norm(X.T @ Y)  # where beta is zero
    product_and_size = {
        "c_17": (R.T @ alpha, R_at_0 * np.linalg.norm(alpha)),
        "c_18": (R @ alpha.T, R_at_0 * np.linalg.norm(alpha)),
        "c_22": (Z1.T @ R @ Z2.T, R_at_0 * np.linalg.norm(Z1) * np.linalg.norm(Z2)),
    }
    for quantity, (A, size) in product_and_size.items():
        pairs = itertools.combinations(range(len(A)), 2)
        asymmetry = np.sqrt(2 * sum((A[i, j] - A[j, i]) ** 2 for i, j in pairs))
        assert series(table, quantity, draw)[RECORD, 0] == pytest.approx(asymmetry / size, rel=1e-6), quantity


# -- rows of unequal lengths -------------------------------------------------------------------------------------------


def commutator(A, B):
    """Return |AB - BA| / (|A| |B|)."""
    return np.linalg.norm(A @ B - B @ A) / np.linalg.norm(A) / np.linalg.norm(B)


SPREAD = 4.0
# of the rows of W1 at the start: 2 gamma / spread to 2 gamma * spread, evenly in the logarithm
SQUARED_LENGTHS = 2 * GAMMA * SPREAD ** np.linspace(-1, 1, INPUTS)


@pytest.fixture(scope="module")
def unequal(data):
    """Return trajectory and table of the flow from orthogonal rows of unequal lengths."""
    settings = {**SETTINGS, "spread": SPREAD}
    return trajectory_and_table(runs.anisotropic_flow, metrics.anisotropic_flow, settings, data, seed=3)


# W1 and W2 of a network as wide as the inputs, and so Z1 and Z2
UNEQUAL_START = np.diag(np.sqrt(SQUARED_LENGTHS)), np.zeros((INPUTS, OUTPUTS))


@pytest.mark.parametrize("draw", [0, 1])
def test_rows_of_unequal_lengths_start_orthogonal_beside_a_second_layer_of_zero(unequal, draw):
    trajectory, _ = unequal
    W1, W2 = trajectory.series["W1"][draw, 0], trajectory.series["W2"][draw, 0]
    # a few roundings of numbers of order one
    np.testing.assert_allclose(W1 @ W1.T, np.diag(SQUARED_LENGTHS), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(W2, 0)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_flow_from_rows_of_unequal_lengths_is_scipys(data, unequal, draw):
    trajectory, _ = unequal
    Z1, Z2 = flow(data["X"][draw], data["Y"][draw], *UNEQUAL_START, trajectory.time)
    beta = trajectory.series["W1"][draw, -1] @ trajectory.series["W2"][draw, -1]
    np.testing.assert_allclose(beta, Z1[-1] @ Z2[-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("draw", [0, 1])
def test_commutators_are_those_of_scipys_flow(data, unequal, draw):
    trajectory, table = unequal
    hidden, output = flow(data["X"][draw], data["Y"][draw], *UNEQUAL_START, trajectory.time)
    Z1, Z2 = hidden[-1], output[-1]  # at the last recorded time
    beta, alpha = Z1 @ Z2, np.linalg.inv(Z1.T) @ Z2
    with_layers = max(commutator(beta @ beta.T, Z1 @ Z1.T), commutator(beta.T @ beta, Z2.T @ Z2))
    assert series(table, "commutator_with_layers", draw)[-1, 0] == pytest.approx(with_layers, rel=1e-5)
    with_alpha = max(commutator(beta @ beta.T, alpha @ alpha.T), commutator(beta.T @ beta, alpha.T @ alpha))
    assert series(table, "commutator_with_alpha", draw)[-1, 0] == pytest.approx(with_alpha, rel=1e-5)


@pytest.mark.parametrize("draw", [0, 1])
def test_rows_of_unequal_lengths_keep_their_imbalance(unequal, draw):
    _, table = unequal
    # in units of sigma_1(Z1)^2, the errors of some hundred steps at 1e-11
    assert series(table, "imbalance_drift", draw).max() < 1e-9


@pytest.mark.parametrize("draw", [0, 1])
def test_from_rows_of_unequal_lengths_no_potential_has_the_gradient_of_lemma_c_4(unequal, draw):
    """The derivative of the gradient is not symmetric: rounding would leave 1e-13."""
    _, table = unequal
    assert at_limit(table, "asymmetry", draw)[0] > 1e-3


@pytest.mark.parametrize("draw", [0, 1])
def test_from_rows_of_unequal_lengths_the_limit_is_as_far_from_beta_star_as_scipys(data, unequal, draw):
    _, table = unequal
    X, Y = data["X"][draw], data["Y"][draw]
    star = minimum_norm_interpolator(X, Y)
    Z1, Z2 = at_rest(X, Y, *UNEQUAL_START, LATE)
    distance = np.linalg.norm(Z1 @ Z2 - star) / np.linalg.norm(star)
    assert at_limit(table, "distance", draw)[0] == pytest.approx(distance, rel=1e-6)
    assert distance > 1e-3  # from rows of one length the residual leaves 1e-9


@pytest.mark.parametrize("draw", [0, 1])
def test_the_gradient_of_lemma_c_4_has_the_inverse_on_the_left(data, unequal, draw):
    """At the limit Z1^{-T} Z2 Z2^T is Z1 - Z1^{-T} D, and not Z1 - D Z1^{-T} as printed."""
    _, table = unequal
    Z1, Z2 = at_rest(data["X"][draw], data["Y"][draw], *UNEQUAL_START, LATE)
    gradient = np.linalg.solve(Z1.T, Z2 @ Z2.T)
    printed = Z1 - np.diag(SQUARED_LENGTHS) @ np.linalg.inv(Z1).T
    error_of_printed = np.linalg.norm(printed - gradient) / np.linalg.norm(gradient)
    assert at_limit(table, "gradient_printed", draw)[0] == pytest.approx(error_of_printed, rel=1e-5)
    # the corrected gradient has the integrator's error alone, that of the printed one is far above
    assert at_limit(table, "gradient_corrected", draw)[0] < 1e-7
    assert error_of_printed > 1e-2


# -- balanced layers ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[2, 4, 7], ids="outputs={}".format)
def balanced(request):
    """Return data of one draw, and trajectory and table of the flow from balanced layers."""
    data = regression.gaussian(**{**SHAPE, "outputs": request.param}, seeds=1, seed=0)
    return data, *trajectory_and_table(runs.balanced_flow, metrics.balanced_flow, BALANCED, data, seed=3)


def test_balanced_layers_start_balanced(balanced):
    _, trajectory, _ = balanced
    W1, W2 = trajectory.series["W1"][0, 0], trajectory.series["W2"][0, 0]
    # a few roundings of numbers of order one
    np.testing.assert_allclose(W1.T @ W1, W2 @ W2.T, rtol=0, atol=1e-14)


def test_the_flow_from_balanced_layers_is_scipys(balanced):
    data, trajectory, table = balanced
    W1, W2 = trajectory.series["W1"][0], trajectory.series["W2"][0]  # times first
    scipys_W1, scipys_W2 = flow(data["X"][0], data["Y"][0], W1[0], W2[0], trajectory.time)
    np.testing.assert_allclose(W1[-1] @ W2[-1], scipys_W1[-1] @ scipys_W2[-1], rtol=0, atol=1e-8)
    rank = min(data["Y"].shape[-1], INPUTS)
    np.testing.assert_allclose(series(table, "sigma_w1", 0)[-1, :rank], spectrum(scipys_W1[-1], rank), rtol=1e-7)
    assert at_limit(table, "residual", 0)[0] <= INTEGRATION["residual"]


def test_the_narrower_of_balanced_layers_has_the_variance_that_is_set():
    draws, width = 200, 9
    data = regression.gaussian(**SHAPE, seeds=draws, seed=0)
    brief = INTEGRATION | {"patience": 1e-3, "horizon": 1e-3, "points": 2}  # only the start is read
    starts = runs.balanced_flow(data, width=width, variance=VARIANCE, integration=Limit(**brief), seed=1)
    # the narrower layer is W2, with fewer outputs than inputs; the run keeps fewer hidden directions than the width,
    # with the norm of all entries
    entries = draws * width * OUTPUTS
    mean_square = np.sum(starts.series["W2"][:, 0] ** 2) / entries
    # of a mean of squares of Gaussian entries, each of variance 2 VARIANCE^2
    standard_error = VARIANCE * (2 / entries) ** 0.5
    assert mean_square == pytest.approx(VARIANCE, abs=4 * standard_error)
