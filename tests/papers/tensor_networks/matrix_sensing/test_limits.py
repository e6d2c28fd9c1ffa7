"""Limits of matrix sensing against torch, scipy and linear programs, and claims on altered limits."""

import functools
import itertools

import numpy as np
import pytest
import torch
from scipy import integrate

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.limit_checks import limit_error
from learning_dynamics.papers.tensor_networks.matrix_sensing import metrics, runs
from learning_dynamics.papers.tensor_networks.matrix_sensing.claims import BITS
from learning_dynamics.tidy import Draws, select
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
from tests.support import claim_tables, smoke

SIZE = 3
LIMIT = {"residual": 1e-10, "rtol": 1e-10, "atol": 1e-13}


@pytest.fixture(scope="module")
def data():
    return points.commuting_sensors(samples=2, size=SIZE, seeds=2, seed=4)


def loss_of(sensors, labels, depth):
    """Half the squared residuals as a function of all layers in one torch vector."""
    A, y = torch.tensor(sensors), torch.tensor(labels)

    def loss(state):
        product = functools.reduce(torch.matmul, state.reshape(depth, SIZE, SIZE))
        return ((torch.einsum("sij,ij->s", A, product) - y) ** 2).sum() / 2

    return loss


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_velocities_are_minus_the_gradient_where_layers_do_not_commute(depth):
    rng = np.random.default_rng(0)
    layers, sensors, y = (rng.standard_normal(shape) for shape in ((depth, SIZE, SIZE), (2, SIZE, SIZE), 2))
    slope = plain.gradient(loss_of(sensors, y, depth), layers.ravel())
    np.testing.assert_allclose(runs._pushes(layers, sensors, y)[0].ravel(), -slope, rtol=1e-10)


def flow(sensors, labels, depth, scale, when):
    """W_1 ... W_L by torch's gradient of half the squared residuals, in scipy's integrator."""
    loss = loss_of(sensors, labels, depth)
    start = np.concatenate([scale * np.eye(SIZE).ravel()] * (depth - 1) + [np.zeros(SIZE**2)])
    found = plain.flow(loss, start, when)
    products = [functools.reduce(np.matmul, state.reshape(depth, SIZE, SIZE)) for state in found]
    return np.array(products), np.array([float(loss(torch.tensor(state))) for state in found])


@pytest.mark.parametrize("basis", ["eigen", "generic"])
@pytest.mark.parametrize("depth", [2, 3])
def test_limits_are_where_an_integrator_ends_and_where_theory_says(data, basis, depth):
    found = plain.trajectory_with_settings(
        runs.matrix_sensing, data, basis=basis, depths=[depth], scales=[1.0, 2.0], **LIMIT
    )
    table = metrics.matrix_sensing(found)
    Q = data["Q"][1]
    for place, scale in enumerate((1.0, 2.0)):
        end = Q.T @ flow(data["A"][1], data["y"][1], depth, scale, np.array([0.0, 100.0]))[0][-1] @ Q
        np.testing.assert_allclose(
            found.series[f"product_{depth}"][1, place], end, rtol=0, atol=1e-7, err_msg=f"{place=} {scale=}"
        )
        for column in ("value", "predicted"):
            np.testing.assert_allclose(
                read(table, "entry", column, seed=1, scale=scale),
                end.ravel(),
                rtol=0,
                atol=1e-7,
                err_msg=f"{place=} {scale=} {column=}",
            )


