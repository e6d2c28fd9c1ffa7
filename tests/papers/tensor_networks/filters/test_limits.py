"""Two layers on one point: singular vectors by brute force, flows by scipy's integrator, claims on altered tables."""

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from scipy.optimize import brentq, minimize_scalar

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.filters import metrics, runs, theory
from learning_dynamics.papers.tensor_networks.one_point import remainder_bounds
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import judged, setting, times, verdict


def matrix(x, length):
    """M(x) of a convolution with a filter of some length: x shifted by as many places as the filter's entry."""
    return np.array([[x[(i + j) % len(x)] for j in range(len(x))] for i in range(length)])


def convolved(filter_, last):
    """Coefficients of a convolution: the output at each unit input."""
    return np.array([filter_ @ matrix(e, len(filter_)) @ last for e in np.eye(len(last))])


@pytest.mark.parametrize("label", [1.0, -1.0])
@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_filtered_direction_is_that_of_the_top_singular_vectors(seed, length, label):
    x = np.random.default_rng(seed).standard_normal(5)
    M = matrix(x, length)
    angle = minimize_scalar(
        lambda a: -np.linalg.norm(np.array([np.cos(a), np.sin(a)])[:length] @ M), bounds=(-np.pi / 2, np.pi / 2)
    ).x  # fmt: skip
    top = np.array([np.cos(angle), np.sin(angle)]) if length == 2 else np.ones(1)
    beta = label * convolved(top, top @ M)
    np.testing.assert_allclose(theory.filtered_direction(x, label, length), beta / np.linalg.norm(beta), atol=1e-6)


def test_longer_filters_have_no_direction_of_corollary_4():
    with pytest.raises(ValueError, match="no direction"):
        theory.filtered_direction(np.array([2.0, 1.5, 0.5]), 1.0, 3)


@pytest.mark.parametrize("length", [1, 2])
def test_the_condition_is_on_squares_of_singular_coordinates(length):
    rng = np.random.default_rng(8)
    x, first, second = rng.standard_normal(4), rng.standard_normal(length), rng.standard_normal(4)
    values, U = np.linalg.eigh(matrix(x, length) @ matrix(x, length).T)
    a = U.T @ first
    b = (matrix(x, length).T @ U / np.sqrt(values)).T @ second
    assert theory.filter_condition(x, first, second) == pytest.approx(length * (a**2 - b**2).min(), rel=1e-10)


