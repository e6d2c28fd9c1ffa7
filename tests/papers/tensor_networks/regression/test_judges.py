"""What claims on regression refuse: each reads tables of a run at smoke scale in which one thing is altered.

Alterations are just inside of a criterion and just beyond it.
"""

import pytest

from tests.papers.tensor_networks.plain import (
    evaluation_on,
    multiply,
    off_prediction,
    off_prediction_relative,
    put,
    read,
    rewrite,
    verdict,
)
from tests.support import claim_tables

OF_LIMITS = 2000 * 1e-11  # `limit_checks.LIMIT_ERROR` times the configuration's rtol
OF_TIMES = 100 * 1e-11  # `squared_flow.FLOW_ERROR` times the same


@pytest.mark.parametrize("claim", ["theorem_4", "corollary_5"])
@pytest.mark.parametrize(("share", "expected"), [(0.99, "reproduced"), (-1.01, "contradicted")])
def test_a_limit_may_be_off_by_its_tolerance_and_no_more(claim, share, expected):
    alteration = off_prediction_relative("coefficient", share * OF_LIMITS, seed=0, depth=3, scale=1.0)
    assert verdict(claim, alteration) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.99, "corrected"), (-1.01, "contradicted")])
def test_a_limit_of_corollary_6_may_be_off_its_correction_by_its_tolerance_and_no_more(share, expected):
    alteration = off_prediction_relative("coefficient", share * OF_LIMITS, seed=1, depth=3, scale=1.0)
    assert verdict("corollary_6", alteration) == expected


def test_corollary_6_is_reproduced_by_limits_without_the_factor():
    def as_printed(tables):
        printed = read(tables["flow"], "printed_minimiser", "predicted")
        for quantity in ("printed_minimiser", "coefficient"):
            put(quantity, printed)(tables)

    assert verdict("corollary_6", as_printed) == "reproduced"


def enlarged(quantity, share, **where):
    """Let a solution be longer than its prediction by a share of it, in the same direction."""
    return rewrite(quantity, lambda rows: (1 + share) * rows["predicted"], **where)


# the criterion is 1e3 / alpha^4 at the largest scale, 100: 1e-5
@pytest.mark.parametrize(("share", "expected"), [(0.99e-5, "reproduced"), (1.01e-5, "contradicted")])
def test_remark_4_refuses_a_limit_from_the_largest_scale_that_is_off_the_least_weighted_l2_norm(share, expected):
    assert verdict("remark_4", enlarged("weighted_l2", share, scale=100.0, seed=1, depth=3)) == expected


# the criterion is the configuration's `ratio`, 0.1
@pytest.mark.parametrize(("share", "expected"), [(0.099, "reproduced"), (0.101, "contradicted")])
def test_remark_4_refuses_a_minimiser_at_a_small_scale_that_is_off_the_least_weighted_l1_norm(share, expected):
    assert verdict("remark_4", enlarged("small_weighted_l1", share, seed=1, depth=4)) == expected


# the tolerance of a power is 10 / (e log 1e15) = 0.1065
@pytest.mark.parametrize(("error", "expected"), [(0.106, "reproduced"), (-0.107, "contradicted")])
def test_remark_4_refuses_a_power_of_two_layers_that_is_off_its_prediction(error, expected):
    assert verdict("remark_4", off_prediction("vanishing_power", error, seed=1)) == expected


@pytest.fixture(scope="module")
def facts_of_remark_4():
    return evaluation_on("remark_4").facts


def test_remark_4_states_the_range_of_powers(facts_of_remark_4):
    powers = read(claim_tables("tensor_networks", "remark_4")["ends"], "vanishing_power")
    assert (facts_of_remark_4["slowest"], facts_of_remark_4["fastest"]) == (powers.min(), powers.max())


def test_remark_4_says_that_distances_fall_at_least_like_the_scale(facts_of_remark_4):
    # the law is alpha^(L - 2) or faster with three layers and more; the two smallest scales are 0.01 and 0.03
    assert facts_of_remark_4["fall"] > 3


