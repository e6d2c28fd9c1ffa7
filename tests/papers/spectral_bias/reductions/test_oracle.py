"""Systems smaller than the network against the network's flow by scipy, and their potentials against sympy.

The systems are the pair (Z1, Z2) of Lemma 3.1, the Riccati equation of alpha = Z1^{-T} Z2 (Lemma 3.3) and, with one
output, the mirror flow of beta = W1 W2 (Theorem 3.2 (b)). A trajectory's series Z1, Z2, alpha and mirror are theirs; W1
and W2 are the network's layers, projected to the rows of P.
"""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from scipy.integrate import quad
from scipy.optimize import brentq

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.reductions import metrics, models, runs
from tests.papers.spectral_bias.plain import by_time, flow, spectrum, trajectory_and_table

GAMMAS = [0.7, 0.05]
INTEGRATION = {"first_time": 0.1, "horizon": 4.0, "points": 9, "rtol": 1e-11, "atol": 1e-14}
INPUTS, DRAWS = 4, 2
SETTINGS = {"gammas": GAMMAS, "width": 6, "integration": INTEGRATION}


@pytest.fixture(scope="module", params=[1, 3])
def flows(request):
    """Return data, trajectory and table of one run: two scales, two data sets, one output or three."""
    data = regression.gaussian(samples=2, inputs=INPUTS, outputs=request.param, seeds=DRAWS, seed=6)
    return data, *trajectory_and_table(runs.reduced_flow, metrics.reduced_flow, SETTINGS, data, seed=1)


def network_flow(X, Y, gamma, times):
    """Return both layers of a network as wide as its inputs, from sqrt(2 gamma) I and 0.

    They are those of any wider network, from sqrt(2 gamma) P and 0 with P P^T = I, in the basis of P's rows (Lemma
    3.1).
    """
    return flow(X, Y, np.sqrt(2 * gamma) * np.eye(INPUTS), np.zeros((INPUTS, Y.shape[1])), times)


# members of a run: every data set at the first scale, then every one at the second; the table has the member as seed
MEMBERS = pytest.mark.parametrize(
    ("member", "gamma", "draw"),
    [(DRAWS * place + draw, gamma, draw) for place, gamma in enumerate(GAMMAS) for draw in range(DRAWS)],
)

MEMBER, GAMMA, DRAW = 3, GAMMAS[1], 1  # one of them
AT = 4  # the fifth recorded time after 0; tables leave out time 0, so that a trajectory has it at AT + 1


@MEMBERS
def test_every_system_follows_the_network(flows, member, gamma, draw):
    data, trajectory, _ = flows
    W1, W2 = network_flow(data["X"][draw], data["Y"][draw], gamma, trajectory.time)
    series = {name: values[member] for name, values in trajectory.series.items()}
    for name, layer in (("W1", W1), ("Z1", W1), ("W2", W2), ("Z2", W2)):
        np.testing.assert_allclose(series[name], layer, rtol=0, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(series["alpha"], np.linalg.inv(W1.swapaxes(1, 2)) @ W2, rtol=0, atol=1e-7)
    assert (series["outside"] < 1e-9).all()
    if data["Y"].shape[-1] == 1:
        np.testing.assert_allclose(series["mirror"], W1 @ W2, rtol=0, atol=1e-7)


@MEMBERS
def test_spectra_loss_and_condition_are_the_networks(flows, member, gamma, draw):
    data, trajectory, table = flows
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = network_flow(X, Y, gamma, trajectory.time)
    values, hidden = table[table["seed"] == member], spectrum(W1)[1:]
    assert set(values["gamma"]) == {gamma}
    np.testing.assert_allclose(by_time(values, "sigma_w1"), hidden, rtol=1e-7)
    np.testing.assert_allclose(by_time(values, "sigma_w1", "predicted"), hidden, rtol=1e-7)
    losses = np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2)) / 2
    np.testing.assert_allclose(by_time(values, "loss")[:, 0], losses[1:], rtol=1e-5, atol=1e-12)
    alphas = spectrum(np.linalg.inv(W1.swapaxes(1, 2)) @ W2)[1:]
    for column in ("value", "predicted"):
        np.testing.assert_allclose(by_time(values, "sigma_alpha", column), alphas, rtol=0, atol=1e-7)
    if data["Y"].shape[-1] == 1:
        for column in ("value", "predicted"):
            np.testing.assert_allclose(by_time(values, "beta", column), (W1 @ W2)[1:, :, 0], rtol=0, atol=1e-7)
        star = np.linalg.norm(np.linalg.lstsq(X, Y, rcond=None)[0])
        bounds = theory.rate_bound(star, gamma, trajectory.time[1:])
        np.testing.assert_allclose(by_time(values, "loss", "predicted")[:, 0], bounds)
    assert by_time(values, "condition_of_Z1")[:, 0] == pytest.approx(hidden[:, 0] / hidden[:, -1], rel=1e-6)


