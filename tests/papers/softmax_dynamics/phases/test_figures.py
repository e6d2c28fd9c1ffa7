"""The phases that Figure 4's styles and shades mark."""

import numpy as np

from learning_dynamics.papers.softmax_dynamics.phases.figures import phase_edges

# the rank falls by 0.1 from time 2 to 3, and by 0.5 from time 4 to 5; both falls follow a rise
RANKS = np.array([2.0, 1.0, 1.6, 1.5, 1.9, 1.4, 1.5])
TIMES = np.arange(7.0)
LEARNED = 2.0  # the first class, at the time after the trough


def test_the_last_phase_is_the_deepest_fall_after_a_rise():
    assert phase_edges(TIMES, RANKS, LEARNED, threshold=0.05) == [0, 1, 4, 5]


def test_the_fall_to_the_trough_is_no_phase_of_its_own():
    growing = np.maximum.accumulate(RANKS[1:])
    ranks = np.concatenate([RANKS[:1], growing])
    assert phase_edges(TIMES, ranks, LEARNED, threshold=0.05) == [0, 1, 6]
