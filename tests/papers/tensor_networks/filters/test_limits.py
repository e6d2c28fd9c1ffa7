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
from tests.papers.tensor_networks.plain import evaluation_on, multiply, put, read, verdict


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
    ).x
    top = np.array([np.cos(angle), np.sin(angle)]) if length == 2 else np.ones(1)
    beta = label * convolved(top, top @ M)
    np.testing.assert_allclose(
        theory.filtered_direction(x, label, length), beta / np.linalg.norm(beta), rtol=0, atol=1e-6
    )


def test_longer_filters_have_no_direction_of_corollary_4():
    with pytest.raises(ValueError, match="no direction"):
        theory.filtered_direction(np.array([2.0, 1.5, 0.5]), 1.0, 3)


def test_an_autocorrelation_of_zero_leaves_one_length_without_a_direction():
    x = np.array([0.1, 0.3, 0.1, -0.3])  # zero but for rounding
    assert abs(theory.autocorrelation(x)) < 1e-15
    assert theory.autocorrelation(np.array([2.0, 1.0, 0.0])) == pytest.approx(0.4)
    assert np.isnan(theory.filtered_direction(x, 1.0, 2)).all()
    np.testing.assert_allclose(theory.filtered_direction(x, -1.0, 1), -x / np.linalg.norm(x))


@pytest.mark.parametrize("length", [1, 2])
def test_the_condition_is_on_squares_of_singular_coordinates(length):
    rng = np.random.default_rng(8)
    x, first, second = rng.standard_normal(4), rng.standard_normal(length), rng.standard_normal(4)
    U, _, V = np.linalg.svd(matrix(x, length), full_matrices=False)
    expected = length * ((U.T @ first) ** 2 - (V @ second) ** 2).min()
    assert theory.filter_condition(x, first, second) == pytest.approx(expected, rel=1e-10)


@pytest.fixture(scope="module")
def data():
    given = [[2.0, 1.4, 0.4, -0.3], [0.3, 1.6, -1.0, -0.9]]
    return points.given(points=given, labels=[1.0, -1.0], separate=True)


@pytest.fixture(scope="module")
def early(data):
    settings = {"networks": ["diagonal"], "lengths": [1, 2, 3], "zero": "last", "last": 1.0, "records": 3}
    settings |= {"doublings": 0, "seed": 2}
    return plain.trajectory_with_settings(runs.single_point, data, **settings, sharpness=1e12, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("name", "architecture"), [("diagonal", "diagonal"), ("filter_2", "convolutional")])
def test_flows_are_those_of_the_loss(data, early, name, architecture):
    x, y, states = data["X"][1, 0], data["y"][1, 0], early.series[name][1]
    length = states.shape[-1] - 4
    assert not states[0, length:].any()

    def loss(at):
        beta = plain.coefficients(architecture, torch.split(at, [length, 4]))
        return torch.exp(-y * (torch.tensor(x) @ beta))

    np.testing.assert_allclose(early.time, [0, 0.25, 1.0])
    found = plain.flow(loss, states[0], np.expm1(np.expm1(early.time)))
    # divided by (1 + log(1 + t))^(1/2)
    np.testing.assert_allclose(states, found / np.sqrt(np.exp(early.time))[:, None], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("name", "length"), [("filter_1", 1), ("filter_2", 2)])
def test_flows_start_within_the_condition_of_theorem_3(data, name, length):
    settings = {
        "networks": ["diagonal"],
        "lengths": [length],
        "zero": "none",
        "last": 1.0,
        "records": 3,
        "doublings": 0,
    }
    accuracy = {"sharpness": 1e12, "rtol": 1e-10, "atol": 1e-14}
    found = plain.trajectory_with_settings(runs.single_point, data, **settings, **accuracy, seed=2)
    for x, start in zip(data["X"][:, 0], found.series[name][:, 0], strict=True):
        U, _, V = np.linalg.svd(matrix(x, length), full_matrices=False)
        first, second = (U.T @ start[:length]) ** 2, (V @ start[length:]) ** 2
        assert (second > 1e-6).all()
        assert (first > 1.2 * second).all()  # 1 / 0.9^2


def angle(one, other):
    return np.degrees(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1, 1)))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["diagonal", "filter_1", "filter_2", "filter_3"])
