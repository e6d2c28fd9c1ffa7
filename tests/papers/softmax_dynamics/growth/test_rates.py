"""Metrics of starts and of early flows, compared with torch's derivatives, scipy's flow and sums written out.

A, (examples, V): the predictions less the one-hot labels, of V classes (appendix B).
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.growth import metrics, runs
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    rates_of_singular_values,
    trajectory_with_settings,
    velocity,
)

EPS = np.finfo(float).eps
SEEDS = 2  # members of each cell, one after the other; cells are in the order of `itertools.product`


def labels_of(counts):
    """Return the class of each example, of classes that have `counts` examples."""
    return np.repeat(np.arange(len(counts)), counts)


def residual_of(counts):
    """Return minus A at uniform predictions, shape (examples, classes): one-hot labels less 1 / V."""
    classes = len(counts)
    return np.eye(classes)[labels_of(counts)] - 1 / classes


# -- starts ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_starts():
    """Return f and W of 400 starts, with five examples of the largest of four classes, d = 2 and scale 0.2."""
    trajectory = runs.initial_states(classes=[4], largest=[5], dimension=2, scales=[0.2], seeds=400, seed=3)
    return trajectory.series["f"][:, 0], trajectory.series["W"][:, 0]


def test_starts_are_balanced(many_starts):
    f, W = many_starts
    # each entry is a sum of some ten products, on either side; entries of f^T f are about one at most
    np.testing.assert_allclose(np.swapaxes(f, 1, 2) @ f, W @ np.swapaxes(W, 1, 2), rtol=0, atol=2 * 10 * EPS)


def test_starts_are_as_large_as_their_scale(many_starts):
    f, _ = many_starts
    # the mean of N squares of Gaussian entries has the relative standard error sqrt(2 / N), for 400 draws of 8 * 2
    # entries 0.018; four times that
    assert np.mean(f**2) == pytest.approx(0.2**2, rel=0.07)


def test_starts_prefer_no_direction_of_the_classes(many_starts):
    """Each entry of W is zero on average over starts."""
    _, W = many_starts
    standard_error = W.std() / np.sqrt(len(W))
    assert np.abs(np.mean(W, axis=0)).max() < 4 * standard_error


class Start(NamedTuple):
    """A start, and what was measured of it: a row for each singular value."""

    counts: list[int]
    f: np.ndarray
    W: np.ndarray
    rows: pd.DataFrame


class Key(NamedTuple):
    """What tells a start apart in the table."""

    classes: int
    largest: int
    scale: float
    seed: int

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items())


CLASSES, LARGEST, SCALES = [3, 5], [2, 6], [0.01, 0.8]
KEYS = [Key(*values) for values in itertools.product(CLASSES, LARGEST, SCALES, range(SEEDS))]  # in the run's order


@pytest.fixture(scope="module")
def starts():
    """Return the trajectory of all starts, and what is measured of them."""
    settings = {"classes": CLASSES, "largest": LARGEST, "dimension": 2, "scales": SCALES, "seeds": SEEDS}
    trajectory = trajectory_with_settings(runs.initial_states, settings, seed=3)
    return trajectory, metrics.initial_states(trajectory)


@pytest.fixture(params=KEYS, ids=str)
def start(request, starts):
    trajectory, table = starts
    key, member = request.param, KEYS.index(request.param)
    counts = [key.largest] + [1] * (key.classes - 1)
    # arrays are padded to the largest cell
    return Start(
        counts=counts,
        f=trajectory.series["f"][member, 0, : sum(counts)],
        W=trajectory.series["W"][member, 0, :, : key.classes],
        rows=select(table, **key._asdict()),
    )


# of rates and gains at starts: rates are below ten, and each is a sum of some ten products; the rounding of singular
# vectors is divided by the least distance of two singular values, which is 0.15 of the largest or more
ROUNDING = 10 * 10 * EPS / 0.15


def test_rates_at_starts_are_torchs_derivatives_of_singular_values(start):
    df, _ = velocity(start.f, start.W, start.counts, "cross_entropy")
    expected = rates_of_singular_values(start.f, df)
    np.testing.assert_allclose(start.rows["rate"], expected, rtol=0, atol=ROUNDING)


def test_singular_values_at_starts_are_the_roots_of_eigenvalues_descending(start):
    square = start.f.T @ start.f
    np.testing.assert_array_equal(start.rows["index"], [1, 2])
    # an eigenvalue is off by the rounding of some ten products of the largest one
    rounding = 10 * EPS * np.linalg.cond(square)
    np.testing.assert_allclose(start.rows["sigma"] ** 2, np.linalg.eigvalsh(square)[::-1], rtol=rounding)


def test_the_fastest_growth_at_starts_is_the_norm_of_the_residual_at_uniform_predictions(start):
    # of a matrix of at most ten rows
    np.testing.assert_allclose(start.rows["fastest"], np.linalg.norm(residual_of(start.counts), 2), rtol=10 * EPS)


def singular_values_and_left_vectors(f):
    """Return both singular values of f, descending, and their left singular vectors as columns."""
    values, vectors = np.linalg.eigh(f @ f.T)
    return np.sqrt(values[:-3:-1]), vectors[:, :-3:-1]


def test_the_gain_at_starts_is_minus_the_rate_over_the_singular_value(start):
    sigma, _ = singular_values_and_left_vectors(start.f)
    np.testing.assert_allclose(start.rows["gain"], -start.rows["rate"] / sigma, rtol=0, atol=ROUNDING)


def entries_of_right_vectors_and_sums_of_left_ones(start):
    """Return of singular vectors the right ones, and sums of the left ones over the examples of each class.

    Both have the shape (classes, 2), a column for each singular value. The right singular vectors are those of W that
    are paired with the left ones of f, as f^T f = W W^T.
    """
    sigma, left = singular_values_and_left_vectors(start.f)
    right = start.W.T @ (start.f.T @ left / sigma) / sigma
    return right, np.eye(len(start.counts))[labels_of(start.counts)].T @ left


def test_the_gain_of_many_classes_sums_the_examples_of_a_class_within_the_sum_over_classes(start):
    """Eq. 21, whose inner sum, over the examples of a class, belongs within the outer one, over classes."""
    right, sums = entries_of_right_vectors_and_sums_of_left_ones(start)
    expected = -(right * sums).sum(axis=0)
    np.testing.assert_allclose(start.rows["gain_many_classes"], expected, rtol=0, atol=ROUNDING)


def test_the_gain_of_separate_sums_is_their_product(start):
    """Eq. 21, read with its two sums apart."""
    right, sums = entries_of_right_vectors_and_sums_of_left_ones(start)
    expected = -right.sum(axis=0) * sums.sum(axis=0)
    np.testing.assert_allclose(start.rows["gain_separate"], expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("counts", [[4, 1, 1], [5, 3, 1, 1], [16] + [1] * 199])
def test_the_fastest_growth_is_the_norm_of_the_residual_of_all_examples(counts):
    # the norm of a matrix with a row for each example
    expected = np.linalg.norm(residual_of(counts), 2)
    assert theory.fastest_growth(counts) == pytest.approx(expected, rel=sum(counts) * EPS)


# -- early flows -------------------------------------------------------------------------------------------------------


EARLY = {
    "classes": [3, 4],
    "largest": [2, 9],
    "dimension": 2,
    "scale": 0.05,
    "seeds": SEEDS,
    # how long, in units of 1 / sqrt(largest), of repeated contexts 1 / largest; the tables' `growth` is a rate
    "growth": 6.0,
    "points": 121,
    "rtol": 1e-9,
}
EARLY_CELLS = list(itertools.product(EARLY["classes"], EARLY["largest"]))  # in the run's order


class Early(NamedTuple):
    """Early flows, the function that measures them, and what it measured."""

    trajectory: Trajectory
    measure: Callable[[Trajectory], Any]
    table: pd.DataFrame
    repeated: bool  # whether all examples of a class share one row of features, moved by the sum of their gradients


@pytest.fixture(scope="module", params=["early_growth", "repeated_contexts"])
def early(request):
    trajectory = trajectory_with_settings(getattr(runs, request.param), EARLY, seed=2)
    measure = getattr(metrics, request.param)
    return Early(trajectory, measure, measure(trajectory), request.param == "repeated_contexts")


def test_measurements_of_a_flow_that_failed_are_nan_and_its_siblings_are_unchanged(early):
    # the second member of the third cell, (4, 2); `undecided` marks members that failed
    of_failed = (early.table["classes"] == 4) & (early.table["largest"] == 2) & (early.table["seed"] == 1)
    failed = np.arange(early.trajectory.members) == SEEDS * EARLY_CELLS.index((4, 2)) + 1
    table = early.measure(replace(early.trajectory, undecided=failed))
    measured = ["sigma", "growth", "across", "departure"]
    assert table.loc[of_failed, measured].isna().all(axis=None)
    assert table.loc[~of_failed, measured].equals(early.table.loc[~of_failed, measured])


def test_a_prediction_far_below_uniform_ones_is_a_departure_too(early):
    """With the logit -1 of the first class and 0 of all others, its prediction is off by as much as theirs together."""
    f, W = (np.zeros_like(early.trajectory.series[name]) for name in "fW")
    f[..., 0] = 1.0  # the first entry of every row
    W[..., 0, 0] = -1.0  # the first entry of the first class's column
    table = early.measure(replace(early.trajectory, series={**early.trajectory.series, "f": f, "W": W}))
    for classes in EARLY["classes"]:
        lowest = np.exp(-1) / (np.exp(-1) + classes - 1)
        measured = table.loc[table["classes"] == classes, "departure"]
        # a difference of numbers below 1/2 that is above 0.1, each of a few operations
        np.testing.assert_allclose(measured, 1 / classes - lowest, rtol=20 * EPS, err_msg=f"{classes=}")


class EarlyFlow(NamedTuple):
    """The second member of a cell, in flow time, and what was measured of it: a row for each time."""

    counts: list[int]
    row_of_example: np.ndarray  # (examples, rows of f), one where an example has a row
    f: np.ndarray
    W: np.ndarray
    times: np.ndarray
    rows: pd.DataFrame


def name_of_cell(cell):
    classes, largest = cell
    return f"classes={classes}, largest={largest}"


@pytest.fixture(params=EARLY_CELLS, ids=name_of_cell)
def early_flow(request, early):
    trajectory, _, table, repeated = early
    classes, largest = request.param
    counts = [largest] + [1] * (classes - 1)
    row_of_example = np.eye(classes)[labels_of(counts)] if repeated else np.eye(sum(counts))
    member = SEEDS * EARLY_CELLS.index(request.param) + 1
    return EarlyFlow(
        counts=counts,
        row_of_example=row_of_example,
        f=trajectory.series["f"][member, :, : row_of_example.shape[1]],
        W=trajectory.series["W"][member, :, :, :classes],
        times=trajectory.time / (largest if repeated else np.sqrt(largest)),
        rows=select(table, classes=classes, largest=largest, seed=1),
    )


def test_early_flows_are_scipys_from_torchs_gradient(early_flow):
    counts, row_of_example, f, W, times, _ = early_flow

    def derivatives(f, W):
        df, dW = velocity(row_of_example @ f, W, counts, "cross_entropy")
        return row_of_example.T @ df, dW

    expected, _ = integrate_by_scipy(f[0], W[0], times, derivatives)
    # 130 steps at most, each off by the relative tolerance, 1e-9; errors grow with f, whose entries stay below 2
    np.testing.assert_allclose(f, expected, rtol=0, atol=130 * 1e-9 * 2)


def test_sigma_along_early_flows_is_the_spectral_norm(early_flow):
    # of a matrix of at most 12 rows
    np.testing.assert_allclose(early_flow.rows["sigma"], np.linalg.norm(early_flow.f, 2, axis=(1, 2)), rtol=12 * EPS)


def test_early_growth_is_the_logarithms_derivative(early_flow):
    logarithm, times = np.log(early_flow.rows["sigma"].to_numpy()), early_flow.times
    slopes = np.gradient(logarithm, times)[1:-1]
    step = times[1] - times[0]
    # a central difference is off by the squared step over six, times the third derivative; twice the largest third
    # difference, as that is a mean over three steps
    error = step**2 / 6 * 2 * np.abs(np.diff(logarithm, 3)).max() / step**3
    np.testing.assert_allclose(early_flow.rows["growth"].to_numpy()[1:-1], slopes, rtol=0, atol=error)


def test_across_is_the_norm_beside_the_leading_direction_of_the_residual_over_that_along_it(early_flow):
    residual = early_flow.row_of_example.T @ residual_of(early_flow.counts)
    _, vectors = np.linalg.eigh(residual @ residual.T)
    leading, others = vectors[:, -1], vectors[:, :-1]
    expected = [np.linalg.norm(others.T @ state, 2) / np.linalg.norm(leading @ state) for state in early_flow.f]
    # either part is more than a hundredth of f, whose rounding is that of sums over 12 rows at most
    np.testing.assert_allclose(early_flow.rows["across"], expected, rtol=100 * 12 * EPS)


def test_the_departure_is_the_largest_distance_of_a_prediction_from_uniform_ones(early_flow):
    weights = np.exp(early_flow.f @ early_flow.W)
    probabilities = weights / weights.sum(axis=-1, keepdims=True)
    expected = np.abs(probabilities - 1 / len(early_flow.counts)).max(axis=(1, 2))  # at each time
    # a difference of numbers of order one, each of some ten operations
    np.testing.assert_allclose(early_flow.rows["departure"], expected, rtol=0, atol=10 * EPS)


def test_the_fastest_growth_is_the_norm_of_the_residual_at_uniform_predictions(early_flow):
    residual = early_flow.row_of_example.T @ residual_of(early_flow.counts)
    # of a matrix of at most 12 rows
    np.testing.assert_allclose(early_flow.rows["fastest"], np.linalg.norm(residual, 2), rtol=12 * EPS)
