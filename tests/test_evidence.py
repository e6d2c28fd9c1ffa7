"""Intervals cover at their level, shares and orders say what draws say, and an optimum knows its grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from learning_dynamics.evidence import Estimate, difference, mean, median, optimum, share, slope


@pytest.mark.parametrize("estimate", [mean, median], ids=lambda function: function.__name__)
def test_intervals_cover_the_truth_at_their_level(estimate):
    samples = np.random.default_rng(5).standard_normal((2000, 8))
    covered = np.mean([found.lower <= 0 <= found.upper for found in map(estimate, samples)])
    # 2000 samples: three standard errors of a share of 0.95 are 0.015; order statistics cover more than asked
    assert covered >= 0.95 - 0.015
    assert covered <= (0.997 if estimate is median else 0.965)


@pytest.mark.parametrize(("estimate", "values"), [(mean, [1.0]), (mean, [np.inf, 1.0, 2.0]), (median, [1.0] * 5)])
def test_without_information_on_the_width_an_interval_is_infinite(estimate, values):
    assert (estimate(values).lower, estimate(values).upper) == (-np.inf, np.inf)


def test_a_median_counts_draws_that_are_not_finite():
    assert median([1.0] * 10 + [np.nan]).draws == 11
    assert not np.isfinite(median([1.0] * 10 + [np.nan]).value)
    # what diverged lies above all that did not
    assert median([1.0] * 9 + [np.inf]).value == 1.0


def test_of_no_draws_nothing_is_known():
    for found in (mean([]), median([]), share(0, 0)):
        assert np.isnan(found.value), found
        assert found.draws == 0, found


@given(st.integers(1, 200), st.data())
def test_shares_by_wilson(trials, data):
    successes = data.draw(st.integers(0, trials))
    found = share(successes, trials)
    interval = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert (found.lower, found.upper) == (interval.low, interval.high)


def test_a_difference_is_of_paired_draws():
    first = np.random.default_rng(1).standard_normal(20)
    assert difference(first + 0.5, first).value == pytest.approx(0.5)
    assert difference(first + 0.5, first).uncertainty < 1e-12  # pairing removes what draws have in common


def test_the_negative_of_an_estimate_is_that_of_negative_draws():
    draws = [0.0, 1.0, 5.0, 20.0]
    negative, expected = -mean(draws), mean(np.negative(draws))
    assert (negative.value, negative.lower, negative.upper) == (expected.value, expected.lower, expected.upper)
    assert (negative.draws, negative.how) == (expected.draws, expected.how)


def test_intervals_of_a_slope_cover_the_order_at_their_level():
    rng, x = np.random.default_rng(2), np.log([1e-3, 1e-2, 1e-1, 1.0])
    slopes = [slope(x, 2 * x + 0.1 * rng.standard_normal(4)) for _ in range(1000)]
    # 1000 samples: three standard errors of a share of 0.95 are 0.02
    assert np.mean([found.lower <= 2 <= found.upper for found in slopes]) == pytest.approx(0.95, abs=0.02)


def test_the_slope_through_two_points_has_no_interval():
    found = slope([0.0, 1.0], [5.0, 7.0])
    assert (found.value, found.lower, found.upper) == (2.0, -np.inf, np.inf)


@pytest.mark.parametrize(
    ("values", "at", "edge"),  # at 1, 10 and 100
    [
        ([3.0, 1.0, 2.0], 10.0, False),
        ([3.0, 2.0, 1.0], 100.0, True),
        ([3.0, 1.0, 1.0], 10.0, True),  # the end has the best value as well
        ([np.nan, 2.0, 3.0], 10.0, False),  # what is not finite is beyond the grid's end
        ([1.0, np.inf, np.nan], 1.0, True),
    ],
)
def test_an_optimum_says_where_on_its_grid_it_is_whatever_the_order(values, at, edge):
    for order in ([0, 1, 2], [2, 0, 1]):
        grid, measured = np.array([1.0, 10.0, 100.0])[order], np.array(values)[order]
        found = optimum(grid, measured)
        assert (found.at, found.at_edge) == (at, edge), order
        assert ("at its edge" in str(found)) == edge, order
        assert "best of 3 values from 1 to 100" in str(found), order
        # infinite values are not best in either sense
        negative = np.where(np.isfinite(measured), -measured, np.inf)
        assert optimum(grid, negative, "greatest").at == at, order


def test_a_grid_of_one_setting_or_of_nothing_finite_is_at_its_edge_and_one_of_none_is_refused():
    assert optimum([1.0], [1.0]).at_edge
    lost = optimum([1.0, 2.0, 3.0], [np.nan, np.nan, np.nan])
    assert lost.at_edge
    assert np.isnan(lost.value)
    with pytest.raises(ValueError, match="no settings"):
        optimum([], [])


def draws_around(centre, count):
    """Return an even number of draws, each at a distance of one from their mean."""
    return centre + np.tile([-1.0, 1.0], count // 2)


@pytest.mark.parametrize("bound", [0.0, 0.2], ids=["below the mean", "above the mean"])
def test_draws_to_decide_leave_the_bound_outside_of_the_interval_and_a_tenth_fewer_do_not(bound):
    needed = mean(draws_around(0.1, 50)).draws_to_decide(bound)
    enough = mean(draws_around(0.1, 2 * (needed // 2 + 1)))  # even, and one or two more
    assert not enough.lower <= bound <= enough.upper
    fewer = mean(draws_around(0.1, 2 * int(0.9 * needed / 2)))
    assert fewer.lower <= bound <= fewer.upper


# a bound that is n times nearer than the end of the interval on its side takes n^2 times as many draws
@pytest.mark.parametrize(("bound", "needed"), [(0.0, 40), (2.0, 90)], ids=["below the value", "above the value"])
def test_draws_to_decide_follow_from_the_end_of_the_interval_on_the_side_of_the_bound(bound, needed):
    estimate = Estimate(value=1.0, lower=-1.0, upper=4.0, draws=10, how="median (order statistics)")
    assert estimate.draws_to_decide(bound) == needed


@pytest.mark.parametrize(
    ("values", "bound"),
    [
        pytest.param([1.0, 2.0, 3.0], 2.0, id="the bound is the value"),
        pytest.param([1.0], 0.0, id="one draw has no interval"),
        pytest.param([1.0, np.nan], 0.0, id="there is no value"),
    ],
)
def test_without_an_answer_draws_to_decide_are_none(values, bound):
    assert mean(values).draws_to_decide(bound) is None
