"""One row a class against the full network: torch's gradients of all examples, integrated by scipy."""

import itertools

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics.population import metrics, runs
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    learning_places,
    rank_of,
    trajectory_with_settings,
    velocity,
)

SETTINGS = {
    "counts": [[5, 2, 1], [3, 3, 3]],
    "dimensions": [2, 3],
    "scales": [0.01, 0.3],
    "loss": "cross_entropy",
    "seeds": 3,
    "first_time": 0.1,
    "horizon": 60.0,
    "points": 25,
    "rtol": 1e-9,
    "atol": 1e-13,
}
MEASURE = {"thresholds": [0.02], "lower": 0.4, "upper": 0.9}


@pytest.fixture(scope="module")
def flows():
    return trajectory_with_settings(runs.class_flows, SETTINGS, seed=3)


@pytest.fixture(scope="module")
def squared_flows():
    return trajectory_with_settings(runs.class_flows, {**SETTINGS, "loss": "squared"}, seed=3)


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
@pytest.mark.parametrize("member", [0, 4, 11, 13, 23])
def test_a_row_stands_for_all_examples_of_its_class(flows, squared_flows, loss, member):
    flows = {"cross_entropy": flows, "squared": squared_flows}[loss]
    counts = flows.constants["counts"][member].tolist()
    dimension = flows.constants["dimension"][member]
    f, W = (flows.series[name][member].astype(float) for name in "fW")
    assert (f[..., dimension:] == 0).all()
    f, W = f[..., :dimension], W[:, :dimension]
    every = np.repeat(np.arange(3), counts)
    expected = integrate_by_scipy(f[0][every], W[0], flows.time, lambda f, W: velocity(f, W, counts, loss))
    # stored in single precision
    np.testing.assert_allclose(f[:, every], expected[0], rtol=0, atol=2e-5)
    np.testing.assert_allclose(W, expected[1], rtol=0, atol=2e-5)


def test_starts_have_the_size_of_their_classes_mean():
    settings = {**SETTINGS, "counts": [[100, 1]], "dimensions": [2], "scales": [0.5], "seeds": 600, "points": 1}
    trajectory = trajectory_with_settings(runs.class_flows, {**settings, "first_time": 1e-3, "horizon": 1e-3}, seed=3)
    spread = trajectory.series["f"][:, 0].std(axis=(0, 2))
    # 1200 entries: a standard error of two per cent
    np.testing.assert_allclose(spread, [0.05, 0.5], rtol=0.1)
    assert trajectory.series["W"][:, 0].std() == pytest.approx(0.5, rel=0.07)


def test_unequal_numbers_of_classes_are_refused():
    with pytest.raises(ProjectError, match="as many classes"):
        trajectory_with_settings(runs.class_flows, {**SETTINGS, "counts": [[1, 1], [1, 1, 1]]}, seed=1)


@pytest.fixture(scope="module")
def table(flows):
    return metrics.class_flows(flows, **MEASURE)


MEMBERS = list(enumerate(itertools.product((2, 3), ("5-2-1", "3-3-3"), (0.01, 0.3), range(3))))


def member_rows(table, dimension, counts, scale, seed):
    return select(table, dimension=dimension, counts=counts, scale=scale, seed=seed)


@pytest.mark.parametrize(("member", "cell"), MEMBERS)
@pytest.mark.parametrize("population", ["examples", "classes"])
def test_ranks_by_hand_and_the_falls_that_are_found_in_them(flows, table, member, cell, population):
    f, W = (flows.series[name][member].astype(float) for name in "fW")
    weights = np.exp(f @ W)
    own = np.stack([weights[:, k, k] / weights[:, k].sum(axis=1) for k in range(3)], axis=1)
    check_ranks(flows, member, own, population, member_rows(table, *cell))


@pytest.mark.parametrize(("member", "cell"), MEMBERS[::5])
def test_under_the_squared_loss_outputs_say_when_classes_are_learned(squared_flows, member, cell):
    f, W = (squared_flows.series[name][member].astype(float) for name in "fW")
    outputs = np.stack([np.sum(f[:, k] * W[:, :, k], axis=1) for k in range(3)], axis=1)
    table = metrics.class_flows(squared_flows, **MEASURE)
    check_ranks(squared_flows, member, outputs, "examples", member_rows(table, *cell))


