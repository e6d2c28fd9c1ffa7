"""The integrator: its error follows its tolerance, and it says why it stops."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import METHODS, integrate
from learning_dynamics.errors import DivergenceError

TIMES = np.linspace(0.0, 3.0, 13)


def decay(_time, state):
    return -state


def rotation(_time, state):
    return np.array([-state[1], state[0]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_every_method_follows_a_rotation_to_its_tolerance(rtol, method):
    flow = integrate(rotation, np.array([1.0, 0.0]), TIMES, rtol=rtol, atol=rtol / 100, method=method)
    # implicit methods accumulate up to 60 tolerances over half a turn
    np.testing.assert_allclose(flow.states, np.stack([np.cos(TIMES), np.sin(TIMES)], 1), rtol=0, atol=100 * rtol)


def test_it_goes_on_until_the_condition_holds_or_its_patience_ends():
    flow = integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12, until=lambda state: state[0] < 1e-4)
    assert flow.final_state[0] < 1e-4
    # it looks after each step; at this tolerance steps are about half a unit long
    assert -np.log(1e-4) <= flow.final_time < -np.log(1e-4) + 1
    flow = integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12, until=lambda state: False, last_time=7.0)
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
def test_a_flow_that_does_not_get_through_says_where_and_what_to_do(field, why):
    with pytest.raises(DivergenceError, match=why):
        integrate(field, np.ones(1), np.array([0.0, 2.0]), rtol=1e-9, atol=1e-12, max_steps=1000)


def test_recorded_times_on_which_it_lands_are_steps_and_not_interpolated():
    times = np.linspace(0.0, 10.0, 37)
    landed, between = (
        np.abs(
            integrate(rotation, np.array([1.0, 0.0]), times, rtol=1e-9, atol=1e-12, land=land).states[:, 0]
            - np.cos(times)
        ).max()
        for land in (True, False)
    )
    # a few steps' local errors; interpolation between long steps costs far more
    assert landed < 30 * 1e-9
    assert landed < between


@pytest.mark.parametrize("options", [{"method": "LSODA"}, {"restarts": 1}])
def test_it_does_not_land_where_a_step_may_pass_the_recorded_time(options):
    with pytest.raises(ValueError, match=r"land: .* the state of a later time"):
        integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12, land=True, **options)
