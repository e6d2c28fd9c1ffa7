"""The smaller systems against the full network, integrated by scipy, and their potentials against sympy."""

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.optimize import brentq

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.reductions import metrics, models, runs
from tests.papers.spectral_bias.plain import by_time, flow, measured, spectrum

GAMMAS = [0.7, 0.05]
INTEGRATION = {"start": 0.1, "horizon": 4.0, "points": 9, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"gammas": GAMMAS, "width": 6, "integration": INTEGRATION}


@pytest.fixture(scope="module", params=[1, 3])
def flows(request):
    data = regression.gaussian(samples=2, inputs=4, outputs=request.param, seeds=2, seed=6)
    return data, *measured(runs.reduced_flow, metrics.reduced_flow, SETTINGS, data, seed=1)


def network_flow(X, Y, gamma, times):
    """Return both layers of a network of width d, from sqrt(2 gamma) I and 0."""
    return flow(X, Y, np.sqrt(2 * gamma) * np.eye(4), np.zeros((4, Y.shape[1])), times)


def test_every_system_follows_the_network(flows):
    data, trajectory, table = flows
    outputs = data["Y"].shape[-1]
    for member, (gamma, draw) in enumerate([(gamma, draw) for gamma in GAMMAS for draw in range(2)]):
        X, Y = data["X"][draw], data["Y"][draw]
        W1, W2 = network_flow(X, Y, gamma, trajectory.time)
        series = {name: values[member] for name, values in trajectory.series.items()}
        for name, layer in (("W1", W1), ("Z1", W1), ("W2", W2), ("Z2", W2)):
            np.testing.assert_allclose(series[name], layer, atol=1e-8)
        np.testing.assert_allclose(series["alpha"], np.linalg.inv(W1.swapaxes(1, 2)) @ W2, atol=1e-7)
        assert (series["outside"] < 1e-9).all()
        if outputs == 1:
            np.testing.assert_allclose(series["mirror"], W1 @ W2, atol=1e-7)
        values = table[table["seed"] == member]
        assert set(values["gamma"]) == {gamma}
        hidden = spectrum(W1)[1:]
        np.testing.assert_allclose(by_time(values, "sigma_w1"), hidden, rtol=1e-7)
        np.testing.assert_allclose(by_time(values, "sigma_w1", "predicted"), hidden, rtol=1e-7)
        losses = np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2)) / 2
        np.testing.assert_allclose(by_time(values, "loss")[:, 0], losses[1:], rtol=1e-5, atol=1e-12)
        assert by_time(values, "condition")[:, 0] == pytest.approx(hidden[:, 0] / hidden[:, -1], rel=1e-6)


def test_distances_between_systems(flows):
    data, trajectory, table = flows
    for member, (gamma, draw) in enumerate([(gamma, draw) for gamma in GAMMAS for draw in range(2)]):
        X, Y = data["X"][draw], data["Y"][draw]
        values, at = table[table["seed"] == member], 4
        W1, W2, Z1, Z2 = (trajectory.series[name][member, at + 1] for name in ("W1", "W2", "Z1", "Z2"))
        size, beta = np.linalg.norm(W1), W1 @ W2
        alpha = np.linalg.inv(W1.T) @ W2
        star = np.linalg.norm(np.linalg.lstsq(X, Y, rcond=None)[0])
        right = np.linalg.inv(np.eye(4) - alpha @ alpha.T) @ alpha
        speeds = []
        for now in (at + 1, 1):
            one, two = (trajectory.series[name][member, now] for name in ("W1", "W2"))
            error = X.T @ (Y - X @ one @ two)
            speeds.append(error @ two.T @ two + one @ one.T @ error)
        wanted = {
            "projected": max(np.linalg.norm(W1 - Z1), np.linalg.norm(W2 - Z2)) / size,
            "unit_pair": np.linalg.norm(W1 - Z1 / np.sqrt(2 * gamma)) / size,
            "beta_from_alpha": np.linalg.norm(beta - 2 * gamma * right) / star,
            "beta_without_scale": np.linalg.norm(beta - right) / star,
        }
        for quantity, value in wanted.items():
            assert by_time(values, quantity)[at, 0] == pytest.approx(value, rel=1e-6, abs=1e-8)
        # relative to the speed at the first time after the start
        apart = np.linalg.norm(speeds[0] - right) / np.linalg.norm(speeds[1])
        assert by_time(values, "printed_beta_speed")[at, 0] == pytest.approx(apart, rel=1e-6)
        assert by_time(values, "alpha")[at, 0] < 1e-8
        assert by_time(values, "subspace")[at, 0] < 1e-8


