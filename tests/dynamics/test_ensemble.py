from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import DivergenceError

TIMES = np.r_[0.0, np.geomspace(0.01, 20.0, 40)]


def pendulum(states: np.ndarray, _members: np.ndarray) -> np.ndarray:
    angle, speed = states.T
    return np.stack([speed, -np.sin(angle) - 0.1 * speed], axis=1)


def starts(members: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-2.0, 2.0, size=(members, 2))


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_flow_follows_a_tighter_integration_of_each_member(rtol):
    initial = starts(6)
    found = ensemble.flow(pendulum, initial, TIMES, rtol=rtol, atol=rtol)
    for member, start in enumerate(initial):
        exact = solve_ivp(
            lambda _, y: pendulum(y[None], np.zeros(1))[0], (0, 20), start, "DOP853", TIMES, rtol=3e-14, atol=1e-14
        )
        # global error of the pair here: up to 61 local tolerances over 60 starts (scipy's own: 210), doubled
        np.testing.assert_allclose(found[member], exact.y.T, atol=120 * rtol)


def test_members_have_rates_of_their_own():
    rates = np.array([0.1, 1.0, 50.0])
    found = ensemble.flow(lambda y, m: -rates[m, None] * y, np.ones((3, 1)), TIMES, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[..., 0], np.exp(-rates[:, None] * TIMES), atol=1e-9)


def test_a_member_does_not_depend_on_its_batch():
    initial = starts(7)
    together = ensemble.flow(pendulum, initial, TIMES, rtol=1e-6, atol=1e-9)
    alone = ensemble.flow(pendulum, initial[3:4], TIMES, rtol=1e-6, atol=1e-9)
    # the same steps up to rounding; another choice of steps would differ by some 1e-6
    np.testing.assert_allclose(together[3], alone[0], atol=1e-12)


def test_flow_records_the_start_and_stands_still_where_the_field_vanishes():
    found = ensemble.flow(lambda y, _: np.zeros_like(y), starts(2), TIMES, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found, np.repeat(starts(2)[:, None], len(TIMES), axis=1))
    np.testing.assert_array_equal(ensemble.flow(pendulum, starts(2), TIMES[:1], rtol=1e-6, atol=1e-9)[:, 0], starts(2))


def test_flow_names_the_member_that_blows_up():
    start = np.array([[-1.0], [1.0]])
    with pytest.raises(DivergenceError, match="member 1"):
        ensemble.flow(lambda y, _: y**2, start, np.array([0.0, 5.0]), rtol=1e-8, atol=1e-10)


def test_flow_gives_up_when_its_steps_run_out():
    with pytest.raises(DivergenceError, match="20 steps"):
        ensemble.flow(lambda y, _: -1e6 * y, np.ones((1, 1)), TIMES, rtol=1e-8, atol=1e-10, max_steps=20)


def test_descent_takes_the_steps_it_is_told_to():
    rates = np.array([0.5, 1.5])
    record_at = np.array([0, 1, 7])
    found = ensemble.descent(lambda y, m: -rates[m, None] * y, np.ones((2, 1)), 0.1, record_at)
    np.testing.assert_allclose(found[..., 0], (1 - 0.1 * rates[:, None]) ** record_at, rtol=1e-14)


def test_descent_names_the_member_that_blows_up():
    with pytest.raises(DivergenceError, match=r"member 1: .* step 50"):
        ensemble.descent(lambda y, _: y**3, np.array([[0.1], [3.0]]), 0.5, np.array([0, 50]))
