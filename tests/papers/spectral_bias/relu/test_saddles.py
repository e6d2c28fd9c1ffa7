"""Which plateau of a ReLU student's loss is its first saddle after the one at zero, and the rank there."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.spectral_bias.relu.saddles import first_saddle_ranks, starts_at_zero

PERCENT = 95  # of |W|^2; the rank is how many singular values carry that much
# rank by time, another at each, so that one read at another time differs; the last time, 100, is the whole
RANKS = {0.9: 3.0, 1.1: 2.0, 40.0: 1.0, 100.0: 4.0}


@pytest.fixture
def table():
    """Return three draws: one starts on a plateau and has a second, one enters its first late, one has no second."""
    plateau_starts = {0: [0.9, 40.0], 1: [1.1, 40.0], 2: [0.9]}
    rows = []
    for seed, starts in plateau_starts.items():
        # plateaus are numbered by index, and the time when one starts is a value, in a row of time 0
        rows += [(seed, 0.0, "plateau_start", number, start) for number, start in enumerate(starts, start=1)]
        rows += [(seed, time, "rank", PERCENT, rank) for time, rank in RANKS.items()]
    return pd.DataFrame(rows, columns=["seed", "time", "quantity", "index", "value"])


def test_a_draw_is_at_zero_if_its_first_plateau_begins_in_the_first_hundredth(table):
    """At the saddle at zero; of the time, which is 100, plateaus begin at 0.9, 1.1 and 0.9."""
    np.testing.assert_array_equal(starts_at_zero(table), [True, False, True])


def test_the_rank_is_that_when_the_second_plateau_begins_if_the_first_is_at_zero(table):
    np.testing.assert_array_equal(first_saddle_ranks(table, PERCENT), [RANKS[40.0], np.nan, np.nan])
