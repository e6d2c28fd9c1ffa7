"""Runs against torch's gradients and scipy's integrator, and what is measured of them against other definitions."""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.invariants import metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    rates_of_singular_values,
    trajectory_with_settings,
    velocity,
)

COUNTS = [3, 1, 1]
FLOW = {
    "counts": COUNTS,
    "dimension": 2,
    "loss": "cross_entropy",
    "init": "balanced",
    "scale": 0.3,
    "seeds": 2,
    "first_time": 0.1,
    "horizon": 30.0,
    "points": 6,
    "rtol": 1e-10,
    "atol": 1e-14,
}


@pytest.fixture(scope="module")
def flow():
    return trajectory_with_settings(runs.flow, FLOW, seed=1)


@pytest.fixture(scope="module", params=["balanced", "gaussian"])
def measured(request):
    trajectory = trajectory_with_settings(runs.flow, {**FLOW, "init": request.param}, seed=1)
    return trajectory, metrics.flow(trajectory)


DESCENT = {
    "counts": COUNTS,
    "dimension": 2,
    "loss": "cross_entropy",
    "init": "balanced",
    "scale": 0.3,
    "seeds": 2,
    "learning_rates": [0.1, 0.05],
    "coarse_steps": 20,
    "points": 3,
}
DESCENT_MEMBERS = [(0, 0.1, 0), (1, 0.1, 1), (2, 0.05, 0), (3, 0.05, 1)]  # number, learning rate, seed


@pytest.fixture(scope="module")
def descent():
    return trajectory_with_settings(runs.descent, DESCENT, seed=1)


@pytest.mark.parametrize(("member", "rate", "_seed"), DESCENT_MEMBERS)
def test_descent_takes_torchs_steps_and_records_all_rates_at_the_same_times(descent, member, rate, _seed):
    assert descent.constants["learning_rate"][member] == rate
    np.testing.assert_allclose(descent.time, [0.0, 1.0, 2.0])
    f, W = (descent.series[name][member, 0] for name in "fW")
    for _ in range(round(2.0 / rate)):
        df, dW = velocity(f, W, COUNTS, "cross_entropy")
        f, W = f + rate * df, W + rate * dW
    np.testing.assert_allclose(descent.series["f"][member, -1], f, rtol=0, atol=1e-12)
    np.testing.assert_allclose(descent.series["W"][member, -1], W, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("member", "rate", "seed"), DESCENT_MEMBERS)
def test_drift_and_imbalance_along_descent_by_hand(descent, member, rate, seed):
    f, W = (descent.series[name][member] for name in "fW")
    difference = [f[t].T @ f[t] - W[t] @ W[t].T for t in range(3)]
    size = np.linalg.norm(f[-1].T @ f[-1] + W[-1] @ W[-1].T)
    expected = {
        "drift": np.linalg.norm(difference[-1] - difference[0]) / size,
        "imbalance": np.linalg.norm(difference[-1]) / size,
    }
    table = metrics.descent(descent)
    found = {
        quantity: select(table, quantity, learning_rate=rate, seed=seed)["value"].iloc[-1] for quantity in expected
    }
    assert found == pytest.approx(expected, rel=1e-9)


INPUTS = {
    "counts": [2, 1],
    "dimension": 2,
    "inputs": 5,
    "correlations": [0.0, 0.4],
    "scale": 0.3,
    "seeds": 1,
    "first_time": 0.1,
    "horizon": 5.0,
    "points": 4,
    "rtol": 1e-10,
    "atol": 1e-14,
    "looser": 1e4,
}


@pytest.fixture(scope="module")
def linear():
    return trajectory_with_settings(runs.linear_inputs, INPUTS, seed=2)


@pytest.fixture(scope="module")
def first_classifier():
    (rng,) = generators(2, "softmax_dynamics.linear_inputs", 1)
    rng.standard_normal(5 * 3 + 5 * 2)  # inputs and first layer come first
    return 0.3 * rng.standard_normal((2, 2))  # dimension, classes


