"""The integrator against known solutions: its error follows its tolerance, where it ends, and why it stops."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import METHODS, integrate
from learning_dynamics.errors import DivergenceError

TIMES = np.linspace(0.0, 3.0, 13)


TOLERANCES = {"rtol": 1e-9, "atol": 1e-12}


def decay(_time, state):
    return -state  # from 1 on it is exp(-time)


def rotation(_time, state):
    return np.array([-state[1], state[0]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_every_method_follows_a_rotation_to_its_tolerance(rtol, method):
    flow = integrate(rotation, np.array([1.0, 0.0]), TIMES, rtol=rtol, atol=rtol / 100, method=method)
    # implicit methods accumulate up to 60 tolerances over half a turn
    np.testing.assert_allclose(flow.states, np.stack([np.cos(TIMES), np.sin(TIMES)], 1), rtol=0, atol=100 * rtol)


def test_after_the_last_recorded_time_it_goes_on_until_the_condition_holds():
    flow = integrate(decay, np.ones(1), TIMES, **TOLERANCES, until=lambda state: state[0] < 1e-4)
    assert flow.final_state[0] < 1e-4
    # the condition is read after each step; at this tolerance steps are about half a unit long
    assert -np.log(1e-4) <= flow.final_time < -np.log(1e-4) + 1


def test_where_the_condition_does_not_hold_it_goes_on_to_the_last_time_allowed():
    flow = integrate(decay, np.ones(1), TIMES, **TOLERANCES, until=lambda state: False, last_time=7.0)
    assert flow.final_time == pytest.approx(7.0)


def blows_up_at_time_one(_time, state):
    return state**2  # from 1 on it is 1 / (1 - time)


def stiff(_time, state):
    return -1e4 * (state - 2)  # an explicit method takes steps of about 3e-4, however smooth the state is


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (blows_up_at_time_one, r"stopped at time 1 \(step \d+\): Required step size is less than"),
        (stiff, r"ran out of steps: 1000 taken by time .*; raise max_steps, or use a stiff method"),
    ],
)
def test_a_flow_that_does_not_reach_the_last_time_says_where_it_stopped_and_why(field, why):
    with pytest.raises(DivergenceError, match=why):
        integrate(field, np.ones(1), np.array([0.0, 2.0]), **TOLERANCES, max_steps=1000)


def test_with_land_steps_end_on_the_recorded_times_and_nothing_is_interpolated():
    times = np.linspace(0.0, 10.0, 37)

    def error(land):
        states = integrate(rotation, np.array([1.0, 0.0]), times, **TOLERANCES, land=land).states
        return np.abs(states[:, 0] - np.cos(times)).max()

    # steps that end at each time are shorter than the tolerance asks for, and err by less than it
    assert error(land=True) < TOLERANCES["rtol"]
    # between the ends of longer steps the interpolant, of a lower order, errs by far more: here eighty times as much
    assert error(land=False) > 10 * error(land=True)


@pytest.mark.parametrize("options", [{"method": "LSODA"}, {"restarts": 1}])
def test_land_is_refused_where_a_step_may_pass_the_recorded_time(options):
    with pytest.raises(ValueError, match=r"land: .* the state of a later time"):
        integrate(decay, np.ones(1), TIMES, **TOLERANCES, land=True, **options)
