"""From how many entries on a matrix counts as recovered."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds

COUNTS = [10, 20, 30, 40]


def table(errors, converged=(True, True, True, True)):
    return pd.DataFrame({"quantity": "error", "draw": 0, "observed": COUNTS, "value": errors, "converged": converged})


@pytest.mark.parametrize(
    ("errors", "expected"),
    [([1, 1, 0, 0], 30), ([0, 1, 0, 0], 30), ([0, 0, 0, 0], 10), ([0, 0, 0, 1], np.inf), ([0, 0, np.nan, 0], 40)],
)
def test_it_counts_from_where_errors_stay_small(errors, expected):
    np.testing.assert_equal(thresholds(table(errors), 0.5), ([expected], [expected]))


@pytest.mark.parametrize(
    ("errors", "converged", "bounds"),
    [
        ([1, 0, 0, 0], (True, False, True, True), (20, 30)),
        ([1, 1, 1, 0], (True, False, False, True), (20, 40)),
        ([0, 1, 0, 1], (True, True, True, False), (30, np.inf)),
        ([0, 1, 0, 0], (False, True, True, True), (30, 30)),
    ],
)
def test_a_run_that_did_not_converge_counts_as_what_bounds_the_threshold(errors, converged, bounds):
    np.testing.assert_equal(thresholds(table(errors, converged), 0.5), tuple([bound] for bound in bounds))


def test_there_is_no_number_before_the_first_one_nor_before_a_threshold_beyond_the_grid():
    found = number_before(np.array(COUNTS, dtype=float), np.array([30.0, 20.0, 10.0, np.inf]))
    np.testing.assert_equal(found, [20.0, 10.0, np.nan, np.nan])