@pytest.mark.parametrize(
    ("series", "member", "correlation"), [("linear", 0, 0.0), ("linear", 1, 0.4), ("free", 0, 0.0), ("free", 1, 0.0)]
)
def test_linear_features_move_by_the_kernel_of_their_inputs(linear, first_classifier, series, member, correlation):
    """f = X Theta moves by X X^T, which has one on its diagonal and the correlation beside it; free f by itself."""
    kernel = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)

    def moving(f, W):
        df, dW = velocity(f, W, [2, 1], "cross_entropy")
        return kernel @ df, dW

    f = linear.series[series][member]
    np.testing.assert_allclose(f, integrate_by_scipy(f[0], first_classifier, linear.time, moving)[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("quantity", "series"), [("departure", "linear"), ("looser", "looser")])
@pytest.mark.parametrize(("member", "correlation"), list(enumerate(INPUTS["correlations"])))
def test_distances_from_free_features_by_hand(linear, quantity, series, member, correlation):
    table, free = metrics.linear_inputs(linear), linear.series["free"][member, -1]
    apart = linear.series[series][member, -1] - free
    found = select(table, quantity, correlation=correlation)["value"].to_numpy()[-1]
    assert found == pytest.approx(np.sqrt((apart**2).sum() / (free**2).sum()))


def test_a_looser_tolerance_leaves_larger_errors(linear):
    """The run's own relative tolerance is 1e-10, the looser one 1e-6."""
    assert select(metrics.linear_inputs(linear), "looser")["value"].max() > 1e-8


@pytest.mark.parametrize(("name", "factor"), [("f", 0), ("w", 1)])
@pytest.mark.parametrize("place", [0, 3, -1], ids=["first time", "fourth time", "last time"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rates_of_singular_values_are_those_of_automatic_differentiation(measured, name, factor, place, seed):
    trajectory, table = measured
    f, W = (trajectory.series[which][seed, place] for which in "fW")
    moved = velocity(f, W, COUNTS, "cross_entropy")
    expected = rates_of_singular_values((f, W)[factor], moved[factor])
    rows = select(table, f"lemma_{name}", seed=seed, time=trajectory.time[place])
    np.testing.assert_allclose(rows["predicted"], expected, rtol=0, atol=1e-10)
    # differences in time
    np.testing.assert_allclose(rows["value"], expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("name", "factor"), [("f", 0), ("w", 1)])
@pytest.mark.parametrize("seed", [0, 1])
def test_speeds_are_norms_of_torchs_gradient(measured, name, factor, seed):
    place = 3
    trajectory, table = measured
    moved = velocity(*(trajectory.series[which][seed, place] for which in "fW"), COUNTS, "cross_entropy")
    speed = select(table, f"speed_{name}", seed=seed, time=trajectory.time[place])["value"]
    assert float(speed.iloc[0]) == pytest.approx(np.sqrt((moved[factor] ** 2).sum()))


@pytest.mark.parametrize("quantity", ["rate_f", "rate_w"])
def test_gains_predict_rates_from_balanced_starts(flow, quantity):
    rows = select(metrics.flow(flow), quantity)
    np.testing.assert_allclose(rows["value"], rows["predicted"], rtol=0, atol=1e-6)


def test_gains_do_not_predict_rates_from_other_starts():
    rows = select(metrics.flow(trajectory_with_settings(runs.flow, {**FLOW, "init": "gaussian"}, seed=1)), "rate_f")
    assert (rows["value"] - rows["predicted"]).abs().max() > 1e-2


@pytest.mark.parametrize("seed", [0, 1])
def test_gap_drift_and_imbalance_by_hand(measured, seed):
    trajectory, table = measured
    f, W = (trajectory.series[name][seed] for name in "fW")
    expected = {"gap": [], "drift": [], "imbalance": []}
    apart_at_start = f[0].T @ f[0] - W[0] @ W[0].T
    for features, classifier in zip(f, W, strict=True):
        gram_f, gram_w = features.T @ features, classifier @ classifier.T
        size, apart = np.sqrt(((gram_f + gram_w) ** 2).sum()), gram_f - gram_w
        expected["drift"].append(np.sqrt(((apart - apart_at_start) ** 2).sum()) / size)
        expected["imbalance"].append(np.sqrt((apart**2).sum()) / size)
        gaps = []
        for matrix in (features, classifier):
            top, low = np.sqrt(np.sort(np.linalg.eigvalsh(matrix.T @ matrix))[::-1][:2])
            gaps.append(min(top - low, low) / top)
        expected["gap"].append(min(gaps))
    for name, values in expected.items():
        np.testing.assert_allclose(by_draw(table, name)[seed], values, rtol=1e-6, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_singular_values_are_roots_of_eigenvalues(measured, seed):
    trajectory, table = measured
    squares = np.stack([np.linalg.eigvalsh(part.T @ part)[::-1] for part in trajectory.series["f"][seed]])
    np.testing.assert_allclose(by_draw(table, "sigma")[seed].reshape(-1, 2) ** 2, squares, rtol=1e-6)


def test_spectra_and_directions_of_factors_turned_by_a_known_angle():
    angle, first, second = 0.2, (3.0, 1.0), (2.0, 1.5)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    f = np.vstack([np.diag(first), np.zeros((1, 2))])
    W = turn @ np.hstack([np.diag(second), np.zeros((2, 1))])
    series = {"f": f[None, None], "W": W[None, None]}
    trajectory = Trajectory(np.zeros(1), series, {"labels": np.eye(3)[None]}, {**FLOW, "counts": [1, 1, 1], "seeds": 1})
    table = metrics.flow(trajectory)
    spectra, directions = (float(select(table, name)["value"].iloc[0]) for name in ("spectra", "directions"))
    assert spectra == pytest.approx((9 - 4) / 9)
    # gaps of the squares 9, 1, 0
    assert directions == pytest.approx(np.sin(angle) * 1 / 9)


def test_a_flow_that_failed_is_empty_and_its_siblings_are_not(flow):
    f, W = (flow.series[name].copy() for name in "fW")
    f[1, 2:], W[1, 2:] = np.nan, np.nan
    broken = Trajectory(flow.time, {"f": f, "W": W}, flow.constants, FLOW)
    empty = metrics.flow(broken).groupby("seed")["value"].agg(lambda values: values.isna().all())
    assert empty.tolist() == [False, True]


@pytest.fixture(scope="module")
def curves():
    settings = {"rows": 3, "columns": 2, "seeds": 2, "points": 7, "step": 1e-3}
    return trajectory_with_settings(runs.matrix_curves, settings, seed=5)


@pytest.mark.parametrize("place", [0, 2, 5], ids=["first time", "third time", "sixth time"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rates_along_curves_by_automatic_differentiation(curves, seed, place):
    table, time = metrics.matrix_curves(curves), curves.time[place]
    M, dM = (curves.series[name][seed, place] for name in ("M", "dM"))
    rows = select(table, "lemma", seed=seed, time=time)
    np.testing.assert_allclose(rows["predicted"], rates_of_singular_values(M, dM), rtol=0, atol=1e-10)
    # the step's fourth power over that of the gap, which is not below a tenth
    np.testing.assert_allclose(rows["value"], rates_of_singular_values(M, dM), rtol=0, atol=1e-6)
    top, low = np.sqrt(np.linalg.eigvalsh(M.T @ M)[::-1])
    (gap,) = select(table, "gap", seed=seed, time=time)["value"]
    assert gap == pytest.approx(min(top - low, low))
    (speed,) = select(table, "speed", seed=seed, time=time)["value"]
    assert speed == pytest.approx(np.sqrt((dM**2).sum()))
