"""Commuting measurements: flows against those of eigenvalues, least norms against brute force, and the judges.

Measurements are of symmetric matrices, with common eigenvectors. Judges read smoke-scale tables, doctored one by one.
"""

import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.restricted_setting import metrics, runs
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.deep_linear.shared import put, verdict_on
from tests.support import named_after_its_call, smoke, trajectory_of

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


@pytest.fixture(scope="module")
def flows():
    """The run under SETTINGS: series and constants are by member."""
    return trajectory_of(runs.commuting_measurements, **SETTINGS, seed=3)


# members are scales within depths within draws
MEMBERS = SETTINGS["seeds"] * len(SETTINGS["depths"]) * len(SETTINGS["scales"])
every_member = pytest.mark.parametrize("member", range(MEMBERS))


def least_sum_of_solutions(A, y):
    """Return the least sum of non-negative x with A x = y: the best of all basic solutions."""
    least = np.inf
    for columns in itertools.combinations(range(A.shape[1]), len(y)):
        x = np.linalg.solve(A[:, columns], y)
        if np.all(x >= -1e-12):
            least = min(least, x.sum())
    return least


@every_member
def test_the_least_nuclear_norm_is_that_of_the_best_vertex(flows, member):
    A, y, x = (flows.constants[name][member] for name in ("eigenvalues", "values", "least"))
    np.testing.assert_allclose(A @ x, y)
    assert x.sum() == pytest.approx(least_sum_of_solutions(A, y))


@every_member
def test_each_measurement_weighs_one_eigenvector_far_more_than_the_others(flows, member):
    A = flows.constants["eigenvalues"][member]
    # weights of one and zero, with up to 0.3 on top of each
    is_heavy = (A >= 1) & (A <= 1.3)
    is_light = (A >= 0) & (A <= 0.3)
    assert np.all(is_heavy | is_light)
    assert is_heavy.sum(axis=1).tolist() == [1] * SETTINGS["measurements"]


@every_member
def test_eigenvalues_of_least_nuclear_norm_are_above_0_2_or_zero_with_the_dual_slack(flows, member):
    A, x = (flows.constants[name][member] for name in ("eigenvalues", "least"))
    is_positive = x > 0.2
    # multipliers of the measurements: the slack of positive eigenvalues, 1 - A^T multipliers, is zero
    multipliers = np.linalg.solve(A[:, is_positive].T, np.ones(int(is_positive.sum())))
    slack = 1 - A.T @ multipliers
    assert np.all(x[~is_positive] < 1e-9)
    assert np.all(slack[~is_positive] >= SETTINGS["slack"] - 1e-9)


@every_member
def test_flows_are_those_of_eigenvalues(flows, member):
    """Of a product of N equal roots r, dr/dt = -r^(N-1) g: an eigenvalue x = r^N moves at -N x^(2-2/N) g."""
    A, y, Q = (flows.constants[name][member] for name in ("eigenvalues", "values", "basis"))
    depth, scale = int(flows.constants["depth"][member]), flows.constants["scale"][member]

    def velocity(_time, x):
        return -depth * np.abs(x) ** (2 - 2 / depth) * (A.T @ (A @ x - y))

    # this run has no depth 1, for which the duration is the horizon itself
    duration = SETTINGS["horizon"] * scale ** (2 / depth - 1)
    start = np.full(SETTINGS["size"], scale)
    solution = scipy.integrate.solve_ivp(velocity, (0, duration), start, method="LSODA", rtol=1e-9, atol=1e-13)
    at_start, at_end = flows.series["end_to_end"][member]
    np.testing.assert_allclose(at_start, scale * np.eye(SETTINGS["size"]), rtol=0, atol=1e-14)
    # at the end, to which flows converge, both integrations have errors of the order of their tolerances, 1e-9
    np.testing.assert_allclose(Q.T @ at_end @ Q, np.diag(solution.y[:, -1]), rtol=0, atol=1e-8)


@every_member
def test_the_common_eigenvectors_are_orthonormal(flows, member):
    Q = flows.constants["basis"][member]
    np.testing.assert_allclose(Q.T @ Q, np.eye(SETTINGS["size"]), rtol=0, atol=1e-12)


def test_deep_flows_that_wait_long_still_commute_with_the_measurements():
    settings = SETTINGS | {"depths": [5], "scales": [1e-4], "horizon": 100.0}  # at depth 5 the wait is longest
    trajectory = trajectory_of(runs.commuting_measurements, **settings, seed=1)
    for draw, Q in enumerate(trajectory.constants["basis"]):
        at_end = trajectory.series["end_to_end"][draw, -1]
        in_basis = Q.T @ at_end @ Q
        np.testing.assert_allclose(in_basis, np.diag(np.diag(in_basis)), rtol=0, atol=1e-12, err_msg=f"{draw=}")


