"""Runs compared with torch's gradients and scipy's integrator; metrics with torch's derivatives and numpy's norms."""

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
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 30.0,
    "points": 6,
    "rtol": 1e-10,
    "atol": 1e-14,
}


@pytest.fixture(scope="module")
def flow():
    """Return the trajectory of two flows from balanced starts."""
    return trajectory_with_settings(runs.flow, FLOW, seed=1)


@pytest.fixture(scope="module", params=["balanced", "gaussian"])
def measured(request):
    """Return the trajectory of flows from balanced or from Gaussian starts, and what is measured of it."""
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
    """Return the trajectory of gradient descent, a member for each of `DESCENT_MEMBERS`."""
    return trajectory_with_settings(runs.descent, DESCENT, seed=1)


@pytest.mark.parametrize(("member", "rate", "_seed"), DESCENT_MEMBERS)
def test_descent_takes_torchs_steps_and_records_all_rates_at_the_same_times(descent, member, rate, _seed):
    """The larger rate takes 20 steps, recorded at none, ten and twenty: times are rates times steps."""
    assert descent.constants["learning_rate"][member] == rate
    np.testing.assert_allclose(descent.time, [0.0, 1.0, 2.0])
    f, W = (descent.series[name][member, 0] for name in "fW")
    for _ in range(round(2.0 / rate)):
        df, dW = velocity(f, W, COUNTS, "cross_entropy")
        f, W = f + rate * df, W + rate * dW
    # entries below ten, after 40 steps at most
    np.testing.assert_allclose(descent.series["f"][member, -1], f, rtol=0, atol=1e-12)
    np.testing.assert_allclose(descent.series["W"][member, -1], W, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("member", "rate", "seed"), DESCENT_MEMBERS)
def test_drift_and_imbalance_of_descent_are_changes_and_sizes_of_the_conserved_difference(descent, member, rate, seed):
    f, W = (descent.series[name][member] for name in "fW")
    difference_at_start, difference_at_end = (f[record].T @ f[record] - W[record] @ W[record].T for record in (0, -1))
    size = np.linalg.norm(f[-1].T @ f[-1] + W[-1] @ W[-1].T)
    table = metrics.descent(descent)
    # at the end, and relative to the size there
    drift = select(table, "drift", learning_rate=rate, seed=seed)["value"].iloc[-1]
    assert drift == pytest.approx(np.linalg.norm(difference_at_end - difference_at_start) / size, rel=1e-9)
    imbalance = select(table, "imbalance", learning_rate=rate, seed=seed)["value"].iloc[-1]
    assert imbalance == pytest.approx(np.linalg.norm(difference_at_end) / size, rel=1e-9)


INPUTS = {
    "counts": [2, 1],
    "dimension": 2,
    "inputs": 5,
    "correlations": [0.0, 0.4],
    "scale": 0.3,
    "seeds": 1,
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 5.0,
    "points": 4,
    "rtol": 1e-10,
    "atol": 1e-14,
    "looser": 1e4,  # times the tolerances
}


@pytest.fixture(scope="module")
def linear():
    """Return flows of linear features and of free ones, one member for each correlation of the inputs.

    Series are the features: `linear`, `free`, and `looser`, the free ones at looser tolerances.
    """
    return trajectory_with_settings(runs.linear_inputs, INPUTS, seed=2)


@pytest.fixture(scope="module")
def first_classifier():
    """Return W at the start, which the trajectory does not record, drawn as the run draws it."""
    (rng,) = generators(2, "softmax_dynamics.linear_inputs", 1)
    rng.standard_normal(5 * 3 + 5 * 2)  # inputs of 5 entries for 3 examples, and a first layer to 2 dimensions
    return INPUTS["scale"] * rng.standard_normal((2, 2))  # dimension, classes


@pytest.mark.parametrize(
    ("series", "member", "correlation"), [("linear", 0, 0.0), ("linear", 1, 0.4), ("free", 0, 0.0), ("free", 1, 0.0)]
)
def test_linear_features_move_by_the_kernel_of_their_inputs(linear, first_classifier, series, member, correlation):
    """f = X Theta moves by X X^T, with ones on its diagonal and the correlation elsewhere; free f by the identity."""
    kernel = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)

    def derivatives(f, W):
        df, dW = velocity(f, W, [2, 1], "cross_entropy")
        return kernel @ df, dW

    f = linear.series[series][member]
    expected, _ = integrate_by_scipy(f[0], first_classifier, linear.time, derivatives)
    # scipy's relative tolerance is 1e-9 a step, for hundreds of steps
    np.testing.assert_allclose(f, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("quantity", "series"), [("departure", "linear"), ("looser", "looser")])
