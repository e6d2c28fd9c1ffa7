"""The compiled integrator against scipy's DOP853 and against solutions: its steps, its error, where and why it ends.

With `land` steps end on the recorded times; otherwise states between steps are read off the interpolant.
"""

import re

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import CONDITION, FIELD, flow, flows
from learning_dynamics.errors import DivergenceError

TIMES = np.r_[0.0, np.geomspace(0.01, 20.0, 40)]
EARLY = TIMES[:5]  # until 0.02
FRICTION = 0.1
RTOL, ATOL = 1e-9, 1e-12
TOLERANCES = {"rtol": RTOL, "atol": ATOL}
SMALL = 1e-4


# a field writes its slope at a state into `slope`; `data` are numbers of one member, `shape` whole numbers of them all


@compiled(FIELD)
def pendulum(state, data, shape, slope):
    angle, velocity, friction = state[0], state[1], data[0]
    slope[0], slope[1] = velocity, -np.sin(angle) - friction * velocity


@compiled(FIELD)
def power(state, data, shape, slope):
    rate, degree = data[0], shape[0]
    slope[:] = rate * state**degree


LINEAR, QUADRATIC = (1,), (2,)  # shapes for `power`: the degree
DECAY = [-1.0]  # data for `power`: a rate; from 1 on a linear flow is exp(-time)


@compiled(FIELD)
def ends_at_zero(state, data, shape, slope):
    slope[:] = -np.exp(0.0 * np.log(state))  # -1; no number below zero


@compiled(CONDITION)
def small(state, data, shape):
    return state[0] < SMALL


def pendulum_in_python(_time, state):
    return np.array([state[1], -np.sin(state[0]) - FRICTION * state[1]])


def starts(members: int) -> np.ndarray:
    """Return angles and velocities of pendulums, shape (members, 2)."""
    return np.random.default_rng(5).uniform(-2.0, 2.0, size=(members, 2))


@pytest.mark.parametrize("end", [0.7, 20.0])  # four steps, and sixty
@pytest.mark.parametrize("start", starts(4))
def test_its_steps_and_their_end_are_scipys(start, end):
    found = flow(pendulum, [FRICTION], (), start, np.array([0.0, end]), land=True, **TOLERANCES)
    theirs = DOP853(pendulum_in_python, 0.0, start, end, **TOLERANCES)
    steps = 0
    while theirs.status == "running":
        theirs.step()
        steps += 1
    assert found.steps == steps
    assert found.evaluations == theirs.nfev
    # a step sums slopes below 2, with weights up to 6, over a third of a unit of time: ten roundings of eps; another
    # choice of steps would differ by 1e-12 in four steps, by 1e-11 in sixty
    np.testing.assert_allclose(found.final_state, theirs.y, rtol=0, atol=10 * np.finfo(float).eps * steps)


def test_a_step_cut_short_to_land_does_not_shorten_the_next():
    start = starts(1)[0]
    far_apart, two_close_together = np.array([0.0, 10.0, 20.0]), np.array([0.0, 10.0, 10.0 + 1e-6, 20.0])
    undisturbed, cut_short = (
        flow(pendulum, [FRICTION], (), start, times, land=True, **TOLERANCES).steps
        for times in (far_apart, two_close_together)
    )
    # the short step is one more, and those after it, which are elsewhere, may be one more; if the next began from 1e-6,
    # growing tenfold it would take six to be what it was
    assert cut_short <= undisturbed + 2


