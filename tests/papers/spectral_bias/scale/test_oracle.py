"""Vanishing scales against scipy's flow of the full network, and every measured number by other means."""

import numpy as np
import pytest
import sympy
from scipy.linalg import null_space

from learning_dynamics.datasets import regression
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.scale import metrics, runs
from tests.papers.spectral_bias.plain import flow, spectrum, trajectory_and_table
from tests.support import trajectory_of

GAMMAS = [0.5, 1e-3]
INTEGRATION = {"residual": 1e-8, "patience": 1e4, "rtol": 1e-10, "atol": 1e-20}
SETTINGS = {"gammas": GAMMAS, "width": 5, "loss_share": 0.02, "points": 31, "integration": INTEGRATION}


@pytest.fixture(scope="module", params=[1, 2])
def flows(request):
    data = regression.conditioned(samples=2, inputs=4, outputs=request.param, condition=2.0, seeds=2, seed=6)
    return data, *trajectory_and_table(
        runs.scaled_flow, metrics.scaled_flow, SETTINGS, data, measuring={"others": 50}, seed=1
    )


def values_of(table, gamma, draw):
    rows = table[(table["gamma"] == gamma) & (table["seed"] == draw)]
    return rows.set_index(["quantity", "index"])


every_member = pytest.mark.parametrize(("gamma", "draw"), [(gamma, draw) for gamma in GAMMAS for draw in (0, 1)])


def flow_of(data, gamma, draw, times):
    """Return both layers at the times, by scipy, from sqrt(2 gamma) I and 0."""
    X, Y = data["X"][draw], data["Y"][draw]
    return flow(X, Y, np.sqrt(2 * gamma) * np.eye(4), np.zeros((4, Y.shape[1])), times)


def minimum_norm(data, draw):
    return np.linalg.lstsq(data["X"][draw], data["Y"][draw], rcond=None)[0]


def ends_of(trajectory, gamma, draw):
    """Return the layers at the end, P, and the predictor."""
    member = GAMMAS.index(gamma) * 2 + draw
    W, a, P = (trajectory.constants[name][member] for name in ("limit_W1", "limit_W2", "P"))
    return W, P, W @ a


@every_member
def test_the_time_to_the_loss(flows, gamma, draw):
    data, _, table = flows
    X, Y = data["X"][draw], data["Y"][draw]
    rows = values_of(table, gamma, draw)
    W, a = flow_of(data, gamma, draw, np.array([0.0, rows["value"]["time_to_loss", 0]]))
    losses = np.sum((X @ W @ a - Y) ** 2, axis=(1, 2))
    assert losses[1] == pytest.approx(0.02 * losses[0], rel=1e-6)
    bound = np.nan  # several outputs have none
    if Y.shape[1] == 1:
        size = np.linalg.norm(minimum_norm(data, draw))
        bound = theory.rate_bound(size, gamma, 1.0) / (0.01 * np.sum(Y**2))
    assert rows["predicted"]["time_to_loss", 0] == pytest.approx(bound, nan_ok=True)


@every_member
def test_norms_and_spectra_at_the_end(flows, gamma, draw):
    data, _, table = flows
    X, Y, least = data["X"][draw], data["Y"][draw], minimum_norm(data, draw)
    found = values_of(table, gamma, draw)["value"]
    W, a = (layers[-1] for layers in flow_of(data, gamma, draw, np.array([0.0, 400.0])))
    np.testing.assert_allclose(found["sigma_w1"], spectrum(W), rtol=1e-6)
    wanted = {
        "first_gradient": np.sqrt(np.sum((X.T @ Y) ** 2)),
        "beta_norm": np.sqrt(np.sum(least**2)),
        "frobenius_norm": np.sqrt(np.sum(least**2)),
        "nuclear_norm": spectrum(least).sum(),
        "least_singular_value": spectrum(least)[-1],
        "half_square": (np.sum(W**2) + np.sum(a**2)) / 2,
    }
    for quantity, value in wanted.items():
        assert found[quantity, 0] == pytest.approx(value, rel=1e-6), quantity


@every_member
@pytest.mark.parametrize(("quantity", "of_root"), [("potential", 0.5), ("printed_potential", 1.0)])
def test_potentials_by_sympy(flows, gamma, draw, quantity, of_root):
    data, _, table = flows
    sigma, scale = sympy.symbols("sigma gamma", positive=True)
    formula = sigma * sympy.asinh(sigma / scale) / 2 - of_root * sympy.sqrt(sigma**2 + scale**2)
    W, a = (layers[-1] for layers in flow_of(data, gamma, draw, np.array([0.0, 400.0])))
    values = [float(formula.subs({sigma: float(s), scale: gamma})) for s in spectrum(W @ a)]
    assert values_of(table, gamma, draw)["value"][quantity, 0] == pytest.approx(sum(values), rel=1e-6)


@every_member
def test_what_the_residual_at_the_end_leaves_open(flows, gamma, draw):
    data, trajectory, table = flows
    X, Y, least = data["X"][draw], data["Y"][draw], minimum_norm(data, draw)
    found = values_of(table, gamma, draw)["value"]
    _, _, beta = ends_of(trajectory, gamma, draw)
    left = np.sqrt(np.sum((X @ beta - Y) ** 2))
    assert found["residual", 0] == pytest.approx(left / np.sqrt(np.sum(Y**2)), rel=1e-6)
    assert found["distance_bound", 0] == pytest.approx(left / spectrum(X)[-1] / np.sqrt(np.sum(least**2)), rel=1e-6)


