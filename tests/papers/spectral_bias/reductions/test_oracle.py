"""Systems smaller than the network against the network's flow by scipy, and their potentials against sympy.

The systems are the pair (Z1, Z2) of Lemma 3.1, the Riccati equation of alpha = Z1^{-T} Z2 (Lemma 3.3) and, with one
output, the mirror flow of beta = W1 W2 (Theorem 3.2 (b)). A trajectory's series Z1, Z2, alpha and mirror are theirs; W1
and W2 are the network's layers, projected to the rows of P.
"""

import functools
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
# Both integrators take a relative tolerance of 1e-11, and errors are some hundreds of it: layers agree to 1e-8; what
# takes an inverse of Z1, or the root of eigenvalues, to 1e-7, and what is divided by small numbers, to 1e-6
INTEGRATION = {"first_time": 0.1, "horizon": 4.0, "points": 9, "rtol": 1e-11, "atol": 1e-14}
INPUTS, DRAWS = 4, 2
SETTINGS = {"gammas": GAMMAS, "width": 6, "integration": INTEGRATION}


@functools.cache
def flows_with_outputs(outputs):
    """Return data, trajectory and table of one run: two scales, two data sets."""
    data = regression.gaussian(samples=2, inputs=INPUTS, outputs=outputs, seeds=DRAWS, seed=6)
    return data, *trajectory_and_table(runs.reduced_flow, metrics.reduced_flow, SETTINGS, data, seed=1)


@pytest.fixture(params=[1, 3], ids="outputs={}".format)
def flows(request):
    return flows_with_outputs(request.param)


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
AT = 4  # place of the fifth recorded time after 0 in tables, which leave out time 0; a trajectory has it at AT + 1


def minimum_norm_interpolator(X, Y):
    return np.linalg.lstsq(X, Y, rcond=None)[0]


@MEMBERS
def test_the_pair_and_the_riccati_equation_follow_the_network(flows, member, gamma, draw):
    data, trajectory, _ = flows
    W1, W2 = network_flow(data["X"][draw], data["Y"][draw], gamma, trajectory.time)
    series = {name: values[member] for name, values in trajectory.series.items()}
    for name, layer in (("W1", W1), ("Z1", W1), ("W2", W2), ("Z2", W2)):
        np.testing.assert_allclose(series[name], layer, rtol=0, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(series["alpha"], np.linalg.inv(W1.swapaxes(1, 2)) @ W2, rtol=0, atol=1e-7)


@MEMBERS
def test_with_one_output_the_mirror_flow_follows_the_network(member, gamma, draw):
    data, trajectory, _ = flows_with_outputs(1)
    W1, W2 = network_flow(data["X"][draw], data["Y"][draw], gamma, trajectory.time)
    np.testing.assert_allclose(trajectory.series["mirror"][member], W1 @ W2, rtol=0, atol=1e-7)


@pytest.mark.parametrize("member", range(DRAWS * len(GAMMAS)))
def test_the_layers_have_no_part_outside_the_span_of_p(flows, member):
    _, trajectory, _ = flows
    assert (trajectory.series["outside"][member] < 1e-9).all()


@MEMBERS
def test_spectra_loss_and_condition_are_the_networks(flows, member, gamma, draw):
    data, trajectory, table = flows
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = (layer[1:] for layer in network_flow(X, Y, gamma, trajectory.time))  # tables leave out time 0
    values = table[table["seed"] == member]
    assert set(values["gamma"]) == {gamma}
    hidden, alphas = spectrum(W1), spectrum(np.linalg.inv(W1.swapaxes(1, 2)) @ W2)
    for column in ("value", "predicted"):
        sigma_w1, sigma_alpha = (by_time(values, name, column=column) for name in ("sigma_w1", "sigma_alpha"))
        np.testing.assert_allclose(sigma_w1, hidden, rtol=1e-7, err_msg=column)
        np.testing.assert_allclose(sigma_alpha, alphas, rtol=0, atol=1e-7, err_msg=column)
    # a small loss is of differences of near numbers
    losses = np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2)) / 2
    np.testing.assert_allclose(by_time(values, "loss")[:, 0], losses, rtol=1e-5, atol=1e-12)
    condition = hidden[:, 0] / hidden[:, -1]
    np.testing.assert_allclose(by_time(values, "condition_of_Z1")[:, 0], condition, rtol=1e-6)


