"""Flows of classes of many examples, and their ranks.

Flows are compared with those of all examples, torch's gradient integrated by scipy; ranks with numpy's.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.population import metrics, runs
from learning_dynamics.papers.softmax_dynamics.starts import cell_states
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    learning_places,
    trajectory_with_settings,
    velocity,
)

SETTINGS = {
    "counts": [[5, 2, 1], [3, 3, 3]],
    "dimensions": [2, 3],
    "scales": [0.01, 0.3],
    "loss": "cross_entropy",
    "seeds": 3,
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 60.0,
    "points": 25,
    "rtol": 1e-9,
    "atol": 1e-13,
}
# `thresholds`: least changes of the rank that count as a fall or a rise; `lower` and `upper`: probabilities at which a
# class begins to be learned, and is
MEASURE = {"thresholds": [0.02], "lower": 0.4, "upper": 0.9}


@pytest.fixture(scope="module")
def flows():
    """Return the trajectory of 24 flows, in the order of `KEYS`; series are padded with zeros to three dimensions."""
    return trajectory_with_settings(runs.class_flows, SETTINGS, seed=3)


@pytest.fixture(scope="module")
def squared_flows():
    return trajectory_with_settings(runs.class_flows, {**SETTINGS, "loss": "squared"}, seed=3)


def starts_of_examples(counts, dimension, scale, *, seeds=SETTINGS["seeds"]):
    """Return f, shape (seeds, examples, d), and W, (seeds, d, classes), of Gaussian starts, as `runs` draws them."""
    _, states = cell_states(counts, dimension, init="gaussian", scale=scale, seeds=seeds, seed=3)
    return model.unpack(states, sum(counts), dimension, len(counts))


def expected_series(f, W, counts, loss):
    """Return the series of a flow of all examples, from f, shape (times, examples, d), and W, (times, d, classes)."""
    class_of = np.repeat(np.arange(len(counts)), counts)  # of each example
    outputs = f @ W
    if loss == "cross_entropy":
        outputs = np.exp(outputs) / np.exp(outputs).sum(axis=-1, keepdims=True)
    own = np.take_along_axis(outputs, class_of[None, :, None], axis=-1)[..., 0]
    covariance = np.array([np.cov(features.T, bias=True) for features in f])
    return {
        "means": np.stack([f[:, class_of == k].mean(axis=1) for k in range(len(counts))], axis=1),
        "covariance": covariance / np.trace(covariance, axis1=1, axis2=2)[:, None, None],
        "probabilities": np.stack([own[:, class_of == k].mean(axis=1) for k in range(len(counts))], axis=1),
        "W": W,
    }


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
@pytest.mark.parametrize("member", [0, 4, 11, 13, 23])  # of 24: both sizes, both dimensions and both scales are there
def test_small_classes_have_a_row_for_each_example(flows, squared_flows, loss, member):
    flows = {"cross_entropy": flows, "squared": squared_flows}[loss]
    counts = flows.constants["counts"][member].tolist()
    d = flows.constants["dimension"][member]
    f, W = starts_of_examples(counts, d, flows.constants["scale"][member])
    draw = member % SETTINGS["seeds"]
    f, W = integrate_by_scipy(f[draw], W[draw], flows.time, lambda f, W: velocity(f, W, counts, loss))
    expected = expected_series(f, W, counts, loss)
    unpadded = {"means": np.s_[..., :d], "covariance": np.s_[:, :d, :d], "probabilities": np.s_[:], "W": np.s_[:, :d]}
    for name, places in unpadded.items():
        series = flows.series[name][member].copy()
        np.testing.assert_allclose(series[places], expected[name], rtol=0, atol=2e-5)  # stored in single precision
        series[places] = 0
        assert name == "probabilities" or (series == 0).all()


# 40 is above the most rows that are followed, 16. From a small start the examples of a class have nearly the same
# gradient; from one of order one their spread changes as well, and sixteen rows follow it roughly
@pytest.mark.parametrize(("scale", "tolerance"), [(0.01, 1e-4), (0.3, 0.02)])
def test_of_a_large_class_some_rows_follow_mean_and_covariance(scale, tolerance):
    counts = [40, 2, 1]
    settings = {**SETTINGS, "counts": [counts], "dimensions": [2], "scales": [scale], "seeds": 1}
    trajectory = trajectory_with_settings(runs.class_flows, settings, seed=3)
    f, W = starts_of_examples(counts, 2, scale, seeds=1)
    f, W = integrate_by_scipy(f[0], W[0], trajectory.time, lambda f, W: velocity(f, W, counts, "cross_entropy"))
    expected = expected_series(f, W, counts, "cross_entropy")
    for name in ("means", "covariance", "probabilities"):
        series = trajectory.series[name][0]
        # at the start mean and covariance are those of all examples
        np.testing.assert_allclose(series[0], expected[name][0], rtol=0, atol=1e-3 if name == "probabilities" else 1e-6)
        np.testing.assert_allclose(series, expected[name], rtol=0, atol=tolerance * np.abs(expected[name]).max())


def test_unequal_numbers_of_classes_are_refused():
    with pytest.raises(ProjectError, match="all entries of `counts` must have as many classes"):
        trajectory_with_settings(runs.class_flows, {**SETTINGS, "counts": [[1, 1], [1, 1, 1]]}, seed=1)


@pytest.fixture(scope="module")
def table(flows):
    return metrics.class_flows(flows, **MEASURE)


# members in the order of the run, with what tells them apart in the table
CELLS = itertools.product((2, 3), ("5-2-1", "3-3-3"), (0.01, 0.3), range(3))
KEYS = [
    {"dimension": dimension, "counts": counts, "scale": scale, "seed": seed} for dimension, counts, scale, seed in CELLS
]
every_member = pytest.mark.parametrize("member", range(len(KEYS)))


def series_of(flows, member, *names):
    """Return series of a member in double precision."""
    return (flows.series[name][member].astype(float) for name in names)


def expected_ranks_and_falls(flows, member, population) -> dict[str, float]:
    """Return what is measured of a member's rank, from the covariance by numpy and a search in time.

    Falls are those that `falls` finds in these ranks; its own tests show that they are right.
    """
    means, covariance, own = series_of(flows, member, "means", "covariance", "probabilities")
    sizes = flows.constants["counts"][member].tolist()
    places = learning_places(own, sizes, MEASURE["lower"], MEASURE["upper"])
    if population == "classes":
        covariance = np.array([np.cov(points.T) for points in means])
    eigenvalues = np.clip(np.linalg.eigvalsh(covariance), 1e-300, None)
    shares = eigenvalues / eigenvalues.sum(axis=1, keepdims=True)
    ranks = np.exp(-np.sum(shares * np.log(shares), axis=1))
    trough = int(np.argmin(ranks[: places.first_learned + 1]))
    expected = {
        "net": ranks[places.rare_learned] - ranks[places.rare_begin],
        "end": ranks[-1],
        "peak": ranks[trough:].max(),
    }
    windows = falls.windows(own[None], np.array([sizes]), MEASURE["lower"], MEASURE["upper"])
    (threshold,) = MEASURE["thresholds"]
    by_window = falls.falls_by_window(ranks[None], threshold, windows)
    for name in ("fall", "fall_rare", "fall_since_rare"):
        expected[name] = by_window[name].item()
    for name, is_shown in falls.three_phases(ranks[None], threshold, windows).items():
        expected[name] = is_shown.item()
    return expected


@every_member
@pytest.mark.parametrize("population", ["examples", "classes"])
@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_ranks_and_their_falls_are_those_of_numpys_covariance(flows, squared_flows, member, population, loss):
    flows = {"cross_entropy": flows, "squared": squared_flows}[loss]
    rows = select(metrics.class_flows(flows, **MEASURE), population=population, **KEYS[member])
    measured = rows.set_index("quantity")["value"].to_dict()
    # computed from the same states, in double precision
    assert measured == pytest.approx(expected_ranks_and_falls(flows, member, population), abs=1e-6)


@every_member
def test_class_sizes_that_differ_are_called_skewed(table, member):
    rows = select(table, **KEYS[member])
    assert (rows["skewed"] == (KEYS[member]["counts"] == "5-2-1")).all()


@pytest.mark.parametrize("member", [member for member, key in enumerate(KEYS) if key["counts"] == "5-2-1"])
def test_the_order_of_lengths_is_the_slope_of_squared_lengths_over_margins(flows, table, member):
    f, W = (states[-1] for states in series_of(flows, member, "means", "W"))
    over_margins = [f[k] @ f[k] / (f[k] @ W[:, k]) for k in range(3)]
    slope, _ = np.polyfit(np.log([5, 2, 1]), np.log(over_margins), 1)
    order = select(table, "length_order", **KEYS[member])["value"].item()
    assert order == pytest.approx(slope, abs=1e-6)


def test_equal_classes_have_no_order_of_lengths(table):
    assert select(table, "length_order", counts="3-3-3")["value"].isna().all()


# a class's margin is its entry of f W on the diagonal; `margin` is that of the second class
@pytest.mark.parametrize(("margin", "order"), [(-1.0, np.nan), (1.0, 0.0)])
def test_the_order_of_lengths_is_nan_where_a_margin_is_not_positive(margin, order):
    f, W = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([[[1.0, 0.0], [0.0, margin]]])
    np.testing.assert_array_equal(metrics.length_orders(f, W, np.array([[2, 1]])), [order])


def test_a_member_that_failed_is_empty_and_no_other_is(flows):
    failed = 5
    broken = Trajectory(flows.time, flows.series, flows.constants, SETTINGS, undecided=np.arange(len(KEYS)) == failed)
    table = metrics.class_flows(broken, **MEASURE)
    # of equal classes the order of lengths is empty anyway
    table = table[table["quantity"] != "length_order"]
    of_failed = select(table, **KEYS[failed]).index
    assert table["value"].isna().equals(pd.Series(table.index.isin(of_failed), index=table.index))


# the run draws nothing: each start is made of the directions that grow fastest
DIRECTIONS = {
    "counts": [[9, 3, 2, 1], [12, 4, 2, 1]],
    "dimensions": [2, 3],
    "scales": [1e-6, 1e-3],
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 100.0,
    "points": 30,
    "rtol": 1e-9,
    "atol": 1e-15,
}


@pytest.fixture(scope="module")
def directions():
    return trajectory_with_settings(runs.growing_directions, DIRECTIONS)


def start_of(directions, member):
    """Return a member's f, shape (classes, d), W, (d, classes), and class sizes at the start, without padding."""
    d = directions.constants["dimension"][member]
    f, W = (states[0] for states in series_of(directions, member, "means", "W"))
    return f[:, :d], W[:d], directions.constants["counts"][member]


