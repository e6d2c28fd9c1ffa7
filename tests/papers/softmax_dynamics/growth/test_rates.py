"""What is measured at starts and along early flows, against torch's derivatives, scipy's flow and sums by hand."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.growth import metrics, runs
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    rates_of_singular_values,
    trajectory_with_settings,
    velocity,
)


def labels_of(counts):
    return np.repeat(np.arange(len(counts)), counts)


@pytest.fixture(scope="module")
def starts():
    settings = {"classes": [3, 5], "largest": [2, 6], "dimension": 2, "scales": [0.01, 0.8], "seeds": 2}
    trajectory = trajectory_with_settings(runs.initial_states, settings, seed=3)
    return trajectory, metrics.initial_states(trajectory)


def test_starts_are_balanced_and_as_large_as_their_scale():
    trajectory = runs.initial_states(classes=[4], largest=[5], dimension=2, scales=[0.2], seeds=400, seed=3)
    f, W = trajectory.series["f"][:, 0], trajectory.series["W"][:, 0]
    np.testing.assert_allclose(np.swapaxes(f, 1, 2) @ f, W @ np.swapaxes(W, 1, 2), atol=1e-13)
    # 400 draws of 8 * 2 entries: the mean square has relative standard error 0.018; four times that
    assert np.mean(f**2) == pytest.approx(0.04, rel=0.07)
    # no direction of the classes is preferred
    assert np.abs(np.mean(W, axis=0)).max() < 5 * W.std() / 20


CELLS = list(itertools.product([3, 5], [2, 6], [0.01, 0.8]))  # classes, largest, scale


@pytest.fixture(params=list(itertools.product(range(len(CELLS)), (0, 1))), ids=str)
def start(request, starts):
    """One start: its class sizes, f and W, and what was measured of it."""
    trajectory, table = starts
    cell, seed = request.param
    classes, largest, scale = CELLS[cell]
    counts = [largest] + [1] * (classes - 1)
    f = trajectory.series["f"][2 * cell + seed, 0, : sum(counts)]
    W = trajectory.series["W"][2 * cell + seed, 0, :, :classes]
    of_cell = (table["classes"] == classes) & (table["largest"] == largest) & (table["scale"] == scale)
    return counts, f, W, table[of_cell & (table["seed"] == seed)]


def test_rates_at_starts_are_torchs(start):
    counts, f, W, rows = start
    moved = velocity(f, W, counts, "cross_entropy")[0]
    np.testing.assert_allclose(rows["rate"], rates_of_singular_values(f, moved), atol=1e-9)
    # rounding, times the condition number of f^T f, which is below 1e4
    assert np.linalg.cond(f.T @ f) < 1e4
    np.testing.assert_allclose(rows["sigma"] ** 2, np.linalg.eigvalsh(f.T @ f)[::-1], rtol=1e-10)
    residual = np.eye(len(counts))[labels_of(counts)] - 1 / len(counts)
    np.testing.assert_allclose(rows["fastest"], np.linalg.norm(residual, 2), rtol=1e-12)
    np.testing.assert_array_equal(rows["index"], [1, 2])


def test_gains_at_starts_are_sums_over_classes_and_their_examples(start):
    counts, f, W, rows = start
    gains = {"gain": [], "gain_many_classes": [], "gain_separate": []}
    for rate, (sigma, left) in zip(rows["rate"], leading(f), strict=True):
        right = W.T @ (f.T @ left / sigma) / sigma
        inner = [
            sum(entry for entry, label in zip(left, labels_of(counts), strict=True) if label == k)
            for k in range(len(counts))
        ]
        gains["gain"].append(-rate / sigma)
        gains["gain_many_classes"].append(-sum(right * inner))
        gains["gain_separate"].append(-sum(right) * sum(inner))
    for name, expected in gains.items():
        np.testing.assert_allclose(rows[name], expected, atol=1e-9, err_msg=name)


def leading(f):
    values, vectors = np.linalg.eigh(f @ f.T)
    for k in (-1, -2):
        yield np.sqrt(values[k]), vectors[:, k]


@pytest.mark.parametrize("counts", [[4, 1, 1], [5, 3, 1, 1], [16] + [1] * 199])
def test_the_fastest_growth_is_the_norm_of_the_residual_of_all_examples(counts):
    residual = np.eye(len(counts))[labels_of(counts)] - 1 / len(counts)
    assert theory.fastest_growth(counts) == pytest.approx(np.linalg.norm(residual, 2), rel=1e-12)


EARLY = {
    "classes": [3, 4],
    "largest": [2, 9],
    "dimension": 2,
    "scale": 0.05,
    "seeds": 2,
    "growth": 6.0,
    "points": 121,
    "rtol": 1e-9,
}


@pytest.fixture(scope="module", params=["early_growth", "repeated_contexts"])
def early(request):
    """Each example has a row of features, or all of a class share one, which moves by the sum of their gradients."""
    trajectory = trajectory_with_settings(getattr(runs, request.param), EARLY, seed=2)
    return trajectory, getattr(metrics, request.param)(trajectory), request.param == "repeated_contexts"


def test_nothing_is_measured_of_a_flow_that_failed(early):
    trajectory, table, repeated = early
    failed = np.arange(len(trajectory.series["f"])) == 5  # the second member of the third cell
    broken = replace(trajectory, undecided=failed)
    found = getattr(metrics, "repeated_contexts" if repeated else "early_growth")(broken)
    of_failed = (table["classes"] == 4) & (table["largest"] == 2) & (table["seed"] == 1)
    numbers = ["sigma", "growth", "across"]
    assert found.loc[of_failed, numbers].isna().all(axis=None)
    assert found.loc[~of_failed, numbers].equals(table.loc[~of_failed, numbers])


def test_a_prediction_far_below_uniform_ones_is_a_departure_too(early):
    """With logits -1, 0 and 0 the first class's prediction is off by twice as much as the others', and below."""
    trajectory, _, repeated = early
    f, W = (np.zeros_like(trajectory.series[name]) for name in "fW")
    f[..., 0] = 1.0
    W[..., 0, 0] = -1.0
    made = replace(trajectory, series={**trajectory.series, "f": f, "W": W})
    table = getattr(metrics, "repeated_contexts" if repeated else "early_growth")(made)
    for classes in EARLY["classes"]:
        lowest = np.exp(-1) / (np.exp(-1) + classes - 1)
        measured = table.loc[table["classes"] == classes, "departure"]
        np.testing.assert_allclose(measured, 1 / classes - lowest, rtol=1e-12, err_msg=f"{classes=}")


@pytest.fixture(params=list(enumerate(itertools.product([3, 4], [2, 9]))), ids=str)
def early_flow(request, early):
    """The second member of a cell: class sizes, the row of f that each example has, f, W, times, what was measured."""
    trajectory, table, repeated = early
    cell, (classes, largest) = request.param
    counts = [largest] + [1] * (classes - 1)
    row_of = np.eye(classes)[labels_of(counts)] if repeated else np.eye(sum(counts))
    f = trajectory.series["f"][2 * cell + 1, :, : row_of.shape[1]]
    W = trajectory.series["W"][2 * cell + 1, :, :, :classes]
    times = trajectory.time / (largest if repeated else np.sqrt(largest))
    rows = table[(table["classes"] == classes) & (table["largest"] == largest) & (table["seed"] == 1)]
    return counts, row_of, f, W, times, rows


def test_early_flows_are_scipys(early_flow):
    counts, row_of, f, W, times, _ = early_flow

    def moving(f, W):
        df, dW = velocity(row_of @ f, W, counts, "cross_entropy")
        return row_of.T @ df, dW

    np.testing.assert_allclose(f, integrate_by_scipy(f[0], W[0], times, moving)[0], atol=1e-6)


def test_early_growth_is_the_logarithms_derivative(early_flow):
    _, _, f, _, times, rows = early_flow
    np.testing.assert_allclose(rows["sigma"], np.linalg.norm(f, 2, axis=(1, 2)), rtol=1e-9)
    slopes = np.gradient(np.log(rows["sigma"].to_numpy()), times, edge_order=2)
    # the square of a step of a twentieth, over six, times a third derivative of some tens
    np.testing.assert_allclose(rows["growth"].to_numpy()[1:-1], slopes[1:-1], atol=3e-2)


def test_features_across_are_what_is_left_without_the_leading_direction_of_the_residual(early_flow):
    counts, row_of, f, _, _, rows = early_flow
    residual = row_of.T @ (np.eye(len(counts))[labels_of(counts)] - 1 / len(counts))
    values, vectors = np.linalg.eigh(residual @ residual.T)
    leading, others = vectors[:, np.argmax(values)], vectors[:, np.argsort(values)[:-1]]
    expected = [np.linalg.norm(others.T @ state, 2) / np.linalg.norm(leading @ state) for state in f]
    np.testing.assert_allclose(rows["across"], expected, rtol=1e-9)


def test_the_departure_is_the_largest_distance_of_a_prediction_from_uniform_ones(early_flow):
    counts, _, f, W, _, rows = early_flow
    weights = np.exp(f @ W)
    probabilities = weights / weights.sum(axis=-1, keepdims=True)
    expected = np.abs(probabilities - 1 / len(counts)).max(axis=(1, 2))  # at each time
    assert expected.min() > 1e-5  # a difference of numbers of order one, which keeps ten digits
    np.testing.assert_allclose(rows["departure"], expected, rtol=1e-9)


def test_the_fastest_growth_is_the_norm_of_the_residual_at_uniform_predictions(early_flow):
    counts, row_of, _, _, _, rows = early_flow
    residual = np.eye(len(counts))[labels_of(counts)] - 1 / len(counts)
    np.testing.assert_allclose(rows["fastest"], np.linalg.norm(row_of.T @ residual, 2), rtol=1e-9)
