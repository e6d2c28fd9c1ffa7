"""The phases that Figure 4's styles and shades mark."""

import numpy as np

from learning_dynamics.papers.softmax_dynamics.phases.figures import phase_edges

# the rank falls by 0.1 from time 2 to 3, and by 0.5 from time 4 to 5; both falls follow a rise
RANKS = np.array([2.0, 1.0, 1.6, 1.5, 1.9, 1.4, 1.5])
TIMES = np.arange(7.0)
LEARNED = 2.0  # when the first class is learned: at the time after the trough


def test_the_last_phase_is_the_deepest_fall_after_a_rise():
    assert phase_edges(TIMES, RANKS, LEARNED, threshold=0.05) == [0, 1, 4, 5]


def test_the_fall_to_the_trough_is_no_phase_of_its_own():
    without_later_falls = np.maximum.accumulate(RANKS[1:])
    ranks = np.concatenate([RANKS[:1], without_later_falls])
    assert phase_edges(TIMES, ranks, LEARNED, threshold=0.05) == [0, 1, 6]


def test_a_fall_below_the_threshold_is_no_phase():
    assert phase_edges(TIMES, RANKS, LEARNED, threshold=0.6) == [0, 1, 6]


def test_where_no_class_is_learned_the_trough_is_the_lowest_rank_of_all():
    ranks = np.array([2.0, 1.6, 1.8, 1.5, 1.2, 1.4, 1.5])
    assert phase_edges(TIMES, ranks, np.inf, threshold=0.05) == [0, 4, 6]
