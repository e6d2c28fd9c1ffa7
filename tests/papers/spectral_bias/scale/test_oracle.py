"""Vanishing scales against scipy's flow of the full network, and every measured number by other means."""

import numpy as np
import pytest
import sympy
from scipy.linalg import null_space

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.scale import metrics, runs
from tests.papers.spectral_bias.plain import flow, measured, spectrum
from tests.support import called

GAMMAS = [0.5, 1e-3]
INTEGRATION = {"residual": 1e-8, "patience": 1e4, "rtol": 1e-10, "atol": 1e-20}
SETTINGS = {"gammas": GAMMAS, "width": 5, "loss_share": 0.02, "points": 31, "integration": INTEGRATION}


@pytest.fixture(scope="module", params=[1, 2])
def flows(request):
    data = regression.conditioned(samples=2, inputs=4, outputs=request.param, condition=2.0, seeds=2, seed=6)
    return data, *measured(runs.scaled_flow, metrics.scaled_flow, SETTINGS, data, measuring={"others": 50}, seed=1)


def values_of(table, gamma, draw):
    rows = table[(table["gamma"] == gamma) & (table["seed"] == draw)]
    return rows.set_index(["quantity", "index"])


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("draw", [0, 1])
def test_every_number(flows, gamma, draw):
    data, trajectory, table = flows
    X, Y = data["X"][draw], data["Y"][draw]
    outputs = Y.shape[1]
    rows = values_of(table, gamma, draw)
    found = rows["value"]
    start = np.sqrt(2 * gamma) * np.eye(4), np.zeros((4, outputs))
    layers = flow(X, Y, *start, np.array([0.0, found["time_to_loss", 0], 400.0]))
    losses = np.sum((X @ layers[0] @ layers[1] - Y) ** 2, axis=(1, 2))
    assert losses[1] == pytest.approx(0.02 * losses[0], rel=1e-6)
    W, a = layers[0][-1], layers[1][-1]
    beta, least = W @ a, np.linalg.lstsq(X, Y, rcond=None)[0]
    hidden = spectrum(W)
    np.testing.assert_allclose(found["sigma_w1"], hidden, rtol=1e-6)
    wanted = {
        "growth": np.sqrt(np.sum((X.T @ Y) ** 2)),
        "beta_norm": np.sqrt(np.sum(least**2)),
        "frobenius_norm": np.sqrt(np.sum(least**2)),
        "nuclear_norm": spectrum(least).sum(),
        "smallest": spectrum(least)[-1],
        "parameters": (np.sum(W**2) + np.sum(a**2)) / 2,
    }
    for quantity, value in wanted.items():
        assert found[quantity, 0] == pytest.approx(value, rel=1e-6)
    sigma, scale = sympy.symbols("sigma gamma", positive=True)
    root = sympy.sqrt(sigma**2 + scale**2)
    for quantity, formula in (
        ("potential", sigma * sympy.asinh(sigma / scale) / 2 - root / 2),
        ("printed_potential", sigma * sympy.asinh(sigma / scale) / 2 - root),
    ):
        values = [float(formula.subs({sigma: float(s), scale: gamma})) for s in spectrum(beta)]
        assert found[quantity, 0] == pytest.approx(sum(values), rel=1e-6)
    member = GAMMAS.index(gamma) * 2 + draw
    W, a = (trajectory.constants[f"limit_{name}"][member] for name in ("W1", "W2"))
    beta = W @ a
    left = np.sqrt(np.sum((X @ beta - Y) ** 2))
    assert found["residual", 0] == pytest.approx(left / np.sqrt(np.sum(Y**2)), rel=1e-6)
    assert found["distance_bound", 0] == pytest.approx(left / spectrum(X)[-1] / np.sqrt(np.sum(least**2)), rel=1e-6)
    # angles between columns and the first singular vector, by cosines
    vector = np.linalg.eigh(beta @ beta.T)[1][:, -1]
    cosines = [abs(column @ vector) / np.sqrt(column @ column) for column in W.T]
    assert found["misaligned", 0] == pytest.approx(np.sqrt(1 - min(cosines) ** 2), rel=1e-6)
    across = np.sqrt(1 - sum((column @ vector) ** 2 for column in W.T) / np.sum(W**2))
    assert found["across", 0] == pytest.approx(across, rel=1e-6)
    if outputs == 1:
        direction = beta[:, 0] / np.sqrt(np.sum(beta**2))
        np.testing.assert_allclose(found["along"], direction @ W / hidden[0], rtol=1e-6, atol=1e-9)
        gradient, P = (X.T @ Y)[:, 0], trajectory.constants["P"][member]
        np.testing.assert_allclose(rows["predicted"]["along"], gradient @ P / np.sqrt(gradient @ gradient))
        np.testing.assert_allclose(found["start"], least[:, 0] @ P / np.sqrt(np.sum(least**2)))
        bound = theory.rate_bound(np.linalg.norm(least), gamma, 1.0) / (0.01 * np.sum(Y**2))
        assert rows["predicted"]["time_to_loss", 0] == pytest.approx(bound)
    else:
        assert np.isnan(rows["predicted"]["time_to_loss", 0])


def test_no_interpolator_has_a_smaller_nuclear_norm_by_brute_force(flows):
    data, _, table = flows
    for draw in range(2):
        X, Y = data["X"][draw], data["Y"][draw]
        least, kernel = np.linalg.lstsq(X, Y, rcond=None)[0], null_space(X)
        rng, increases = np.random.default_rng(draw), []
        for number in range(400):
            away = kernel @ rng.standard_normal((2, Y.shape[1]))
            away *= np.linalg.norm(least) * 10.0 ** -(number % 4) / np.linalg.norm(away)
            grown = np.linalg.svd(least + away)[1].sum() - np.linalg.svd(least)[1].sum()
            increases.append(grown / np.linalg.norm(away))
        found = values_of(table, 0.5, draw)["value"]["other_interpolators", 0]
        # directions are others; the least increases are of second order in distances of a thousandth
        assert min(increases) > -1e-9
        assert -1e-9 < found < 5 * max(min(increases), 1e-4)


def test_what_is_recorded(flows):
    data, trajectory, _ = flows
    np.testing.assert_allclose(trajectory.time, np.linspace(0.9, 1.0, 31))
    np.testing.assert_array_equal(trajectory.constants["draw"], [0, 1, 0, 1])
    for member in range(4):
        X, Y = data["X"][member % 2], data["Y"][member % 2]
        W, a = trajectory.series["W1"][member, -1], trajectory.series["W2"][member, -1]
        # the last record is at the end of the step that passed the loss
        assert np.sum((X @ W @ a - Y) ** 2) <= 0.02 * np.sum(Y**2) * (1 + 1e-6)
    with np.errstate(all="ignore"):
        brief = SETTINGS | {"gammas": [1e-12], "integration": INTEGRATION | {"patience": 1.0}}
        cut = called(runs.scaled_flow, data, **brief, seed=1)
    assert cut.undecided.all()


def test_the_unfed_unit_starts_orthogonal_to_the_first_gradient_and_lengths_stay():
    rng = np.random.default_rng(1)
    P, gradient = np.linalg.qr(rng.standard_normal((5, 5)))[0], rng.standard_normal(5)
    turned = runs._with_unfed_unit(P, gradient)
    assert abs(turned[:, -1] @ gradient) < 1e-15
    np.testing.assert_allclose(turned @ turned.T, np.eye(5), atol=1e-15)
