"""Criteria: every draw counts for, against or as undecided, and the state turns at the bound."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learning_dynamics.errors import CheckError
from learning_dynamics.evidence import distinct, mean, median
from learning_dynamics.judging import (
    at_least,
    at_most,
    equal,
    equal_on_every_draw,
    every_draw,
    share_of_draws,
)
from tests.judging.made_up import estimate, evaluation_of

# -- every draw ----------------------------------------------------------------------------------------------------


NUMBERS = st.one_of(st.floats(-10, 10), st.sampled_from([np.nan, np.inf, -np.inf]))


@pytest.mark.parametrize(("side", "is_within"), [("at_most", np.less_equal), ("at_least", np.greater_equal)])
@given(values=st.lists(NUMBERS, min_size=1), bound=st.floats(-10, 10))
@example(values=[2.0, 3.0], bound=2.0)  # a number at its bound is within it
def test_every_draw_is_counted_for_against_or_undecided(side, is_within, values, bound):
    values = np.array(values)
    finite = np.isfinite(values)
    within = is_within(values, bound)
    check = every_draw("x", values, **{side: bound})
    assert check.draws_for == (within & finite).sum()
    assert check.draws_against == (~within & finite).sum()
    assert check.draws_undecided == (~finite).sum()
    assert check.draws == len(values)


@pytest.mark.parametrize(
    ("values", "state"),
    [
        pytest.param([1.0, 2.0], "holds", id="all within"),
        pytest.param([1.0, np.nan], "undecided", id="one without a number"),
        pytest.param([1.0, 3.0], "fails", id="one beyond"),
        pytest.param([np.nan, 3.0], "fails", id="one beyond and one without a number"),
    ],
)
def test_one_draw_beyond_the_bound_fails_and_else_one_without_a_number_leaves_undecided(values, state):
    assert every_draw("x", values, at_most=2.0).state == state


@pytest.mark.parametrize(
    ("values", "bounds", "shown", "margin"),
    [
        pytest.param([1.0, 40.0, 2.0], {"at_most": [1.9, 60.0, 20.0]}, 40.0, 60 / 40, id="by factor, not by distance"),
        pytest.param([1.0, 4.0, 2.0], {"at_least": 0.5}, 1.0, 1.0 / 0.5, id="above a lower bound"),
    ],
)
def test_the_draw_nearest_its_bound_is_shown(values, bounds, shown, margin):
    check = every_draw("x", values, **bounds)
    assert (check.value, check.margin) == (shown, margin)
    assert check.interval == "the draw nearest its bound, of 3"


def test_a_bound_of_zero_has_no_factor_so_that_the_nearest_draw_is_by_distance():
    assert every_draw("x", [-3.0, -1.0, -2.0], at_most=0.0).value == -1.0


@pytest.mark.parametrize(
    ("values", "bounds", "outermost"),
    [
        pytest.param([1.0, 40.0], {"at_most": [1.01, 60.0]}, "the largest value of any draw is 40", id="at most"),
        pytest.param([1.0, 40.0], {"at_least": [0.2, 39.0]}, "the least value of any draw is 1", id="at least"),
    ],
)
def test_where_another_draw_than_the_one_shown_is_outermost_its_value_is_reported(values, bounds, outermost):
    interval = every_draw("x", values, **bounds).interval
    assert interval.endswith(f"of 2; each draw has its own bound, and {outermost}")


# numbers of many digits, which do not repeat by chance
MANY_DIGITS = np.array([1.234567, 1.3456789, np.pi])
FIRST_AND_LAST_ALIKE = MANY_DIGITS[[0, 1, 0]]


@pytest.mark.parametrize(
    ("numbers", "different"),
    [
        pytest.param(MANY_DIGITS, 3, id="that differ count each"),
        pytest.param(FIRST_AND_LAST_ALIKE * [1, 1, 1 + 2e-11], 2, id="that agree in ten digits count once"),
        pytest.param(1e-6 * FIRST_AND_LAST_ALIKE, 2, id="small ones that agree count once"),
        pytest.param(
            np.stack([MANY_DIGITS, MANY_DIGITS * (1 + 1e-10)]), 1, id="of three numbers, all of which agree, count once"
        ),
        pytest.param(
            np.stack([MANY_DIGITS, MANY_DIGITS * [1, 1, 1 + 1e-8]]),
            2,
            id="of three numbers, one of which differs, count each",
        ),
        pytest.param([2.0, 2.0, 2.0], 3, id="ranks may repeat"),
        pytest.param([2.3e-16, 2.3e-16], 2, id="rounding errors may repeat"),
    ],
)
def test_only_draws_that_agree_in_many_digits_count_once(numbers, different):
    assert distinct(numbers) == different


def test_repeated_numbers_are_reported():
    assert every_draw("x", FIRST_AND_LAST_ALIKE, at_most=9.0).interval.endswith("of 3, with 2 different numbers")
    assert mean(FIRST_AND_LAST_ALIKE).how == "mean (t); 2 of the 3 numbers differ"


ONE_NUMBER = MANY_DIGITS[0]
REPEATED = ONE_NUMBER * (1 + 1e-12 * np.array([1, 3, -2]))  # of three draws, alike but for rounding


def test_draws_that_all_have_one_number_are_reported():
    """Measured and predicted numbers are those of one draw, but for rounding, in which their errors differ."""
    check = equal_on_every_draw("x", REPEATED, [ONE_NUMBER] * 3, tolerance=1e-9)
    assert check.interval == "the draw nearest its bound, of 3, all with one number"


def test_draws_of_which_one_constant_is_predicted_may_have_one_number():
    assert equal_on_every_draw("x", REPEATED, ONE_NUMBER, tolerance=1e-9).interval == "the draw nearest its bound, of 3"


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(
            every_draw("x", [0.0, 0.0], at_most=1.0, undecided=[False, True]), id="if a run could not decide it"
        ),
        pytest.param(
            equal_on_every_draw("x", [[1.0, np.nan], [1.0, 1.0]], 1.0, tolerance=0.1), id="if one of its numbers is nan"
        ),
        pytest.param(
            equal_on_every_draw("x", [1.0, 1.0], [5.0, 1.0], tolerance=0.1, relative_to=[np.inf, 1.0]),
            id="if the unit of its error is infinite",
        ),
    ],
)
def test_a_draw_is_undecided(check):
    # one of two draws is
    assert (check.state, check.draws_for, check.draws_undecided) == ("undecided", 1, 1)


def test_draws_that_are_left_out_are_reported_with_the_reason():
    check = every_draw("x", [0.0], at_most=1.0, excluded={"rank above 2": 3, "no such draw": 0})
    assert check.excluded == "3 left out: rank above 2"


def test_where_fewer_draws_are_judged_than_a_table_has_a_missing_reason_is_reported():
    twenty_draws = pd.DataFrame({"seed": range(20)})
    found = evaluation_of(every_draw("x", np.zeros(17), at_most=1.0), tables={"run": twenty_draws})
    assert found.judgement.headline.excluded == "17 judged of an ensemble of 20: no reason given"


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1.0, "at_least": 0.0}])
@pytest.mark.parametrize("check", [every_draw, share_of_draws])
def test_a_check_without_a_bound_or_with_two_is_refused(check, bounds):
    with pytest.raises(CheckError, match="give one of"):
        check("x", [1.0], **bounds)


def test_a_check_of_every_draw_without_draws_is_refused():
    with pytest.raises(CheckError, match="no draws"):
        every_draw("x", [], at_most=1.0)


def test_a_share_of_no_draws_is_undecided():
    assert share_of_draws("x", [], at_least=0.5).state == "undecided"


def test_the_error_of_a_draw_is_its_largest_relative_to_its_largest_measured_number():
    measured = np.array([[1.0, 100.0], [2.0, 1.0]])  # two numbers of each of two draws
    errors = np.array([[0.0, 1.0], [0.1, 0.0]])  # the first draw's is 0.01 of 100, the second's 0.05 of 2
    check = equal_on_every_draw("x", measured, measured + errors, tolerance=0.02)
    assert check.value == pytest.approx(0.05)
    assert (check.draws_for, check.draws_against) == (1, 1)
    assert check.predicted == 0.0  # what is compared is the error


@pytest.mark.parametrize("check", [equal, equal_on_every_draw])
@pytest.mark.parametrize(
    ("resolution", "state"),
    # the tolerance is 0.5
    [
        pytest.param(0.45, "undecided", id="just below the tolerance"),
        pytest.param(0.55, "holds", id="just above the tolerance"),
    ],
)
def test_a_tolerance_above_the_smallest_error_that_matters_leaves_a_check_undecided(check, resolution, state):
    assert check("x", 1.0, 1.0, tolerance=0.5, resolution=resolution).state == state


@pytest.mark.parametrize(
    "check",
    [
        every_draw("x", [0.5, 1.0], at_most=2.0, predicted=2.0),
        at_most("x", mean([0.5, 1.0]), 2.0),
        share_of_draws("x", [True, False], at_most=2.0),
    ],
    ids=["every draw", "a mean", "a share"],
)
def test_a_bound_is_not_shown_as_the_prediction(check):
    assert np.isnan(check.predicted)
    assert "<= 2" in check.criterion


def test_a_prediction_that_is_not_the_bound_is_shown():
    assert every_draw("x", [0.5, 1.0], at_most=2.0, predicted=1.0).predicted == 1.0


# -- draws together ------------------------------------------------------------------------------------------------


@given(value=st.floats(-10, 10), bound=st.floats(-10, 10), half=st.floats(0, 1))
def test_a_bound_inside_the_interval_is_undecided_and_one_outside_decides(value, bound, half):
    found = estimate(value, lower=value - half, upper=value + half, draws=20)
    below, above = at_most("x", found, bound), at_least("x", found, bound)
    if found.lower < bound < found.upper:
        assert below.state == above.state == "undecided"
    elif bound > found.upper:
        assert (below.state, above.state) == ("holds", "fails")
    elif bound < found.lower:
        assert (below.state, above.state) == ("fails", "holds")
    assert below.draws == 20
    assert below.draws_for + below.draws_against + below.draws_undecided == 20


def test_a_bound_that_is_nearer_by_far_than_the_interval_is_wide_is_undecided():
    assert at_most("x", estimate(0.0, lower=-1.0, upper=1.0, draws=20), 1e-200).state == "undecided"


def test_a_bound_at_the_end_of_the_interval_holds_on_the_intervals_side_alone():
    found = estimate(1.0, lower=0.5, upper=1.5, draws=20)
    assert at_most("x", found, 1.5).state == at_least("x", found, 0.5).state == "holds"
    assert at_most("x", found, 0.5).state == at_least("x", found, 1.5).state == "undecided"


@given(value=st.floats(-10, 10), predicted=st.floats(-10, 10), tolerance=st.floats(1e-6, 1), half=st.floats(0, 1))
def test_equal_holds_exactly_within_interval_and_tolerance(value, predicted, tolerance, half):
    found = estimate(value, lower=value - half, upper=value + half, draws=20)
    within = found.lower - tolerance <= predicted <= found.upper + tolerance
    assert equal("x", found, predicted, tolerance=tolerance).state == ("holds" if within else "fails")


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(equal("x", np.nan, 1.0, tolerance=0.1), id="a measured nan"),
        pytest.param(equal("x", np.inf, 1.0, tolerance=0.1), id="a measured infinity"),
        pytest.param(equal("x", 1.0, np.nan, tolerance=0.1), id="a predicted nan"),
        pytest.param(equal("x", 1.0, np.inf, tolerance=0.1), id="a predicted infinity"),
        pytest.param(at_most("x", np.nan, 1.0), id="a nan with an upper bound"),
        pytest.param(at_least("x", np.nan, 1.0), id="a nan with a lower bound"),
        pytest.param(equal("x", mean([1.0]), 1.0), id="one draw, whose interval contains everything"),
        pytest.param(at_least("x", mean([0.0, 0.0]), 0.0), id="no difference on any draw, which has no sign"),
    ],
)
def test_a_check_of_an_estimate_is_undecided(check):
    assert check.state == "undecided"


def equal_within_a_tenth(name, measured, predicted):
    return equal(name, measured, predicted, tolerance=0.1)


@pytest.mark.parametrize("estimate_of", [mean, median])
@pytest.mark.parametrize("compare", [at_most, at_least, equal_within_a_tenth])
def test_draws_without_a_number_leave_an_estimate_undecided_and_are_counted(compare, estimate_of):
    check = compare("x", estimate_of([0.0, np.nan, 0.1, np.nan, 0.05]), 0.0)
    assert check.state == "undecided"
    assert (check.draws, check.draws_for, check.draws_undecided) == (5, 0, 5)
    assert check.undecided_reason == "2 of 5 draws gave no number"


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param(
            at_most("size", mean([1.0, 3.0]), 2.0),
            "size: the interval contains the bound, so the data cannot decide",
            id="a mean at its bound",
        ),
        pytest.param(
            at_most("size", estimate(1.5, lower=0.5, upper=2.5, draws=9), 2.0),
            # the bound is half as far as the interval's end: it takes four times the draws
            "size: the interval contains the bound, so the data cannot decide; about 36 draws would be "
            "needed, there are 9",
            id="an interval that contains the bound",
        ),
        pytest.param(at_most("size", np.nan, 2.0), "size: it cannot be judged", id="no number"),
        pytest.param(
            at_most("size", mean([1.0, 1.1]), 2.0, draws_undecided=1),
            "size: 1 of 2 draws cannot be judged",
            id="a mean of which one draw is undecided",
        ),
        pytest.param(
            every_draw("size", [1.0, np.nan, 1.5], at_most=2.0),
            "size: 1 of 3 draws cannot be judged",
            id="one draw without a number",
        ),
    ],
)
def test_an_undecided_claim_says_what_left_it_open(part, why):
    headline = every_draw("error", 0.1, at_most=1.0, rivals={"no error": 0.0})  # it holds, and refuses its rival
    assert evaluation_of(headline, part).reason == why


# Wilson's intervals: 0.84 to 1 for 20 of 20, 0 to 0.16 for none, 0.39 to 0.78 for 12
@pytest.mark.parametrize(("draws_that_hold", "state"), [(20, "holds"), (0, "fails"), (12, "undecided")])
def test_a_share_is_undecided_while_its_interval_contains_the_bound(draws_that_hold, state):
    assert share_of_draws("x", np.arange(20) < draws_that_hold, at_least=0.5).state == state


TRUE_ON_ALL = np.ones(40, bool)
UNDECIDED = np.arange(40) < 30  # 30 of 40 draws


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(share_of_draws("x", TRUE_ON_ALL, at_least=0.5, undecided=UNDECIDED), id="of at least"),
        pytest.param(share_of_draws("x", ~TRUE_ON_ALL, at_most=0.5, undecided=UNDECIDED), id="of at most"),
        pytest.param(share_of_draws("x", np.where(UNDECIDED, np.nan, 1.0), at_least=0.5), id="of nan"),
    ],
)
def test_undecided_draws_count_against_a_share(check):
    # Wilson's interval of 10 of 40 is 0.14 to 0.40, all of it on the wrong side of the bound
    assert (check.state, check.draws_for, check.draws_undecided) == ("fails", 10, 30)
