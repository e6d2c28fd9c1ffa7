"""The jump process against scipy's integrator: on networks of another basis, and on one equation for each value."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import ortho_group

from learning_dynamics.dynamics.gradient_flow import Span
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.jump import metrics, runs
from tests.papers.spectral_bias.plain import by_time, flow, spectrum

TEACHER = [0.5, 2.0, 1.0]
DESCENDING = np.array([2.0, 1.0, 0.5])  # as tables have singular values
JUMPS = 1 / (2 * DESCENDING)  # times of the jumps in units of ln(1/gamma), which runs record besides their grid
INTEGRATION = Span(horizon=1.5, points=13, rtol=1e-12, atol=1e-60)


@pytest.fixture(scope="module")
def table():
    """Return the table of the jump process at a large scale and at a vanishing one."""
    trajectory = runs.jump_flow(teacher_singular_values=TEACHER, gammas=[1e-2, 1e-32], integration=INTEGRATION)
    return metrics.jump_flow(trajectory)


def values_and_times(table, gamma, *, column="value"):
    """Return the three singular values, shape (times, 3), largest first, and the times in units of ln(1/gamma)."""
    return by_time(table, "sigma_beta", column=column, gamma=gamma), np.sort(table["time"].unique())


def test_a_network_in_any_basis_learns_the_singular_values_of_the_diagonal_one(table):
    """Gradient flow of all weights, inputs and outputs rotated, with five hidden units where three are enough."""
    gamma = 1e-2
    values, times = values_and_times(table, gamma)
    left, right = ortho_group.rvs(3, random_state=1), ortho_group.rvs(3, random_state=2)
    rows = np.sqrt(2 * gamma) * ortho_group.rvs(5, random_state=3)[:3]
    flow_times = times * np.log(1 / gamma)
    W1, W2 = flow(np.eye(3), left @ np.diag(TEACHER) @ right, rows, np.zeros((5, 3)), flow_times)
    # errors of 1e-8, and the root of eigenvalues, where a value vanishes
    np.testing.assert_allclose(values, spectrum(W1 @ W2), rtol=0, atol=1e-7)


@pytest.mark.parametrize("gamma", [1e-2, 1e-32])
@pytest.mark.parametrize("column", ["value", "predicted"])
def test_each_singular_value_solves_an_equation_that_has_no_other(table, gamma, column):
    """With w1^2 - w2^2 = 2 gamma kept, sigma = w1 w2 = gamma sinh x moves by x' = 2 (s - gamma sinh x)."""
    values, times = values_and_times(table, gamma, column=column)
    flow_times = times * np.log(1 / gamma)
    options = {"method": "DOP853", "t_eval": flow_times, "rtol": 1e-10, "atol": 1e-12, "max_step": 1.0}
    for number, s in enumerate(DESCENDING):
        x = solve_ivp(lambda _t, x, s=s: 2 * (s - gamma * np.sinh(x)), (0, flow_times[-1]), [0.0], **options).y[0]
        # an error of x is a relative error of sinh x, and x reaches some hundreds
        np.testing.assert_allclose(
            values[:, number], gamma * np.sinh(x), rtol=2e-6, atol=1e-40, err_msg=f"singular value {s} of the teacher"
        )


@pytest.mark.parametrize(("number", "s"), list(enumerate(DESCENDING)))
def test_the_limit_jumps_from_zero_to_s_and_is_between_them_at_the_jump(table, number, s):
    # the limit as gamma vanishes, at the same time in units of ln(1/gamma): that of any gamma will do
    limit, times = values_and_times(table, 1e-32, column="limit")
    margin = 1e-6  # above the rounding of recorded times, and far below the distance between two of them
    before, after = times < JUMPS[number] - margin, times > JUMPS[number] + margin
    np.testing.assert_array_equal(limit[before, number], 0)
    np.testing.assert_array_equal(limit[after, number], s)
    # One time is left, at the jump. With u = gamma exp(2 s t) sigma starts as u / 2 and obeys sigma' = 2 sigma (s -
    # sigma), so that it is s u / (2 s + u); at the jump u = 1.
    assert limit[~before & ~after, number] == pytest.approx([s / (1 + 2 * s)])


def test_the_times_of_the_jumps_are_recorded_beside_those_that_are_asked_for():
    times = {0.0, 0.375, 0.75, 1.125, 1.5}  # no jump is among them
    integration = replace(INTEGRATION, points=len(times))
    trajectory = runs.jump_flow(teacher_singular_values=TEACHER, gammas=[1e-2], integration=integration)
    assert set(trajectory.time) == times | set(JUMPS)


@pytest.fixture(scope="module")
def trajectory_at_a_large_scale():
    """Return the trajectory of the jump process at the scale gamma = 1e-2 alone."""
    return runs.jump_flow(teacher_singular_values=TEACHER, gammas=[1e-2], integration=INTEGRATION)


def test_the_first_layer_starts_at_its_scale(trajectory_at_a_large_scale):
    start = trajectory_at_a_large_scale.series["W1"][0, 0]
    np.testing.assert_allclose(start, np.sqrt(2 * 1e-2) * np.eye(3))


def test_a_scale_that_was_integrated_to_its_end_is_not_undecided(trajectory_at_a_large_scale):
    assert not trajectory_at_a_large_scale.undecided.any()


def test_a_scale_near_the_smallest_number_is_resolved():
    """At the jumps singular values are at their limits there, s / (1 + 2 s)."""
    gamma = 1e-300
    integration = replace(INTEGRATION, atol=1e-170)  # below rtol times the smallest weight, 1e-162
    trajectory = runs.jump_flow(teacher_singular_values=TEACHER, gammas=[gamma], integration=integration)
    values, times = values_and_times(metrics.jump_flow(trajectory), gamma)
    at_jumps = [values[np.argmin(np.abs(times - jump)), number] for number, jump in enumerate(JUMPS)]
    # some thousand steps at a relative tolerance of 1e-12
    np.testing.assert_allclose(at_jumps, DESCENDING / (1 + 2 * DESCENDING), rtol=1e-8)


def test_an_atol_above_rtol_times_the_smallest_weight_is_refused():
    settings = {"teacher_singular_values": TEACHER, "gammas": [1e-2, 1e-4]}
    largest_atol = INTEGRATION.rtol * np.sqrt(2 * 1e-4)
    runs.jump_flow(**settings, integration=replace(INTEGRATION, atol=largest_atol))  # is not refused
    with pytest.raises(ProjectError, match=r"weights from 0\.0001 are not resolved; lower atol to 1e-14"):
        runs.jump_flow(**settings, integration=replace(INTEGRATION, atol=1.01 * largest_atol))


def test_a_jump_later_than_times_can_tell_is_refused():
    with pytest.raises(ProjectError, match="1e-300 jumps later than times can tell"):
        runs.jump_flow(teacher_singular_values=[1.0, 1e-300], gammas=[1e-4], integration=INTEGRATION)
