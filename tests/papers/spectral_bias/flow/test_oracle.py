"""Gradient flow against scipy's integrator on the full network, and what is measured of it by other means."""

import numpy as np
import pytest
import torch
from scipy.linalg import null_space

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.flow import metrics, potential, runs
from learning_dynamics.papers.spectral_bias.two_layer_flow import Limit
from learning_dynamics.seeds import generators
from tests.papers.spectral_bias.plain import by_time, flow, spectrum, trajectory_and_table

SHAPE = {"samples": 2, "inputs": 4, "outputs": 2}
GAMMA = 0.2
# Both integrators take a relative tolerance of 1e-11, and errors are a few hundred of it: numbers agree to 1e-8. A
# spectrum is the root of eigenvalues, so that where it vanishes it agrees to 1e-7.
INTEGRATION = {"horizon": 2.0, "points": 5, "residual": 1e-10, "patience": 1e4, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": 9, "gamma": GAMMA, "integration": INTEGRATION}
BALANCED = {"width": 9, "variance": 0.3, "integration": INTEGRATION}


@pytest.fixture(scope="module")
def data():
    return regression.gaussian(**SHAPE, seeds=2, seed=5)


@pytest.fixture(scope="module")
def linear(data):
    measuring = {"settled": 1e-6, "perturbations": 30}
    return trajectory_and_table(runs.linear_flow, metrics.linear_flow, SETTINGS, data, measuring=measuring, seed=3)


def series(table, quantity, draw, phase="flow", column="value"):
    return by_time(table, quantity, column, seed=draw, phase=phase)


def another_network(data, draw, times):
    """Return both layers of a network whose rows are orthonormal in another hidden space, wider than the run's."""
    rows = np.linalg.qr(np.random.default_rng(draw).standard_normal((12, 4)))[0].T
    return flow(data["X"][draw], data["Y"][draw], np.sqrt(2 * GAMMA) * rows, np.zeros((12, 2)), times)


@pytest.mark.parametrize("draw", [0, 1])
def test_spectra_are_those_of_any_network_from_orthogonal_rows(data, linear, draw):
    trajectory, table = linear
    W1, W2 = another_network(data, draw, trajectory.time)
    hidden, output, product = spectrum(W1), spectrum(W2), W1 @ W2
    for column in ("value", "predicted"):
        sigma_w1, sigma_w2 = (series(table, name, draw, column=column) for name in ("sigma_w1", "sigma_w2"))
        np.testing.assert_allclose(sigma_w1, hidden, rtol=1e-8, err_msg=column)
        np.testing.assert_allclose(sigma_w2, output, atol=1e-7, err_msg=column)
    np.testing.assert_allclose(series(table, "sigma_beta", draw), spectrum(product, 2), atol=1e-7)


@pytest.mark.parametrize("draw", [0, 1])
def test_loss_residual_and_condition_are_those_of_any_network_from_orthogonal_rows(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = another_network(data, draw, trajectory.time)
    hidden = spectrum(W1)
    losses = 0.5 * np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2))
    wanted = {
        "loss": losses,
        "residual": np.sqrt(2 * losses / np.sum(Y**2)),
        "condition_of_Z1": hidden[:, 0] / hidden[:, -1],
        "largest_eigenvalue": hidden[:, 0] ** 2,
    }
    for quantity, values in wanted.items():
        np.testing.assert_allclose(series(table, quantity, draw)[:, 0], values, rtol=1e-7, err_msg=quantity)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_imbalance_stays(linear, draw):
    _, table = linear
    np.testing.assert_allclose(series(table, "imbalance", draw), 2 * GAMMA, rtol=1e-8)
    np.testing.assert_allclose(series(table, "imbalance", draw, column="predicted"), 2 * GAMMA, rtol=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_limit_is_the_least_squares_solution_of_least_norm(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    least = np.linalg.lstsq(X, Y, rcond=None)[0]
    found = trajectory.constants["limit_W1"][draw] @ trajectory.constants["limit_W2"][draw]
    np.testing.assert_allclose(found, least, atol=1e-9)
    np.testing.assert_allclose(series(table, "sigma_beta", draw, "limit", "predicted")[0], spectrum(least, 2))


@pytest.mark.parametrize("draw", [0, 1])
def test_the_predicted_spectra_at_the_limit_are_those_of_a_network_after_long(data, linear, draw):
    _, table = linear
    W1, W2 = another_network(data, draw, np.array([0.0, 200.0]))
    np.testing.assert_allclose(series(table, "sigma_w1", draw, "limit", "predicted")[0], spectrum(W1[-1], 4), rtol=1e-8)
    np.testing.assert_allclose(series(table, "sigma_w2", draw, "limit", "predicted")[0], spectrum(W2[-1], 2), rtol=1e-7)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_distance_from_the_limit_and_its_bound(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    least = np.linalg.lstsq(X, Y, rcond=None)[0]
    size = np.linalg.norm(least)
    apart = np.linalg.norm(trajectory.series["W1"][draw] @ trajectory.series["W2"][draw] - least, axis=(1, 2))
    np.testing.assert_allclose(series(table, "distance", draw)[:, 0], apart / size)
    # what the residual leaves of a predictor in the span of the data, in the worst of its directions
    leaves = np.linalg.norm(Y) * series(table, "residual", draw)[:, 0] / (spectrum(X, 2)[-1] * size)
    np.testing.assert_allclose(series(table, "distance_bound", draw)[:, 0], leaves)
    assert (apart / size <= leaves * (1 + 1e-9)).all()


@pytest.mark.parametrize("draw", [0, 1])
def test_what_the_residual_leaves_open_of_the_spectrum(data, linear, draw):
    """To first order, a predictor at the remaining distance moves a hidden singular value by its slope times that."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = trajectory.constants["limit_W1"][draw], trajectory.constants["limit_W2"][draw]
    apart = np.linalg.norm(X @ W1 @ W2 - Y) / spectrum(X, 2)[-1]
    sigma = spectrum(np.linalg.lstsq(X, Y, rcond=None)[0], 2)

    def hidden(values):
        # the positive root of w^4 - 2 gamma w^2 = sigma^2
        return np.array([max(np.roots([1, -2 * GAMMA, -(value**2)]).real) ** 0.5 for value in values])

    bound = series(table, "sigma_w1_left_open", draw, "limit")[0, 0]
    slopes = (hidden(sigma * (1 + 1e-6)) - hidden(sigma * (1 - 1e-6))) / (2e-6 * sigma)
    # up to the next order, and rounding of values of order one
    assert bound == pytest.approx(slopes.max() * apart / hidden(sigma)[0], rel=0.2, abs=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("quantity", ["decay_rate_of_R", "decay_rate_of_residual"])
def test_rates_are_finite_differences(data, linear, draw, quantity):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    factor = {"decay_rate_of_R": X.T, "decay_rate_of_residual": np.eye(2)}[quantity]
    unit = GAMMA * spectrum(X, 2)[-1] ** 2
    shift = 1e-4  # of time: central differences err by its square, and by rounding over it
    rates = []
    for at in range(5):
        W1, W2 = trajectory.series["W1"][draw, at], trajectory.series["W2"][draw, at]
        error = X.T @ (Y - X @ W1 @ W2)
        states = [(W1 + way * error @ W2.T, W2 + way * W1.T @ error) for way in (-shift, 0.0, shift)]
        residuals = [Y - X @ one @ two for one, two in states]
        before, now, after = (np.sum((factor @ residual) ** 2) for residual in residuals)
        rates.append((before - after) / (2 * shift) / now / unit)
    np.testing.assert_allclose(series(table, quantity, draw)[:, 0], rates, rtol=1e-5)
    assert series(table, quantity, draw, "draw")[0, 0] == pytest.approx(min(rates), rel=1e-5)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_distance_of_parameters_from_their_limit_and_its_bound(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    ends = [trajectory.constants[f"limit_{name}"][draw] for name in ("W1", "W2")]
    size = np.sqrt(sum(np.sum(end**2) for end in ends))
    ways, bounds = [], []
    for at in range(5):
        now = [trajectory.series[name][draw, at] for name in ("W1", "W2")]
        ways.append(np.sqrt(sum(np.sum((one - end) ** 2) for one, end in zip(now, ends, strict=True))))
        bounds.append(np.linalg.norm(Y - X @ now[0] @ now[1]) / np.sqrt(2 * GAMMA) / spectrum(X, 2)[-1])
    ways, bounds = np.array(ways), np.array(bounds)
    distance = "parameter_distance"
    np.testing.assert_allclose(series(table, distance, draw)[:, 0], ways / size, rtol=1e-6)
    np.testing.assert_allclose(series(table, distance, draw, column="predicted")[:, 0], bounds / size, rtol=1e-6)
    assert series(table, "distance_over_its_bound", draw, "draw")[0, 0] == pytest.approx(np.max(ways / bounds))
    left = np.linalg.norm(Y - X @ ends[0] @ ends[1]) / np.sqrt(2 * GAMMA) / spectrum(X, 2)[-1] / size
    assert series(table, "bound_at_end", draw, "draw")[0, 0] == pytest.approx(left, rel=1e-6)


@pytest.mark.parametrize("draw", [0, 1])
def test_condition_and_samples_of_the_data(data, linear, draw):
    _, table = linear
    X = data["X"][draw]
    ratio = spectrum(X, 2)[-1] / spectrum(X, 2)[0]
    assert series(table, "inverse_condition_of_X", draw, "draw")[0, 0] == pytest.approx(ratio)
    assert series(table, "samples", draw, "draw")[0, 0] == 2


def pair_at_limit(trajectory, draw):
    P = trajectory.constants["P"][draw]
    return trajectory.constants["limit_W1"][draw] @ P.T, P @ trajectory.constants["limit_W2"][draw]


def lagrangian_gradient_W1(X, first, second, logarithms):
    """Return |dLagrangian/dW1| / |W1| by torch, with the multiplier that the second layer's gradient asks for."""
    X = torch.tensor(X)
    first, second = (torch.tensor(layer, requires_grad=True) for layer in (first, second))
    squares = 0.5 * (first**2).sum() + 0.5 * (second**2).sum()
    potential_value = squares - logarithms * GAMMA * torch.logdet(first @ first.T)
    _, gradient_W2 = torch.autograd.grad(potential_value, [first, second], retain_graph=True)
    # the constraint X W1 W2, of 2 x 2 entries, by the 4 x 2 entries of W2
    pull = torch.autograd.functional.jacobian(lambda W2: X @ first @ W2, second).reshape(4, 8).T
    multiplier = torch.linalg.lstsq(pull, gradient_W2.reshape(-1, 1)).solution.reshape(2, 2)
    lagrangian = potential_value - (multiplier * (X @ first @ second)).sum()
    (slope_W1,) = torch.autograd.grad(lagrangian, [first])
    return (slope_W1.norm() / first.norm()).item()


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize(
    ("quantity", "logarithms"),
    [("gradient_W1", 1.0), ("gradient_W1_without_log_det", 0.0), ("gradient_W1_twice_log_det", 2.0)],
)
def test_stationarity_is_torchs(data, linear, draw, quantity, logarithms):
    trajectory, table = linear
    gradient = lagrangian_gradient_W1(data["X"][draw], *pair_at_limit(trajectory, draw), logarithms)
    assert series(table, quantity, draw, "limit")[0, 0] == pytest.approx(gradient, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_limit_is_stationary_in_both_layers(data, linear, draw):
    trajectory, table = linear
    assert lagrangian_gradient_W1(data["X"][draw], *pair_at_limit(trajectory, draw), 1.0) < 1e-9
    assert series(table, "gradient_W2", draw, "limit")[0, 0] == pytest.approx(0.0, abs=1e-9)


def potential_of(Z1, Z2, gamma):
    return 0.5 * np.sum(Z1**2) + 0.5 * np.sum(Z2**2) - gamma * np.log(np.linalg.det(Z1 @ Z1.T))


def test_excess_is_the_least_over_interpolators_nearby(data, linear):
    trajectory, table = linear
    Z1, Z2 = pair_at_limit(trajectory, 0)
    X, Y = data["X"][0], data["Y"][0]
    (rng,) = generators(0, "spectral_bias.perturbations", 1)
    gammas = {"increase": GAMMA, "increase_without_log_det": 0.0, "increase_twice_log_det": 2 * GAMMA}
    increases = {quantity: [] for quantity in gammas}
    for directions in rng.standard_normal((30, 24)):
        # a thousandth of a layer, over the root of its 16 and, near enough, 8 entries
        moved = Z1 + 1e-3 * np.linalg.norm(Z1) / 4 * directions[:16].reshape(4, 4)
        guess = Z2 + 1e-3 * np.linalg.norm(Z2) / 4 * directions[16:].reshape(4, 2)
        fitted = guess + np.linalg.lstsq(X @ moved, Y - X @ moved @ guess, rcond=None)[0]
        length = np.sum((moved - Z1) ** 2) + np.sum((fitted - Z2) ** 2)
        for quantity, gamma in gammas.items():
            increase = potential_of(moved, fitted, gamma) - potential_of(Z1, Z2, gamma)
            increases[quantity].append(increase / length)
    for quantity, values in increases.items():
        assert series(table, quantity, 0, "limit")[0, 0] == pytest.approx(min(values), rel=1e-6), quantity
    assert min(increases["increase"]) > 0


def test_another_interpolator_is_a_thousandth_away(linear):
    _, table = linear
    assert 1e-5 < series(table, "gradient_W2_elsewhere", 0, "limit")[0, 0] < 1e-3


@pytest.mark.parametrize("equal", [True, False])
def test_asymmetry_is_that_of_finite_differences(equal):
    rng = np.random.default_rng(7)
    Z = np.eye(3) + 0.3 * rng.standard_normal((3, 3))
    diagonal = np.full(3, 0.4) if equal else np.array([0.1, 0.4, 1.6])

    def field(at):
        return at - np.linalg.inv(at).T @ np.diag(diagonal)

    jacobian = np.empty((9, 9))
    for entry in range(9):
        shift = np.zeros(9)
        shift[entry] = 1e-5
        ends = [field(Z + side * shift.reshape(3, 3)).ravel() for side in (1, -1)]
        jacobian[:, entry] = (ends[0] - ends[1]) / 2e-5
    derivative = jacobian - np.eye(9)  # of the term in D
    (pairs,) = generators(0, "spectral_bias.directions", 1)
    asymmetries = []
    for H, K in pairs.standard_normal((potential.PAIRS, 2, 9)):
        along, across = derivative @ H, derivative @ K
        size = np.linalg.norm(K) * np.linalg.norm(along) + np.linalg.norm(H) * np.linalg.norm(across)
        asymmetries.append(abs(K @ along - H @ across) / size)
    found = float(potential.relative_asymmetry(Z, diagonal))
    # differences over 1e-5 err by 1e-10 of the field
    assert found == pytest.approx(max(asymmetries), rel=1e-6, abs=1e-8)
    assert (found < 1e-13) == equal


@pytest.mark.parametrize("diagonal", [[0.4, 0.4, 0.4], [0.1, 0.4, 1.6]])
def test_asymmetry_has_no_units(diagonal):
    Z = np.eye(3) + 0.3 * np.random.default_rng(7).standard_normal((3, 3))
    found = float(potential.relative_asymmetry(Z, np.array(diagonal)))
    scaled = float(potential.relative_asymmetry(3.0 * Z, 50.0 * np.array(diagonal)))
    assert scaled == pytest.approx(found, rel=1e-9, abs=1e-13)


AT = 3  # a record on the way


def pair_at(trajectory, draw, at):
    """Return Z1, Z2, beta and alpha at one record of a draw."""
    P = trajectory.constants["P"][draw]
    W1, W2 = trajectory.series["W1"][draw, at], trajectory.series["W2"][draw, at]
    Z1, Z2 = W1 @ P.T, P @ W2
    return Z1, Z2, W1 @ W2, np.linalg.inv(Z1.T) @ Z2


@pytest.mark.parametrize("draw", [0, 1])
def test_parts_off_the_diagonal_in_the_basis_of_the_limit(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    _, _, beta, alpha = pair_at(trajectory, draw, AT)
    left, _, right = np.linalg.svd(np.linalg.lstsq(X, Y, rcond=None)[0])
    for quantity, matrix in (("beta_off_diagonal", beta), ("alpha_off_diagonal", alpha)):
        turned = left.T @ matrix @ right.T
        off = np.sqrt(np.sum(turned**2) - np.sum(np.diag(turned) ** 2)) / np.sqrt(np.sum(turned**2))
        assert series(table, quantity, draw)[AT, 0] == pytest.approx(off, rel=1e-7), quantity


@pytest.mark.parametrize("draw", [0, 1])
def test_alpha_is_in_the_span_of_the_data(data, linear, draw):
    trajectory, table = linear
    _, _, _, alpha = pair_at(trajectory, draw, AT)
    kernel = null_space(data["X"][draw])
    outside = np.linalg.norm(kernel.T @ alpha) / np.linalg.norm(alpha)
    assert series(table, "alpha_outside_data", draw)[AT, 0] == pytest.approx(outside, abs=1e-9)
    assert outside < 1e-9


@pytest.mark.parametrize("draw", [0, 1])
def test_asymmetries_entry_by_entry(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    Z1, Z2, beta, alpha = pair_at(trajectory, draw, AT)
    error = X.T @ (Y - X @ beta)
    start = np.linalg.norm(X.T @ Y)
    products = {
        "c_17": (error.T @ alpha, start * np.linalg.norm(alpha)),
        "c_18": (error @ alpha.T, start * np.linalg.norm(alpha)),
        "c_22": (Z1.T @ error @ Z2.T, start * np.linalg.norm(Z1) * np.linalg.norm(Z2)),
    }
    for quantity, (product, size) in products.items():
        skew = np.sqrt(2 * sum((product[i, j] - product[j, i]) ** 2 for j in range(len(product)) for i in range(j)))
        assert series(table, quantity, draw)[AT, 0] == pytest.approx(skew / size, rel=1e-6), quantity


def commutator(A, B):
    return np.linalg.norm(A @ B - B @ A) / np.linalg.norm(A) / np.linalg.norm(B)


LENGTHS = 0.4 * 4.0 ** np.linspace(-1, 1, 4)  # squared, of rows whose scales spread by 4


@pytest.fixture(scope="module")
def unequal(data):
    settings = {**SETTINGS, "spread": 4.0}
    return trajectory_and_table(runs.anisotropic_flow, metrics.anisotropic_flow, settings, data, seed=3)


@pytest.mark.parametrize("draw", [0, 1])
def test_rows_of_unequal_lengths_at_the_start(unequal, draw):
    trajectory, _ = unequal
    W1, W2 = trajectory.series["W1"][draw, 0], trajectory.series["W2"][draw, 0]
    np.testing.assert_allclose(W1 @ W1.T, np.diag(LENGTHS), atol=1e-12)
    np.testing.assert_array_equal(W2, 0)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_flow_from_rows_of_unequal_lengths(data, unequal, draw):
    trajectory, table = unequal
    W1, W2 = trajectory.series["W1"][draw, -1], trajectory.series["W2"][draw, -1]
    hidden, output = flow(
        data["X"][draw], data["Y"][draw], np.diag(np.sqrt(LENGTHS)), np.zeros((4, 2)), trajectory.time
    )
    first, second = hidden[-1], output[-1]
    beta, alpha = first @ second, np.linalg.inv(first.T) @ second
    np.testing.assert_allclose(W1 @ W2, beta, atol=1e-8)
    with_layers = max(commutator(beta @ beta.T, first @ first.T), commutator(beta.T @ beta, second.T @ second))
    assert series(table, "commutator_with_layers", draw)[-1, 0] == pytest.approx(with_layers, rel=1e-5)
    with_alpha = max(commutator(beta @ beta.T, alpha @ alpha.T), commutator(beta.T @ beta, alpha.T @ alpha))
    assert series(table, "commutator_with_alpha", draw)[-1, 0] == pytest.approx(with_alpha, rel=1e-5)


@pytest.mark.parametrize("draw", [0, 1])
def test_rows_of_unequal_lengths_keep_their_imbalance_and_end_elsewhere(unequal, draw):
    _, table = unequal
    assert series(table, "imbalance_drift", draw).max() < 1e-9
    assert series(table, "asymmetry", draw, "limit")[0, 0] > 1e-3
    assert series(table, "distance", draw, "limit")[0, 0] > 1e-3


@pytest.mark.parametrize("draw", [0, 1])
def test_the_gradient_of_lemma_c_4_has_the_inverse_on_the_left(data, unequal, draw):
    _, table = unequal
    hidden, output = flow(
        data["X"][draw], data["Y"][draw], np.diag(np.sqrt(LENGTHS)), np.zeros((4, 2)), np.array([0.0, 300.0])
    )
    Z1, Z2 = hidden[-1], output[-1]
    gradient = np.linalg.solve(Z1.T, Z2 @ Z2.T)
    printed = Z1 - LENGTHS[:, None] * np.linalg.inv(Z1).T
    expected = np.linalg.norm(printed - gradient) / np.linalg.norm(gradient)
    assert series(table, "gradient_printed", draw, "limit")[0, 0] == pytest.approx(expected, rel=1e-5)
    assert expected > 1e-2
    assert series(table, "gradient_corrected", draw, "limit")[0, 0] < 1e-7


@pytest.mark.parametrize("outputs", [2, 4, 7])
def test_the_flow_from_balanced_layers_is_scipys(outputs):
    data = regression.gaussian(samples=2, inputs=4, outputs=outputs, seeds=1, seed=0)
    trajectory, table = trajectory_and_table(runs.balanced_flow, metrics.balanced_flow, BALANCED, data, seed=3)
    W1, W2 = trajectory.series["W1"][0], trajectory.series["W2"][0]
    np.testing.assert_allclose(W1[0].T @ W1[0], W2[0] @ W2[0].T, atol=1e-12)
    one, two = flow(data["X"][0], data["Y"][0], W1[0], W2[0], trajectory.time)
    np.testing.assert_allclose(W1[-1] @ W2[-1], one[-1] @ two[-1], atol=1e-8)
    rank = min(outputs, 4)
    np.testing.assert_allclose(series(table, "sigma_w1", 0)[-1, :rank], spectrum(one[-1], rank), rtol=1e-7)
    assert series(table, "residual", 0, "limit")[0, 0] < 1e-9


def test_the_narrower_of_balanced_layers_has_the_variance_that_is_said():
    data = regression.gaussian(**SHAPE, seeds=200, seed=0)
    brief = INTEGRATION | {"patience": 1e-3, "horizon": 1e-3, "points": 2}
    starts = runs.balanced_flow(data, width=9, variance=0.3, integration=Limit(**brief), seed=1)
    entries = np.sum(starts.series["W2"][:, 0] ** 2, axis=(1, 2)) / 18
    # a mean of 3,600 squares of variance 2 v^2
    assert entries.mean() == pytest.approx(0.3, abs=4 * 0.3 * (2 / 3600) ** 0.5)
