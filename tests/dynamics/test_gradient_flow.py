"""The integrator against known solutions: its error follows its tolerance, where it ends, and why it stops.

With `land` steps are cut to end on the recorded times; otherwise states between steps are read off the interpolant.
"""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import METHODS, integrate
from learning_dynamics.errors import DivergenceError

TIMES = np.linspace(0.0, 3.0, 13)
TOLERANCES = {"rtol": 1e-9, "atol": 1e-12}
SMALL = 1e-4


def decay(_time, state):
    return -state  # from 1 on it is exp(-time)


def rotation(_time, state):
    return np.array([-state[1], state[0]])  # from (1, 0) on it is (cos(time), sin(time))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_every_method_follows_a_rotation_to_its_tolerance(rtol, method):
    flow = integrate(rotation, np.array([1.0, 0.0]), TIMES, rtol=rtol, atol=rtol / 100, method=method)
    # over half a turn the errors of steps add up: with BDF to 22 tolerances, with the other methods to three at most
    np.testing.assert_allclose(flow.states, np.stack([np.cos(TIMES), np.sin(TIMES)], 1), rtol=0, atol=100 * rtol)


def test_after_the_last_recorded_time_it_goes_on_until_the_condition_holds():
    flow = integrate(decay, np.ones(1), TIMES, **TOLERANCES, until=lambda state: state[0] < SMALL)
    assert flow.final_state[0] < SMALL
    time_when_small = -np.log(SMALL)
    assert time_when_small > TIMES[-1]
    # the condition is read after each step; at this tolerance steps are about half a unit long
    assert time_when_small <= flow.final_time < time_when_small + 1


def test_where_the_condition_does_not_hold_it_goes_on_to_the_last_time_allowed():
    flow = integrate(decay, np.ones(1), TIMES, **TOLERANCES, until=lambda state: False, last_time=7.0)
    assert flow.final_time == pytest.approx(7.0)


def blows_up_at_time_one(_time, state):
    return state**2  # from 1 on it is 1 / (1 - time)


def stiff(_time, state):
    return -1e4 * (state - 2)  # an explicit method takes steps of about 6e-4, however smooth the state is


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (blows_up_at_time_one, r"stopped at time 1 \(step \d+\): Required step size is less than"),
        (stiff, r"ran out of steps: 1000 taken by time .*; raise max_steps, or use a stiff method"),
    ],
)
def test_a_flow_that_does_not_reach_the_last_time_says_where_it_stopped_and_why(field, why):
    with pytest.raises(DivergenceError, match=why):
        integrate(field, initial=np.ones(1), times=np.array([0.0, 2.0]), **TOLERANCES, max_steps=1000)


def test_with_land_steps_end_on_the_recorded_times_and_nothing_is_interpolated():
    times = np.linspace(0.0, 10.0, 37)

    def error(land):
        states = integrate(rotation, np.array([1.0, 0.0]), times, **TOLERANCES, land=land).states
        return np.abs(states[:, 0] - np.cos(times)).max()

    # steps that end at each time are shorter than the tolerance asks for, and err by less than it
    assert error(land=True) < TOLERANCES["rtol"]
    # between the ends of longer steps the interpolant, of a lower order, errs by far more: here eighty times as much
    assert error(land=False) > 10 * error(land=True)


# LSODA does not cut its steps, and a solver that restarts forgets where to cut its next one
@pytest.mark.parametrize("option", [{"method": "LSODA"}, {"restarts": 1}])
def test_landing_on_the_recorded_times_is_refused_with_lsoda_and_with_restarts(option):
    with pytest.raises(ValueError, match="land: LSODA and restarts would record the state of a later time"):
        integrate(decay, np.ones(1), TIMES, **TOLERANCES, **option, land=True)
