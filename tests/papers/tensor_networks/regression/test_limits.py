"""Limits of regression against scipy's integrator, brute-force optima and closed forms."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.optimize import brentq, minimize

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.regression import metrics, runs, theory
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import evaluation_on, off, off_relative, put, read, rewrite, times, verdict

SETTINGS = {"weights": "random", "depths": [2, 3], "scales": [0.3, 1.0], "residual": 1e-10, "seed": 3}
FLOW = SETTINGS | {"rtol": 1e-10, "atol": 1e-13}


@pytest.fixture(scope="module", params=["diagonal", "convolutional"])
def flown(request):
    data = points.regression(samples=1, inputs=3, seeds=2, even=request.param == "convolutional", seed=3)
    return plain.trajectory_with_settings(runs.interpolation, data, network=request.param, **FLOW)


@pytest.mark.parametrize("depth", [2, 3])
def test_flows_end_where_an_integrator_ends(flown, depth):
    architecture = flown.settings["network"]
    X, y, eta = (flown.constants[name][1] for name in ("X", "y", f"eta_{depth}"))
    layer = eta if architecture == "diagonal" else np.fft.ifft(eta, norm="ortho").real
    assert ((np.abs(eta) >= 0.5) & (np.abs(eta) <= 1.5)).all()
    both = np.concatenate([flown.constants[name].ravel() for name in ("eta_2", "eta_3")])
    assert set(np.sign(both)) == {-1.0, 1.0}
    assert np.ptp(eta) > 0
    equal, _ = runs._starts(network_of(architecture, 3, depth, 0), "equal", 2, 3)
    np.testing.assert_array_equal(equal, np.ones((2, 3)))
    loss = plain.loss_of(architecture, depth, X, y, "squared")
    table = metrics.interpolation(flown)
    for scale, state in zip((0.3, 1.0), flown.series[f"flow_{depth}"][1], strict=True):
        start = scale * np.concatenate([layer] * (depth - 1) + [np.zeros(3)])
        end = plain.flow(loss, start, np.array([0.0, 120.0]))[-1]
        np.testing.assert_allclose(state, end, atol=1e-7, err_msg=f"{scale=}")
        for column in ("value", "predicted"):
            found = read(table, "coefficient", column, seed=1, depth=depth, scale=scale)
            np.testing.assert_allclose(
                found, plain.beta_of(architecture, 3, depth, end), atol=1e-7, err_msg=f"{scale=} {column=}"
            )


def test_gradient_descent_with_small_steps_ends_near_the_flow():
    data = points.regression(samples=1, inputs=3, seeds=1, seed=3)
    flow = plain.trajectory_with_settings(runs.interpolation, data, network="diagonal", **FLOW)
    found = [runs.interpolation_by_descent(data, network="diagonal", step=step, **SETTINGS) for step in (0.02, 0.01)]
    for depth in (2, 3):
        name = f"flow_{depth}"
        errors = [np.abs(run.series[name] - flow.series[name]).max() for run in found]
        assert errors[1] < 0.05, f"{depth=}"
        assert errors[0] / errors[1] == pytest.approx(2, rel=0.1), f"{depth=}"  # first order in the step


def brute_force(X, y, eta, scale, depth):
    """The minimiser of Q on X rho = y, from q's equation integrated numerically, along X's null space."""

    def penalty(z):  # H = integral of t(z) dz, by parts z t - q^2 / 2, with t = integral of dq / p^(L-1)
        q = brentq(lambda q: q * (1 + q**2) ** ((depth - 1) / 2) - abs(z), 0, abs(z), xtol=1e-14)
        return abs(z) * quad(lambda s: (1 + s * s) ** (-(depth - 1) / 2), 0, q)[0] - q * q / 2

    size, least, free = scale * np.abs(eta), np.linalg.pinv(X) @ y, null_space(X).T

    def cost(place):
        return size**2 @ [penalty(z) for z in (least + place @ free) / size**depth]

    options = {"xatol": 1e-7, "fatol": 1e-14, "maxiter": 800}
    found = minimize(cost, np.zeros(len(free)), method="Nelder-Mead", options=options)
    return least + found.x @ free


@pytest.mark.parametrize("depth", [2, 3])
def test_predictions_are_brute_force_optima(depth):
    rng = np.random.default_rng(4)
    data = {"X": rng.standard_normal((1, 1, 2)), "y": rng.standard_normal((1, 1))}
    settings = FLOW | {"depths": [depth], "scales": [0.3]}
    found = plain.trajectory_with_settings(runs.interpolation, data, network="diagonal", **settings)
    X, y, eta = (found.constants[name][0] for name in ("X", "y", f"eta_{depth}"))
    table = metrics.interpolation(found)
    one, two = eta ** (depth - 2), eta ** (depth - 1)
    for quantity, expected in {
        "coefficient": brute_force(X, y, eta, 0.3, depth),
        "other_depth": brute_force(X, y, eta, 0.3, depth + 1),
        "other_scale": brute_force(X, y, eta, 0.6, depth),
        "plain_l1": plain.least_l1(X, y),
        "plain_l2": np.linalg.pinv(X) @ y,
        # Remark 4's weights: |eta|^(2 - L) in the l1 norm, eta^(2 - 2 L) in the square of the l2 norm
        "weighted_l1": one * plain.least_l1(X * one, y),
        "weighted_l2": two * (np.linalg.pinv(X * two) @ y),
    }.items():
        error = 1e-5 if quantity in ("coefficient", "other_depth", "other_scale") else 1e-7
        np.testing.assert_allclose(read(table, quantity, "predicted"), expected, atol=error, err_msg=quantity)
    if depth > 2:
        small = read(table, "small_plain_l1", scale=1e-3)
        np.testing.assert_allclose(small, norm_like_minimiser(X, y, eta, scale=1e-3, depth=depth), rtol=1e-12)
    assert read(table, "minimiser_curve")[0] == pytest.approx(read(table, "coefficient", "predicted")[0])


def test_the_printed_prediction_lacks_the_factor_of_the_transform():
    data = points.regression(samples=1, inputs=3, seeds=1, even=True, seed=3)
    settings = FLOW | {"depths": [3], "scales": [0.4]}
    found = plain.trajectory_with_settings(runs.interpolation, data, network="convolutional", **settings)
    F = np.fft.fft(np.eye(3), norm="ortho").real  # of even sequences
    expected = F @ brute_force(data["X"][0] @ F, data["y"][0], found.constants["eta_3"][0], 0.4, 3)
    table = metrics.interpolation(found)
    np.testing.assert_allclose(read(table, "printed_minimiser", "predicted"), expected, atol=1e-5)
    assert np.abs(read(table, "printed_minimiser") - expected).max() > 1e-3


CLOSED = {  # q, h and the time at which q takes a value
    2: (np.sinh, lambda t: np.sinh(t) * np.cosh(t), np.arcsinh),
    3: (np.tan, lambda t: np.tan(t) / np.cos(t) ** 2, np.arctan),
    4: (lambda t: t / np.sqrt(1 - t * t), lambda t: t / (1 - t * t) ** 2, lambda q: q / np.sqrt(1 + q * q)),
}


@pytest.mark.parametrize("depth", CLOSED)
@pytest.mark.parametrize("sign", [1, -1])
def test_depth_functions_have_their_closed_forms(depth, sign):
    found = plain.trajectory_with_settings(
        runs.depth_functions, depths=[2, 3, 4], records=9, last=20.0, rtol=1e-11, atol=1e-14
    )
    table = metrics.depth_functions(found)
    q, h, time = CLOSED[depth]
    draw = {"depth": depth, "sign": sign}
    t = read(table, "q", "time", **draw)
    assert (sign * t >= 0).all()
    closed_forms = {"q": q(t), "h": h(t), "time_of_h": t, "time_of_last_q": time(sign * 20.0)}
    for quantity, column in itertools.product(closed_forms, ("value", "predicted")):
        # near the blow-up an error of t grows with the derivative of h, at most 20^4
        np.testing.assert_allclose(
            read(table, quantity, column, **draw),
            closed_forms[quantity],
            rtol=1e-9 * 20**2,
            atol=1e-9,
            err_msg=f"{quantity=} {column=}",
        )


def test_the_minimiser_at_small_scales_is_found_and_what_is_not_found_is_nan():
    X, y, eta = np.array([[1.0, 2.0]]), np.array([1.0]), np.array([1.0, 1.0])
    np.testing.assert_allclose(theory.small_scale_minimiser(X, y, eta, 3), [0, 0.5], atol=0.01)
    assert np.isnan(theory.small_scale_minimiser(X, y, eta * 1e-12, 5)).all()


@pytest.mark.parametrize("claim", ["theorem_4", "corollary_5"])
def test_a_limit_off_by_two_tolerances_on_one_draw_is_refused(claim):
    one = {"seed": 0, "depth": 3, "scale": 1.0}
    tolerance = 2e-8  # 2000 times rtol of 1e-11
    assert verdict(claim, off_relative("coefficient", 0.8 * tolerance, **one)) == "reproduced"
    assert verdict(claim, off_relative("coefficient", -1.3 * tolerance, **one)) == "contradicted"


def test_corollary_6_is_corrected_by_the_factor_alone():
    one = {"seed": 1, "depth": 3, "scale": 1.0}
    assert verdict("corollary_6", off_relative("coefficient", 1.6e-8, **one)) == "corrected"
    assert verdict("corollary_6", off_relative("coefficient", 4e-8, **one)) == "contradicted"

    def as_printed(tables):
        printed = read(tables["flow"], "printed_minimiser", "predicted")
        for quantity in ("printed_minimiser", "coefficient"):
            put(quantity, printed)(tables)

    assert verdict("corollary_6", as_printed) == "reproduced"


# the largest scale is 100: 1e3 / 100^4 of the weighted l2 solution
@pytest.mark.parametrize(("error", "expected"), [(0.5e-5, "reproduced"), (3e-5, "contradicted")])
def test_remark_4_at_the_largest_scale(error, expected):
    assert verdict("remark_4", off_relative("weighted_l2", error, scale=100.0, seed=1, depth=3)) == expected


@pytest.mark.parametrize(("error", "expected"), [(0.05, "reproduced"), (0.21, "contradicted")])
def test_remark_4_at_a_small_scale(error, expected):
    assert verdict("remark_4", off_relative("small_weighted_l1", error, seed=1, depth=4)) == expected


# tolerance of a power: 10 / (e log 1e15) = 0.107
@pytest.mark.parametrize(("error", "expected"), [(0.1, "reproduced"), (-0.12, "contradicted")])
def test_remark_4_of_the_power_of_two_layers(error, expected):
    assert verdict("remark_4", off("vanishing_power", error, seed=1)) == expected


def test_remark_4_says_how_distances_fall():
    facts = evaluation_on("remark_4").facts
    assert 0 < facts["slowest"] <= facts["fastest"] < 2
    assert facts["fall"] > 3  # like alpha^(L - 2) or faster, of scales a third apart, ties apart
    assert (facts["coarse"], facts["fine"]) == (1e-15, 1e-30)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_penalties_are_integrals_of_the_inverse(depth):
    found = plain.trajectory_with_settings(
        runs.depth_functions, depths=[depth], records=5, last=20.0, rtol=1e-11, atol=1e-14
    )
    table = metrics.depth_functions(found)

    def inverse(z):
        return brentq(lambda q: q * (1 + q**2) ** ((depth - 1) / 2) - z, 0, z)

    def time(z):
        return quad(lambda q: (1 + q**2) ** ((1 - depth) / 2), 0, inverse(z))[0]

    sizes = -read(table, "h", sign=-1)[1:4]
    expected = [quad(time, 0, z)[0] / z for z in sizes]
    for column in ("value", "predicted"):
        np.testing.assert_allclose(
            read(table, "penalty_over_h", column, sign=-1)[:3], expected, rtol=1e-6, err_msg=f"{column=}"
        )


def test_two_layers_add_a_logarithm_to_the_absolute_value():
    claim, bounded = "remark_4_growth", {"depth": 2, "sign": 1}
    assert evaluation_on(claim).facts["shallow"] == pytest.approx(0.5, abs=1e-6)
    # H_2 that grows like the absolute value
    constant = rewrite("penalty_over_h", lambda rows: rows["value"].where(rows["time"].abs() <= 1, 2.0), depth=2)
    assert verdict(claim, constant) == "reproduced"
    assert verdict(claim, times("penalty_over_h", 1.001, **bounded)) == "contradicted"
    assert verdict(claim, times("penalty_over_h", 1.1, depth=4)) == "contradicted"  # and half the square
    assert verdict(claim, times("h", 1.001, **bounded)) == "contradicted"


@pytest.mark.parametrize("depths", [[2], [3, 4, 5]])
def test_growth_needs_two_layers_and_more(depths):
    def without(tables):
        tables["functions"] = tables["functions"][~tables["functions"]["depth"].isin(depths)]

    assert verdict("remark_4_growth", without) == "untested"


def test_lemma_5_1_is_held_to_its_blow_up_times_and_its_odd_function():
    one = {"depth": 3, "sign": -1}
    assert verdict("lemma_5_1", off_relative("time_of_last_q", 0.8e-9, **one)) == "reproduced"
    assert verdict("lemma_5_1", off_relative("time_of_last_q", 1.5e-9, **one)) == "contradicted"
    assert verdict("lemma_5_1", times("time_of_h", 1 + 3e-9, **one)) == "contradicted"
    # one recorded h that does not rise
    assert verdict("lemma_5_1", put("h", 0.0, **one)) == "contradicted"