@pytest.mark.parametrize("member", range(8))
def test_a_start_of_growing_directions_is_balanced_and_as_large_as_its_scale(directions, member):
    f, W, sizes = start_of(directions, member)
    squared_scale = directions.constants["scale"][member] ** 2
    expected = squared_scale * np.eye(len(W))
    # stored in single precision
    np.testing.assert_allclose((f * sizes[:, None]).T @ f, expected, rtol=0, atol=1e-6 * squared_scale)
    np.testing.assert_allclose(W @ W.T, expected, rtol=0, atol=1e-6 * squared_scale)


@pytest.mark.parametrize("member", range(8))
def test_each_axis_of_such_a_start_grows_at_a_singular_value_of_the_residual(directions, member):
    f, W, sizes = start_of(directions, member)
    scale = directions.constants["scale"][member]
    # at uniform predictions, a row for each example
    residual = np.repeat(np.eye(4), sizes, axis=0) - 1 / 4
    f_of_examples = f[np.repeat(np.arange(4), sizes)]
    rates = np.linalg.svd(residual, compute_uv=False)[: len(W)]
    # the derivatives of f and of W; stored in single precision, and sums of up to 19 products
    np.testing.assert_allclose(residual @ W.T, f_of_examples * rates, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(f_of_examples.T @ residual, W * rates[:, None], rtol=0, atol=1e-5 * scale)


def test_growing_directions_have_one_member_a_cell(directions):
    table = metrics.growing_directions(directions, **MEASURE)
    assert set(table["seed"]) == {0}
    ends = select(table, "end", population="classes")  # a row for each member
    # of two lists of class sizes, two dimensions and two scales
    assert ends.groupby(["counts", "dimension", "scale"]).size().tolist() == [1] * (2 * 2 * 2)