EARLY = {
    "networks": ["fully_connected", "diagonal"], "lengths": [1, 2, 3], "last": 1.0, "records": 3, "doublings": 0,
    "sharpness": 1e12, "rtol": 1e-10, "atol": 1e-14, "seed": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    given = [[2.0, 1.4, 0.4, -0.3], [0.3, 1.6, -1.0, -0.9]]
    return points.given(points=given, labels=[1.0, -1.0], separate=True)


@pytest.fixture(scope="module")
def early(data):
    return plain.simulated(runs.single_point, data, **EARLY)


@pytest.mark.parametrize("name", ["fully_connected", "diagonal", "filter_2"])
def test_flows_are_those_of_the_loss(data, early, name):
    x, y = data["X"][1], data["y"][1]
    state = early.series[name][1]
    length = len(state[0]) - 4
    assert not state[0][length:].any()
    if name.startswith("filter"):
        signs = torch.tensor(np.stack([matrix(e, length) for e in np.eye(4)]))

        def loss(at):
            beta = torch.einsum("cij,i,j->c", signs, at[:length], at[length:])
            return torch.exp(-y[0] * (torch.tensor(x[0]) @ beta))
    else:
        loss = plain.loss_of(name, 2, x, y, "exponential")
    np.testing.assert_allclose(early.time, [0, 0.25, 1.0])
    when = np.expm1(np.expm1(early.time))
    found = plain.flow(loss, state[0], when)
    layers = found / np.sqrt(np.exp(early.time))[:, None]  # divided by (1 + log(1 + t))^(1/2)
    np.testing.assert_allclose(state, layers, atol=1e-6)


def test_measures_by_other_means(data, early):
    table = metrics.single_point(early)

    def value(quantity, seed, name, sigma, column="value"):
        rows = table[(table["quantity"] == quantity) & (table["seed"] == seed) & (table["network"] == name)]
        rows = rows[rows["sigma"] == sigma].sort_values("index")
        return rows[column].to_numpy()

    for seed in (0, 1):
        x, y = data["X"][seed, 0], data["y"][seed, 0]
        for name, length in (("diagonal", 0), ("filter_1", 1), ("filter_2", 2), ("filter_3", 3)):
            state = early.series[name][seed, -1]
            M = np.diag(x) if name == "diagonal" else matrix(x, length)
            first, second = state[: len(M)], state[len(M) :]
            U, s = np.linalg.svd(M)[:2]
            a, b = U.T @ first, (U.T @ M @ second) / s
            assert value("margin", seed, name, 1.0) == pytest.approx(y * first @ M @ second, rel=1e-10)
            # the largest margin of the l1 ball puts all on the top singular value, of the l2 ball along s
            margin = y * (a * b) @ s
            best = {"gap_l1": s.max() * np.abs(a * b).sum(), "gap_l2": np.sqrt(s @ s * ((a * b) @ (a * b)))}
            for gap, most in best.items():
                assert value(gap, seed, name, 1.0) == pytest.approx(1 - margin / most, rel=1e-9, abs=1e-12)
            for quantity, sign in (("difference", y), ("opposite", -y), ("unsigned", 1.0)):
                expected = np.linalg.norm(a - sign * b) / np.linalg.norm(a)
                assert value(quantity, seed, name, 1.0) == pytest.approx(expected, rel=1e-9)
            np.testing.assert_allclose(value("spectrum", seed, name, 0.0), s / s[0], rtol=1e-12)
            np.testing.assert_allclose(value("point", seed, name, 0.0), y * x)
            if length == 0:
                continue
            beta = convolved(first, second)
            np.testing.assert_allclose(value("direction", seed, name, 1.0), beta / np.linalg.norm(beta), rtol=1e-9)
            if length == 3:
                continue
            start = early.series[name][seed, 0]
            a, b = U.T @ start[:length], (U.T @ M @ start[length:]) / s
            for column in ("value", "predicted"):
                found = value("condition", seed, name, 0.0, column)
                assert found == pytest.approx(length * (a**2 - b**2).min(), rel=1e-9)

            def angle(one, other):
                return np.degrees(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1, 1)))

            sign = np.sign(x @ np.roll(x, 1))
            shifted = np.roll(x, 1) + np.roll(x, -1)
            expected = {"corollary": y * (x if length == 1 else 2 * x + sign * shifted), "point": y * x,
                        "other_sign": y * (2 * x - sign * shifted)}  # fmt: skip
            for quantity, direction in expected.items():
                found = value(f"angle_{quantity}", seed, name, 1.0)
                assert found == pytest.approx(angle(beta, direction), abs=1e-5), quantity
            np.testing.assert_allclose(
                value("direction", seed, name, 1.0, "predicted"),
                expected["corollary"] / np.linalg.norm(expected["corollary"]), atol=1e-12,
            )  # fmt: skip
    # the frequency with the largest transform alone has the largest margin in the transform's l1 norm: here the mean
    x = data["X"][0, 0]
    beta = convolved(early.series["filter_1"][0, -1][:1], early.series["filter_1"][0, -1][1:])
    top = np.argmax(np.abs(np.fft.fft(x)))
    assert top == 0
    found = value("angle_fourier", 0, "filter_1", 1.0)
    assert found == pytest.approx(np.degrees(np.arccos(beta.sum() / 2 / np.linalg.norm(beta))), abs=1e-3)


def remainder(x, length, start, label, sigma):
    """The path of two layers by the margin that it has come to: layers in time to which the loss does not matter."""
    M = matrix(x, length)
    generator = np.block([[np.zeros((length, length)), label * M], [label * M.T, np.zeros((len(x), len(x)))]])

    def margin(time):
        state = expm(generator * time) @ start
        return np.log(label * state[:length] @ M @ state[length:])

    time = brentq(lambda time: margin(time) - sigma, 0.1, 60 / np.linalg.norm(M, 2))
    return expm(generator * time) @ start