# -- metrics of a made-up end ----------------------------------------------------------------------

# eigenvalues of the end in a common basis, and two measurements, which weigh them by the rows of A
EIGENVALUES = np.array([0.01, 2.0, 0.5])
UNTURNED, LARGEST, SECOND_LARGEST = EIGENVALUES
A = np.array([[1.0, 0.2, 0.3], [0.1, 1.0, 0.4]])
Y = np.array([0.6, 2.0])
LEAST = np.array([0.0, 1.8, 0.6])  # eigenvalues of the matrix of least nuclear norm, made up
TURN = 0.2
# eigenvectors of the two largest are turned into those of [[LARGEST, STEP], [STEP, SECOND_LARGEST]]
STEP = TURN * np.sqrt(LARGEST * SECOND_LARGEST)
POWERS = [0.5, 1.0, 2.0]


def made_up_end():
    """Return the trajectory of one flow whose end has these eigenvalues in a random basis, and that end."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    W = (Q * EIGENVALUES) @ Q.T
    constants = {
        "basis": Q[None],
        "eigenvalues": A[None],
        "values": Y[None],
        "least": LEAST[None],
        "depth": np.array([2]),
        "scale": np.array([0.1]),
        "member": np.array([0]),
    }
    return Trajectory(np.array([0.0, 1.0]), {"end_to_end": np.stack([np.eye(3), W])[None]}, constants), W


@pytest.fixture
def metrics_of_end():
    trajectory, _ = made_up_end()
    return metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)


@pytest.mark.parametrize("quantity", ["nuclear_norm", "least_squares_norm"])
def test_the_nuclear_norm_is_the_trace_of_the_root_of_w_transposed_w(metrics_of_end, quantity):
    _, W = made_up_end()
    measured = select(metrics_of_end, quantity)["value"].item()
    assert measured == pytest.approx(np.trace(scipy.linalg.sqrtm(W.T @ W)).real)
    assert measured == pytest.approx(np.trace(W)), "W is positive"


def test_the_predicted_nuclear_norm_is_the_least_one(metrics_of_end):
    assert select(metrics_of_end, "nuclear_norm")["predicted"].item() == pytest.approx(LEAST.sum())


def test_the_norm_predicted_by_least_squares_is_that_of_the_smallest_solution(metrics_of_end):
    fits = {"type": "eq", "fun": lambda x: A @ x - Y}
    smallest = scipy.optimize.minimize(lambda x: x @ x, np.ones(3), constraints=fits, tol=1e-14).x
    predicted = select(metrics_of_end, "least_squares_norm")["predicted"].item()
    assert predicted == pytest.approx(np.abs(smallest).sum(), rel=1e-6)


def test_the_misfit_is_the_largest_relative_error_of_a_measurement(metrics_of_end):
    relative_errors = np.abs(A @ EIGENVALUES - Y) / Y
    assert select(metrics_of_end, "misfit")["value"].item() == pytest.approx(max(relative_errors))


@pytest.mark.parametrize(("index", "power"), list(enumerate(POWERS, start=1)))
def test_turning_two_eigenvectors_moves_their_eigenvalues_apart(metrics_of_end, index, power):
    turned = np.linalg.eigvalsh([[LARGEST, STEP], [STEP, SECOND_LARGEST]])
    # of the sum of powers of all three
    change = np.sum(np.append(turned, UNTURNED) ** power) / np.sum(EIGENVALUES**power) - 1
    assert select(metrics_of_end, "schatten_change", index=index)["value"].item() == pytest.approx(change, abs=1e-12)


def test_turning_two_eigenvectors_changes_no_measurement(metrics_of_end):
    assert select(metrics_of_end, "measurement_change")["value"].item() < 1e-12, "rounding"


def test_turning_two_vectors_that_are_not_orthogonal_to_a_third_changes_measurements():
    """With q_1 + e (q_2 + q_3) for q_1 the weight of its eigenvalue in a measurement sees 2 STEP e^2."""
    trajectory, _ = made_up_end()
    Q, e = trajectory.constants["basis"][0], 0.1
    trajectory.constants["basis"] = np.column_stack([Q[:, 0] + e * (Q[:, 1] + Q[:, 2]), Q[:, 1], Q[:, 2]])[None]
    table = metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)
    assert select(table, "measurement_change")["value"].item() == pytest.approx(np.max(A[:, 0] * 2 * STEP * e**2 / Y))


@pytest.mark.parametrize("power", [1.2, 1.5, 2.0, 3.0])
def test_the_least_sum_of_convex_powers_is_that_of_a_search_among_solutions(power):
    trajectory, W = made_up_end()
    table = metrics.commuting_measurements(trajectory, powers=[power], turn=TURN)
    # three unknowns and two equations: solutions are a line
    solution, direction = np.linalg.lstsq(A, Y, rcond=None)[0], scipy.linalg.null_space(A)[:, 0]

    def power_sum(along):
        return np.sum(np.abs(solution + along * direction) ** power)

    least = scipy.optimize.minimize_scalar(power_sum, tol=1e-12).fun
    excess = 1 - least / np.sum(np.linalg.eigvalsh(W) ** power)
    assert select(table, "schatten_excess")["value"].item() == pytest.approx(excess, rel=1e-6)


def test_no_least_sum_is_sought_of_powers_up_to_one():
    """The problem is not convex below one; the power one has the nuclear norm."""
    trajectory, _ = made_up_end()
    table = metrics.commuting_measurements(trajectory, powers=[0.5, 1.0], turn=TURN)
    assert select(table, "schatten_excess")["value"].isna().all()


def test_a_lost_flow_has_no_values():
    trajectory, _ = made_up_end()
    trajectory.series["end_to_end"][:, 1, 0, 2] = np.nan
    assert metrics.commuting_measurements(trajectory, powers=POWERS, turn=TURN)["value"].isna().all()


# -- judges ----------------------------------------------------------------------------------------

# NORM: from the smallest of three starts the nuclear norm at the end is the least one to a tolerance, no smaller start
#     ends further from it than the one before, and measurements are fitted to a millionth
# SCHATTEN: turning two eigenvectors of the end, from the smallest start, lowers sums of powers below one by more than
#     the resolution, and changes neither the nuclear norm nor a measurement by more than 1e-9
NORM, SCHATTEN = "restricted_setting_nuclear_norm", "restricted_setting_not_schatten"


def smallest(scale):
    """Return where a column of initialisation scales has the smallest one."""
    return scale == scale.min()


def second_smallest(scale):
    return scale == np.sort(scale.unique())[1]


@named_after_its_call
def norm_exceeds_least(share, scale=smallest, **where):
    """Return an alteration: nuclear norms at the end exceed the least one by a share of it."""
    return put("nuclear_norm", lambda rows: rows["predicted"] * (1 + share), scale=scale, **where)


# below the 0.008 at which flows from the second smallest start end
TOLERANCE = 0.005


@named_after_its_call
def smallest_start_ends_further_by(factor):
    """Return an alteration: in one draw the second smallest start ends at half the tolerance, the smallest further."""

    def alter(tables):
        norm_exceeds_least(0.5 * TOLERANCE, second_smallest, seed=0)(tables)
        return norm_exceeds_least(0.5 * TOLERANCE * factor, seed=0)(tables)

    return alter


@pytest.mark.parametrize(
    ("alter", "verdict"),
    [
        (norm_exceeds_least(0.9 * TOLERANCE), "reproduced"),
        (norm_exceeds_least(1.1 * TOLERANCE, depth=2, seed=0), "contradicted"),
        (norm_exceeds_least(-0.9 * TOLERANCE, depth=3), "reproduced"),
        (norm_exceeds_least(-1.1 * TOLERANCE, depth=3), "contradicted"),
        (smallest_start_ends_further_by(0.9), "reproduced"),
        (smallest_start_ends_further_by(1.1), "contradicted"),
        (put("misfit", 0.9e-6, scale=smallest, seed=0, depth=2), "reproduced"),
        (put("misfit", 1.1e-6, scale=smallest, seed=0, depth=2), "contradicted"),
        (put("misfit", np.nan, scale=smallest, seed=0), "undecided"),
    ],
)
def test_flows_must_fit_and_their_norms_approach_the_least_one_to_the_tolerance(alter, verdict):
    assert verdict_on(NORM, alter, tolerance=TOLERANCE) == verdict


JUDGED_POWERS = smoke("deep_linear").measure("deep_linear", "commuting")["settings"]["powers"]  # p of sums of sigma^p


def index_of(power):
    return JUDGED_POWERS.index(power) + 1


RESOLUTION = 1e-6  # least relative difference of sums of powers that counts
CHANGES_WITHIN = [
    ("schatten_change", -1.1 * RESOLUTION, {"index": index_of(0.1), "seed": 0, "depth": 2}),
    ("schatten_change", 0.9e-9, {"index": index_of(1.0)}),
    ("schatten_change", -0.9e-9, {"index": index_of(1.0), "seed": 0}),
    ("measurement_change", 0.9e-9, {"seed": 0, "depth": 3}),
]
CHANGES_BEYOND = [
    ("schatten_change", -0.9 * RESOLUTION, {"index": index_of(0.1), "seed": 0, "depth": 2}),
    ("schatten_change", 1e-3, {"index": index_of(0.9), "seed": 1}),  # it rises
    ("schatten_change", 1.1e-9, {"index": index_of(1.0)}),
    ("schatten_change", -1.1e-9, {"index": index_of(1.0), "seed": 0}),
    ("measurement_change", 1.1e-9, {"seed": 0, "depth": 3}),
]


@pytest.mark.parametrize(
    ("quantity", "value", "where", "verdict"),
    [
        *((*change, "reproduced") for change in CHANGES_WITHIN),
        *((*change, "contradicted") for change in CHANGES_BEYOND),
    ],
)
def test_sums_of_powers_below_one_must_fall_and_nothing_else_change(quantity, value, where, verdict):
    """Nothing else: neither the nuclear norm nor a measurement."""
    alter = put(quantity, value, scale=smallest, **where)
    assert verdict_on(SCHATTEN, alter, resolution=RESOLUTION) == verdict


def test_powers_without_that_of_the_nuclear_norm_are_refused():
    def without_one(tables):
        tables["ends"].attrs["settings"] = tables["ends"].attrs["settings"] | {"powers": [0.5, 2.0]}
        return tables

    with pytest.raises(ProjectError, match=r"must have the power 1\.0"):
        verdict_on(SCHATTEN, without_one)


def test_larger_starts_do_not_count_for_the_quasi_norms():
    rises = put("schatten_change", 1.0, scale=lambda scale: scale > scale.min())
    assert verdict_on(SCHATTEN, rises, resolution=RESOLUTION) == "reproduced"


# SINGLE: no norm, among the nuclear norm and sums of powers, is the least both at the end of flows on commuting
#     measurements and in completion. A norm that is in both refutes it
SINGLE = "single_norm"
SCALE = 1e-6  # of the completions that are judged
OF_SINGLE = {"scale": SCALE, "resolution": RESOLUTION}


@pytest.mark.parametrize("role", ["depth_2", "depth_3"])
def test_a_network_that_minimises_the_nuclear_norm_in_completion_refutes_the_claim(role):
    def with_least_norm(tables):
        """Give the first draw's network the nuclear norm of its minimiser."""
        norms = select(tables["minimiser"], "nuclear_norm").set_index("draw")["value"]
        return put("nuclear_norm", norms[0], role=role, draw=0, scale=SCALE)(tables)

    assert verdict_on(SINGLE, with_least_norm, **OF_SINGLE) == "not reproduced"


