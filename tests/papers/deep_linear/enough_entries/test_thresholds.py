"""The threshold of a draw: the number of observed entries from which on its matrix counts as recovered.

Errors are made up: zero of a recovered matrix, one of another.
"""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds

GRID = [10, 20, 30, 40]  # numbers of observed entries
NOT_RECOVERED = 0.5  # error from which on a matrix is not recovered


def bounds_on_threshold(errors, *, unconverged=()):
    """Return the lower and the upper bound on the threshold of one draw, with these errors along the grid."""
    columns = {"quantity": "error", "draw": 0, "observed": GRID, "value": errors}
    columns["converged"] = [observed not in unconverged for observed in GRID]
    (lower,), (upper,) = thresholds(pd.DataFrame(columns), NOT_RECOVERED)
    return lower, upper


@pytest.mark.parametrize(
    ("errors", "threshold"),
    [([1, 1, 0, 0], 30), ([0, 1, 0, 0], 30), ([0, 0, 0, 0], 10), ([0, 0, 0, 1], np.inf), ([0, 0, np.nan, 0], 40)],
)
def test_the_threshold_is_the_number_from_which_on_errors_stay_small(errors, threshold):
    """All runs converged: both bounds are the threshold."""
    assert bounds_on_threshold(errors) == (threshold, threshold)


@pytest.mark.parametrize(
    ("errors", "unconverged", "lower", "upper"),
    [
        pytest.param([1, 0, 0, 0], [20], 20, 30, id="the first small error is open"),
        pytest.param([1, 1, 1, 0], [20, 30], 20, 40, id="two large errors before the first small one are open"),
        pytest.param([0, 1, 0, 1], [40], 30, np.inf, id="the last error is open"),
        pytest.param([0, 1, 0, 0], [10], 30, 30, id="an open error before a large one changes nothing"),
    ],
)
def test_an_unconverged_run_is_recovered_for_the_lower_bound_alone(errors, unconverged, lower, upper):
    assert bounds_on_threshold(errors, unconverged=unconverged) == (lower, upper)


@pytest.mark.parametrize(
    ("threshold", "before"),
    [
        (30.0, 20.0),
        (20.0, 10.0),
        pytest.param(10.0, np.nan, id="the first number has none before it"),
        pytest.param(np.inf, np.nan, id="a threshold beyond the grid has none that is known"),
    ],
)
def test_the_number_before_a_threshold_is_the_next_smaller_one_of_the_grid(threshold, before):
    np.testing.assert_equal(number_before(np.array(GRID, dtype=float), np.array([threshold])), [before])
