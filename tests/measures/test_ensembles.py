"""Intervals that cover as often as they say, and plateaus found where they were put."""

import numpy as np

from learning_dynamics.measures.ensembles import mean_interval, quantile_intervals
from learning_dynamics.measures.plateaus import plateaus


def test_intervals_cover():
    draws = np.random.default_rng(0).exponential(size=(400, 1000))
    _, low, high = mean_interval(draws)
    # 1000 intervals at 95 %: a count within four standard deviations, 0.7 % each, and the mean's skewness
    assert 0.91 < np.mean((low < 1) & (high > 1)) < 0.98
    ((median, low, high),) = quantile_intervals(draws, [0.5])
    assert 0.92 < np.mean((low <= np.log(2)) & (high >= np.log(2))) < 0.98
    assert ((low <= median) & (median <= high)).all()


def test_plateaus_are_found_between_drops():
    time = np.geomspace(0.1, 1000, 400)
    loss = 1.0 / (1 + (time / 1.0) ** 8) + 0.05 / (1 + (time / 100.0) ** 8)
    found = plateaus(time, loss, slope=0.5, floor=1e-4, least=1.25)
    (first, last), (second, end) = found
    assert first == 0
    assert time[last] < 1.0 < time[second]
    assert time[end] < 100.0