@every_member
def test_angles_between_columns_and_the_predictor_by_cosines(flows, gamma, draw):
    _, trajectory, table = flows
    found = values_of(table, gamma, draw)["value"]
    W, _, beta = ends_of(trajectory, gamma, draw)
    vector = np.linalg.eigh(beta @ beta.T)[1][:, -1]
    cosines = [abs(column @ vector) / np.sqrt(column @ column) for column in W.T]
    assert found["largest_sine", 0] == pytest.approx(np.sqrt(1 - min(cosines) ** 2), rel=1e-6)
    across = np.sqrt(1 - sum((column @ vector) ** 2 for column in W.T) / np.sum(W**2))
    assert found["part_across", 0] == pytest.approx(across, rel=1e-6)


@every_member
def test_components_of_columns_with_one_output(flows, gamma, draw):
    data, trajectory, table = flows
    X, Y, least = data["X"][draw], data["Y"][draw], minimum_norm(data, draw)
    if Y.shape[1] > 1:
        assert not {"components_along", "shares_of_beta_star"} & set(table["quantity"])
        return
    rows = values_of(table, gamma, draw)
    W, P, beta = ends_of(trajectory, gamma, draw)
    direction, gradient = beta[:, 0] / np.sqrt(np.sum(beta**2)), (X.T @ Y)[:, 0]
    np.testing.assert_allclose(rows["value"]["components_along"], direction @ W / spectrum(W)[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(rows["predicted"]["components_along"], gradient @ P / np.sqrt(gradient @ gradient))
    np.testing.assert_allclose(rows["value"]["shares_of_beta_star"], least[:, 0] @ P / np.sqrt(np.sum(least**2)))


@pytest.mark.parametrize("draw", [0, 1])
def test_no_interpolator_has_a_smaller_nuclear_norm_by_brute_force(flows, draw):
    data, _, table = flows
    least, kernel = minimum_norm(data, draw), null_space(data["X"][draw])
    rng = np.random.default_rng(draw)
    increases = []
    for number in range(400):
        away = kernel @ rng.standard_normal((2, least.shape[1]))
        away *= np.linalg.norm(least) * 10.0 ** -(number % 4) / np.linalg.norm(away)
        grown = np.linalg.svd(least + away)[1].sum() - np.linalg.svd(least)[1].sum()
        increases.append(grown / np.linalg.norm(away))
    found = values_of(table, 0.5, draw)["value"]["increase_elsewhere", 0]
    # directions are others; the least increases are of second order in distances of a thousandth
    assert min(increases) > -1e-9
    assert -1e-9 < found < 5 * max(min(increases), 1e-4)


def test_what_is_recorded(flows):
    data, trajectory, _ = flows
    np.testing.assert_allclose(trajectory.time, np.linspace(0.9, 1.0, 31))
    np.testing.assert_array_equal(trajectory.constants["draw"], [0, 1, 0, 1])
    X, Y = (np.concatenate([data[name]] * 2) for name in ("X", "Y"))
    W, a = (trajectory.series[name][:, -1] for name in ("W1", "W2"))
    shares = np.sum((X @ W @ a - Y) ** 2, axis=(1, 2)) / np.sum(Y**2, axis=(1, 2))
    # the last record is at the end of the step that passed the loss
    assert (shares <= 0.02 * (1 + 1e-6)).all()


def test_a_flow_that_does_not_arrive_is_undecided(flows):
    data, _, _ = flows
    with np.errstate(all="ignore"):
        brief = SETTINGS | {"gammas": [1e-12], "integration": INTEGRATION | {"patience": 1.0}}
        cut = trajectory_of(runs.scaled_flow, data, **brief, seed=1)
    assert cut.undecided.all()


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_the_unfed_unit_starts_orthogonal_to_the_first_gradient_and_lengths_stay(outputs):
    rng = np.random.default_rng(1)
    P, gradient = np.linalg.qr(rng.standard_normal((6, 5)))[0].T, rng.standard_normal((5, outputs))
    turned = runs._with_unfed_unit(P, gradient)
    np.testing.assert_allclose(turned[:, -1] @ gradient, 0.0, atol=2e-15)
    np.testing.assert_allclose(turned @ turned.T, np.eye(5), rtol=0, atol=2e-15)
    np.testing.assert_array_equal(turned[:, : 5 - outputs], P[:, : 5 - outputs])


def test_every_output_of_an_unfed_run_is_read():
    data = regression.conditioned(samples=2, inputs=4, outputs=2, condition=2.0, seeds=1, seed=7)
    trajectory = trajectory_of(runs.scaled_flow, data, **SETTINGS | {"gammas": [0.5]}, unfed=True, seed=1)
    gradient = data["X"][0].T @ data["Y"][0]
    np.testing.assert_allclose(trajectory.constants["P"][0, :, -1] @ gradient, 0.0, atol=1e-13)


def test_an_unfed_unit_needs_more_inputs_than_outputs():
    data = {"X": np.ones((1, 2, 3)), "Y": np.ones((1, 2, 3))}
    with pytest.raises(ProjectError, match="more inputs than outputs, not 3 and 3; raise inputs"):
        trajectory_of(runs.scaled_flow, data, **SETTINGS, unfed=True, seed=1)
