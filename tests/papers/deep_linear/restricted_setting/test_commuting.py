"""Commuting measurements against flows of eigenvalues, brute force over vertices, and spectra of plain matrices."""

import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.deep_linear.restricted_setting import metrics, runs
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.deep_linear.shared import put, verdict_on
from tests.support import named_after_its_call, trajectory_of

SETTINGS = {
    "depths": [2, 3],
    "size": 4,
    "measurements": 2,
    "slack": 0.75,
    "scales": [1e-1, 1e-2],
    "horizon": 60.0,
    "seeds": 2,
    "rtol": 1e-9,
    "atol": 1e-12,
}
POWERS, TURN = [0.5, 1.0, 2.0], 0.2


@pytest.fixture(scope="module")
def flows():
    return trajectory_of(runs.commuting_measurements, **SETTINGS, seed=3)


def least_sum(A, y):
    """The least sum of non-negative x with A x = y: the best of all basic solutions."""
    best = np.inf
    for chosen in itertools.combinations(range(A.shape[1]), len(y)):
        x = np.linalg.solve(A[:, chosen], y)
        if np.all(x >= -1e-12):
            best = min(best, x.sum())
    return best


def test_the_least_nuclear_norm_is_that_of_the_best_vertex(flows):
    problems = zip(*(flows.constants[name] for name in ("eigenvalues", "values", "least")), strict=True)
    for member, (A, y, x) in enumerate(problems):
        np.testing.assert_allclose(A @ x, y, err_msg=f"{member=}")
        assert x.sum() == pytest.approx(least_sum(A, y)), f"{member=}"
        # each weighs one eigenvector by one and the others by up to 0.3, which may come on top
        assert np.all((A >= 0) & ((A <= 0.3) | ((A >= 1) & (A <= 1.3)))), f"{member=}"
        # away from zero, or zero with a dual slack
        support = x > 0.2
        multipliers = np.linalg.solve(A[:, support].T, np.ones(int(support.sum())))
        assert np.all(support | ((x < 1e-9) & (1 - A.T @ multipliers >= SETTINGS["slack"] - 1e-9))), f"{member=}"


def test_flows_are_those_of_eigenvalues(flows):
    constants = flows.constants
    for place, W in enumerate(flows.series["end_to_end"]):
        A, y, Q = (constants[name][place] for name in ("eigenvalues", "values", "basis"))
        depth, scale = int(constants["depth"][place]), constants["scale"][place]
        last = SETTINGS["horizon"] * scale ** (2 / depth - 1)
        # of a product of N equal roots r: dr/dt = -r^(N-1) g, so that x = r^N moves at -N x^(2-2/N) g
        found = scipy.integrate.solve_ivp(
            lambda _t, x, N=depth, A=A, y=y: -N * np.abs(x) ** (2 - 2 / N) * (A.T @ (A @ x - y)),
            (0, last),
            np.full(SETTINGS["size"], scale),
            method="LSODA",
            rtol=1e-9,
            atol=1e-13,
        )
        np.testing.assert_allclose(W[0], scale * np.eye(4), rtol=0, atol=1e-14, err_msg=f"{depth=}, {scale=}")
        np.testing.assert_allclose(
            Q.T @ W[1] @ Q, np.diag(found.y[:, -1]), rtol=0, atol=1e-5, err_msg=f"{depth=}, {scale=}"
        )
        np.testing.assert_allclose(Q.T @ Q, np.eye(4), rtol=0, atol=1e-12, err_msg=f"{depth=}, {scale=}")