def test_measures_by_other_means(data, early, name, seed):
    table = metrics.single_point(early)
    x, y = data["X"][seed, 0], data["y"][seed, 0]
    length = 0 if name == "diagonal" else int(name[-1])
    M = matrix(x, length) if length else np.diag(x)
    U, s = np.linalg.svd(M)[:2]

    def value(quantity, column="value", log_log_time=1.0):
        return read(table, quantity, column, seed=seed, network=name, log_log_time=log_log_time)

    def coordinates(state):
        return U.T @ state[: len(M)], (U.T @ M @ state[len(M) :]) / s

    state = early.series[name][seed, -1]
    a, b = coordinates(state)
    margin = y * state[: len(M)] @ M @ state[len(M) :]
    # the largest margin of the l1 ball puts all on the top singular value, of the l2 ball along s
    expected = {"margin": margin, "gap_l1": 1 - margin / (s.max() * np.abs(a * b).sum())}
    expected["gap_l2"] = 1 - margin / np.sqrt(s @ s * ((a * b) @ (a * b)))
    for quantity, sign in (
        ("layer_difference", y),
        ("layer_difference_opposite", -y),
        ("layer_difference_unsigned", 1.0),
    ):
        expected[quantity] = np.linalg.norm(a - sign * b) / np.linalg.norm(a)
    for quantity, number in expected.items():
        np.testing.assert_allclose(value(quantity), number, rtol=1e-9, atol=1e-12, err_msg=quantity)
    np.testing.assert_allclose(value("spectrum", log_log_time=0.0), s / s[0], rtol=1e-12)
    np.testing.assert_allclose(value("point", log_log_time=0.0), y * x)
    if length == 0:
        return
    beta = convolved(state[:length], state[length:])
    np.testing.assert_allclose(value("direction"), beta / np.linalg.norm(beta), rtol=1e-9)
    if length == 3:
        return
    np.testing.assert_allclose(value("condition", "predicted", 0.0), value("condition", log_log_time=0.0), rtol=1e-9)
    for denominators in ("without_denominators", "with_denominators_exchanged"):
        altered = f"condition_{denominators}"
        np.testing.assert_array_equal(value(altered, log_log_time=0.0), value("condition", log_log_time=0.0))
        differs = abs(value(altered, "predicted", 0.0) / value("condition", log_log_time=0.0) - 1) > 1e-3
        assert differs == (length == 2 or denominators == "without_denominators"), denominators
    sign, shifted = np.sign(x @ np.roll(x, 1)), np.roll(x, 1) + np.roll(x, -1)
    directions = {
        "corollary": y * (x if length == 1 else 2 * x + sign * shifted),
        "point": y * x,
        "other_sign": y * (2 * x - sign * shifted),
    }
    predicted = directions["corollary"] / np.linalg.norm(directions["corollary"])
    np.testing.assert_allclose(value("direction", "predicted"), predicted)
    for quantity, direction in directions.items():
        np.testing.assert_allclose(
            value(f"angle_{quantity}"), angle(beta, direction), rtol=0, atol=1e-5, err_msg=quantity
        )
    if seed == 0:
        # the frequency with the largest transform alone has the largest margin in the transform's l1 norm: the mean
        np.testing.assert_allclose(value("angle_fourier"), angle(beta, np.ones(4)), rtol=0, atol=1e-3)


def remainder(x, length, start, label, log_log_time):
    """The path of two layers by the margin that it has come to: layers in time to which the loss does not matter."""
    M = matrix(x, length)
    generator = np.block([[np.zeros((length, length)), label * M], [label * M.T, np.zeros((len(x), len(x)))]])

    def margin(time):
        state = expm(generator * time) @ start
        return np.log(label * state[:length] @ M @ state[length:])

    time = brentq(lambda time: margin(time) - log_log_time, 0.1, 60 / np.linalg.norm(M, 2))
    return expm(generator * time) @ start


