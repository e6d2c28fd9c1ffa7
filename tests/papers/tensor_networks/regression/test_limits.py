"""Limits of regression against scipy's integrator, brute-force optima and closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize

from learning_dynamics.papers.tensor_networks import norm_like, points
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.regression import metrics, runs, theory
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import judged, missed, setting, times, verdict

SETTINGS = {"weights": "random", "depths": [2, 3], "scales": [0.3, 1.0], "residual": 1e-10, "seed": 3}
FLOW = SETTINGS | {"rtol": 1e-10, "atol": 1e-13}


@pytest.fixture(scope="module", params=["diagonal", "convolutional"])
def flown(request):
    data = points.regression(samples=1, inputs=3, seeds=2, even=request.param == "convolutional", seed=3)
    return plain.simulated(runs.interpolation, data, network=request.param, **FLOW)


def coefficients(architecture, depth, state):
    layers = np.split(state, np.cumsum(plain.lengths_of(architecture, 3, depth))[:-1])
    return plain.coefficients(architecture, [plain.torch.tensor(layer) for layer in layers]).numpy()


@pytest.mark.parametrize("depth", [2, 3])
def test_flows_end_where_an_integrator_ends(flown, depth):
    architecture = flown.settings["network"]
    X, y, eta = (flown.constants[name][1] for name in ("X", "y", f"eta_{depth}"))
    layer = eta if architecture == "diagonal" else np.fft.ifft(eta, norm="ortho").real
    assert ((np.abs(eta) >= 0.5) & (np.abs(eta) <= 1.5)).all()
    both = np.concatenate([flown.constants[name].ravel() for name in ("eta_2", "eta_3")])
    assert set(np.sign(both)) == {-1.0, 1.0}
    assert np.ptp(eta) > 0
    loss = plain.loss_of(architecture, depth, X, y, "squared")
    table = metrics.interpolation(flown)
    for scale, state in zip((0.3, 1.0), flown.series[f"flow_{depth}"][1], strict=True):
        start = scale * np.concatenate([layer] * (depth - 1) + [np.zeros(3)])
        end = plain.flow(loss, start, np.array([0.0, 120.0]))[-1]
        np.testing.assert_allclose(state, end, atol=1e-7)
        rows = table[(table["seed"] == 1) & (table["depth"] == depth) & (table["scale"] == scale)]
        values = rows[rows["quantity"] == "coefficient"].sort_values("index")
        np.testing.assert_allclose(values["value"], coefficients(architecture, depth, end), atol=1e-7)
        np.testing.assert_allclose(values["value"], values["predicted"], atol=1e-7)


def test_gradient_descent_with_small_steps_ends_near_the_flow():
    data = points.regression(samples=1, inputs=3, seeds=1, seed=3)
    flow = plain.simulated(runs.interpolation, data, network="diagonal", **FLOW)
    found = [runs.interpolation_by_descent(data, network="diagonal", step=step, **SETTINGS) for step in (0.02, 0.01)]
    for depth in (2, 3):
        name = f"flow_{depth}"
        errors = [np.abs(run.series[name] - flow.series[name]).max() for run in found]
        assert errors[1] < 0.05
        assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)  # first order in the step


def brute_force(X, y, eta, scale, depth):
    """The minimiser of Q on X rho = y, from q's equation integrated numerically, along X's null space."""

    def h(q):
        return (1 + q * q) ** ((depth - 1) / 2) * q

    def penalty(z):  # H = integral of t(z) dz, by parts z t - q^2 / 2, with t = integral of dq / p^(L-1)
        q = np.abs(z)
        for _ in range(200):
            q -= (h(q) - abs(z)) / ((1 + q * q) ** ((depth - 3) / 2) * (1 + depth * q * q))
        return abs(z) * quad(lambda s: (1 + s * s) ** (-(depth - 1) / 2), 0, q)[0] - q * q / 2

    size = scale * np.abs(eta)
    least = np.linalg.pinv(X) @ y
    free = np.linalg.svd(X)[2][len(y) :]

    def cost(place):
        rho = least + place @ free
        return sum(size[j] ** 2 * penalty(rho[j] / size[j] ** depth) for j in range(len(rho)))

    found = minimize(cost, np.zeros(len(free)), method="Nelder-Mead",
                     options={"xatol": 1e-7, "fatol": 1e-14, "maxiter": 800})  # fmt: skip
    return least + found.x @ free


@pytest.mark.parametrize("depth", [2, 3])
def test_predictions_are_brute_force_optima(depth):
    rng = np.random.default_rng(4)
    X, y, eta = rng.standard_normal((1, 1, 2)), rng.standard_normal((1, 1)), 0.5 + rng.uniform(size=(1, 2))
    found = plain.simulated(
        runs.interpolation, {"X": X, "y": y}, network="diagonal", **(FLOW | {"depths": [depth], "scales": [0.3]})
    )
    eta = found.constants[f"eta_{depth}"][0]
    table = metrics.interpolation(found)

    def predicted(quantity):
        return table[table["quantity"] == quantity].sort_values("index")["predicted"].to_numpy()

    X, y = X[0], y[0]
    np.testing.assert_allclose(predicted("coefficient"), brute_force(X, y, eta, 0.3, depth), atol=1e-5)
    np.testing.assert_allclose(predicted("other_depth"), brute_force(X, y, eta, 0.3, depth + 1), atol=1e-5)
    np.testing.assert_allclose(predicted("other_scale"), brute_force(X, y, eta, 0.6, depth), atol=1e-5)
    np.testing.assert_allclose(predicted("plain_l1"), plain.least_l1(X, y), atol=1e-7)
    np.testing.assert_allclose(predicted("plain_l2"), np.linalg.pinv(X) @ y, atol=1e-7)
    # Remark 4's weights: |eta|^(2 - L) in the l1 norm, eta^(2 - 2 L) in the square of the l2 norm
    scaled = eta ** (depth - 2)
    np.testing.assert_allclose(predicted("weighted_l1"), scaled * plain.least_l1(X * scaled, y), atol=1e-7)
    scaled = eta ** (depth - 1)
    np.testing.assert_allclose(predicted("weighted_l2"), scaled * (np.linalg.pinv(X * scaled) @ y), atol=1e-7)
    if depth > 2:
        small = table[table["quantity"] == "small_plain_l1"]
        assert set(small["scale"]) == {1e-3}
        np.testing.assert_allclose(small["value"], norm_like_minimiser(X, y, eta, 1e-3, depth), rtol=1e-12)
        np.testing.assert_allclose(small["value"], predicted("weighted_l1"), atol=0.05)
    curve = table[table["quantity"] == "curve"]
    assert curve["value"].iloc[0] == pytest.approx(predicted("coefficient")[0])


def test_the_printed_prediction_lacks_the_factor_of_the_transform():
    data = points.regression(samples=1, inputs=3, seeds=1, even=True, seed=3)
    found = plain.simulated(
        runs.interpolation, data, network="convolutional", **(FLOW | {"depths": [3], "scales": [0.4]})
    )
    table = metrics.interpolation(found)
    rows = table[table["quantity"] == "printed"].sort_values("index")
    F = np.fft.fft(np.eye(3), norm="ortho").real  # of even sequences
    eta = found.constants["eta_3"][0]
    np.testing.assert_allclose(eta[1], eta[2])
    # even: two of the three entries agree, so that one is free
    halves = np.array([[1, 0], [0, 1], [0, 1.0]])
    size = 0.4 * eta[:2]

    def missing(rho):
        return (data["X"][0] @ F @ halves @ rho - data["y"][0]).item()

    # stationarity: the slopes of Q are in the ratio of the features
    features = data["X"][0, 0] @ F @ halves / [1, 2]
    slopes = [
        np.sign(r) * quad(lambda s: (1 + s * s) ** -1.0, 0, q_of(abs(r) / a**3))[0] / a
        for r, a in zip((F @ rows["predicted"].to_numpy())[:2], size, strict=True)
    ]
    assert slopes[0] / slopes[1] == pytest.approx(features[0] / features[1], rel=1e-6)
    assert missing((F @ rows["predicted"].to_numpy())[:2]) == pytest.approx(0, abs=1e-8)
    assert np.abs(rows["value"] - rows["predicted"]).max() > 1e-3


def q_of(z):
    """q of depth three with (1 + q^2) q = z, as a root of the cubic."""
    return max(root.real for root in np.roots([1, 0, 1, -z]) if abs(root.imag) < 1e-9)


CLOSED = {  # q, h and the time at which q takes a value
    2: (np.sinh, lambda t: np.sinh(t) * np.cosh(t), np.arcsinh),
    3: (np.tan, lambda t: np.tan(t) / np.cos(t) ** 2, np.arctan),
    4: (lambda t: t / np.sqrt(1 - t * t), lambda t: t / (1 - t * t) ** 2, lambda q: q / np.sqrt(1 + q * q)),
}


def test_depth_functions_have_their_closed_forms():
    found = plain.simulated(
        runs.depth_functions, depths=[2, 3, 4], records=9, last=20.0, rtol=1e-11, atol=1e-14
    )  # fmt: skip
    table = metrics.depth_functions(found)
    assert len(table.groupby(["depth", "sign"])) == 6
    for (depth, sign, quantity), rows in table.groupby(["depth", "sign", "quantity"]):
        q, h, time = CLOSED[depth]
        t = rows["time"].to_numpy()
        assert (sign * t >= 0).all()
        ends = time(sign * np.array([20.0]))
        penalty = (t * h(t) - q(t) ** 2 / 2) / np.abs(h(t) + (t == 0))
        expected = {"q": q(t), "h": h(t), "time_of_h": t, "penalty": penalty, "reached": ends}[quantity]
        for column in ("value", "predicted"):
            # near the blow-up an error of t grows with the derivative of h, at most 20^4
            np.testing.assert_allclose(rows[column], expected, rtol=1e-9 * 20**2, atol=1e-9)


def test_the_minimiser_at_small_scales_is_found_and_what_is_not_found_is_nan():
    X, y, eta = np.array([[1.0, 2.0]]), np.array([1.0]), np.array([1.0, 1.0])
    np.testing.assert_allclose(theory.small_scale_minimiser(X, y, eta, 3), [0, 0.5], atol=0.01)
    assert np.isnan(theory.small_scale_minimiser(X, y, eta * 1e-12, 5)).all()


LIMITS = {"theorem_4": (2e-8, "coefficient"), "corollary_5": (2e-8, "coefficient")}


@pytest.mark.parametrize("claim", LIMITS)
def test_a_limit_off_by_two_tolerances_on_one_draw_is_refused(claim):
    tolerance, quantity = LIMITS[claim]  # 2000 times rtol of 1e-11
    one = {"seed": 0, "depth": 3, "scale": 1.0}
    assert verdict(claim, missed(quantity, 0.8 * tolerance, **one)) == "reproduced"
    assert verdict(claim, missed(quantity, -1.3 * tolerance, **one)) == "contradicted"


def test_corollary_6_is_corrected_by_the_factor_alone():
    one = {"seed": 1, "depth": 3, "scale": 1.0}
    assert verdict("corollary_6", missed("coefficient", 4e-8, **one), missed("printed", 4e-8, **one)) == "contradicted"
    assert verdict("corollary_6", missed("coefficient", 0.0), missed("printed", 0.0)) in ("contradicted", "corrected")

    def as_printed(tables):
        rows = tables["flow"]["quantity"].isin(["printed", "coefficient"])
        printed = tables["flow"][tables["flow"]["quantity"] == "printed"]["predicted"].to_numpy()
        for quantity in ("printed", "coefficient"):
            tables["flow"].loc[rows & (tables["flow"]["quantity"] == quantity), "value"] = printed

    assert verdict("corollary_6", as_printed) == "reproduced"


def test_remark_4_at_either_end():
    found = judged("remark_4")
    # the largest scale is 100: 1e3 / 100^4 of the weighted l2 solution
    large = {"scale": 100.0, "seed": 1, "depth": 3}
    assert verdict("remark_4", missed("weighted_l2", 0.5e-5, **large)) == "reproduced"
    assert verdict("remark_4", missed("weighted_l2", 3e-5, **large)) == "contradicted"
    assert verdict("remark_4", missed("small_weighted_l1", 0.05, seed=1, depth=4)) == "reproduced"
    assert verdict("remark_4", missed("small_weighted_l1", 0.21, seed=1, depth=4)) == "contradicted"

    # tolerance of a power: 10 / (e log 1e15) = 0.107
    def power(by):
        def alter(tables):
            rows = (tables["ends"]["quantity"] == "vanishing") & (tables["ends"]["seed"] == 1)
            tables["ends"].loc[rows, "value"] = tables["ends"].loc[rows, "predicted"] + by

        return alter

    assert verdict("remark_4", power(0.1)) == "reproduced"
    assert verdict("remark_4", power(-0.12)) == "contradicted"
    facts = found.facts
    assert 0 < facts["slowest"] <= facts["fastest"] < 2
    assert facts["fall"] > 3  # like alpha^(L - 2) or faster, of scales a third apart, ties apart
    assert (facts["coarse"], facts["fine"]) == (1e-15, 1e-30)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_penalties_are_integrals_of_the_inverse(depth):
    found = plain.simulated(runs.depth_functions, depths=[depth], records=5, last=20.0, rtol=1e-11, atol=1e-14)
    table = metrics.depth_functions(found)
    rows = table[(table["quantity"] == "penalty") & (table["sign"] == -1)].sort_values("time", ascending=False)
    h = table[(table["quantity"] == "h") & (table["sign"] == -1)].sort_values("time", ascending=False)["value"]

    def inverse(z):
        return brentq(lambda q: q * (1 + q**2) ** ((depth - 1) / 2) - z, 0, z)

    def time(z):
        return quad(lambda q: (1 + q**2) ** ((1 - depth) / 2), 0, inverse(z))[0]

    for z, row in zip(-h.to_numpy()[1:4], rows.to_dict("records"), strict=False):
        assert row["value"] == pytest.approx(quad(time, 0, z)[0] / z, rel=1e-6)
        assert row["predicted"] == pytest.approx(row["value"], rel=1e-8)


def test_two_layers_add_a_logarithm_to_the_absolute_value():
    found = judged("remark_4_growth")
    assert found.facts["shallow"] == pytest.approx(0.5, abs=1e-6)
    bounded = {"depth": 2, "sign": 1}

    def without_logarithm(tables):
        """H_2 that grows like the absolute value."""
        rows = (tables["functions"]["quantity"] == "penalty") & (tables["functions"]["depth"] == 2)
        rows &= tables["functions"]["time"].abs() > 1
        tables["functions"].loc[rows, "value"] = 2.0

    assert verdict("remark_4_growth", without_logarithm) == "reproduced"
    assert verdict("remark_4_growth", times("penalty", 1.001, **bounded)) == "contradicted"
    assert verdict("remark_4_growth", times("penalty", 1.1, depth=4)) == "contradicted"  # and half the square
    assert verdict("remark_4_growth", times("h", 1.001, **bounded)) == "contradicted"

    def without(*depths):
        def alter(tables):
            table = tables["functions"]
            tables["functions"] = table[~table["depth"].isin(depths)]

        return alter

    assert verdict("remark_4_growth", without(2)) == "untested"
    assert verdict("remark_4_growth", without(3, 4, 5)) == "untested"


@pytest.mark.parametrize("depth", [2, 3, 4, 7])
def test_what_is_left_of_a_penalty_is_within_its_bound(depth):
    q = np.array([0.3, 2.0, 50.0])
    z = q * (1 + q**2) ** ((depth - 1) / 2)
    ratio = norm_like.depth_penalty(z, depth) / z
    if depth == 2:
        left, bound = ratio - (np.log(4 * z) - 1) / 2, 1 / (4 * z)
    else:
        left, bound = norm_like.blow_up_time(depth) - ratio, depth / (2 * (depth - 2)) * q ** (2 - depth)
    assert ((left > 0) & (left < bound)).all()
    assert left[-1] > 0.99 * bound[-1]


def test_lemma_5_1_is_held_to_its_blow_up_times_and_its_odd_function():
    one = {"depth": 3, "sign": -1}
    assert verdict("lemma_5_1", missed("reached", 0.8e-9, **one)) == "reproduced"
    assert verdict("lemma_5_1", missed("reached", 1.5e-9, **one)) == "contradicted"
    assert verdict("lemma_5_1", times("time_of_h", 1 + 3e-9, **one)) == "contradicted"
    # one recorded h that does not rise
    assert verdict("lemma_5_1", setting("h", 0.0, **one)) == "contradicted"


def test_starts_are_equal_or_random_weights_and_the_last_layer_is_zero():
    network = network_of("decomposable", 3, 3, 0)
    for weights in ("equal", "random"):
        eta, starts = runs._starts(network, weights, 2, 3)
        assert (np.ptp(eta) > 0) == (weights == "random")
        for row, start in zip(eta, starts, strict=True):
            first, second, last = network.layers(start)
            assert not last.any()
            for layer, vectors in ((first, network.U[0]), (second, network.U[1])):
                np.testing.assert_allclose(np.linalg.lstsq(vectors, layer, rcond=None)[0], row, atol=1e-12)