@pytest.fixture
def made_up():
    """One end with known eigenvalues in a known basis, measured by two weights each."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    values, A = np.array([0.01, 2.0, 0.5]), np.array([[1.0, 0.2, 0.3], [0.1, 1.0, 0.4]])
    y, least = np.array([0.6, 2.0]), np.array([0.0, 1.8, 0.6])
    W = (Q * values) @ Q.T
    constants = {
        "basis": Q[None],
        "eigenvalues": A[None],
        "values": y[None],
        "least": least[None],
        "depth": np.array([2]),
        "scale": np.array([0.1]),
        "member": np.array([0]),
    }
    return Trajectory(np.array([0.0, 1.0]), {"end_to_end": np.stack([np.eye(3), W])[None]}, constants), W, A, y, Q


def test_norms_and_misfits_are_those_of_the_matrix(made_up):
    trajectory, W, A, y, _ = made_up
    table = metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)
    # the trace of the root of W'W, and the trace of a positive matrix
    nuclear = np.trace(scipy.linalg.sqrtm(W.T @ W)).real
    row = select(table, "nuclear_norm")
    assert row["value"].item() == pytest.approx(nuclear) == pytest.approx(np.trace(W))
    assert row["predicted"].item() == pytest.approx(2.4)
    other = select(table, "least_squares_norm")
    fitted = scipy.optimize.minimize(
        lambda x: x @ x, np.ones(3), constraints={"type": "eq", "fun": lambda x: A @ x - y}, tol=1e-14
    ).x
    assert other["predicted"].item() == pytest.approx(np.abs(fitted).sum(), rel=1e-6)
    assert other["value"].item() == pytest.approx(nuclear)
    gaps = [abs(0.01 + 0.2 * 2 + 0.3 * 0.5 - 0.6) / 0.6, abs(0.001 + 2.0 + 0.2 - 2.0) / 2.0]
    assert select(table, "misfit")["value"].item() == pytest.approx(max(gaps))


def test_turning_two_eigenvectors_moves_two_eigenvalues_apart(made_up):
    trajectory = made_up[0]
    table = metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)
    a, b, step = 2.0, 0.5, TURN * np.sqrt(2.0 * 0.5)
    middle, half = (a + b) / 2, np.sqrt(((a - b) / 2) ** 2 + step**2)
    for power, change in zip(POWERS, select(table, "schatten_change")["value"], strict=True):
        before = 0.01**power + a**power + b**power
        after = 0.01**power + (middle + half) ** power + (middle - half) ** power
        assert change == pytest.approx(after / before - 1, abs=1e-12), f"{power=}"
    assert select(table, "measurement_change")["value"].item() < 1e-12


@pytest.mark.parametrize("power", [1.2, 1.5, 2.0, 3.0])
def test_the_least_power_sum_is_that_of_a_search_under_constraints(made_up, power):
    trajectory, W, A, y, _ = made_up
    table = metrics.commuting_measurements(trajectory, powers=[0.5, 1.0, power], turn=TURN)
    rows = select(table, "schatten_excess").set_index("index")["value"]
    assert rows[[1, 2]].isna().all()
    # three unknowns and two equations: one number to choose
    base, free = np.linalg.lstsq(A, y, rcond=None)[0], scipy.linalg.null_space(A)[:, 0]
    least = scipy.optimize.minimize_scalar(lambda z: np.sum(np.abs(base + z * free) ** power), tol=1e-12).fun
    assert rows[3] == pytest.approx(1 - least / np.sum(np.linalg.eigvalsh(W) ** power), rel=1e-6)


def test_a_lost_flow_has_no_numbers(made_up):
    trajectory = made_up[0]
    trajectory.series["end_to_end"][:, 1, 0, 2] = np.nan
    assert metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)["value"].isna().all()


NORM, SCHATTEN = "restricted_setting_nuclear_norm", "restricted_setting_not_schatten"


def smallest(scale):
    return scale == scale.min()


@named_after_its_call
def excess(share, scale=smallest, **where):
    """Place norms at a relative distance from their predictions."""
    return put("nuclear_norm", lambda rows: rows["predicted"] * (1 + share), scale=scale, **where)


def second_smallest(scale):
    return scale == np.sort(scale.unique())[1]


def one_after_the_other(tables):
    """At the smallest start still within the tolerance, and further away than from the one before."""
    before = excess(0.01, second_smallest, seed=0)
    return excess(0.02, seed=0)(before(tables))


@pytest.mark.parametrize(
    ("alter", "expected"),
    [
        (excess(1e-4), "reproduced"),
        (excess(0.06, depth=2, seed=0), "contradicted"),
        (excess(-0.06, depth=3), "contradicted"),
        (one_after_the_other, "contradicted"),
        (put("misfit", 2e-6, scale=smallest, seed=0, depth=2), "contradicted"),
        (put("misfit", np.nan, scale=smallest, seed=0), "undecided"),
    ],
)
def test_norms_beyond_the_tolerance_and_flows_that_have_not_fitted_are_refused(alter, expected):
    assert verdict_on(NORM, tolerance=0.03) == "reproduced"
    assert verdict_on(NORM, alter, tolerance=0.03) == expected


@pytest.mark.parametrize(
    ("quantity", "value", "where"),
    [
        ("schatten_change", -0.5e-6, {"index": 1, "seed": 0, "depth": 2}),
        ("schatten_change", 1e-3, {"index": 5, "seed": 1}),
        ("schatten_change", 2e-9, {"index": 6}),
        ("schatten_change", -2e-9, {"index": 6, "seed": 0}),
        ("measurement_change", 2e-9, {"seed": 0, "depth": 3}),
    ],
)
def test_changes_on_the_wrong_side_are_refused(quantity, value, where):
    assert verdict_on(SCHATTEN, resolution=1e-6) == "reproduced"
    assert verdict_on(SCHATTEN, put(quantity, value, scale=smallest, **where), resolution=1e-6) != "reproduced"


def test_larger_starts_do_not_count_for_the_quasi_norms():
    alter = put("schatten_change", 1.0, scale=lambda scale: scale > scale.min())
    assert verdict_on(SCHATTEN, alter, resolution=1e-6) == "reproduced"


def test_deep_flows_that_wait_long_still_commute_with_the_measurements():
    found = trajectory_of(
        runs.commuting_measurements, **SETTINGS | {"depths": [5], "scales": [1e-4], "horizon": 100.0}, seed=1
    )
    for member, Q in enumerate(found.constants["basis"]):
        W = found.series["end_to_end"][member, -1]
        inside = Q.T @ W @ Q
        np.testing.assert_allclose(inside, np.diag(np.diag(inside)), rtol=0, atol=1e-12, err_msg=f"{member=}")


SINGLE = "single_norm"
GIVEN = {"scale": 1e-6, "resolution": 1e-6}


@pytest.mark.parametrize("role", ["depth_2", "depth_3"])
def test_a_network_that_minimises_the_nuclear_norm_leaves_that_norm(role):
    def minimised(tables):
        least = select(tables["minimiser"], "nuclear_norm").sort_values("draw")["value"].iloc[0]
        return put("nuclear_norm", least, role=role, draw=0, scale=1e-6)(tables)

    assert verdict_on(SINGLE, **GIVEN) == "reproduced"
    assert verdict_on(SINGLE, minimised, **GIVEN) == "not reproduced"


@pytest.mark.parametrize(
    ("quantity", "value", "where"),
    [
        ("schatten_change", -0.5e-6, {"index": 3, "seed": 0, "depth": 2}),
        ("schatten_excess", 0.5e-6, {"index": 7, "seed": 1, "depth": 3}),
        ("schatten_excess", 0.0, {"index": 8}),
    ],
)
def test_a_power_of_which_no_other_matrix_has_less_is_left(quantity, value, where):
    alter = put(quantity, value, scale=smallest, role="ends", **where)
    assert verdict_on(SINGLE, alter, **GIVEN) == "not reproduced"


def test_flows_that_are_lost_leave_a_power_open():
    alter = put("schatten_excess", np.nan, scale=smallest, role="ends", index=7, seed=0)
    assert verdict_on(SINGLE, alter, **GIVEN) == "undecided"