def test_rivals_are_other_depths_scales_and_least_norms(data):
    found = plain.trajectory_with_settings(
        runs.matrix_sensing, data, basis="eigen", depths=[2, 3], scales=[0.5, 1.0], **LIMIT
    )
    table = metrics.matrix_sensing(found)

    def predicted(quantity, depth, scale):
        return read(table, quantity, "predicted", seed=0, depth=depth, scale=scale).reshape(SIZE, SIZE)

    np.testing.assert_allclose(predicted("other_depth", 2, 0.5), predicted("entry", 3, 0.5))
    np.testing.assert_allclose(predicted("other_scale", 2, 0.5), predicted("entry", 2, 1.0))
    features, y = data["X"][0], data["y"][0]  # norms are attained by matrices that commute with the sensors
    np.testing.assert_allclose(
        predicted("least_nuclear_norm", 2, 0.5), np.diag(plain.least_l1(features, y)), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        predicted("least_frobenius_norm", 3, 1.0), np.diag(np.linalg.pinv(features) @ y), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("depth", [2, 3])
def test_sensitivity_is_how_far_flows_end_apart_that_start_with_one_entry_changed(data, depth):
    """In the sensors' eigenbasis, where layers stay diagonal; the last layer starts at zero and does not change."""
    scale, change = 0.5, 1e-3
    found = plain.trajectory_with_settings(
        runs.matrix_sensing, data, basis="eigen", depths=[depth], scales=[scale], **LIMIT
    )
    features, y = data["X"][0], data["y"][0]

    def end(factors):
        layers = np.array([scale * factors] * (depth - 1) + [np.zeros(SIZE)])

        def slope(_, state):
            w = state.reshape(depth, SIZE)
            push = features.T @ (y - features @ w.prod(axis=0))
            return np.array([push * np.delete(w, layer, axis=0).prod(axis=0) for layer in range(depth)]).ravel()

        flow = integrate.solve_ivp(slope, (0, 200), layers.ravel(), method="DOP853", rtol=1e-11, atol=1e-13)
        return flow.y[:, -1].reshape(depth, SIZE).prod(axis=0)

    limit = end(np.ones(SIZE))
    moved = [np.linalg.norm(end(1 + change * entry) - limit) for entry in np.eye(SIZE)]
    expected = max(moved) / (change * np.linalg.norm(limit))
    assert read(metrics.matrix_sensing(found), "sensitivity", seed=0).item() == pytest.approx(expected, rel=0.01)


def test_the_loss_of_the_formats_is_that_of_an_integrator_and_what_departs_is_rounding(data):
    found = plain.trajectory_with_settings(
        runs.rounding,
        data,
        precisions=["single", "double"],
        depth=3,
        scales=[0.2, 0.4],
        horizon=1.5,
        records=4,
        tolerance=1e-10,
    )
    for place, scale in enumerate((0.2, 0.4)):
        when = np.linspace(0, 1.5, 4) / scale  # in units of alpha^(2 - L)
        for member in range(2):
            _, loss = flow(data["A"][member], data["y"][member], 3, scale, when)
            np.testing.assert_allclose(
                found.series["loss/double"][member, :, place], loss, rtol=1e-6, err_msg=f"{place=} {scale=} {member=}"
            )
            np.testing.assert_allclose(
                found.series["loss/single"][member, :, place], loss, rtol=1e-3, err_msg=f"{place=} {scale=} {member=}"
            )
    # rounding of layers of order one, of a few hundred steps
    assert 1e-9 < found.series["single"][:, -1].max() < 1e-3
    assert found.series["double"][:, -1].max() < 1e-12
    table = metrics.rounding(found)
    for precision, (place, scale) in itertools.product(("single", "double"), enumerate((0.2, 0.4))):
        where = {"precision": precision, "scale": scale, "seed": 1}
        np.testing.assert_allclose(
            read(table, "loss", "time", **where), np.linspace(0, 1.5, 4), err_msg=f"{precision=} {place=} {scale=}"
        )
        for quantity, series in (("off_diagonal", precision), ("loss", f"loss/{precision}")):
            np.testing.assert_array_equal(
                read(table, quantity, **where),
                found.series[series][1, :, place],
                err_msg=f"{precision=} {place=} {scale=} {quantity=}",
            )


GENERIC = "corollary_7_generic_basis"


def tables_and_allowed_error(claim, role):
    """The table of a claim's role at small scale, and the relative error that the claim allows its limits."""
    table = claim_tables("tensor_networks", claim)[role]
    return table, float(limit_error(Draws(table)).max())


@pytest.mark.parametrize(("sensitivity", "factor"), [(0.5, 1.0), (40.0, 40.0)])
def test_corollary_7_refuses_a_limit_off_by_more_than_its_tolerance(sensitivity, factor):
    _, allowed = tables_and_allowed_error("corollary_7", "eigen")
    one = {"seed": 3, "depth": 3, "scale": 1.0}
    as_sensitive = put("sensitivity", sensitivity, **one)
    assert (
        verdict("corollary_7", as_sensitive, off_prediction_relative("entry", 0.8 * factor * allowed, **one))
        == "reproduced"
    )
    assert (
        verdict("corollary_7", as_sensitive, off_prediction_relative("entry", 1.5 * factor * allowed, **one))
        == "contradicted"
    )


def test_facts_of_corollary_7_are_the_largest_distances_from_solutions_of_least_norm():
    table, _ = tables_and_allowed_error("corollary_7", "eigen")
    found = evaluation_on("corollary_7")
    assert found.facts["nuclear_deep"] < found.facts["nuclear"]
    smallest, largest = table["scale"].min(), table["scale"].max()
    for fact, quantity, where in (
        ("frobenius", "least_frobenius_norm", {"scale": largest, "depth": 3}),
        ("nuclear", "least_nuclear_norm", {"scale": smallest, "depth": 2}),
        ("nuclear_deep", "least_nuclear_norm", {"scale": smallest, "depth": 3}),
    ):
        # each entry of a matrix is off by the matrix's norm
        off = rewrite(quantity, lambda rows: rows["predicted"] + np.linalg.norm(rows["predicted"]), seed=3, **where)
        entries = len(select(table, quantity, seed=3, **where))
        assert evaluation_on("corollary_7", off).facts[fact] == pytest.approx(np.sqrt(entries)), f"{fact=} {quantity=}"


@pytest.mark.parametrize(
    ("quantity", "phrase"),
    [
        ("least_nuclear_norm", "the least nuclear norm"),
        ("least_frobenius_norm", "the least Frobenius norm"),
        ("other_depth", "the minimiser for one more layer"),
        ("other_scale", r"the minimiser for $2 \alpha$"),
    ],
)
def test_a_rival_of_corollary_7_that_predicts_the_same_leaves_it_open(quantity, phrase):
    def agree(tables):
        table = tables["eigen"]
        limits = table.loc[table["quantity"] == "entry", "value"].to_numpy()
        table.loc[table["quantity"] == quantity, "predicted"] = limits

    found = evaluation_on("corollary_7", agree)
    assert found.verdict == "undecided"
    assert phrase in found.reason


def exactly_proportional(tables):
    """Let departures be in proportion to the roundoff of their format: of single precision half of the claim's `start`.

    Below `start` growth counts as linear.
    """
    start = smoke("tensor_networks").claim("tensor_networks", GENERIC)["settings"]["start"]
    bits = tables["rounding"]["precision"].map(BITS).astype(float)
    rewrite("off_diagonal", lambda rows: start * 2.0 ** (BITS["single"] - 1 - bits[rows.index]))(tables)


def test_departures_in_proportion_to_rounding_are_reproduced_and_others_refused():
    bits = smoke("tensor_networks").claim("tensor_networks", GENERIC)["settings"]["tolerance"]
    inside, beyond = 2 ** (bits - 0.1), 2 ** (bits + 0.1)
    assert evaluation_on(GENERIC, exactly_proportional).verdict == "reproduced"
    assert (
        verdict(GENERIC, exactly_proportional, multiply("off_diagonal", inside, precision="extended")) == "reproduced"
    )
    assert (
        verdict(GENERIC, exactly_proportional, multiply("off_diagonal", beyond, precision="extended")) == "contradicted"
    )
    assert verdict(GENERIC, exactly_proportional, multiply("off_diagonal", 1 / beyond, precision="double")) == (
        "contradicted"
    )
    # beyond the start that is asked for, the growth is not linear: nothing is judged
    assert verdict(GENERIC, put("off_diagonal", 0.1)) != "reproduced"


def test_a_limit_in_a_generic_basis_is_judged_but_from_small_scales_with_three_layers():
    table, allowed = tables_and_allowed_error(GENERIC, "generic")
    smallest = table["scale"].min()
    assert (
        verdict(GENERIC, off_prediction_relative("entry", 1.5 * allowed, seed=3, depth=2, scale=smallest))
        == "contradicted"
    )
    assert (
        verdict(GENERIC, off_prediction_relative("entry", 1.5 * allowed, seed=3, depth=3, scale=1.0)) == "contradicted"
    )
    from_small = {"depth": 3, "scale": smallest}
    # one draw misses by two per cent, where one per cent counts as a miss
    broken = evaluation_on(
        GENERIC,
        off_prediction_relative("entry", 0.0, **from_small),
        off_prediction_relative("entry", 0.02, seed=1, **from_small),
    )
    assert broken.verdict == "reproduced"
    assert (broken.facts["broken"], broken.facts["tried"]) == (1, table["seed"].nunique())