@MEMBERS
def test_distances_between_systems(flows, member, gamma, draw):
    """The systems are put a little off: as they are, all distances are zero, whatever they are divided by."""
    data, trajectory, _ = flows
    X, Y = data["X"][draw], data["Y"][draw]
    # the farther of the pair is Z1 on the first draw, as |W1| > |W2|, and Z2 on the second
    factors = {"Z1": 1.001, "Z2": (1.001, 1.2)[draw], "alpha": 1.001}
    off = {name: factor * trajectory.series[name] for name, factor in factors.items()}
    off["outside"] = trajectory.series["outside"] + 1e-3
    trajectory = replace(trajectory, series=trajectory.series | off)
    table = metrics.reduced_flow(trajectory)
    values = table[table["seed"] == member]
    # the series alpha is the Riccati equation's; the network's own is computed below
    names = ("W1", "W2", "Z1", "Z2", "alpha", "outside")
    W1, W2, Z1, Z2, riccati, outside = (trajectory.series[name][member, AT + 1] for name in names)
    size, beta = np.linalg.norm(W1), W1 @ W2
    alpha = np.linalg.inv(W1.T) @ W2
    star = np.linalg.norm(np.linalg.lstsq(X, Y, rcond=None)[0])
    unscaled = np.linalg.inv(np.eye(INPUTS) - riccati @ riccati.T) @ riccati  # beta / (2 gamma), by Lemma C.2
    speeds = []  # d beta/dt = R W2^T W2 + W1 W1^T R, at the record and at the first time after 0
    for place in (AT + 1, 1):
        first, second = (trajectory.series[name][member, place] for name in ("W1", "W2"))
        R = X.T @ (Y - X @ first @ second)
        speeds.append(R @ second.T @ second + first @ first.T @ R)
    from_pair = [np.linalg.norm(W1 - Z1), np.linalg.norm(W2 - Z2)]
    assert np.argmax(from_pair) == draw
    wanted = {
        "distance_from_pair": max(from_pair) / size,
        "distance_from_unit_pair": np.linalg.norm(W1 - Z1 / np.sqrt(2 * gamma)) / size,
        "distance_of_beta": np.linalg.norm(beta - 2 * gamma * unscaled) / star,
        "distance_of_beta_without_2_gamma": np.linalg.norm(beta - unscaled) / star,
        "distance_of_beta_speed": np.linalg.norm(speeds[0] - unscaled) / np.linalg.norm(speeds[1]),
        "distance_of_alpha": np.linalg.norm(alpha - riccati),
        "part_outside_P": outside / size,
    }
    for quantity, value in wanted.items():
        assert by_time(values, quantity)[AT, 0] == pytest.approx(value, rel=1e-6, abs=1e-8), quantity


# the potential of singular values in Theorem 3.2 (a): with both terms halved, and as printed (errata 1)
SIGMA, SCALE = sympy.symbols("sigma gamma", positive=True)
ROOT = sympy.sqrt(SIGMA**2 + SCALE**2)
HALVED, PRINTED = (SIGMA * sympy.asinh(SIGMA / SCALE) - ROOT) / 2, SIGMA * sympy.asinh(SIGMA / SCALE) / 2 - ROOT