def test_a_mirror_coordinate_moves_as_its_force(flows):
    """Finite differences of the singular values themselves, through sympy's derivative of the potential."""
    data, trajectory, table = flows
    sigma, scale = sympy.symbols("sigma gamma", positive=True)
    halved = (sigma * sympy.asinh(sigma / scale) - sympy.sqrt(sigma**2 + scale**2)) / 2
    printed = sigma * sympy.asinh(sigma / scale) / 2 - sympy.sqrt(sigma**2 + scale**2)
    member, gamma = 3, GAMMAS[1]
    X, Y = data["X"][1], data["Y"][1]
    values, at = table[table["seed"] == member], 4
    time = trajectory.time[at + 1]
    times = np.array([0.0, time - 1e-4, time, time + 1e-4])
    W1, W2 = network_flow(X, Y, gamma, times)
    spectra = np.linalg.svd(W1 @ W2, compute_uv=False)
    moved = (spectra[3] - spectra[1]) / 2e-4
    for quantity, formula in (("mirror_speed", halved), ("printed_mirror_speed", printed)):
        curvature = sympy.lambdify(sigma, sympy.diff(formula, sigma, 2).subs(scale, gamma))
        np.testing.assert_allclose(by_time(values, quantity)[at], curvature(spectra[2]) * moved, rtol=2e-4, atol=1e-6)
        coordinate = sympy.lambdify(sigma, sympy.diff(formula, sigma).subs(scale, gamma))
        name = quantity.replace("speed", "coordinate")
        np.testing.assert_allclose(by_time(values, name)[at], coordinate(spectra[2]), rtol=1e-6, atol=1e-8)
    # the force is minus the loss's derivative along the singular value, by central differences
    U, s, Vt = np.linalg.svd(W1[2] @ W2[2], full_matrices=False)
    for index in range(len(s)):
        losses = [
            np.sum((X @ (W1[2] @ W2[2] + side * 1e-5 * np.outer(U[:, index], Vt[index])) - Y) ** 2) / 2
            for side in (1, -1)
        ]
        force = -(losses[0] - losses[1]) / 2e-5
        for quantity in ("mirror_speed", "printed_mirror_speed"):
            assert by_time(values, quantity, "predicted")[at, index] == pytest.approx(force, rel=1e-5, abs=1e-7)


def test_coordinates_are_driven_by_the_forces_integral(flows):
    _, _, table = flows
    values = table[table["seed"] == 0]
    # Simpson's rule over nine times: two digits
    np.testing.assert_allclose(
        by_time(values, "mirror_coordinate"), by_time(values, "mirror_coordinate", "predicted"), rtol=0.02, atol=0.01
    )


@pytest.mark.parametrize("gamma", [1.0, 0.03])
def test_the_potential_by_sympy(gamma):
    size, scale = sympy.symbols("b gamma", positive=True)
    w = scale + sympy.sqrt(size**2 + scale**2)
    psi = sympy.Rational(2, 3) * w ** sympy.Rational(3, 2) - 2 * scale * sympy.sqrt(w)
    exact = sympy.lambdify((size, scale), psi)
    slope = sympy.lambdify((size, scale), sympy.diff(psi, size))
    for value in (0.2, 1.0, 3.0):
        assert theory.potential(value, gamma) == pytest.approx(exact(value, gamma))
        # the mirror map inverted by bisection
        wanted = slope(value, gamma)
        back = models.predictor_from_mirror(np.array([0.6, 0.8]) * wanted, gamma)
        assert np.linalg.norm(back) == pytest.approx(brentq(lambda b, m=wanted: slope(b, gamma) - m, 1e-9, 10.0))
        # the divergence from zero is the integral of the gradient; the bound divides it by the speed and the time
        divergence = quad(slope, 0, value, args=(gamma,))[0]
        bound = theory.rate_bound(np.array(value), np.array(gamma), np.array(3.0))
        assert bound == pytest.approx(divergence / (np.sqrt(2 * gamma) * 3.0))


def test_a_singular_alpha_has_no_field():
    field = models.riccati_field(np.eye(2, 3), np.ones((2, 1)), 0.3)
    assert np.isnan(field(0.0, np.array([1.0, 0.0, 0.0]))).all()
