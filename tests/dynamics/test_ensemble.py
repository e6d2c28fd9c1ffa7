"""Descent of an ensemble: its steps, and the member that it names where one diverges."""

import numpy as np
import pytest

from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import DivergenceError


def test_descent_takes_the_steps_it_is_told_to():
    rates = np.array([0.5, 1.5])
    record_at = np.array([0, 1, 7])
    found = ensemble.descent(lambda y, m: -rates[m, None] * y, np.ones((2, 1)), 0.1, record_at)
    np.testing.assert_allclose(found[..., 0], (1 - 0.1 * rates[:, None]) ** record_at, rtol=1e-14)


def test_descent_names_the_member_that_blows_up():
    with pytest.raises(DivergenceError, match=r"member 1: .* step 50"):
        ensemble.descent(lambda y, _: y**3, np.array([[0.1], [3.0]]), 0.5, np.array([0, 50]))
