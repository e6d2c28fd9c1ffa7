"""From how many entries on a matrix counts as recovered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds

COUNTS = [10, 20, 30, 40]


def table(errors, converged=(True, True, True, True)):
    return pd.DataFrame({"quantity": "error", "draw": 0, "observed": COUNTS, "value": errors, "converged": converged})


@pytest.mark.parametrize(
    ("errors", "expected"),
    [([1, 1, 0, 0], 30), ([0, 1, 0, 0], 30), ([0, 0, 0, 0], 10), ([0, 0, 0, 1], np.nan)],
)
def test_it_counts_from_where_errors_stay_small(errors, expected):
    np.testing.assert_equal(thresholds(table(errors), 0.5), [expected])


def test_a_run_that_did_not_converge_below_the_threshold_leaves_it_open():
    assert np.isnan(thresholds(table([1, 0, 0, 0], (True, False, True, True)), 0.5)).all()


def test_a_run_that_did_not_converge_far_below_does_not_matter():
    np.testing.assert_equal(thresholds(table([0, 1, 0, 0], (False, True, True, True)), 0.5), [30])


def test_the_number_before_a_threshold_is_open_at_the_first_one_and_without_one():
    found = number_before(np.array(COUNTS, dtype=float), np.array([30.0, 20.0, 10.0, np.nan]))
    np.testing.assert_equal(found, [20.0, 10.0, np.nan, np.nan])
