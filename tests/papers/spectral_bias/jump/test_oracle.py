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
INTEGRATION = Span(horizon=1.5, points=13, rtol=1e-12, atol=1e-60)


@pytest.fixture(scope="module")
def table():
    trajectory = runs.jump_flow(teacher_singular_values=TEACHER, gammas=[1e-2, 1e-32], integration=INTEGRATION)
    return metrics.jump_flow(trajectory)


def courses(table, gamma, column):
    """Return an array of shape (times, 3), largest value first, and the times."""
    return by_time(table, "sigma_beta", column, gamma=gamma), np.sort(table["time"].unique())


def test_a_network_in_any_basis_learns_the_same_values(table):
    """Gradient flow of all weights, inputs and outputs turned, hidden layer wider than needed."""
    found, times = courses(table, 1e-2, "value")
    left, right = (ortho_group.rvs(3, random_state=seed) for seed in (1, 2))
    hidden = np.sqrt(2e-2) * ortho_group.rvs(5, random_state=3)[:3]
    first, second = flow(np.eye(3), left @ np.diag(TEACHER) @ right, hidden, np.zeros((5, 3)), times * np.log(1e2))
    np.testing.assert_allclose(found, spectrum(first @ second), rtol=0, atol=1e-7)


@pytest.mark.parametrize("gamma", [1e-2, 1e-32])
@pytest.mark.parametrize("column", ["value", "predicted"])
def test_each_value_obeys_an_equation_of_its_own(table, gamma, column):
    """With w1^2 - w2^2 = 2 gamma kept, sigma = w1 w2 = gamma sinh x moves by x' = 2 (s - gamma sinh x)."""
    found, times = courses(table, gamma, column)
    for number, s in enumerate(sorted(TEACHER, reverse=True)):
        end = times * np.log(1 / gamma)
        options = {"t_eval": end, "rtol": 1e-10, "atol": 1e-12, "max_step": 1.0}
        course = solve_ivp(lambda _t, x, s=s: 2 * (s - gamma * np.sinh(x)), (0, end[-1]), [0.0], "DOP853", **options)
        # the error of x, which reaches some hundreds, is relative to sigma
        np.testing.assert_allclose(
            found[:, number], gamma * np.sinh(course.y[0]), rtol=2e-6, atol=1e-40, err_msg=f"limit {s}"
        )


def test_the_limit_is_a_step_with_a_point_on_it(table):
    limit, times = courses(table, 1e-32, "limit")
    for number, s in enumerate(sorted(TEACHER, reverse=True)):
        before, after = times < 0.5 / s - 1e-6, times > 0.5 / s + 1e-6
        assert (limit[before, number] == 0).all(), s
        assert (limit[after, number] == s).all(), s
        at = limit[~before & ~after, number]
        # the jump, t = ln(1/gamma) / (2 s), is recorded: there gamma exp(2 s t) = 1, and sigma = s / (1 + 2 s)
        assert at == pytest.approx([s / (1 + 2 * s)]), s


def test_jumps_join_the_recorded_times_and_the_first_layer_starts_at_its_scale():
    trajectory = runs.jump_flow(teacher_singular_values=TEACHER, gammas=[1e-2], integration=INTEGRATION)
    assert set(np.linspace(0, 1.5, 13).round(12)) | {0.25, 0.5, 1.0} == set(trajectory.time)
    np.testing.assert_allclose(trajectory.series["W1"][0, 0], np.sqrt(2e-2) * np.eye(3))
    assert not trajectory.undecided.any()


def test_a_scale_near_the_smallest_number_is_resolved():
    settings = {"teacher_singular_values": TEACHER, "gammas": [1e-300]}
    resolved = runs.jump_flow(**settings, integration=replace(INTEGRATION, atol=1e-170))
    value, times = courses(metrics.jump_flow(resolved), 1e-300, "value")
    limits = np.array(sorted(TEACHER, reverse=True))
    at_jumps = [value[np.argmin(np.abs(times - 0.5 / s)), number] for number, s in enumerate(limits)]
    np.testing.assert_allclose(at_jumps, limits / (1 + 2 * limits), rtol=1e-8)


def test_what_is_refused_begins_where_the_smallest_weight_is_not_resolved():
    settings = {"teacher_singular_values": TEACHER, "gammas": [1e-2, 1e-4]}
    least = INTEGRATION.rtol * np.sqrt(2e-4)
    runs.jump_flow(**settings, integration=replace(INTEGRATION, atol=least))
    with pytest.raises(ProjectError, match=r"from 0\.0001 are not resolved; lower atol to 1e-14"):
        runs.jump_flow(**settings, integration=replace(INTEGRATION, atol=1.01 * least))


def test_a_jump_later_than_times_can_tell_is_refused():
    with pytest.raises(ProjectError, match="1e-300 jumps later than times can tell"):
        runs.jump_flow(teacher_singular_values=[1.0, 1e-300], gammas=[1e-4], integration=INTEGRATION)
