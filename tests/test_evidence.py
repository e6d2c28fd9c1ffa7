"""Estimates from draws: intervals cover the truth at their level, and an optimum says where on its grid it is.

Intervals are compared with their definition, by samples of known distribution or by the equation of their ends.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from learning_dynamics.evidence import Estimate, difference, mean, median, optimum, share, slope


# A mean's interval has the level asked for. A median's ends at order statistics: of 8 numbers the interval from the
# second to the seventh would cover with probability 1 - 18 / 2^8 = 0.93, too little; from the first to the last it
# covers with 1 - 2 / 2^8
@pytest.mark.parametrize(("estimate", "level"), [(mean, 0.95), (median, 1 - 2 / 2**8)])
def test_intervals_cover_the_truth_at_their_level(estimate, level):
    samples = np.random.default_rng(5).standard_normal((2000, 8))
    estimates = [estimate(sample) for sample in samples]
    covered = np.mean([each.lower <= 0 <= each.upper for each in estimates])  # mean and median are 0
    assert covered == pytest.approx(level, abs=3 * np.sqrt(level * (1 - level) / 2000))  # three standard errors


@pytest.mark.parametrize(
    ("estimate", "values"),
    [
        pytest.param(mean, [1.0], id="a mean of one draw"),
        pytest.param(mean, [np.inf, 1.0, 2.0], id="a mean of which one draw diverged"),
        pytest.param(median, [1.0] * 5, id="a median of five draws"),  # between the first and the last: 1 - 2 / 2^5
    ],
)
def test_without_information_on_the_width_an_interval_is_infinite(estimate, values):
    assert (estimate(values).lower, estimate(values).upper) == (-np.inf, np.inf)


def test_a_draw_without_a_number_is_one_of_the_draws_and_leaves_no_median():
    found = median([1.0] * 10 + [np.nan])
    assert found.draws == 11
    assert np.isnan(found.value)


def test_in_a_median_a_draw_that_diverged_is_above_all_others():
    assert median([1.0, 2.0, np.inf]).value == 2.0
    assert median([1.0, np.inf, np.inf]).value == np.inf


@pytest.mark.parametrize("found", [mean([]), median([]), share(0, 0)], ids=["mean", "median", "share"])
def test_of_no_draws_nothing_is_known(found):
    assert np.isnan(found.value)
    assert found.draws == 0


@given(st.integers(1, 200), st.data())
def test_a_share_has_wilsons_interval(trials, data):
    """Its ends are the shares p from which the measured one is 1.96 of p's standard errors away."""
    successes = data.draw(st.integers(0, trials))
    found = share(successes, trials)
    assert found.value == successes / trials
    assert found.lower <= found.value <= found.upper
    assert found.lower < found.upper
    for end in (found.lower, found.upper):
        variance = end * (1 - end) / trials
        # rounding of numbers below 1, times 1.96^2
        assert (end - found.value) ** 2 == pytest.approx(stats.norm.ppf(0.975) ** 2 * variance, rel=0, abs=1e-14)


def test_a_difference_is_of_paired_draws():
    first = np.random.default_rng(1).standard_normal(20)
    assert difference(first + 0.5, first).value == pytest.approx(0.5)
    # pairing removes what draws have in common, all but its rounding
    assert difference(first + 0.5, first).uncertainty < 1e-15


def test_the_negative_of_an_estimate_is_that_of_negative_draws():
    draws = [0.0, 1.0, 5.0, 20.0]
    negative, expected = -mean(draws), mean(np.negative(draws))
    assert (negative.value, negative.lower, negative.upper) == (expected.value, expected.lower, expected.upper)
    assert (negative.draws, negative.how) == (expected.draws, expected.how)


def test_intervals_of_a_slope_cover_the_true_one_at_their_level():
    rng = np.random.default_rng(2)
    x, true_slope = np.log([1e-3, 1e-2, 1e-1, 1.0]), 2
    slopes = [slope(x, true_slope * x + 0.1 * rng.standard_normal(4)) for _ in range(1000)]
    covered = np.mean([each.lower <= true_slope <= each.upper for each in slopes])
    # 1000 samples: three standard errors of a share of 0.95 are 0.02
    assert covered == pytest.approx(0.95, abs=0.02)


