"""The compiled flow of the toy where a member fails; tests of the runs compare its flows with scipy's."""

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow


def test_a_member_that_fails_leaves_its_siblings_alone():
    labels, initial = starts.cell_states([2, 1], dimension=2, init="gaussian", scale=0.1, seeds=5, seed=3)
    times, tolerances = np.array([0.0, 1.0, 2.0]), Tolerances(rtol=1e-10, atol=1e-13)
    all_finite = toy_flow.flow(labels, initial, dimension=2, loss="cross_entropy", times=times, tolerances=tolerances)
    initial[3] = np.inf  # the fourth of five members
    states = toy_flow.flow(labels, initial, dimension=2, loss="cross_entropy", times=times, tolerances=tolerances)
    assert starts.undecided(states).tolist() == [False, False, False, True, False]
    np.testing.assert_array_equal(states[3, 0], initial[3])  # the start is kept
    np.testing.assert_array_equal(states[[0, 1, 2, 4]], all_finite[[0, 1, 2, 4]])
