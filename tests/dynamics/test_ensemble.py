"""Descent of an ensemble against its closed form, and the member that an error names where one diverges."""

import numpy as np
import pytest

from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import DivergenceError


def test_states_of_a_decay_are_powers_of_one_step_at_the_recorded_steps():
    rates = np.array([0.5, 1.5])
    step = 0.1
    recorded_steps = np.array([0, 1, 7])

    def decay(states, members):
        return -rates[members, None] * states

    states = ensemble.descent(decay, np.ones((2, 1)), step, recorded_steps)  # shape (members, records, 1)
    # each of seven steps rounds about three times
    rounding = 7 * 3 * np.finfo(float).eps
    np.testing.assert_allclose(states[..., 0], (1 - step * rates[:, None]) ** recorded_steps, rtol=rounding)


def test_divergence_names_the_member_that_blows_up():
    # in 50 steps along y^3 a state leaves the finite numbers from 3, and reaches 0.14 from 0.1
    starts, recorded_steps = np.array([[0.1], [3.0]]), np.array([0, 50])
    with pytest.raises(DivergenceError, match=r"^member 1: gradient descent diverged by step 50;"):
        ensemble.descent(lambda y, _members: y**3, starts, learning_rate=0.5, record_at=recorded_steps)