def test_the_slope_through_two_points_has_no_interval():
    found = slope([0.0, 1.0], [5.0, 7.0])
    assert (found.value, found.lower, found.upper) == (2.0, -np.inf, np.inf)


GRID = np.array([1.0, 10.0, 100.0])

# `values` are those at the settings of `GRID`
every_optimum = pytest.mark.parametrize(
    ("values", "best_setting", "is_at_edge"),
    [
        pytest.param([3.0, 1.0, 2.0], 10.0, False, id="in the middle"),
        pytest.param([3.0, 2.0, 1.0], 100.0, True, id="at the end"),
        pytest.param([3.0, 1.0, 1.0], 10.0, True, id="in the middle, and the end has the same value"),
        pytest.param([np.nan, 2.0, 3.0], 10.0, False, id="beside a value that is not finite, which bounds the grid"),
        pytest.param([1.0, np.inf, np.nan], 1.0, True, id="at the start, where nothing else is finite"),
    ],
)
every_order = pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]], ids=["ascending settings", "unordered settings"])


@every_optimum
@every_order
def test_an_optimum_says_whether_it_is_at_the_edge_of_its_grid(values, best_setting, is_at_edge, order):
    found = optimum(GRID[order], np.array(values)[order])
    assert (found.at, found.at_edge) == (best_setting, is_at_edge)
    assert ("at its edge" in str(found)) == is_at_edge
    assert "best of 3 values from 1 to 100" in str(found)


@every_optimum
@every_order
def test_the_greatest_value_is_where_the_least_of_the_negative_is(values, best_setting, is_at_edge, order):
    measured = np.array(values)[order]
    # what is infinite stays so: it is best in neither sense
    negative = np.where(np.isfinite(measured), -measured, np.inf)
    found = optimum(GRID[order], negative, "greatest")
    assert (found.at, found.at_edge) == (best_setting, is_at_edge)


def test_a_grid_of_one_setting_is_at_its_edge():
    assert optimum([1.0], [1.0]).at_edge


def test_a_grid_without_a_finite_value_has_no_optimum_and_is_at_its_edge():
    lost = optimum(GRID, np.full(3, np.nan))
    assert lost.at_edge
    assert np.isnan(lost.value)


def test_a_grid_without_settings_is_refused():
    with pytest.raises(ValueError, match="no settings"):
        optimum([], [])


def draws_around(centre, count):
    """Return an even number of draws, each at a distance of one from their mean."""
    return centre + np.tile([-1.0, 1.0], count // 2)


@pytest.mark.parametrize("bound", [0.0, 0.2], ids=["below the mean", "above the mean"])
def test_the_draws_that_are_needed_are_just_enough(bound):
    """With one or two more the interval leaves the bound, with a tenth fewer it does not."""
    centre = 0.1  # a tenth of the draws' deviation from either bound: fifty draws do not decide
    needed = mean(draws_around(centre, 50)).draws_to_decide(bound)
    enough = mean(draws_around(centre, 2 * (needed // 2 + 1)))  # an even number
    assert not enough.lower <= bound <= enough.upper
    fewer = mean(draws_around(centre, 2 * int(0.9 * needed / 2)))
    assert fewer.lower <= bound <= fewer.upper


# Below the value the interval's end is twice as far away as the bound: 2^2 times the 10 draws are needed. Above it the
# end is three times as far away
@pytest.mark.parametrize(("bound", "needed"), [(0.0, 40), (2.0, 90)], ids=["below the value", "above the value"])
def test_the_end_on_the_side_of_the_bound_says_how_many_draws_are_needed(bound, needed):
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
def test_where_no_number_of_draws_would_decide_none_is_said_to_be_needed(values, bound):
    assert mean(values).draws_to_decide(bound) is None