@pytest.mark.parametrize(
    ("potential", "coordinate", "speed"),
    [
        (HALVED, "mirror_coordinate", "mirror_speed"),
        (PRINTED, "printed_mirror_coordinate", "printed_mirror_speed"),
    ],
)
def test_a_mirror_coordinate_and_its_speed(flows, potential, coordinate, speed):
    """Finite differences of the singular values themselves, through sympy's derivatives of the potential."""
    data, trajectory, table = flows
    values = table[table["seed"] == MEMBER]
    time = trajectory.time[AT + 1]
    W1, W2 = network_flow(data["X"][DRAW], data["Y"][DRAW], GAMMA, np.array([0.0, time - 1e-4, time, time + 1e-4]))
    _, before, now, after = np.linalg.svd(W1 @ W2, compute_uv=False)
    at_scale = potential.subs(SCALE, GAMMA)
    gradient, curvature = (sympy.lambdify(SIGMA, sympy.diff(at_scale, SIGMA, order)) for order in (1, 2))
    np.testing.assert_allclose(by_time(values, coordinate)[AT], gradient(now), rtol=1e-6, atol=1e-8)
    moved = curvature(now) * (after - before) / 2e-4
    np.testing.assert_allclose(by_time(values, speed)[AT], moved, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("quantity", ["mirror_speed", "printed_mirror_speed"])
def test_the_force_on_a_singular_value_is_minus_the_derivative_of_the_loss(flows, quantity):
    """By central differences along each singular value."""
    data, trajectory, table = flows
    X, Y = data["X"][DRAW], data["Y"][DRAW]
    W1, W2 = network_flow(X, Y, GAMMA, np.array([0.0, trajectory.time[AT + 1]]))
    beta = W1[-1] @ W2[-1]
    U, _, Vt = np.linalg.svd(beta, full_matrices=False)
    forces = []
    for left, right in zip(U.T, Vt, strict=True):
        losses = [np.sum((X @ (beta + side * 1e-5 * np.outer(left, right)) - Y) ** 2) / 2 for side in (1, -1)]
        forces.append(-(losses[0] - losses[1]) / 2e-5)
    predicted = by_time(table[table["seed"] == MEMBER], quantity, "predicted")[AT]
    np.testing.assert_allclose(predicted, forces, rtol=1e-5, atol=1e-7)


def test_coordinates_are_driven_by_the_forces_integral(flows):
    _, _, table = flows
    values = table[table["seed"] == 0]
    predicted, of_printed = (by_time(values, f"{which}mirror_coordinate", "predicted") for which in ("", "printed_"))
    np.testing.assert_array_equal(of_printed, predicted)
    measured = by_time(values, "mirror_coordinate")
    # Simpson's rule over nine times: two digits, and no more, or the prediction would be the coordinate itself
    np.testing.assert_allclose(measured, predicted, rtol=0.02, atol=0.01)
    assert np.abs(measured - predicted).max() > 1e-6


@pytest.mark.parametrize("gamma", [1.0, 0.03])
@pytest.mark.parametrize("value", [0.2, 1.0, 3.0])
def test_the_potential_of_one_output_by_sympy(gamma, value):
    """Psi of Theorem 3.2 (b), a function of the size of beta."""
    w = SCALE + ROOT
    psi = sympy.Rational(2, 3) * w ** sympy.Rational(3, 2) - 2 * SCALE * sympy.sqrt(w)
    exact, slope = (sympy.lambdify((SIGMA, SCALE), formula) for formula in (psi, sympy.diff(psi, SIGMA)))
    assert theory.potential(value, gamma) == pytest.approx(exact(value, gamma))
    # the mirror map inverted by a root finder
    back = models.predictor_from_mirror(np.array([0.6, 0.8]) * slope(value, gamma), gamma)
    root = brentq(lambda size: slope(size, gamma) - slope(value, gamma), 1e-9, 10.0)
    assert np.linalg.norm(back) == pytest.approx(root)
    # the divergence from zero is the integral of the gradient; Lemma C.8 divides it by sqrt(2 gamma) t
    divergence = quad(slope, 0, value, args=(gamma,))[0]
    bound = theory.rate_bound(np.array(value), np.array(gamma), np.array(3.0))
    assert bound == pytest.approx(divergence / (np.sqrt(2 * gamma) * 3.0))


def test_an_alpha_of_size_one_has_no_field():
    # I - alpha alpha^T is singular
    field = models.riccati_field(np.eye(2, 3), np.ones((2, 1)), 0.3)
    assert np.isnan(field(0.0, np.array([1.0, 0.0, 0.0]))).all()
