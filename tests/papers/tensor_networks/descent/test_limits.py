"""Descent step by step with torch's gradients, flows by scipy's integrator, and claims on altered tables."""

import functools
import itertools

import numpy as np
import pytest
import torch

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.descent import metrics, runs
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import (
    evaluation_on,
    multiply,
    off_prediction_relative,
    put,
    read,
    rewrite,
    verdict,
)
from tests.support import claim_tables

NETWORKS = ["fully_connected", "diagonal", "convolutional"]
EXPERIMENT = {"networks": NETWORKS, "scales": [0.5, 1.0], "directions": 2, "imbalance": 1.0, "seed": 4}
DRAWS = [(0, 0.5, 0), (1, 0.5, 1), (2, 1.0, 0), (3, 1.0, 1)]  # position in a series, scale and direction
ONE = points.given(points=[[1.0, 2.0]], labels=[1.0])
TWO = points.given(points=[[1.0, 2.0], [0.0, -3.0]], labels=[1.0, -1.0])
LEAST = {"fully_connected": [0.2, 0.4], "diagonal": [0.0, 0.5], "convolutional": [1 / 3, 1 / 3]}  # section 6


def beta_of(architecture, state):
    return plain.coefficients(architecture, torch.split(torch.tensor(state), [len(state) - 2, 2])).numpy()


@functools.cache
def descended(kind):
    """The data, the step, thirty steps on them, and what is measured."""
    data, step = {"squared": (ONE, 0.02), "exponential": (TWO, 0.05)}[kind]
    found = plain.trajectory_with_settings(runs.descent, data, loss=kind, step=step, steps=30, records=5, **EXPERIMENT)
    return data, step, found, metrics.descent(found)


@pytest.mark.parametrize("kind", ["squared", "exponential"])
@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize(("position", "scale", "direction"), DRAWS)
def test_descent_step_by_step(kind, architecture, position, scale, direction):
    data, step, found, table = descended(kind)
    loss = plain.loss_of(architecture, 2, data["X"][0], data["y"][0], kind)
    where = {"network": architecture, "scale": scale, "direction": direction}
    states = dict(zip(found.time, found.series[architecture][position], strict=True))
    state = states[0].copy()
    for number in range(31):
        if number in states:
            beta, at = beta_of(architecture, state), where | {"time": number}
            np.testing.assert_allclose(states[number], state, rtol=0, atol=1e-11, err_msg=f"{number=}")
            np.testing.assert_allclose(read(table, "coefficient", **at), beta, err_msg=f"{number=}")
            value = float(loss(torch.tensor(state)))
            np.testing.assert_allclose(read(table, "loss", **at), value, rtol=1e-9, err_msg=f"{number=}")
            if kind == "exponential":
                least = np.array(LEAST[architecture])
                angle = np.degrees(np.arccos(beta @ least / np.linalg.norm(beta) / np.linalg.norm(least)))
                np.testing.assert_allclose(read(table, "angle", **at), angle, rtol=0, atol=1e-4, err_msg=f"{number=}")
        state = state - step * plain.gradient(loss, state)
    np.testing.assert_allclose(read(table, "limit", **where), beta)
    if kind == "exponential":
        # a loss like 1/t has d(1 / L)/dt = |grad log L|^2, constant
        slope = plain.gradient(lambda at: torch.log(loss(at)), states[30])
        growth = read(table, "loss_by_growth", **where)
        np.testing.assert_allclose(growth, 1 / (step * 30 * (slope @ slope)), rtol=1e-9)


@pytest.mark.parametrize("kind", ["squared", "exponential"])
@pytest.mark.parametrize("architecture", NETWORKS)
def test_descents_know_their_data_and_its_least_norm(kind, architecture):
    *_, table = descended(kind)
    np.testing.assert_allclose(read(table, "reference", network=architecture), LEAST[architecture], rtol=0, atol=1e-6)
    labelled = read(table, "labelled_points", network=architecture).tolist()
    assert labelled == {"squared": [1, 2], "exponential": [1, 2, 0, 3]}[kind]