def test_the_interpolant_is_scipys():
    start = starts(1)[0]
    found = flow(pendulum, [FRICTION], (), start, TIMES, rtol=1e-4, atol=1e-4)
    theirs = solve_ivp(pendulum_in_python, (TIMES[0], TIMES[-1]), start, "DOP853", TIMES, rtol=1e-4, atol=1e-4).y.T
    # between steps both interpolants are wrong by 1e-3, and by the same but for 1e-10: the first step's estimated error
    # is a difference of 3e-8 between slopes of order one, so that by rounding later steps differ by 1e-8 of their
    # length, and errors, of order eight in it, by eight times that. The tolerance is ten times 1e-10
    np.testing.assert_allclose(found.states, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("land", [True, False])
@pytest.mark.parametrize("rate", [-1.0, 0.0])  # without a rate steps have no error, and grow tenfold
def test_the_flow_of_a_decay_begins_at_the_first_time_which_may_occur_twice(rate, land):
    times = np.array([1.0, 1.0, 1.01, 2.0, 3.0])
    found = flow(power, [rate], LINEAR, np.array([2.0]), times, land=land, **TOLERANCES)
    # each step errs by RTOL of the state, and by ATOL, which is less
    tolerance = 2 * RTOL * found.steps
    np.testing.assert_allclose(found.states[:, 0], 2 * np.exp(rate * (times - 1)), rtol=tolerance)


@pytest.mark.parametrize("land", [True, False])
def test_the_flow_ends_at_the_last_time(land):
    assert flow(power, DECAY, LINEAR, np.ones(1), TIMES, land=land, **TOLERANCES).final_time == TIMES[-1]


def test_after_the_last_time_a_flow_goes_on_until_the_condition_holds():
    found = flow(power, DECAY, LINEAR, np.ones(1), EARLY, until=small, **TOLERANCES)
    assert found.final_state[0] < SMALL
    with pytest.raises(DivergenceError, match="ran out of steps") as failure:
        flow(power, DECAY, LINEAR, np.ones(1), EARLY, until=small, max_steps=found.steps - 1, **TOLERANCES)
    time_a_step_earlier = float(re.search(r"by time (\S+);", str(failure.value))[1])
    assert np.exp(-time_a_step_earlier) >= SMALL


def test_where_the_condition_does_not_hold_a_flow_goes_on_to_the_last_time_allowed():
    last_time = 7.0
    assert np.exp(-last_time) > SMALL  # so that the condition does not hold
    found = flow(power, DECAY, LINEAR, np.ones(1), EARLY, until=small, last_time=last_time, **TOLERANCES)
    assert found.final_time == last_time
    # each step errs by RTOL of the state, which ends at 9e-4, and by ATOL, which is about as much at most: 1e-12
    assert found.final_state[0] == pytest.approx(np.exp(-last_time), rel=2 * RTOL * found.steps)


@pytest.mark.parametrize(
    ("rate", "degree", "max_steps", "why"),
    [
        pytest.param(1.0, 2, 1000, r"diverged at time 1 .*underflowed", id="a state that becomes infinite"),
        pytest.param(np.nan, 1, 1000, r"diverged at time 0 .*begin with finite numbers", id="a slope that is nan"),
        pytest.param(-1e4, 1, 5, r"ran out of steps: 5 taken by time .*raise max_steps", id="too few steps"),
    ],
)
def test_a_failure_says_when_and_why(rate, degree, max_steps, why):
    times = np.array([0.0, 2.0])
    with pytest.raises(DivergenceError, match=why):
        flow(power, data=[rate], shape=(degree,), initial=np.ones(1), times=times, max_steps=max_steps, **TOLERANCES)


def test_a_step_that_ends_where_the_field_is_no_number_is_taken_back():
    start, times = np.ones(1), np.zeros(1)
    found = flow(ends_at_zero, [], (), start, times, rtol=1e-6, atol=1e-9, until=small, last_time=1e3)
    assert 0 <= found.final_state[0] < SMALL
    # the slope is -1, so that the state is 1 - time
    assert found.final_time == pytest.approx(1.0, abs=SMALL)


@pytest.mark.parametrize("land", [True, False])
def test_a_member_of_an_ensemble_is_followed_as_it_would_be_alone(land):
    frictions, initial = np.linspace(0.0, 2.0, 7), starts(7)
    settings = {"rtol": 1e-8, "atol": 1e-10, "until": small, "last_time": 30.0, "land": land}
    found = flows(pendulum, frictions[:, None], (), initial, TIMES, **settings)
    assert len(set(found.steps)) > 1  # members differ, so that one's steps would show in another's
    for member in range(7):
        alone = flow(pendulum, [frictions[member]], (), initial[member], TIMES, **settings)
        np.testing.assert_array_equal(found.states[member], alone.states, err_msg=f"{member=}")
        np.testing.assert_array_equal(found.final_states[member], alone.final_state, err_msg=f"{member=}")
        assert found.final_times[member] == alone.final_time, member
        assert found.steps[member] == alone.steps, member
        assert found.evaluations[member] == alone.evaluations, member


def test_the_order_of_initial_states_in_memory_does_not_matter():
    frictions, initial = np.full((3, 1), FRICTION), starts(3)
    by_rows, by_columns = (
        flows(pendulum, frictions, (), np.asarray(initial, order=order), EARLY, **TOLERANCES) for order in "CF"
    )
    np.testing.assert_array_equal(by_columns.states, by_rows.states)


@pytest.fixture(scope="module")
def first_fails():
    """Return flows of two members from 1, recorded at times 0 and 2, of which the first diverges at time 1."""
    rates, times = np.array([[1.0], [-1.0]]), np.array([0.0, 2.0])
    return flows(power, rates, QUADRATIC, np.ones((2, 1)), times, **TOLERANCES)


def test_a_member_that_fails_says_why(first_fails):
    assert list(first_fails.failures) == [0]
    assert "diverged at time 1 " in first_fails.failures[0]


def test_a_member_that_fails_has_no_states(first_fails):
    assert np.isnan(first_fails.states[0]).all()
    assert np.isnan(first_fails.final_states[0]).all()


def test_where_a_member_fails_the_others_are_followed_to_their_end(first_fails):
    # the second member is 1 / (1 + time); each step errs by RTOL of the state, and by ATOL
    tolerance = 2 * RTOL * first_fails.steps[1]
    np.testing.assert_allclose(first_fails.states[1, :, 0], [1.0, 1 / 3], rtol=tolerance)


def test_tolerances_that_no_step_can_meet_are_a_divergence():
    # 1e-300 at a coordinate that starts at zero: its slope in units of the tolerance has no finite square
    with pytest.raises(DivergenceError, match=r"diverged at time 0 .*raise atol"):
        flow(pendulum, [FRICTION], (), np.array([1.0, 0.0]), TIMES, rtol=1e-16, atol=1e-300)


def test_an_absolute_tolerance_far_below_rounding_leaves_the_flow_as_it_is():
    coarse, fine = (
        flow(pendulum, [FRICTION], (), np.array([1.0, 0.0]), TIMES, rtol=RTOL, atol=atol, land=True)
        for atol in (ATOL, 1e-60)  # squared, as a step's error in units of it is, still a finite number
    )
    # each step of either errs by RTOL of states below 1
    np.testing.assert_allclose(fine.states, coarse.states, rtol=0, atol=2 * RTOL * fine.steps)
