"""Shares of draws, their differences, draws of which a number is missing, and draws from small starts."""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.draws import SmallStarts, share_difference, share_true, unless_nan


def test_newcombes_interval_of_a_difference_of_shares():
    # Newcombe 1998, table II: 56/70 and 48/80, method 10
    found = share_difference(np.arange(70) < 56, np.arange(80) < 48)
    assert found.draws == 150
    assert found.value == pytest.approx(0.2)
    assert (found.lower, found.upper) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))


def test_a_number_that_is_missing_says_neither_yes_nor_no():
    first, second = np.array([1.0, np.nan, 3.0, 0.0]), np.array([0.0, 0.0, np.nan, 1.0])
    np.testing.assert_array_equal(unless_nan(first > second, first, second), [1.0, np.nan, np.nan, 0.0])


def test_a_share_counts_what_is_missing_among_all_draws():
    assert share_true([1.0, np.nan, 0.0, 1.0]) == 0.5
    assert np.isnan(share_true([]))


def test_small_starts_are_judged_and_others_counted():
    starts = SmallStarts(np.array([0.1, 1.0, 0.01, 0.1]), small_scale=0.1)
    assert starts.judged.tolist() == [True, False, True, True]  # 0.1 itself is small
    assert starts.excluded == {starts.reason: 1}
    by_scale = {scale: members.tolist() for scale, members in starts.by_scale()}
    assert list(by_scale) == [0.01, 0.1]  # ascending
    assert by_scale == {0.01: [False, False, True, False], 0.1: [True, False, False, True]}