@pytest.mark.parametrize(
    ("quantity", "value", "where", "verdict"),
    [
        ("schatten_change", -1.1 * RESOLUTION, {"index": index_of(0.5), "seed": 0, "depth": 2}, "reproduced"),
        ("schatten_change", -0.9 * RESOLUTION, {"index": index_of(0.5), "seed": 0, "depth": 2}, "not reproduced"),
        ("schatten_excess", 1.1 * RESOLUTION, {"index": index_of(1.5), "seed": 1, "depth": 3}, "reproduced"),
        ("schatten_excess", 0.9 * RESOLUTION, {"index": index_of(1.5), "seed": 1, "depth": 3}, "not reproduced"),
        ("schatten_excess", 0.0, {"index": index_of(2.0)}, "not reproduced"),
    ],
)
def test_a_power_of_which_no_other_matrix_has_a_smaller_sum_refutes_the_claim(quantity, value, where, verdict):
    """A smaller sum is one by more than the resolution: of turned eigenvectors for p < 1, by a solver for p > 1."""
    alter = put(quantity, value, scale=smallest, role="ends", **where)
    assert verdict_on(SINGLE, alter, **OF_SINGLE) == verdict


def test_flows_that_are_lost_decide_nothing_on_a_power():
    alter = put("schatten_excess", np.nan, scale=smallest, role="ends", index=index_of(1.5), seed=0)
    assert verdict_on(SINGLE, alter, **OF_SINGLE) == "undecided"
