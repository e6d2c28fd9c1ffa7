"""Shares of draws with numbers that are missing, differences of shares, and draws from small starts."""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.draws import (
    SmallStarts,
    clause_of,
    one_in,
    share_difference,
    share_true,
    unless_nan,
)


def test_newcombes_interval_of_a_difference_of_shares():
    # Newcombe 1998, table II, prints the interval of 56/70 and 48/80 by method 10 to four digits
    difference = share_difference(np.arange(70) < 56, np.arange(80) < 48)
    assert difference.draws == 70 + 80
    assert difference.value == pytest.approx(56 / 70 - 48 / 80)
    assert [difference.lower, difference.upper] == pytest.approx([0.0524, 0.3339], abs=1e-4)


def test_a_comparison_with_a_missing_number_is_missing():
    first, second = np.array([1.0, np.nan, 3.0, 0.0]), np.array([0.0, 0.0, np.nan, 1.0])
    np.testing.assert_array_equal(unless_nan(first > second, first, second), [1.0, np.nan, np.nan, 0.0])


def test_a_missing_number_counts_among_all_draws_of_a_share():
    assert share_true([1.0, np.nan, 0.0, 1.0]) == 2 / 4


@pytest.mark.parametrize(
    ("share", "clause"), [pytest.param(0.25, "; 25% fall", id="of draws"), pytest.param(np.nan, "", id="of no draws")]
)
def test_a_clause_with_a_share_is_left_out_if_there_are_no_draws(share, clause):
    assert clause_of("; {:.0%} fall", share) == clause


@pytest.mark.parametrize(("share", "words"), [(0.05, "one in 20"), (0.2, "one in 5"), (0.15, "one in 6.67")])
def test_a_share_that_a_check_allows_is_printed_as_one_in_so_many(share, words):
    assert one_in(share) == words


def test_the_share_of_no_draws_is_missing():
    assert np.isnan(share_true([]))


@pytest.fixture
def starts():
    return SmallStarts(np.array([0.1, 1.0, 0.01, 0.1]), small_scale=0.1)  # 0.1 itself is small


def test_small_starts_are_judged_and_the_others_counted(starts):
    assert starts.judged.tolist() == [True, False, True, True]
    assert starts.excluded == {starts.reason: 1}


def test_small_starts_come_by_scale_in_ascending_order(starts):
    by_scale = [(scale, members.tolist()) for scale, members in starts.by_scale()]
    assert by_scale == [(0.01, [False, False, True, False]), (0.1, [True, False, False, True])]