def check_ranks(flows, member, own, population, rows):
    """Compare a member's rows with ranks by hand; `own` is each class's own probability or output, (times, classes)."""
    f = flows.series["f"][member].astype(float)
    sizes = flows.constants["counts"][member].tolist()
    first, begin, end, _ = learning_places(own, sizes, 0.4, 0.9)
    windows = falls.windows(own[None], np.array([sizes]), 0.4, 0.9)
    ranks = np.array([rank_of(points, copies=sizes if population == "examples" else None) for points in f])
    trough = int(np.argmin(ranks[: first + 1]))
    expected = {
        "net": ranks[end] - ranks[begin],
        "end": ranks[-1],
        "peak": ranks[trough:].max(),
    }
    by_window = falls.falls_by_window(ranks[None], 0.02, windows) | falls.three_phases(ranks[None], 0.02, windows)
    for name in ("fall", "fall_rare", "fall_since_rare", "phases", "phases_since_rare"):
        expected[name] = by_window[name][0]
    rows = select(rows, population=population)
    assert rows.set_index("quantity")["value"].to_dict() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("member", "cell"), MEMBERS)
def test_the_order_of_lengths_by_hand(flows, table, member, cell):
    sizes = flows.constants["counts"][member].tolist()
    rows = member_rows(table, *cell)
    assert (rows["skewed"] == (sizes == [5, 2, 1])).all()
    (order,) = rows[rows["quantity"] == "length_order"]["value"]
    if sizes == [3, 3, 3]:
        assert np.isnan(order)
    else:
        f, W = (flows.series[name][member, -1].astype(float) for name in "fW")
        over_margin = [f[k] @ f[k] / (f[k] @ W[:, k]) for k in range(3)]
        assert order == pytest.approx(np.polyfit(np.log(sizes), np.log(over_margin), 1)[0], abs=1e-6)


def test_a_margin_that_is_not_positive_has_no_length_order():
    f, W = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([[[1.0, 0.0], [0.0, -1.0]]])
    assert np.isnan(metrics.length_orders(f, W, np.array([[2, 1]])))[0]
    assert metrics.length_orders(f, np.abs(W), np.array([[2, 1]]))[0] == 0.0


def test_a_member_that_failed_is_empty(flows):
    broken = Trajectory(flows.time, flows.series, flows.constants, SETTINGS, undecided=np.arange(24) == 5)
    table = metrics.class_flows(broken, **MEASURE)
    empty = table["value"].isna()
    # of two populations a change, three falls, two kinds of phases, an end and a peak; equal classes have no order of
    # lengths either
    measured = table["quantity"] != "length_order"
    assert empty[measured].sum() == 2 * 8
    assert set(table[empty & measured]["seed"]) == {2}


DIRECTIONS = {
    "counts": [[9, 3, 2, 1], [12, 4, 2, 1]],
    "dimensions": [2, 3],
    "scales": [1e-6, 1e-3],
    "first_time": 0.1,
    "horizon": 100.0,
    "points": 30,
    "rtol": 1e-9,
    "atol": 1e-15,
}


@pytest.fixture(scope="module")
def directions():
    return trajectory_with_settings(runs.growing_directions, DIRECTIONS)


@pytest.mark.parametrize("member", range(8))
def test_a_start_of_growing_directions_is_balanced(directions, member):
    d, scale = directions.constants["dimension"][member], directions.constants["scale"][member]
    f, W = (directions.series[name][member, 0].astype(float) for name in "fW")
    f, W, sizes = f[:, :d], W[:d], directions.constants["counts"][member]
    np.testing.assert_allclose((f * sizes[:, None]).T @ f, scale**2 * np.eye(d), rtol=0, atol=1e-6 * scale**2)
    np.testing.assert_allclose(W @ W.T, scale**2 * np.eye(d), rtol=0, atol=1e-6 * scale**2)


@pytest.mark.parametrize("member", range(8))
def test_each_axis_of_such_a_start_grows_at_a_singular_value_of_the_residual(directions, member):
    d, scale = directions.constants["dimension"][member], directions.constants["scale"][member]
    f, W = (directions.series[name][member, 0].astype(float) for name in "fW")
    f, W, sizes = f[:, :d], W[:d], directions.constants["counts"][member]
    residual = np.repeat(np.eye(4), sizes, axis=0) - 1 / 4
    rates = np.linalg.svd(residual, compute_uv=False)[:d]
    every = f[np.repeat(np.arange(4), sizes)]
    np.testing.assert_allclose(residual @ W.T, every * rates, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(every.T @ residual, W * rates[:, None], rtol=0, atol=1e-5 * scale)


def test_growing_directions_have_one_member_a_cell(directions):
    table = metrics.growing_directions(directions, **MEASURE)
    assert set(table["seed"]) == {0}
    ends = select(table, "end", population="classes")
    assert ends.groupby(["counts", "dimension", "scale"]).size().tolist() == [1] * 8
