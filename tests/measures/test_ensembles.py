"""Intervals over an ensemble cover the truth at their level; plateaus of a loss are found between its drops."""

import numpy as np
import pytest

from learning_dynamics.measures.ensembles import mean_interval, quantile_intervals
from learning_dynamics.measures.plateaus import plateaus

# 1000 ensembles of 400 members, exponentially distributed: their mean is 1, their median log(2)
ENSEMBLES = np.random.default_rng(0).exponential(size=(400, 1000))
# of 1000 intervals at 95 % the share that covers has a standard deviation of 0.7 %: four of these
ABOUT_95_PERCENT = pytest.approx(0.95, abs=0.028)


def test_intervals_of_a_mean_cover_it_at_their_level():
    _mean, low, high = mean_interval(ENSEMBLES)
    assert np.mean((low < 1) & (high > 1)) == ABOUT_95_PERCENT


def test_intervals_of_a_median_cover_it_at_their_level_and_contain_the_estimate():
    ((median, low, high),) = quantile_intervals(ENSEMBLES, [0.5])
    assert np.mean((low <= np.log(2)) & (high >= np.log(2))) == ABOUT_95_PERCENT
    assert ((low <= median) & (median <= high)).all()


def test_a_plateau_is_found_before_each_of_two_drops():
    """On a plateau, which goes on until time has grown by a quarter at least, the loss falls less than as time^-1/2."""
    time = np.geomspace(0.1, 1000, 400)
    first_drop, second_drop = 1.0, 100.0
    loss = 1.0 / (1 + (time / first_drop) ** 8) + 0.05 / (1 + (time / second_drop) ** 8)
    # each plateau is the indices of its first and its last time
    first, second = plateaus(time, loss, slope=0.5, floor=1e-4, least=1.25)
    (first_start, first_end), (second_start, second_end) = time[list(first)], time[list(second)]
    two_times = 0.05  # times are 2.3 % apart, and a place is known to two of them
    assert first_start == time[0]
    # A term 1 / (1 + x) with x = (t / T)^8 falls as t to the power -8 x / (1 + x). Before a drop at T this is -1/2
    # where x = 1/15, so at t = 0.71 T
    assert first_end == pytest.approx(0.71 * first_drop, rel=two_times)
    assert second_end == pytest.approx(0.71 * second_drop, rel=two_times)
    # after the first drop the loss is 1 / x + 0.05, and falls so where 8 / x is half of it: x = 300, at t = 2.04 T
    assert second_start == pytest.approx(2.04 * first_drop, rel=two_times)
