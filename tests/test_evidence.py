"""Intervals cover at their level, shares and orders say what draws say, and an optimum knows its grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from learning_dynamics.evidence import difference, mean, median, optimum, share, slope


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
    turned, found = -mean(first), mean(-first)
    np.testing.assert_allclose([turned.value, turned.lower], [found.value, found.lower])
    assert (turned.upper, turned.draws) == (-mean(first).lower, 20)


def test_a_slope_covers_the_order():
    rng, x = np.random.default_rng(2), np.log([1e-3, 1e-2, 1e-1, 1.0])
    covered = [
        found.lower <= 2 <= found.upper
        for found in (slope(x, 2 * x + 0.1 * rng.standard_normal(4)) for _ in range(1000))
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)
    assert (slope(x[:2], 2 * x[:2]).lower, slope(x[:2], 2 * x[:2]).value) == (-np.inf, pytest.approx(2))


@pytest.mark.parametrize(
    ("values", "at", "edge"),
    [
        ([3.0, 1.0, 2.0], 10.0, False),
        ([3.0, 2.0, 1.0], 100.0, True),
        ([3.0, 1.0, 1.0], 10.0, True),
        ([np.nan, 2.0, 3.0], 10.0, False),
        ([1.0, np.inf, np.nan], 1.0, True),
    ],
)
def test_an_optimum_says_where_on_its_grid_it_lies_whatever_the_order(values, at, edge):
    for order in ([0, 1, 2], [2, 0, 1]):
        grid, measured = np.array([1.0, 10.0, 100.0])[order], np.array(values)[order]
        found = optimum(grid, measured)
        assert (found.at, found.at_edge) == (at, edge), order
        assert ("at its edge" in str(found)) == edge, order
        assert "best of 3 values from 1 to 100" in str(found), order
        assert optimum(grid, np.where(np.isfinite(measured), -measured, np.inf), "greatest").at == at, order


def test_a_grid_of_one_setting_or_of_nothing_finite_is_at_its_edge_and_one_of_none_is_refused():
    assert optimum([1.0], [1.0]).at_edge
    lost = optimum([1.0, 2.0, 3.0], [np.nan, np.nan, np.nan])
    assert lost.at_edge
    assert np.isnan(lost.value)
    with pytest.raises(ValueError, match="no settings"):
        optimum([], [])


def test_as_many_draws_as_it_says_decide_and_half_as_many_do_not():
    values = np.random.default_rng(0).normal(0.0, 1.0, 50)
    values += 0.1 - values.mean()
    found = mean(values)
    assert found.lower < 0 < found.value
    needed = found.draws_to_decide(0.0)
    alike = np.tile(values, 1 + needed // 50)
    assert mean(alike[:needed] - alike[:needed].mean() + 0.1).lower > 0
    assert mean(alike[: needed // 2] - alike[: needed // 2].mean() + 0.1).lower < 0
    assert found.draws_to_decide(2 * found.value) == pytest.approx(needed, abs=1)
    assert found.draws_to_decide(found.value) is None
    assert mean([1.0]).draws_to_decide(0.0) is None
