from __future__ import annotations

import numpy as np
import pytest

from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.softmax_dynamics import starts

TIMES = np.array([0.0, 1.0, 2.0])


def test_a_member_that_fails_leaves_its_siblings_alive(monkeypatch):
    labels, initial = starts.cell_states(3, [2, 1], 2, "gaussian", 0.1, 5)
    whole = starts.flow(labels, initial, 2, "cross_entropy", TIMES, rtol=1e-8, atol=1e-12)
    flow = ensemble.flow

    def failing(field, states, times, **tolerances):
        if (states == initial[3]).all(axis=1).any():
            raise DivergenceError("member fails")
        return flow(field, states, times, **tolerances)

    monkeypatch.setattr(ensemble, "flow", failing)
    states = starts.flow(labels, initial, 2, "cross_entropy", TIMES, rtol=1e-8, atol=1e-12)
    assert starts.undecided(states).tolist() == [False, False, False, True, False]
    np.testing.assert_array_equal(states[3, 0], initial[3])
    # other batches, other orders of summation
    np.testing.assert_allclose(states[[0, 1, 2, 4]], whole[[0, 1, 2, 4]], rtol=1e-12)


@pytest.mark.parametrize("init", ["balanced", "gaussian"])
def test_draws_of_a_cell_do_not_depend_on_how_many_there_are(init):
    few, many = (starts.cell_states(3, [2, 1], 2, init, 0.1, seeds)[1] for seeds in (2, 4))
    np.testing.assert_array_equal(few, many[:2])
