from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.softmax_dynamics.phases.detection import share_interval, shows, swings


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ([2.0, 1.0, 1.9, 1.2], [-1.0, 0.9, -0.7, 0.0]),
        ([2.0, 1.5, 1.55, 1.0, 2.0], [-1.0, 1.0, 0.0, 0.0]),  # a rise of 0.05 lies within the fall
        ([1.0, 1.05, 0.5], [-0.55, 0.0, 0.0, 0.0]),  # a fall starts at its top
        ([1.0, 2.0, 1.95], [1.0, 0.0, 0.0, 0.0]),
        ([1.0, 1.05, 0.98, 1.02], [0.0, 0.0, 0.0, 0.0]),
        ([1.0], [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_swings_above_the_threshold_are_found(series, expected):
    np.testing.assert_allclose(swings(np.array([series]), 0.1, 4), [expected], atol=1e-15)


SERIES = st.lists(st.integers(-50, 50), min_size=1, max_size=30).map(lambda values: np.array([values]) / 10)


@settings(max_examples=100)
@given(SERIES)
def test_swings_alternate_and_exceed_the_threshold(series):
    found = swings(series, 0.5, 30)[0]
    taken = found[found != 0]
    assert (np.abs(taken) >= 0.5 - 1e-12).all()
    assert (np.sign(taken[1:]) == -np.sign(taken[:-1])).all()
    assert len(taken) == 0 or np.ptp(series) >= np.abs(taken).max() - 1e-12


@settings(max_examples=100)
@given(SERIES)
def test_a_series_turned_over_has_its_swings_turned_over(series):
    np.testing.assert_array_equal(swings(-series, 0.5, 8), -swings(series, 0.5, 8))


def test_phases_are_counted_in_order_from_the_start():
    series = np.array([[2.0, 1.0, 1.0], [2.0, 1.0, 2.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    swung = pd.DataFrame(swings(series, 0.1, 3), columns=["first", "second", "third"])
    assert shows(swung, "warm-up").tolist() == [True, True, False, False]
    assert shows(swung, "entropy-seeking").tolist() == [False, True, False, False]
    assert not shows(swung, "compression-seeking").any()


def test_a_share_lies_in_its_interval_and_nothing_seen_does_not_mean_nothing_there():
    share, low, high = share_interval(pd.Series([True] * 6 + [False] * 4))
    assert low < share == 0.6 < high
    assert share_interval(pd.Series([False] * 80))[2] == pytest.approx(0.046, abs=0.001)