@pytest.mark.parametrize("label", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_at_a_time_is_below_its_bound_and_not_far_below(seed, label):
    rng = np.random.default_rng(seed)
    x, start = rng.standard_normal(5), np.concatenate([rng.standard_normal(2), np.zeros(5)])
    M, log_log_time = matrix(x, 2), 9.0
    state = remainder(x, 2, start, label, log_log_time)
    U, s, V = np.linalg.svd(M, full_matrices=False)
    a, b = U.T @ state[:2], V @ state[2:]
    bounds = np.add(*remainder_bounds(s, U.T @ start[:2], np.zeros(2), log_log_time))
    assert bounds[0] == 1
    assert 0.5 * bounds[1] < abs(a[1] / a[0]) <= bounds[1]
    gap = 1 - label * (a * b) @ s / (s[0] * np.abs(a * b).sum())
    largest = theory.largest_gap(s, *remainder_bounds(s, U.T @ start[:2], np.zeros(2), log_log_time))
    assert 0.2 * largest < gap <= largest
    beta = convolved(state[:2], state[2:])
    direction = theory.filtered_direction(x, label, 2)
    assert 0.1 * theory.largest_angle(x, bounds[1]) < angle(beta, direction) <= theory.largest_angle(x, bounds[1])


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


def left_by_transient(left, quantity, value):
    """What Theorem 3 says where the transient of one draw leaves a gap, and a quantity of it is another."""
    return evaluation_on(
        "theorem_3",
        put("largest_gap", left, log_log_time=0.0, **ONE),
        put(quantity, value, log_log_time=3200.0, **ONE),
    )


def test_theorem_3_is_judged_on_every_draw():
    found = evaluation_on("theorem_3")
    assert found.judgement.headline.draws == 7 * (
        4 + 4 + 4
    )  # given points, drawn points, and these from layers of which none is zero
    assert found.facts["reached"] == 3200


@pytest.mark.parametrize(
    ("left", "quantity", "value", "expected"),
    [
        (0.0, "gap_l1", 0.95 * ERROR, "reproduced"),
        (0.0, "gap_l1", 1.1 * ERROR, "contradicted"),
        (0.0, "gap_l1", -1.1e-3, "contradicted"),
        (0.0, "layer_difference", 0.95 * ERROR, "reproduced"),
        (0.0, "layer_difference", 1.1 * ERROR, "contradicted"),
        (0.009, "gap_l1", 0.009, "reproduced"),
        (0.009, "gap_l1", 0.0091, "contradicted"),
    ],
)
def test_theorem_3_refuses_what_is_beyond_what_the_transient_leaves(left, quantity, value, expected):
    assert left_by_transient(left, quantity, value).verdict == expected


def test_theorem_3_is_undecided_where_the_transient_could_be_seen():
    found = left_by_transient(0.011, "gap_l1", 0.5)
    assert found.verdict not in ("reproduced", "contradicted")
    assert found.judgement.headline.draws_undecided == 3  # one of each run


def test_theorem_3_holds_the_loss_to_one_over_time_before_its_cap():
    # before the cap: the last recorded log log t below log(1 + 1e5 / 100)
    log_log_time = max(s for s in (np.linspace(0, 20, 61) ** 2) if s <= np.log1p(1e3))
    off = 10 * log_log_time * np.exp(-log_log_time)
    assert verdict("theorem_3", put("margin", 1 + 0.95 * off, **ONE, log_log_time=log_log_time)) == "reproduced"
    assert verdict("theorem_3", put("margin", 1 - 1.1 * off, **ONE, log_log_time=log_log_time)) == "contradicted"


FILTER = {"network": "filter_2", "seed": 1}


@pytest.mark.parametrize(("factor", "expected"), [(1 + 3e-11, "reproduced"), (1 + 3e-10, "contradicted")])
def test_corollary_4_refuses_other_conditions(factor, expected):
    assert verdict("corollary_4", multiply("condition", factor, **FILTER)) == expected


@pytest.mark.parametrize("altered", ["condition_without_denominators", "condition_with_denominators_exchanged"])
def test_corollary_4_decides_nothing_where_other_denominators_do_as_well(altered):
    def as_printed(tables):
        for table in tables["flows"]:
            printed = read(table, "condition", "predicted")
            put(altered, printed, column="predicted")({"flows": table})

    assert verdict("corollary_4", as_printed) == "undecided"


@pytest.mark.parametrize("left", [0.0, 0.9])
@pytest.mark.parametrize(("errors", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_corollary_4_refuses_other_directions(left, errors, expected):
    allowed = put("largest_angle", left, **FILTER)
    angle_at_end = put("angle_corollary", left + errors * np.degrees(ERROR), **FILTER)
    assert verdict("corollary_4", allowed, angle_at_end) == expected


def test_corollary_4_is_undecided_where_the_transient_could_be_seen():
    wide = put("largest_angle", 1.1, **FILTER)
    assert verdict("corollary_4", wide, put("angle_corollary", 80.0, **FILTER)) == "undecided"


def test_corollary_4_says_how_large_an_angle_is_allowed():
    allowed = evaluation_on("corollary_4", put("largest_angle", 0.9, **FILTER)).facts["allowed"]
    assert allowed == pytest.approx(0.9 + np.degrees(ERROR))


def test_corollary_4_leaves_out_an_autocorrelation_of_zero():
    all_draws = evaluation_on("corollary_4").judgement.headline.draws
    wrong = put("angle_corollary", 80.0, **FILTER)
    assert verdict("corollary_4", wrong, put("autocorrelation", 2e-12, **FILTER)) == "contradicted"
    left_out = evaluation_on("corollary_4", put("autocorrelation", -0.5e-12, **FILTER), wrong)
    assert left_out.verdict == "reproduced"
    assert left_out.judgement.headline.draws == all_draws - 3  # one of each run
    assert "3 left out: filters of length two, autocorrelation zero" in left_out.judgement.headline.excluded