def test_remark_4_states_the_scales_between_which_powers_are_fitted(facts_of_remark_4):
    assert (facts_of_remark_4["coarse"], facts_of_remark_4["fine"]) == (1e-15, 1e-30)


def test_two_layers_add_half_a_logarithm_to_the_absolute_value():
    # the next term of H_2(t) / |t|, 1 / (4 |t|), falls by 4e-8 between the last two records, and the integrator errs by
    # `OF_TIMES` of 7.1; log |t| grows by 0.15 between them
    assert evaluation_on("remark_4_growth").facts["shallow"] == pytest.approx(0.5, rel=0, abs=(4e-8 + 7.1e-9) / 0.15)


LARGE_TIME = 0.1  # the claim reads the first time after zero, which is smaller, and the last two, which are larger


def multiply_at_small_times(quantity, factor, **where):
    """Multiply a quantity by a factor at the times of which the claim reads the first after zero."""

    def values(rows):
        return rows["value"].where(rows["time"].abs() > LARGE_TIME, factor * rows["value"])

    return rewrite(quantity, values, **where)


def multiply_at_large_times(quantity, factor, **where):
    """Multiply a quantity by a factor at the times of which the claim reads the last two."""

    def values(rows):
        return rows["value"].where(rows["time"].abs() <= LARGE_TIME, factor * rows["value"])

    return rewrite(quantity, values, **where)


@pytest.mark.parametrize(
    "alteration",
    [
        pytest.param(
            multiply_at_large_times("penalty_over_h", 1.001, depth=2, sign=1),
            id="two layers with a slope that is larger by a thousandth",
        ),
        pytest.param(
            multiply_at_large_times("penalty_over_h", 1.1, depth=4),
            id="four layers with a distance from the limit that is larger by a tenth",
        ),
        pytest.param(
            multiply_at_small_times("penalty_over_h", 1.01, depth=2, sign=1), id="two layers off half the square"
        ),
        pytest.param(multiply_at_small_times("penalty_over_h", 1.01, depth=4), id="four layers off half the square"),
        pytest.param(multiply("h", 1.001, depth=2, sign=1), id="two layers whose h is larger by a thousandth"),
    ],
)
def test_growth_is_contradicted_by_penalties_of_another_growth_at_small_or_at_large_times(alteration):
    assert verdict("remark_4_growth", alteration) == "contradicted"


def test_growth_as_printed_is_reproduced_where_two_layers_grow_like_the_absolute_value():
    def constant_at_large_times(rows):
        return rows["value"].where(rows["time"].abs() <= LARGE_TIME, 2.0)

    # H_2(h) / |h| no longer grows with |h|
    assert verdict("remark_4_growth", rewrite("penalty_over_h", constant_at_large_times, depth=2)) == "reproduced"


@pytest.mark.parametrize("missing_depths", [[2], [3, 4, 5]])
def test_growth_is_untested_without_two_layers_and_without_more(missing_depths):
    def remove(tables):
        functions = tables["functions"]
        tables["functions"] = functions[~functions["depth"].isin(missing_depths)]

    assert verdict("remark_4_growth", remove) == "untested"


@pytest.mark.parametrize("quantity", ["time_of_h", "time_of_last_q"])
@pytest.mark.parametrize(("share", "expected"), [(0.99, "reproduced"), (-1.01, "contradicted")])
def test_a_time_of_lemma_5_1_may_be_off_by_the_integrators_error_and_no_more(quantity, share, expected):
    assert verdict("lemma_5_1", off_prediction_relative(quantity, share * OF_TIMES, depth=3, sign=-1)) == expected


def test_lemma_5_1_refuses_an_h_that_does_not_rise_from_one_time_to_the_next():
    def with_equal_neighbours(rows):
        values = rows["value"].copy()
        values.iloc[4] = values.iloc[3]
        return values

    assert verdict("lemma_5_1", rewrite("h", with_equal_neighbours, depth=3, sign=-1)) == "contradicted"