@pytest.mark.parametrize(("member", "correlation"), list(enumerate(INPUTS["correlations"])))
def test_distances_are_norms_of_differences_from_free_features(linear, quantity, series, member, correlation):
    table, free = metrics.linear_inputs(linear), linear.series["free"][member, -1]
    difference = linear.series[series][member, -1] - free
    distance = select(table, quantity, correlation=correlation)["value"].iloc[-1]
    assert distance == pytest.approx(np.sqrt((difference**2).sum() / (free**2).sum()))


def test_a_looser_tolerance_leaves_larger_errors(linear):
    """The run's own relative tolerance is 1e-10, the looser one 1e-6: errors are between them."""
    assert select(metrics.linear_inputs(linear), "looser")["value"].max() > 1e-8


def factor_and_derivative(trajectory, name, seed, place):
    """Return f or W of one draw at one time, and its derivative along the flow, by torch."""
    f, W = (trajectory.series[factor][seed, place] for factor in "fW")
    df, dW = velocity(f, W, COUNTS, "cross_entropy")
    return (f, df) if name == "f" else (W, dW)


@pytest.mark.parametrize("name", ["f", "w"])
@pytest.mark.parametrize("place", [0, 3, -1], ids=["first time", "fourth time", "last time"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rates_of_singular_values_are_those_of_automatic_differentiation(measured, name, place, seed):
    trajectory, table = measured
    expected = rates_of_singular_values(*factor_and_derivative(trajectory, name, seed, place))
    rows = select(table, f"lemma_{name}", seed=seed, time=trajectory.time[place])
    np.testing.assert_allclose(rows["predicted"], expected, rtol=0, atol=1e-10)
    # measured by differences, with a step of a thousandth of the gap: rounding is divided by the step
    np.testing.assert_allclose(rows["value"], expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["f", "w"])
@pytest.mark.parametrize("seed", [0, 1])
def test_speeds_are_norms_of_torchs_gradient(measured, name, seed):
    trajectory, table = measured
    _, derivative = factor_and_derivative(trajectory, name, seed, place=3)
    speed = select(table, f"speed_{name}", seed=seed, time=trajectory.time[3])["value"].item()
    assert speed == pytest.approx(np.sqrt((derivative**2).sum()))


@pytest.mark.parametrize("quantity", ["rate_f", "rate_w"])
def test_gains_predict_rates_from_balanced_starts(flow, quantity):
    rows = select(metrics.flow(flow), quantity)
    # rates are measured by differences, and balance is kept to the integrator's tolerance, 1e-10 a step
    np.testing.assert_allclose(rows["value"], rows["predicted"], rtol=0, atol=1e-6)


def test_gains_do_not_predict_rates_from_other_starts():
    gaussian_flow = trajectory_with_settings(runs.flow, {**FLOW, "init": "gaussian"}, seed=1)
    rows = select(metrics.flow(gaussian_flow), "rate_f")
    # of rates of order one
    assert (rows["value"] - rows["predicted"]).abs().max() > 1e-2


@pytest.mark.parametrize("seed", [0, 1])
def test_drift_and_imbalance_are_changes_and_sizes_of_the_conserved_difference(measured, seed):
    trajectory, table = measured
    f, W = (trajectory.series[name][seed] for name in "fW")
    difference_at_start = f[0].T @ f[0] - W[0] @ W[0].T
    drifts, imbalances = [], []
    for features, classifier in zip(f, W, strict=True):
        gram_f, gram_w = features.T @ features, classifier @ classifier.T
        size, difference = np.sqrt(((gram_f + gram_w) ** 2).sum()), gram_f - gram_w
        drifts.append(np.sqrt(((difference - difference_at_start) ** 2).sum()) / size)
        imbalances.append(np.sqrt((difference**2).sum()) / size)
    # both vanish from balanced starts, but for rounding
    np.testing.assert_allclose(by_draw(table, "drift")[seed], drifts, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(by_draw(table, "imbalance")[seed], imbalances, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_gap_is_the_smallest_distance_of_singular_values_of_either_factor_relative_to_the_largest(measured, seed):
    trajectory, table = measured
    expected = []
    for states in zip(*(trajectory.series[name][seed] for name in "fW"), strict=True):
        gaps = []
        for factor in states:
            top, low = np.linalg.svd(factor, compute_uv=False)
            gaps.append(min(top - low, low) / top)  # zero is a neighbour too
        expected.append(min(gaps))
    np.testing.assert_allclose(by_draw(table, "gap")[seed], expected, rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_singular_values_are_roots_of_eigenvalues(measured, seed):
    trajectory, table = measured
    squares = np.stack([np.linalg.eigvalsh(f.T @ f)[::-1] for f in trajectory.series["f"][seed]])
    np.testing.assert_allclose(by_draw(table, "sigma")[seed].reshape(-1, 2) ** 2, squares, rtol=1e-6)


def test_spectra_and_directions_of_factors_turned_by_a_known_angle():
    angle = 0.2
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    # of three examples and three classes, in two dimensions
    f = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    W = turn @ np.array([[2.0, 0.0, 0.0], [0.0, 1.5, 0.0]])
    series = {"f": f[None, None], "W": W[None, None]}  # one member at one time
    settings = {**FLOW, "counts": [1, 1, 1], "seeds": 1}
    trajectory = Trajectory(np.zeros(1), series, {"labels": np.eye(3)[None]}, settings)
    table = metrics.flow(trajectory)
    # the squares of the singular values are 9 and 1 of f, 4 and 2.25 of W
    assert select(table, "spectra")["value"].item() == pytest.approx((9 - 4) / 9)
    # the sine is weighted by the smallest gap of 9, 1 and 0, relative to 9
    assert select(table, "directions")["value"].item() == pytest.approx(np.sin(angle) * 1 / 9)


def test_a_flow_that_failed_is_empty_and_its_siblings_are_not(flow):
    f, W = (flow.series[name].copy() for name in "fW")
    f[1, 2:] = W[1, 2:] = np.nan  # the second member, from the third time on
    broken = Trajectory(flow.time, {"f": f, "W": W}, flow.constants, FLOW)
    table = metrics.flow(broken)
    assert select(table, seed=1)["value"].isna().all()
    assert select(table, seed=0)["value"].notna().all()


@pytest.fixture(scope="module")
def curves():
    """Return the trajectory of two smooth curves of matrices, M and their derivatives dM."""
    settings = {"rows": 3, "columns": 2, "seeds": 2, "points": 7, "step": 1e-3}
    return trajectory_with_settings(runs.matrix_curves, settings, seed=5)


@pytest.mark.parametrize("place", [0, 2, 5], ids=["first time", "third time", "sixth time"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rates_along_curves_are_those_of_automatic_differentiation(curves, seed, place):
    M, dM = (curves.series[name][seed, place] for name in ("M", "dM"))
    expected = rates_of_singular_values(M, dM)
    rows = select(metrics.matrix_curves(curves), "lemma", seed=seed, time=curves.time[place])
    np.testing.assert_allclose(rows["predicted"], expected, rtol=0, atol=1e-10)
    # by differences: the step's fourth power over that of the gap, which is not below a tenth, with room for a constant
    np.testing.assert_allclose(rows["value"], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("place", [0, 2, 5], ids=["first time", "third time", "sixth time"])
@pytest.mark.parametrize("seed", [0, 1])
def test_gaps_and_speeds_along_curves_are_those_of_numpys_spectra_and_norms(curves, seed, place):
    table, time = metrics.matrix_curves(curves), curves.time[place]
    M, dM = (curves.series[name][seed, place] for name in ("M", "dM"))
    top, low = np.sqrt(np.linalg.eigvalsh(M.T @ M)[::-1])
    assert select(table, "gap", seed=seed, time=time)["value"].item() == pytest.approx(min(top - low, low))
    assert select(table, "speed", seed=seed, time=time)["value"].item() == pytest.approx(np.sqrt((dM**2).sum()))
