"""Runs against torch's gradients and scipy's integrator, and what is measured of them against other definitions."""

import itertools

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.invariants import metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import integrated, rates_of_singular_values, recorded, velocity

COUNTS = [3, 1, 1]
FLOW = {
    "counts": COUNTS,
    "dimension": 2,
    "loss": "cross_entropy",
    "init": "balanced",
    "scale": 0.3,
    "seeds": 2,
    "start": 0.1,
    "horizon": 30.0,
    "points": 6,
    "rtol": 1e-10,
    "atol": 1e-14,
}


@pytest.fixture(scope="module")
def flow():
    return recorded(runs.flow, FLOW, seed=1)


@pytest.fixture(scope="module", params=["balanced", "gaussian"])
def measured(request):
    trajectory = recorded(runs.flow, {**FLOW, "init": request.param}, seed=1)
    return trajectory, metrics.flow(trajectory)


def test_descent_takes_torchs_steps_and_records_all_rates_at_the_same_times():
    settings = {
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
    trajectory = recorded(runs.descent, settings, seed=1)
    np.testing.assert_allclose(trajectory.time, [0.0, 1.0, 2.0])
    for member, rate in enumerate(trajectory.constants["learning_rate"]):
        f, W = (trajectory.series[name][member, 0] for name in "fW")
        for _ in range(round(2.0 / rate)):
            df, dW = velocity(f, W, COUNTS, "cross_entropy")
            f, W = f + rate * df, W + rate * dW
        np.testing.assert_allclose(trajectory.series["f"][member, -1], f, atol=1e-12)
        np.testing.assert_allclose(trajectory.series["W"][member, -1], W, atol=1e-12)
    table = metrics.descent(trajectory)
    for rate, seed in itertools.product((0.1, 0.05), (0, 1)):
        member = (0 if rate == 0.1 else 2) + seed
        f, W = (trajectory.series[name][member] for name in "fW")
        difference = [f[t].T @ f[t] - W[t] @ W[t].T for t in range(3)]
        size = np.linalg.norm(f[-1].T @ f[-1] + W[-1] @ W[-1].T)
        for quantity, change in (("drift", difference[-1] - difference[0]), ("imbalance", difference[-1])):
            found = select(table, quantity, learning_rate=rate, seed=seed)["value"].iloc[-1]
            assert found == pytest.approx(np.linalg.norm(change) / size, rel=1e-9)


def test_linear_features_move_by_the_kernel_of_their_inputs():
    """f = X Theta moves by X X^T, which has one on its diagonal and the correlation beside it."""
    settings = {
        "counts": [2, 1],
        "dimension": 2,
        "inputs": 5,
        "correlations": [0.0, 0.4],
        "scale": 0.3,
        "seeds": 1,
        "start": 0.1,
        "horizon": 5.0,
        "points": 4,
        "rtol": 1e-10,
        "atol": 1e-14,
        "looser": 1e4,
    }
    trajectory = recorded(runs.linear_inputs, settings, seed=2)
    (rng,) = generators(2, "softmax_dynamics.linear_inputs", 1)
    rng.standard_normal(5 * 3 + 5 * 2)  # inputs and first layer come first
    W = 0.3 * rng.standard_normal((2, 3 - 1))
    for member, correlation in enumerate(settings["correlations"]):
        kernel = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)

        def moving(f, W, kernel=kernel):
            df, dW = velocity(f, W, [2, 1], "cross_entropy")
            return kernel @ df, dW

        f = trajectory.series["linear"][member]
        np.testing.assert_allclose(f, integrated(f[0], W, trajectory.time, moving)[0], atol=1e-6)
    free = trajectory.series["free"]
    np.testing.assert_allclose(
        free[1],
        integrated(free[1, 0], W, trajectory.time, lambda f, W: velocity(f, W, [2, 1], "cross_entropy"))[0],
        atol=1e-6,
    )
    table = metrics.linear_inputs(trajectory)
    for quantity, name in (("departure", "linear"), ("looser", "looser")):
        for member, correlation in enumerate(settings["correlations"]):
            found = select(table, quantity, correlation=correlation)["value"].to_numpy()[-1]
            apart = trajectory.series[name][member, -1] - free[member, -1]
            assert found == pytest.approx(np.sqrt((apart**2).sum() / (free[member, -1] ** 2).sum()))
    # errors grow with the tolerance, here ten thousand times as large
    assert select(table, "looser")["value"].max() > 1e-8


