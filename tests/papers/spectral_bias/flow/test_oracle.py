"""Gradient flow against scipy's integrator on the full network, and what is measured of it by other means."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import null_space

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.flow import metrics, potential, runs
from learning_dynamics.papers.spectral_bias.two_layer_flow import Limit
from learning_dynamics.pipeline.commands.functions import arguments_for

SHAPE = {"samples": 2, "inputs": 4, "outputs": 2}
INTEGRATION = {"horizon": 2.0, "points": 5, "residual": 1e-10, "patience": 1e4, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": 9, "gamma": 0.2, "integration": INTEGRATION}


def table_of(run, measure, data, settings, **options):
    trajectory = run(data, **arguments_for(run, settings), seed=3)
    trajectory.settings = settings
    return trajectory, measure(trajectory, **options)


@pytest.fixture(scope="module")
def data():
    return regression.gaussian(**SHAPE, seeds=2, seed=5)


@pytest.fixture(scope="module")
def linear(data):
    return table_of(runs.linear_flow, metrics.linear_flow, data, SETTINGS, settled=1e-6, perturbations=30)


def series(table, quantity, draw, phase="flow", column="value"):
    """Return an array of shape (times, entries)."""
    rows = table[(table["quantity"] == quantity) & (table["seed"] == draw) & (table["phase"] == phase)]
    return rows.pivot(index="time", columns="index", values=column).to_numpy()


def network_flow(X, Y, first, second, times):
    """Return both layers at the times, by scipy, from any layers."""
    shape, split = first.shape, first.size

    def slope(_time, state):
        W, a = state[:split].reshape(shape), state[split:].reshape(second.shape)
        error = X.T @ (Y - X @ W @ a)
        return np.concatenate([(error @ a.T).ravel(), (W.T @ error).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    found = solve_ivp(slope, (0, times[-1]), start, "RK45", t_eval=times, rtol=1e-10, atol=1e-13).y.T
    return found[:, :split].reshape(-1, *shape), found[:, split:].reshape(-1, *second.shape)


def spectrum(matrix, count):
    """Singular values by way of eigenvalues of the smaller Gram matrix."""
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    return np.sqrt(np.clip(np.linalg.eigvalsh(gram), 0, None))[::-1][:count]


@pytest.mark.parametrize("draw", [0, 1])
def test_spectra_are_those_of_any_network_from_orthogonal_rows(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    # rows that are orthonormal in another hidden space, wider than the run's
    rows = np.linalg.qr(np.random.default_rng(draw).standard_normal((12, 4)))[0].T
    W1, W2 = network_flow(X, Y, np.sqrt(0.4) * rows, np.zeros((12, 2)), trajectory.time)
    for column in ("value", "predicted"):
        hidden, outer = (series(table, name, draw, column=column) for name in ("sigma_w1", "sigma_w2"))
        for at in range(5):
            np.testing.assert_allclose(hidden[at], spectrum(W1[at], 4), rtol=1e-8)
            np.testing.assert_allclose(outer[at], spectrum(W2[at], 2), atol=1e-7)
    for at in range(5):
        product = W1[at] @ W2[at]
        loss = 0.5 * np.sum((X @ product - Y) ** 2)
        assert series(table, "loss", draw)[at, 0] == pytest.approx(loss, rel=1e-7)
        residual = np.sqrt(2 * loss) / np.sqrt(np.sum(Y**2))
        assert series(table, "residual", draw)[at, 0] == pytest.approx(residual, rel=1e-7)
        np.testing.assert_allclose(series(table, "sigma_beta", draw)[at], spectrum(product, 2), atol=1e-7)
        # the pair's size is the imbalance's condition: the span of rows in which nothing has moved stays at its start
        assert series(table, "condition", draw)[at, 0] == pytest.approx(
            spectrum(W1[at], 4)[0] / spectrum(W1[at], 4)[-1], rel=1e-7
        )
        assert series(table, "scale", draw)[at, 0] == pytest.approx(spectrum(W1[at], 1)[0] ** 2, rel=1e-7)
    np.testing.assert_allclose(series(table, "imbalance", draw), 0.4, rtol=1e-8)
    np.testing.assert_allclose(series(table, "imbalance", draw, column="predicted"), 0.4, rtol=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_limit_is_the_least_squares_solution_of_least_norm(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    least = np.linalg.lstsq(X, Y, rcond=None)[0]
    found = trajectory.constants["limit_W1"][draw] @ trajectory.constants["limit_W2"][draw]
    np.testing.assert_allclose(found, least, atol=1e-9)
    np.testing.assert_allclose(series(table, "sigma_beta", draw, "limit", "predicted")[0], spectrum(least, 2))
    # the flow of another network, followed for long
    rows = np.linalg.qr(np.random.default_rng(draw).standard_normal((12, 4)))[0].T
    W1, W2 = network_flow(X, Y, np.sqrt(0.4) * rows, np.zeros((12, 2)), np.array([0.0, 200.0]))
    np.testing.assert_allclose(series(table, "sigma_w1", draw, "limit", "predicted")[0], spectrum(W1[-1], 4), rtol=1e-8)
    np.testing.assert_allclose(series(table, "sigma_w2", draw, "limit", "predicted")[0], spectrum(W2[-1], 2), rtol=1e-7)
    size = np.linalg.norm(least)
    apart = np.linalg.norm(trajectory.series["W1"][draw] @ trajectory.series["W2"][draw] - least, axis=(1, 2))
    np.testing.assert_allclose(series(table, "distance", draw)[:, 0], apart / size)
    # what the residual leaves of a predictor in the span of the data, in the worst of its directions
    leaves = np.linalg.norm(Y) * series(table, "residual", draw)[:, 0] / (spectrum(X, 2)[-1] * size)
    np.testing.assert_allclose(series(table, "distance_bound", draw)[:, 0], leaves)
    assert (apart / size <= leaves * (1 + 1e-9)).all()


@pytest.mark.parametrize("draw", [0, 1])
def test_what_the_residual_leaves_open_of_the_spectrum(data, linear, draw):
    """Predictors at the remaining distance, at random: no hidden singular value of theirs lies beyond the bound."""
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = trajectory.constants["limit_W1"][draw], trajectory.constants["limit_W2"][draw]
    apart = np.linalg.norm(X @ W1 @ W2 - Y) / spectrum(X, 2)[-1]
    sigma = spectrum(np.linalg.lstsq(X, Y, rcond=None)[0], 2)

    def hidden(values):
        # the positive root of w^4 - 2 gamma w^2 = sigma^2
        return np.array([max(np.roots([1, -2 * 0.2, -(value**2)]).real) ** 0.5 for value in values])

    bound = series(table, "sigma_bound", draw, "limit")[0, 0]
    slopes = (hidden(sigma * (1 + 1e-6)) - hidden(sigma * (1 - 1e-6))) / (2e-6 * sigma)
    # to first order, up to rounding of values of order one
    assert bound == pytest.approx(slopes.max() * apart / hidden(sigma)[0], rel=0.2, abs=1e-15)


@pytest.mark.parametrize("draw", [0, 1])
def test_rates_are_finite_differences(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    unit = 0.2 * spectrum(X, 2)[-1] ** 2
    lowest = {"gradient_rate": [], "residual_rate": []}
    for at in range(5):
        W1, W2 = trajectory.series["W1"][draw, at], trajectory.series["W2"][draw, at]
        shift = 1e-4
        (before, now, after), sizes = (0, 1, 2), {}
        states = [(W1, W2)]
        for sign in (-1, 1):
            # a short step of the flow, by its Taylor series of second order
            error = X.T @ (Y - X @ W1 @ W2)
            slope = error @ W2.T, W1.T @ error
            bent = -X.T @ X @ (slope[0] @ W2 + W1 @ slope[1])
            curve = bent @ W2.T + error @ slope[1].T, slope[0].T @ error + W1.T @ bent
            moved = [
                layer + sign * shift * first + shift**2 / 2 * second
                for layer, first, second in zip((W1, W2), slope, curve, strict=True)
            ]
            states.append(tuple(moved))
        ordered = [states[1], states[0], states[2]]
        sizes["residual_rate"] = [np.sum((Y - X @ one @ two) ** 2) for one, two in ordered]
        sizes["gradient_rate"] = [np.sum((X.T @ (Y - X @ one @ two)) ** 2) for one, two in ordered]
        for quantity, values in sizes.items():
            rate = -(values[after] - values[before]) / (2 * shift) / values[now] / unit
            lowest[quantity].append(rate)
            assert series(table, quantity, draw)[at, 0] == pytest.approx(rate, rel=1e-5)
    for quantity, rates in lowest.items():
        assert series(table, quantity, draw, "draw")[0, 0] == pytest.approx(min(rates), rel=1e-5)


@pytest.mark.parametrize("draw", [0, 1])
def test_parameters_arrive_as_far_as_they_had_to_go(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    ends = [trajectory.constants[f"limit_{name}"][draw] for name in ("W1", "W2")]
    size = np.sqrt(sum(np.sum(end**2) for end in ends))
    shares = []
    for at in range(5):
        now = [trajectory.series[name][draw, at] for name in ("W1", "W2")]
        way = np.sqrt(sum(np.sum((one - end) ** 2) for one, end in zip(now, ends, strict=True)))
        allowed = np.linalg.norm(Y - X @ now[0] @ now[1]) / np.sqrt(2 * 0.2) / spectrum(X, 2)[-1]
        shares.append(way / allowed)
        assert series(table, "parameter_distance", draw)[at, 0] == pytest.approx(way / size)
        assert series(table, "parameter_distance", draw, column="predicted")[at, 0] == pytest.approx(allowed / size)
    assert series(table, "arrival", draw, "draw")[0, 0] == pytest.approx(max(shares))
    left = np.linalg.norm(Y - X @ ends[0] @ ends[1]) / np.sqrt(2 * 0.2) / spectrum(X, 2)[-1] / size
    assert series(table, "left", draw, "draw")[0, 0] == pytest.approx(left, rel=1e-6)
    ratio = spectrum(X, 2)[-1] / spectrum(X, 2)[0]
    assert series(table, "inverse_condition", draw, "draw")[0, 0] == pytest.approx(ratio)
    assert series(table, "samples", draw, "draw")[0, 0] == 2


def pair_at_limit(trajectory, draw):
    P = trajectory.constants["P"][draw]
    return trajectory.constants["limit_W1"][draw] @ P.T, P @ trajectory.constants["limit_W2"][draw]


@pytest.mark.parametrize(
    ("quantity", "logarithms"), [("stationarity_W1", 1.0), ("stationarity_plain", 0.0), ("stationarity_double", 2.0)]
)
def test_stationarity_is_torchs(data, linear, quantity, logarithms):
    """The Lagrangian with the multiplier that the second layer's gradient asks for, differentiated by torch."""
    trajectory, table = linear
    for draw in range(2):
        X = torch.tensor(data["X"][draw])
        first, second = (torch.tensor(layer, requires_grad=True) for layer in pair_at_limit(trajectory, draw))
        squares = 0.5 * (first**2).sum() + 0.5 * (second**2).sum()
        value = squares - logarithms * 0.2 * torch.logdet(first @ first.T)
        gradient = torch.autograd.grad(value, [first, second], retain_graph=True)
        pull = torch.autograd.functional.jacobian(lambda W2, X=X, W1=first: X @ W1 @ W2, second).reshape(4, 8).T
        free = torch.linalg.lstsq(pull, gradient[1].reshape(-1, 1)).solution.reshape(2, 2)
        lagrangian = squares - logarithms * 0.2 * torch.logdet(first @ first.T) - (free * (X @ first @ second)).sum()
        slopes = torch.autograd.grad(lagrangian, [first, second])
        relative = (slopes[0].norm() / first.norm()).item()
        assert series(table, quantity, draw, "limit")[0, 0] == pytest.approx(relative, rel=1e-6, abs=1e-9)
        if logarithms == 1.0:
            assert relative < 1e-9
            assert series(table, "stationarity_W2", draw, "limit")[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_no_perturbation_lowers_the_potential_and_some_lower_the_others(linear):
    _, table = linear
    for draw in range(2):
        least = {name: series(table, name, draw, "limit")[0, 0] for name in ("excess", "excess_plain", "excess_double")}
        # the potential is strictly convex in S and beta; the others have a slope, over a length of a thousandth
        assert 0 < least["excess"] < 5
        assert least["excess_plain"] < -10
        assert least["excess_double"] < -10
        assert series(table, "stationarity_moved", draw, "limit")[0, 0] > 1e-5


def test_excess_is_half_the_potentials_second_derivative(data, linear):
    """Along any way through interpolators the potential's increase is quadratic, with torch's Hessian on that way."""
    trajectory, table = linear
    Z1, Z2 = pair_at_limit(trajectory, 0)
    X, Y = data["X"][0], data["Y"][0]
    rng, away = np.random.default_rng(0), []
    for _ in range(200):
        moved = Z1 + 1e-3 * rng.standard_normal(Z1.shape)
        fitted = Z2 + 1e-3 * rng.standard_normal(Z2.shape)
        fitted = fitted + np.linalg.lstsq(X @ moved, Y - X @ moved @ fitted, rcond=None)[0]
        values = [
            0.5 * np.sum(one**2) + 0.5 * np.sum(two**2) - 0.2 * np.log(np.linalg.det(one @ one.T))
            for one, two in ((moved, fitted), (Z1, Z2))
        ]
        away.append((values[0] - values[1]) / (np.sum((moved - Z1) ** 2) + np.sum((fitted - Z2) ** 2)))
    # the least over thirty other perturbations lies among those over two hundred
    found = series(table, "excess", 0, "limit")[0, 0]
    assert min(away) * 0.5 < found < np.median(away)


@pytest.mark.parametrize("equal", [True, False])
def test_curl_is_that_of_finite_differences(equal):
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
    skew = np.abs(jacobian - jacobian.T).max()
    found = float(potential.curl(Z, diagonal))
    assert (found < 1e-13) == (skew < 1e-8) == equal
    # a number without units
    assert float(potential.curl(3.0 * Z, 50.0 * diagonal)) == pytest.approx(found, rel=1e-9, abs=1e-13)
    if not equal:
        # random pairs see a part of the largest antisymmetry, relative to the derivative of the inverse alone
        size = np.linalg.norm(jacobian - np.eye(9), 2)
        assert 0.02 * skew / size < found <= np.linalg.norm(jacobian - jacobian.T, 2) / size * 9


@pytest.mark.parametrize("draw", [0, 1])
def test_vectors(data, linear, draw):
    trajectory, table = linear
    X, Y = data["X"][draw], data["Y"][draw]
    at, P = 3, trajectory.constants["P"][draw]
    W1, W2 = trajectory.series["W1"][draw, at], trajectory.series["W2"][draw, at]
    Z1, Z2 = W1 @ P.T, P @ W2
    beta, alpha = W1 @ W2, np.linalg.inv(Z1.T) @ Z2
    left, _, right = np.linalg.svd(np.linalg.lstsq(X, Y, rcond=None)[0])
    for quantity, matrix in (("turning", beta), ("alpha_turning", alpha)):
        turned = left.T @ matrix @ right.T
        off = np.sqrt(np.sum(turned**2) - np.sum(np.diag(turned) ** 2)) / np.sqrt(np.sum(turned**2))
        assert series(table, quantity, draw)[at, 0] == pytest.approx(off, rel=1e-7)
    kernel = null_space(X)
    outside = np.linalg.norm(kernel.T @ alpha) / np.linalg.norm(alpha)
    assert series(table, "alpha_outside", draw)[at, 0] == pytest.approx(outside, abs=1e-9)
    assert outside < 1e-9
    error = X.T @ (Y - X @ beta)
    start = np.linalg.norm(X.T @ Y)
    products = {
        "c_17": (error.T @ alpha, start * np.linalg.norm(alpha)),
        "c_18": (error @ alpha.T, start * np.linalg.norm(alpha)),
        "c_22": (Z1.T @ error @ Z2.T, start * np.linalg.norm(Z1) * np.linalg.norm(Z2)),
    }
    for quantity, (product, size) in products.items():
        skew = np.sqrt(2 * sum((product[i, j] - product[j, i]) ** 2 for j in range(len(product)) for i in range(j)))
        assert series(table, quantity, draw)[at, 0] == pytest.approx(skew / size, rel=1e-6)


def commutator(A, B):
    return np.linalg.norm(A @ B - B @ A) / np.linalg.norm(A) / np.linalg.norm(B)


def test_rows_of_unequal_lengths(data):
    settings = {**SETTINGS, "spread": 4.0}
    trajectory, table = table_of(runs.anisotropic_flow, metrics.anisotropic_flow, data, settings)
    lengths = 0.4 * 4.0 ** np.linspace(-1, 1, 4)
    for draw in range(2):
        X, Y = data["X"][draw], data["Y"][draw]
        W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
        np.testing.assert_allclose(W1[0] @ W1[0].T, np.diag(lengths), atol=1e-12)
        np.testing.assert_array_equal(W2[0], 0)
        other, last = network_flow(X, Y, np.diag(np.sqrt(lengths)), np.zeros((4, 2)), trajectory.time)
        np.testing.assert_allclose(W1[-1] @ W2[-1], other[-1] @ last[-1], atol=1e-8)
        # the pair's imbalance is kept
        gram = other[-1].T @ other[-1] - last[-1] @ last[-1].T
        np.testing.assert_allclose(gram, np.diag(lengths), atol=1e-8)
        assert series(table, "imbalance", draw).max() < 1e-9
        beta, at = other[-1] @ last[-1], 4
        shared = max(
            commutator(beta @ beta.T, other[-1] @ other[-1].T), commutator(beta.T @ beta, last[-1].T @ last[-1])
        )
        assert series(table, "shared_vectors", draw)[at, 0] == pytest.approx(shared, rel=1e-5)
        alpha = np.linalg.inv(other[-1].T) @ last[-1]
        shared = max(commutator(beta @ beta.T, alpha @ alpha.T), commutator(beta.T @ beta, alpha.T @ alpha))
        assert series(table, "alpha_vectors", draw)[at, 0] == pytest.approx(shared, rel=1e-5)
        assert series(table, "curl", draw, "limit")[0, 0] > 1e-3
        assert series(table, "distance", draw, "limit")[0, 0] > 1e-3


@pytest.mark.parametrize("outputs", [3, 4, 7])
def test_balanced_layers_of_any_shape(outputs):
    wide = regression.gaussian(samples=2, inputs=4, outputs=outputs, seeds=1, seed=0)
    settings = {name: value for name, value in SETTINGS.items() if name != "gamma"} | {"variance": 0.3}
    trajectory, table = table_of(runs.balanced_flow, metrics.balanced_flow, wide, settings)
    W1, W2 = trajectory.series["W1"][0], trajectory.series["W2"][0]
    for at in (0, -1):
        np.testing.assert_allclose(W1[at].T @ W1[at], W2[at] @ W2[at].T, atol=1e-9)
    assert series(table, "residual", 0, "limit")[0, 0] < 1e-9


def test_balanced_layers(data):
    settings = {name: value for name, value in SETTINGS.items() if name != "gamma"} | {"variance": 0.3}
    trajectory, table = table_of(runs.balanced_flow, metrics.balanced_flow, data, settings)
    for draw in range(2):
        W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
        np.testing.assert_allclose(W1[0].T @ W1[0], W2[0] @ W2[0].T, atol=1e-12)
        one, two = network_flow(data["X"][draw], data["Y"][draw], W1[0], W2[0], trajectory.time)
        np.testing.assert_allclose(one[-1] @ two[-1], W1[-1] @ W2[-1], atol=1e-8)
        np.testing.assert_allclose(series(table, "sigma_w1", draw)[-1, :2], spectrum(one[-1], 2), rtol=1e-7)
    wide = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=200, seed=0)
    brief = INTEGRATION | {"patience": 1e-3, "horizon": 1e-3, "points": 2}
    starts = runs.balanced_flow(wide, width=9, variance=0.3, integration=Limit(**brief), seed=1)
    entries = np.sum(starts.series["W2"][:, 0] ** 2, axis=(1, 2)) / 18
    # a mean of 3,600 squares of variance 2 v^2
    assert entries.mean() == pytest.approx(0.3, abs=4 * 0.3 * (2 / 3600) ** 0.5)