@pytest.mark.parametrize("kind", ["squared", "exponential"])
def test_all_networks_start_at_the_same_coefficients(kind):
    """They are alpha^2 times those of the directions."""
    *_, found, _ = descended(kind)
    starts = np.array(
        [
            beta_of(architecture, found.series[architecture][position][0]) / scale**2
            for architecture in NETWORKS
            for position, scale, _ in DRAWS
        ]
    ).reshape(3, 2, 2, 2)  # networks, scales, directions, coefficients
    np.testing.assert_allclose(starts, np.broadcast_to(starts[:1, :1], starts.shape), rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def step_sizes():
    settings = {"step_sizes": [0.02, 0.01, 0.005], "duration": 20.0, "tolerance": 1e-12}
    found = plain.trajectory_with_settings(runs.step_sizes, ONE, **settings, **EXPERIMENT)
    return found, metrics.step_sizes(found)


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize(("position", "scale", "direction"), DRAWS)
def test_the_flow_ends_at_the_predicted_limit(step_sizes, architecture, position, scale, direction):
    found, table = step_sizes
    loss = plain.loss_of(architecture, 2, ONE["X"][0], ONE["y"][0], "squared")
    end = plain.flow(loss, found.constants[f"initial/{architecture}"][position], np.array([0.0, 40.0]))[-1]
    where = {"network": architecture, "scale": scale, "direction": direction, "step_size": 0.0}
    np.testing.assert_allclose(
        read(table, "limit", "predicted", **where), beta_of(architecture, end), rtol=0, atol=1e-7
    )


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize("scale", [0.5, 1.0])
@pytest.mark.parametrize("direction", [0, 1])
def test_the_wrong_power_predicts_the_limit_at_scale_one_alone(step_sizes, architecture, scale, direction):
    _, table = step_sizes
    where = {"network": architecture, "scale": scale, "direction": direction, "step_size": 0.0}
    limit, wrong_power = (read(table, quantity, "predicted", **where) for quantity in ("limit", "wrong_power"))
    assert (np.abs(wrong_power - limit).max() < 1e-7) == (scale == 1.0)


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize(("position", "scale", "direction"), DRAWS)
def test_descent_ends_where_its_steps_lead(step_sizes, architecture, position, scale, direction):
    found, _ = step_sizes
    loss = plain.loss_of(architecture, 2, ONE["X"][0], ONE["y"][0], "squared")
    state = found.constants[f"initial/{architecture}"][position]
    for _ in range(1000):
        state = state - 0.02 * plain.gradient(loss, state)
    np.testing.assert_allclose(found.series[architecture][position, 0], state, rtol=0, atol=1e-9)


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize(("position", "scale", "direction"), DRAWS)
def test_limits_and_residuals_are_those_of_each_step_size(step_sizes, architecture, position, scale, direction):
    found, table = step_sizes
    where = {"network": architecture, "scale": scale, "direction": direction}
    for step, state in zip((0.02, 0.01, 0.005), found.series[architecture][position], strict=True):
        beta = beta_of(architecture, state)
        np.testing.assert_allclose(read(table, "limit", **where, step_size=step), beta, err_msg=f"{step=}")
        residual = read(table, "residual", **where, step_size=step)
        np.testing.assert_allclose(residual, abs(beta @ [1, 2] - 1), rtol=0, atol=1e-13, err_msg=f"{step=}")


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize(("position", "scale", "direction"), DRAWS)
def test_the_limit_at_step_size_zero_is_extrapolated(step_sizes, architecture, position, scale, direction):
    found, table = step_sizes
    _, coarse, fine = (beta_of(architecture, state) for state in found.series[architecture][position])
    where = {"network": architecture, "scale": scale, "direction": direction, "step_size": 0.0}
    np.testing.assert_allclose(read(table, "limit", **where), 2 * fine - coarse)


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize("scale", [0.5, 1.0])
@pytest.mark.parametrize("direction", [0, 1])
def test_least_norm_is_the_networks_own(step_sizes, architecture, scale, direction):
    _, table = step_sizes
    where = {"network": architecture, "scale": scale, "direction": direction, "step_size": 0.01}
    np.testing.assert_allclose(read(table, "least_norm", "predicted", **where), LEAST[architecture], rtol=0, atol=1e-6)


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize("scale", [0.5, 1.0])
@pytest.mark.parametrize("direction", [0, 1])
def test_condition_is_the_difference_of_squares_at_scale_one(step_sizes, architecture, scale, direction):
    _, table = step_sizes
    # by how much the squares of the layers' coordinates differ at alpha = 1; two hidden units share
    expected = 0.5 if architecture == "fully_connected" else 1.0
    where = {"network": architecture, "scale": scale, "direction": direction}
    np.testing.assert_allclose(read(table, "condition", **where), expected)


def test_flows_of_any_tensor_end_where_the_formula_says():
    data = points.regression(samples=1, inputs=3, seeds=1, seed=4)
    found = plain.trajectory_with_settings(
        runs.any_tensor,
        data,
        networks=["convolutional", "diagonal"],
        scales=[0.7, 2.0],
        residual=1e-10,
        rtol=1e-10,
        atol=1e-13,
        seed=4,
    )
    table = metrics.any_tensor(found)
    for network, scale in itertools.product(("convolutional", "diagonal"), (0.7, 2.0)):
        start, where = found.constants[f"initial/{network}"][0], {"network": network, "scale": scale}
        # y / alpha is alpha y / alpha^2
        for quantity, factor in (("parameter", 1), ("opposite_label", -1), ("wrong_power", scale)):
            loss = plain.loss_of(network, 2, data["X"][0], factor * data["y"][0], "squared")
            end = plain.flow(loss, scale * start, np.array([0.0, 60.0]))[-1]
            np.testing.assert_allclose(
                read(table, quantity, "predicted", **where),
                end,
                rtol=0,
                atol=1e-7,
                err_msg=f"{network=} {scale=} {quantity=}",
            )
            if factor == 1:
                np.testing.assert_allclose(
                    read(table, quantity, **where), end, rtol=0, atol=1e-7, err_msg=f"{network=} {scale=} {quantity=}"
                )


def test_theorem_5_refuses_limits_of_the_flow_that_are_two_tolerances_off():
    one = {"network": "general", "seed": 1, "scale": 1.0}
    assert verdict("theorem_5", off_prediction_relative("parameter", 1.5e-8, **one)) == "reproduced"
    assert verdict("theorem_5", off_prediction_relative("parameter", 3e-8, **one)) == "contradicted"


def test_theorem_5_is_undecided_where_a_start_violates_its_condition():
    one = {"role": "step_sizes", "network": "diagonal", "scale": 1.0, "direction": 1}
    assert verdict("theorem_5", put("condition", 0.0, **one)) == "undecided"


def test_theorem_5_refuses_descent_that_misses_the_formula_at_step_size_zero():
    one = {"role": "step_sizes", "network": "diagonal", "scale": 1.0, "direction": 1, "step_size": 0.0}
    assert verdict("theorem_5", off_prediction_relative("limit", 1e-3, **one)) == "contradicted"


@pytest.mark.parametrize(("order", "expected"), [(1.0, "reproduced"), (2.0, "contradicted"), (0.5, "contradicted")])
def test_theorem_5_refuses_errors_of_descent_that_are_not_of_first_order(order, expected):
    def limits(rows):
        error = 0.3 * rows["step_size"] ** order + 2 * rows["step_size"] ** 2
        # the line through the smallest steps, 1e-4 and 1e-3, at zero
        line = (1e-3 * (0.3 * 1e-4**order + 2e-8) - 1e-4 * (0.3 * 1e-3**order + 2e-6)) / 9e-4
        return rows["predicted"] + error.where(rows["step_size"] > 0, line)

    assert verdict("theorem_5", rewrite("limit", limits, role="step_sizes")) == expected


@pytest.mark.parametrize(("role", "length"), [("regression", 1.0), ("classification", 3.0)])
@pytest.mark.parametrize(("off", "expected"), [(0.0, "reproduced"), (0.004, "reproduced"), (-0.006, "contradicted")])
def test_min_norm_points_are_those_printed_to_two_decimals(role, length, off, expected):
    point = length * np.array([0.33 + off, 0.33 - off])
    printed = put("reference", point, role=role, network="convolutional")
    assert verdict("min_norm_points", printed) == expected


def test_min_norm_points_of_other_data_are_not_those_printed():
    other = [1.0, 2.0, 0.0, 2.0]
    assert verdict("min_norm_points", points={"regression": [1.0, 2.0], "classification": other}) == "untested"


def test_small_scales_forget_where_the_spread_falls_to_a_tenth():
    def spread(by, scale):
        """Put limits on a line, evenly, so that the outermost two are `by` apart."""

        def limits(rows):
            return by * np.where(rows["index"] == 1, 0.6, 0.8) * rows["direction"] / 3

        return rewrite("limit", limits, network="diagonal", scale=scale)

    claim, large = "small_scale_forgets_direction", spread(1.0, 1.0)
    found = evaluation_on(claim, large, spread(0.09, 0.01))
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(0.09)
    assert verdict(claim, large, spread(0.11, 0.01)) == "not reproduced"


def at_angles(degrees):
    """Put the ends of one network along one axis, but that of one start at an angle from it."""

    def limits(rows):
        angle = np.radians(degrees) * ((rows["direction"] == 2) & (rows["scale"] == 0.01))
        return np.where(rows["index"] == 1, np.cos(angle), np.sin(angle))

    return rewrite("limit", limits, role="classification", network="diagonal")


@pytest.mark.parametrize(("degrees", "expected"), [(2.1, "reproduced"), (1.9, "not reproduced")])
def test_directions_from_all_starts_and_scales_are_compared(degrees, expected):
    found = evaluation_on("finite_loss_remembers_initialisation", at_angles(degrees))
    assert found.verdict == expected
    assert f"diagonal {degrees:.2g}, 0;" in found.facts["spans"]


@pytest.mark.parametrize(("degrees", "expected"), [(0.95, "reproduced"), (1.05, "not reproduced")])
def test_trained_on_directions_no_longer_depend_on_the_start(degrees, expected):
    late = {"role": "settling", "network": "convolutional", "scale": 1.0, "direction": 1, "log_log_time": 14.0}
    found = evaluation_on("finite_loss_remembers_initialisation", put("angle", degrees, **late))
    assert found.verdict == expected
    assert found.facts["left"] == pytest.approx(2 * degrees)


def test_architectures_evolve_differently_by_more_than_steps_change():
    claim, one = "architectures_evolve_differently", {"direction": 2, "scale": 0.5}

    def apart(errors):
        """Put one start's paths of two networks alike but at one step, where they are so many errors apart."""

        def alter(tables):
            limits = {name: read(tables["regression"], "limit", "predicted", network=name, **one) for name in NETWORKS}
            path = read(tables["regression"], "coefficient", network="diagonal", **one).copy()
            path[-4:-2] += errors * np.array([0.001, 0.0])
            put("coefficient", path, network="convolutional", **one)(tables)
            put("limit", limits["convolutional"], network="convolutional", **one)(tables)
            put("limit", limits["diagonal"] + [0.001, 0.0], network="diagonal", **one)(tables)

        return alter

    assert verdict(claim, apart(10.1)) == "reproduced"
    assert verdict(claim, apart(9.9)) == "not reproduced"


def test_architectures_end_at_limits_of_their_own():
    claim, one = "architectures_evolve_differently", {"network": "diagonal", "scale": 0.5, "direction": 2}
    assert verdict(claim, off_prediction_relative("limit", 0.009, **one)) == "reproduced"
    assert verdict(claim, off_prediction_relative("limit", -0.012, **one)) == "not reproduced"


def test_architectures_that_start_apart_decide_nothing():
    one = {"network": "diagonal", "scale": 1.0, "direction": 1, "time": 0.0}
    assert verdict("architectures_evolve_differently", multiply("coefficient", 1 + 2e-12, **one)) == "undecided"


def test_final_losses_are_held_to_their_order_of_magnitude():
    found = evaluation_on("final_loss")
    table = claim_tables("tensor_networks", "final_loss")["classification"]
    one = {"network": "diagonal", "scale": 1.0, "direction": 2, "time": 2000000}
    assert verdict("final_loss", put("loss", 3.1e-5, **one)) == "reproduced"
    assert verdict("final_loss", put("loss", 3.2e-5, **one)) == "not reproduced"
    assert found.facts["least"] == read(table, "loss", time=2000000).min()
    doubled = evaluation_on("final_loss", multiply("loss_by_growth", 2.0)).facts["growth"]
    assert doubled == pytest.approx(1.0, abs=2 * found.facts["growth"])


def test_limits_from_a_tiny_scale_are_those_of_least_norm():
    alpha = 1e-140
    data = points.regression(samples=1, inputs=3, seeds=2, seed=4)
    found = plain.trajectory_with_settings(
        runs.from_many_directions,
        data,
        networks=["fully_connected", "diagonal"],
        scales=[alpha, 1.0],
        directions=2,
        residual=1e-9,
        rtol=1e-9,
        atol=1e-12,
        seed=4,
    )
    table = metrics.from_many_directions(found)
    for seed, direction in np.ndindex(2, 2):
        X, y = data["X"][seed], data["y"][seed]
        sizes = np.sort(np.abs(X[0]))[::-1]
        dense, sparse = (
            {"network": name, "scale": alpha, "seed": seed, "direction": direction}
            for name in ("fully_connected", "diagonal")
        )
        np.testing.assert_allclose(
            read(table, "coefficient", **dense),
            np.linalg.pinv(X) @ y,
            rtol=0,
            atol=1e-7,
            err_msg=f"{seed=} {direction=}",
        )
        np.testing.assert_allclose(read(table, "second_singular_value", **dense), 1, err_msg=f"{seed=} {direction=}")
        np.testing.assert_allclose(
            read(table, "second_singular_value", **sparse), sizes[1] / sizes[0], err_msg=f"{seed=} {direction=}"
        )
        state = found.series["diagonal"][seed, 0, direction]
        np.testing.assert_allclose(read(table, "parameter", **sparse), state, err_msg=f"{seed=} {direction=}")
        # sums of both layers' entries grow like exp(|x_i| T), with the residual's integral T; at the end the largest
        # alone gives the label: |x_1| (alpha sums_1 exp(|x_1| T) / 2)^2 = |y|
        start = found.constants["initial/diagonal"][seed, direction]
        top = np.argmax(np.abs(X[0]))
        sums = np.abs(start[:3] + np.sign(y[0] * X[0]) * start[3:])
        integral = (np.log(4 * abs(y[0]) / sizes[0] / sums[top] ** 2) - 2 * np.log(alpha)) / (2 * sizes[0])
        expected = sums / sums[top] * np.exp((np.abs(X[0]) - sizes[0]) * integral)
        np.testing.assert_allclose(np.abs(state[:3] / state[top]), expected, rtol=0.02, err_msg=f"{seed=} {direction=}")
        left = read(table, "remainder", **sparse).item()
        assert 0.98 * np.sort(expected)[-2] <= left <= 3 * np.sort(expected)[-2], f"{seed=} {direction=}"


def scattered(quantity, by, network="general"):
    """All limits from the tiny scale the same vector, but for one direction, whose first entry is off."""

    def entries(rows):
        return np.where(rows["index"] == 2, 1.0, by * ((rows["index"] == 1) & (rows["direction"] == 2)))

    return rewrite(quantity, entries, network=network, scale=1e-140, seed=1)


@pytest.mark.parametrize("quantity", ["parameter", "coefficient"])
def test_limit_points_agree_up_to_sign_where_the_top_value_is_simple(quantity):
    claim = "limit_points_small_scale"
    assert verdict(claim, scattered(quantity, 0.0099)) == "corrected"
    assert verdict(claim, scattered(quantity, 0.0102)) == "contradicted"


def test_limit_points_differ_where_the_top_value_is_not_simple():
    claim = "limit_points_small_scale"
    assert verdict(claim, scattered("parameter", 0.11, "fully_connected")) == "corrected"
    assert verdict(claim, scattered("parameter", 0.09, "fully_connected")) == "contradicted"
    found = evaluation_on(claim)
    assert found.facts["count"] == 4
    assert found.facts["apart"] > 1


def test_limit_points_of_nearly_tied_values_are_left_out():
    claim = "limit_points_small_scale"
    # left out: 0.01 + 4 * 0.023 > 10 * 0.01
    nearly_tied = put("remainder", 0.023, network="general", seed=1)
    assert verdict(claim, scattered("parameter", 0.5), nearly_tied) == "corrected"
    # judged: 0.01 + 4 * 0.0026 <= 10 * 0.01
    apart = put("remainder", 0.0026, network="general")
    assert verdict(claim, scattered("parameter", 0.5), apart) == "contradicted"


def test_predictions_after_5000_steps_are_held_to_a_line_width():
    claim, one = "predictions_after_5000_steps", {"network": "diagonal", "scale": 0.5, "direction": 2}
    assert evaluation_on(claim).judgement.headline.draws == 36
    assert verdict(claim, off_prediction_relative("limit", 0.009, **one)) == "reproduced"
    assert verdict(claim, off_prediction_relative("limit", -0.012, **one)) == "not reproduced"