@pytest.mark.parametrize("label", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_at_a_time_is_below_its_bound_and_not_far_below(seed, label):
    rng = np.random.default_rng(seed)
    x, start = rng.standard_normal(5), np.concatenate([rng.standard_normal(2), np.zeros(5)])
    M, sigma = matrix(x, 2), 9.0
    state = remainder(x, 2, start, label, sigma)
    U, s, V = np.linalg.svd(M, full_matrices=False)
    a, b = U.T @ state[:2], V @ state[2:]
    bounds = np.add(*remainder_bounds(s, U.T @ start[:2], np.zeros(2), sigma))
    assert bounds[0] == 1
    assert 0.5 * bounds[1] < abs(a[1] / a[0]) <= bounds[1]
    gap = 1 - label * (a * b) @ s / (s[0] * np.abs(a * b).sum())
    largest = theory.largest_gap(s, *remainder_bounds(s, U.T @ start[:2], np.zeros(2), sigma))
    assert 0.2 * largest < gap <= largest
    beta = convolved(state[:2], state[2:])
    direction = theory.filtered_direction(x, label, 2)
    angle = np.degrees(np.arccos(beta @ direction / np.linalg.norm(beta)))
    assert 0.1 * theory.largest_angle(x, bounds[1]) < angle <= theory.largest_angle(x, bounds[1])


def test_equal_singular_values_leave_nothing_and_no_growth_leaves_all():
    equal = np.add(*remainder_bounds(np.ones(3), np.array([1.0, 2.0, 0.1]), np.zeros(3), 5.0))
    np.testing.assert_array_equal(equal, 1.0)
    assert theory.largest_gap(np.ones(3), *remainder_bounds(np.ones(3), np.ones(3), np.zeros(3), 5.0)) == 0


def test_a_coefficient_of_the_wrong_sign_costs_more():
    s, time = np.array([1.0, 0.5]), 1.0
    u, w = np.array([1.0, 0.01]) * np.exp(s * time), np.array([0.5, 1.0]) * np.exp(-s * time)
    rho = u**2 - w**2
    gap = 1 - s @ rho / np.abs(rho).sum()
    share = np.array([0.0, 1.0]) / np.sqrt(rho[0])
    assert gap <= theory.largest_gap(s, np.array([1.0, u[1] * share[1]]), w * share)
    assert np.add(*remainder_bounds(np.array([2.0, 1.0]), np.array([0.0, 1.0]), np.zeros(2), 5.0))[1] == np.inf


ONE = {"network": "diagonal", "seed": 2}
ERROR = 2e-5  # two thousand times rtol of 1e-8


def test_theorem_3_refuses_gaps_and_differences_beyond_what_the_transient_leaves():
    found = judged("theorem_3")
    assert found.judgement.headline.draws == 7 * (4 + 4)
    assert found.facts["reached"] == 3200
    late, start = ONE | {"sigma": 3200.0}, ONE | {"sigma": 0.0}
    for quantity in ("gap_l1", "difference"):
        none = setting("largest_gap", 0.0, **start)
        assert verdict("theorem_3", none, setting(quantity, 0.95 * ERROR, **late)) == "reproduced"
        assert verdict("theorem_3", none, setting(quantity, 1.1 * ERROR, **late)) == "contradicted"
    assert verdict("theorem_3", setting("gap_l1", -1.1e-3, **late)) == "contradicted"
    left = setting("largest_gap", 0.009, **start)
    assert verdict("theorem_3", left, setting("gap_l1", 0.009, **late)) == "reproduced"
    assert verdict("theorem_3", left, setting("gap_l1", 0.0091, **late)) == "contradicted"
    open_ = judged("theorem_3", setting("largest_gap", 0.011, **start), setting("gap_l1", 0.5, **late))
    assert open_.verdict not in ("reproduced", "contradicted")
    assert open_.judgement.headline.draws_undecided == 2  # one of each run
    # before the cap: the last recorded log log t below log(1 + 1e5 / 100)
    sigma = max(s for s in (np.linspace(0, 20, 61) ** 2) if s <= np.log1p(1e3))
    off = 10 * sigma * np.exp(-sigma)
    assert verdict("theorem_3", setting("margin", 1 + 0.95 * off, **ONE, sigma=sigma)) == "reproduced"
    assert verdict("theorem_3", setting("margin", 1 - 1.1 * off, **ONE, sigma=sigma)) == "contradicted"


def test_corollary_4_refuses_other_directions_and_other_conditions():
    one = {"network": "filter_2", "seed": 1}
    assert verdict("corollary_4", times("condition", 1 + 3e-10, **one)) == "contradicted"
    assert verdict("corollary_4", times("condition", 1 + 3e-11, **one)) == "reproduced"
    error = np.degrees(ERROR)
    for left in (0.0, 0.9):
        allowed = setting("largest_angle", left, **one)
        assert verdict("corollary_4", allowed, setting("angle_corollary", left + 0.95 * error, **one)) == "reproduced"
        assert verdict("corollary_4", allowed, setting("angle_corollary", left + 1.1 * error, **one)) == "contradicted"
    open_ = judged("corollary_4", setting("largest_angle", 1.1, **one), setting("angle_corollary", 80.0, **one))
    assert open_.verdict not in ("reproduced", "contradicted")
    assert judged("corollary_4", setting("largest_angle", 0.9, **one)).facts["allowed"] == pytest.approx(0.9 + error)