@MEMBERS
def test_with_one_output_tables_have_the_predictor_and_the_bound_on_the_loss(member, gamma, draw):
    """The bound of Lemma C.8."""
    data, trajectory, table = flows_with_outputs(1)
    X, Y = data["X"][draw], data["Y"][draw]
    values = table[table["seed"] == member]
    W1, W2 = (layer[1:] for layer in network_flow(X, Y, gamma, trajectory.time))
    for column in ("value", "predicted"):
        beta = by_time(values, "beta", column=column)
        np.testing.assert_allclose(beta, (W1 @ W2)[:, :, 0], rtol=0, atol=1e-7, err_msg=column)
    bounds = theory.rate_bound(np.linalg.norm(minimum_norm_interpolator(X, Y)), gamma, trajectory.time[1:])
    np.testing.assert_allclose(by_time(values, "loss", column="predicted")[:, 0], bounds)


def test_with_three_outputs_tables_have_no_predictor():
    _, _, table = flows_with_outputs(3)
    assert "beta" not in set(table["quantity"])


@MEMBERS
def test_distances_between_systems_are_those_of_their_formulas(flows, member, gamma, draw):
    """The systems are altered a little: as they are, all distances are zero, whatever they are divided by."""
    data, trajectory, _ = flows
    X, Y = data["X"][draw], data["Y"][draw]
    # the farther of the pair is Z1 on the first draw, as |W1| > |W2|, and Z2 on the second
    factors = {"Z1": 1.001, "Z2": (1.001, 1.2)[draw], "alpha": 1.001}
    altered = {name: factor * trajectory.series[name] for name, factor in factors.items()}
    altered["outside"] = trajectory.series["outside"] + 1e-3
    trajectory = replace(trajectory, series=trajectory.series | altered)
    table = metrics.reduced_flow(trajectory)
    values = table[table["seed"] == member]
    # the series alpha is the Riccati equation's; the network's own is computed below
    names = ("W1", "W2", "Z1", "Z2", "alpha", "outside")
    W1, W2, Z1, Z2, riccati, outside = (trajectory.series[name][member, AT + 1] for name in names)
    alpha, beta = np.linalg.inv(W1.T) @ W2, W1 @ W2
    size, size_of_star = np.linalg.norm(W1), np.linalg.norm(minimum_norm_interpolator(X, Y))
    unscaled = np.linalg.inv(np.eye(INPUTS) - riccati @ riccati.T) @ riccati  # beta / (2 gamma), by Lemma C.2

    def speed_of_beta(place):
        """Return d beta/dt = R W2^T W2 + W1 W1^T R at a recorded time."""
        W1, W2 = (trajectory.series[name][member, place] for name in ("W1", "W2"))
        R = X.T @ (Y - X @ W1 @ W2)
        return R @ W2.T @ W2 + W1 @ W1.T @ R

    first_speed = np.linalg.norm(speed_of_beta(1))  # at the first time after 0
    from_pair = [np.linalg.norm(W1 - Z1), np.linalg.norm(W2 - Z2)]
    assert np.argmax(from_pair) == draw
    expected = {
        "distance_from_pair": max(from_pair) / size,
        "distance_from_unit_pair": np.linalg.norm(W1 - Z1 / np.sqrt(2 * gamma)) / size,
        "distance_of_beta": np.linalg.norm(beta - 2 * gamma * unscaled) / size_of_star,
        "distance_of_beta_without_2_gamma": np.linalg.norm(beta - unscaled) / size_of_star,
        "distance_of_beta_speed": np.linalg.norm(speed_of_beta(AT + 1) - unscaled) / first_speed,
        "distance_of_alpha": np.linalg.norm(alpha - riccati),  # of order one already
        "part_outside_P": outside / size,
    }
    for quantity, value in expected.items():
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
def test_mirror_coordinates_are_the_potentials_gradient_and_move_at_their_speed(flows, potential, coordinate, speed):
    """Derivatives of the potential are sympy's, the speeds of singular values central differences in time."""
    data, trajectory, table = flows
    values = table[table["seed"] == MEMBER]
    time = trajectory.time[AT + 1]
    step = 1e-4  # in time, of central differences
    W1, W2 = network_flow(data["X"][DRAW], data["Y"][DRAW], GAMMA, np.array([0.0, time - step, time, time + step]))
    _, before, now, after = np.linalg.svd(W1 @ W2, compute_uv=False)
    at_scale = potential.subs(SCALE, GAMMA)
    gradient, curvature = (sympy.lambdify(SIGMA, sympy.diff(at_scale, SIGMA, order)) for order in (1, 2))
    np.testing.assert_allclose(by_time(values, coordinate)[AT], gradient(now), rtol=1e-6, atol=1e-8)
    # differences err by the integrator's 1e-8 over the step, and the curvature multiplies that by 1 / (2 gamma) at most
    difference = curvature(now) * (after - before) / (2 * step)
    np.testing.assert_allclose(by_time(values, speed)[AT], difference, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("quantity", ["mirror_speed", "printed_mirror_speed"])
def test_the_force_on_a_singular_value_is_minus_the_derivative_of_the_loss(flows, quantity):
    """The derivative along each singular value, by central differences."""
    data, trajectory, table = flows
    X, Y = data["X"][DRAW], data["Y"][DRAW]
    step = 1e-5  # in the singular value
    W1, W2 = network_flow(X, Y, GAMMA, np.array([0.0, trajectory.time[AT + 1]]))
    beta = W1[-1] @ W2[-1]
    U, _, Vt = np.linalg.svd(beta, full_matrices=False)
    forces = []
    for u, v in zip(U.T, Vt, strict=True):
        smaller, larger = (np.sum((X @ (beta + change * np.outer(u, v)) - Y) ** 2) / 2 for change in (-step, step))
        forces.append(-(larger - smaller) / (2 * step))
    predicted = by_time(table[table["seed"] == MEMBER], quantity, column="predicted")[AT]
    np.testing.assert_allclose(predicted, forces, rtol=1e-5, atol=1e-7)


def test_mirror_coordinates_are_predicted_by_the_integral_of_the_force(flows):
    _, _, table = flows
    values = table[table["seed"] == 0]
    measured = by_time(values, "mirror_coordinate")
    predicted = by_time(values, "mirror_coordinate", column="predicted")
    # Simpson's rule over nine times has two digits
    np.testing.assert_allclose(measured, predicted, rtol=0.02, atol=0.01)
    # and no more than six, or the prediction would be the coordinate itself
    assert np.abs(measured - predicted).max() > 1e-6


def test_the_coordinates_of_the_printed_potential_have_the_same_prediction(flows):
    _, _, table = flows
    values = table[table["seed"] == 0]
    of_printed = by_time(values, "printed_mirror_coordinate", column="predicted")
    np.testing.assert_array_equal(of_printed, by_time(values, "mirror_coordinate", column="predicted"))


# the potential psi of Theorem 3.2 (b), a function of the size of beta, here SIGMA, and its derivative
w = SCALE + ROOT
PSI = sympy.Rational(2, 3) * w ** sympy.Rational(3, 2) - 2 * SCALE * sympy.sqrt(w)
psi = sympy.lambdify((SIGMA, SCALE), PSI)
psi_derivative = sympy.lambdify((SIGMA, SCALE), sympy.diff(PSI, SIGMA))
EVERY_SIZE_AND_SCALE = pytest.mark.parametrize(
    ("size", "gamma"), [(size, gamma) for size in (0.2, 1.0, 3.0) for gamma in (1.0, 0.03)]
)


@EVERY_SIZE_AND_SCALE
def test_the_potential_of_one_output_is_sympys(size, gamma):
    assert theory.potential(size, gamma) == pytest.approx(psi(size, gamma))


@EVERY_SIZE_AND_SCALE
def test_the_mirror_map_is_inverted_as_by_a_root_finder(size, gamma):
    """The gradient of psi has the direction of beta, here (0.6, 0.8), and the length psi'(|beta|)."""
    length = psi_derivative(size, gamma)
    beta = models.predictor_from_mirror(np.array([0.6, 0.8]) * length, gamma)
    root = brentq(lambda x: psi_derivative(x, gamma) - length, 1e-9, 10.0)
    np.testing.assert_allclose(beta, np.array([0.6, 0.8]) * root)


@EVERY_SIZE_AND_SCALE
def test_the_bound_of_lemma_c_8_is_the_divergence_from_zero_over_time(size, gamma):
    """The Bregman divergence from zero is the integral of psi'; the lemma divides it by sqrt(2 gamma) t."""
    divergence = quad(psi_derivative, 0, size, args=(gamma,))[0]
    time = 3.0  # any
    bound = theory.rate_bound(np.array(size), np.array(gamma), np.array(time))
    assert bound == pytest.approx(divergence / (np.sqrt(2 * gamma) * time))


def test_the_riccati_field_of_an_alpha_of_length_one_is_nan():
    """I - alpha alpha^T is singular."""
    field = models.riccati_field(np.eye(2, 3), np.ones((2, 1)), gamma=0.3)
    assert np.isnan(field(0.0, np.array([1.0, 0.0, 0.0]))).all()