def test_rates_of_singular_values_are_those_of_automatic_differentiation(measured):
    trajectory, table = measured
    for name, factor in (("f", 0), ("w", 1)):
        value = select(table, f"lemma_{name}")
        for seed, place in itertools.product((0, 1), (0, 3, -1)):
            f, W = (trajectory.series[which][seed, place] for which in "fW")
            moved = velocity(f, W, COUNTS, "cross_entropy")
            expected = rates_of_singular_values((f, W)[factor], moved[factor])
            rows = value[(value["seed"] == seed) & (value["time"] == trajectory.time[place])]
            np.testing.assert_allclose(rows["predicted"], expected, atol=1e-10)
            np.testing.assert_allclose(rows["value"], expected, atol=1e-7)
            speed = select(table, f"speed_{name}", seed=seed, time=trajectory.time[place])["value"]
            assert float(speed.iloc[0]) == pytest.approx(np.sqrt((moved[factor] ** 2).sum()))


def test_gains_predict_rates_from_balanced_starts_alone(flow):
    table = metrics.flow(flow)
    for name in "fw":
        rows = select(table, f"rate_{name}")
        np.testing.assert_allclose(rows["value"], rows["predicted"], atol=1e-6)
    other = metrics.flow(recorded(runs.flow, {**FLOW, "init": "gaussian"}, seed=1))
    assert (select(other, "rate_f")["value"] - select(other, "rate_f")["predicted"]).abs().max() > 1e-2


def test_gap_drift_and_imbalance_by_hand(measured):
    trajectory, table = measured
    for seed in (0, 1):
        f, W = (trajectory.series[name][seed] for name in "fW")
        known = {name: by_draw(table, name)[seed] for name in ("gap", "drift", "imbalance", "sigma")}
        apart = [f[t].T @ f[t] - W[t] @ W[t].T for t in range(len(f))]
        squares = np.stack([np.linalg.eigvalsh(part.T @ part)[::-1] for part in f])
        np.testing.assert_allclose(known["sigma"].reshape(-1, 2) ** 2, squares, rtol=1e-6)
        for t in range(len(f)):
            size = np.sqrt(((f[t].T @ f[t] + W[t] @ W[t].T) ** 2).sum())
            assert known["drift"][t] == pytest.approx(np.sqrt(((apart[t] - apart[0]) ** 2).sum()) / size, abs=1e-12)
            assert known["imbalance"][t] == pytest.approx(np.sqrt((apart[t] ** 2).sum()) / size, abs=1e-12)
            gaps = []
            for matrix in (f[t], W[t]):
                top, low = np.sqrt(np.sort(np.linalg.eigvalsh(matrix.T @ matrix))[::-1][:2])
                gaps.append(min(top - low, low) / top)
            assert known["gap"][t] == pytest.approx(min(gaps), rel=1e-6)


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


def test_rates_along_curves_by_automatic_differentiation():
    settings = {"rows": 3, "columns": 2, "seeds": 2, "points": 7, "step": 1e-3}
    trajectory = recorded(runs.matrix_curves, settings, seed=5)
    table = metrics.matrix_curves(trajectory)
    for seed, place in itertools.product((0, 1), (0, 2, 5)):
        M, dM = (trajectory.series[name][seed, place] for name in ("M", "dM"))
        rows = select(table, "lemma", seed=seed, time=trajectory.time[place])
        np.testing.assert_allclose(rows["predicted"], rates_of_singular_values(M, dM), atol=1e-10)
        # the step's fourth power over that of the gap, which is not below a tenth
        np.testing.assert_allclose(rows["value"], rates_of_singular_values(M, dM), atol=1e-6)
        top, low = np.sqrt(np.linalg.eigvalsh(M.T @ M)[::-1])
        assert float(select(table, "gap", seed=seed, time=trajectory.time[place])["value"].iloc[0]) == pytest.approx(
            min(top - low, low)
        )
