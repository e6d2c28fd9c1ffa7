"""The integrator: its error follows its tolerance, and it says why it stops."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import METHODS, integrate
from learning_dynamics.errors import DivergenceError

TIMES = np.linspace(0.0, 3.0, 13)


def decay(_time, state):
    return -state


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_exponential_decay_is_followed_to_a_few_tolerances(rtol):
    flow = integrate(decay, np.array([1.0, 2.0]), TIMES, rtol=rtol, atol=rtol * 1e-3)
    exact = np.exp(-TIMES)[:, None] * [1.0, 2.0]
    # measured: 0.3 to 2 rtol (dense output included); doubled
    assert np.max(np.abs(flow.states / exact - 1)) < 4 * rtol
    assert flow.evaluations < 900


@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves_a_rotation(method):
    flow = integrate(lambda _t, s: np.array([-s[1], s[0]]), np.array([1.0, 0.0]), TIMES, rtol=1e-8, atol=1e-10,
                     method=method)  # fmt: skip
    # implicit methods accumulate up to 60 tolerances over half a turn
    np.testing.assert_allclose(flow.states, np.stack([np.cos(TIMES), np.sin(TIMES)], 1), atol=1e-6)


def test_recording_more_often_changes_no_step():
    sparse = integrate(decay, np.ones(1), TIMES[[0, -1]], rtol=1e-9, atol=1e-12)
    dense = integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(sparse.states[-1], dense.states[-1])
    assert sparse.steps == dense.steps


def test_it_goes_on_until_the_condition_holds():
    flow = integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12, until=lambda state: state[0] < 1e-4)
    assert flow.final_state[0] < 1e-4
    assert -np.log(1e-4) <= flow.final_time < -np.log(1e-4) + 3


def test_its_patience_ends():
    flow = integrate(decay, np.ones(1), TIMES, rtol=1e-9, atol=1e-12, until=lambda state: False, last_time=7.0)
    assert flow.final_time == pytest.approx(7.0)


def test_divergence_says_when():
    with pytest.raises(DivergenceError, match=r"diverged|stopped at time 1|step size"):
        integrate(lambda _t, s: s**2, np.ones(1), np.array([0.0, 2.0]), rtol=1e-9, atol=1e-12)


def test_running_out_of_steps_says_where_and_what_to_do():
    with pytest.raises(DivergenceError, match=r"ran out of steps: 5 taken by time .*raise max_steps"):
        integrate(lambda _t, s: -1e4 * (s - 1), np.zeros(1), TIMES, rtol=1e-9, atol=1e-12, max_steps=5)


def test_steps_that_land_on_recorded_times_are_the_integrators_own():
    times = np.linspace(0.0, 10.0, 37)

    def error(land):
        flow = integrate(lambda _t, state: np.array([state[1], -state[0]]), np.array([1.0, 0.0]), times,
                         rtol=1e-9, atol=1e-12, land=land)  # fmt: skip
        return np.abs(flow.states[:, 0] - np.cos(times)).max()

    # a few steps' local errors; interpolation between long steps costs far more
    assert error(True) < 30 * 1e-9
    assert error(True) < error(False)
