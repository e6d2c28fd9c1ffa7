"""Criteria: every draw counts for, against or as undecided, and the state turns at the bound."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning_dynamics.errors import CheckError
from learning_dynamics.evidence import Estimate, distinct, mean, median
from learning_dynamics.judging import (
    at_least,
    at_most,
    equal,
    equal_on_every_draw,
    every_draw,
    share_of_draws,
)
from tests.judging.made_up import evaluation_of

# -- every draw ----------------------------------------------------------------------------------------------------


NUMBERS = st.one_of(st.floats(-10, 10), st.sampled_from([np.nan, np.inf, -np.inf]))


@given(st.lists(NUMBERS, min_size=1), st.floats(-10, 10))
def test_every_draw_is_counted_for_against_or_undecided(values, bound):
    values = np.array(values)
    for check, good in (
        (every_draw("x", values, at_most=bound), values <= bound),
        (every_draw("x", values, at_least=bound), values >= bound),
    ):
        finite = np.isfinite(values)
        counts = (check.draws_for, check.draws_against, check.draws_undecided)
        assert counts == ((good & finite).sum(), (~good & finite).sum(), (~finite).sum()), check
        assert sum(counts) == check.draws == len(values), check
        expected = "undecided" if counts[2] else "holds"
        assert check.state == ("fails" if counts[1] else expected), check


def test_the_draw_nearest_its_bound_is_shown_and_the_largest_where_that_is_another():
    # nearest by factor, not by distance
    check = every_draw("x", [1.0, 40.0, 2.0], at_most=[1.9, 60.0, 20.0])
    assert (check.value, check.margin, check.interval) == (40.0, 1.5, "the draw nearest its bound, of 3")
    # of a bound of zero there is no factor: the nearest by distance
    assert every_draw("x", [-3.0, -1.0, -2.0], at_most=0.0).value == -1.0
    check = every_draw("x", [1.0, 4.0, 2.0], at_least=0.5)
    assert (check.value, check.margin) == (1.0, 2.0)
    assert every_draw("x", [1.0, 40.0, 2.0], at_most=[1.01, 60.0, 20.0]).interval.endswith(
        "of 3; each draw has its own bound, and the largest value of any draw is 40"
    )
    assert every_draw("x", [1.0, 40.0], at_least=[0.2, 39.0]).interval.endswith(
        "of 2; each draw has its own bound, and the least value of any draw is 1"
    )


LONG = np.array([1.234567, 1.3456789, np.pi])  # numbers of many digits, which do not repeat by chance


@pytest.mark.parametrize(
    ("numbers", "different"),
    [
        pytest.param(LONG, 3, id="that differ count each"),
        pytest.param(LONG[[0, 1, 0]] * (1 + 1e-11 * np.arange(3)), 2, id="that agree in ten digits count once"),
        pytest.param(1e-6 * LONG[[0, 1, 0]], 2, id="small ones that agree count once"),
        pytest.param(np.stack([LONG, LONG * (1 + 1e-10)]), 1, id="of three numbers, all of which agree, count once"),
        pytest.param(
            np.stack([LONG, LONG * [1, 1, 1 + 1e-8]]), 2, id="of three numbers, one of which differs, count each"
        ),
        pytest.param([2.0, 2.0, 2.0], 3, id="ranks may repeat"),
        pytest.param([2.3e-16, 2.3e-16], 2, id="rounding errors may repeat"),
    ],
)
def test_only_draws_that_agree_in_many_digits_count_once(numbers, different):
    assert distinct(numbers) == different


def test_repeated_numbers_are_reported():
    assert every_draw("x", LONG[[0, 1, 0]], at_most=9.0).interval.endswith("of 3, with 2 different numbers")
    assert mean(LONG[[0, 1, 0]]).how == "mean (t); 2 of the 3 numbers differ"
    # draws that repeat are reported, though their errors differ by rounding; not where one constant is predicted of all
    repeated = LONG[[0, 0, 0]] * (1 + 1e-12 * np.array([1, 3, -2]))
    assert "all with one number" in equal_on_every_draw("x", repeated, LONG[[0, 0, 0]], tolerance=1e-9).interval
    assert equal_on_every_draw("x", repeated, LONG[0], tolerance=1e-9).interval == "the draw nearest its bound, of 3"


def test_which_draws_are_undecided():
    for why, check in {
        "a run could not decide it": every_draw("x", [0.0, 0.0], at_most=1.0, undecided=[False, True]),
        "a nan": equal_on_every_draw("x", [[1.0, np.nan], [1.0, 1.0]], 1.0, tolerance=0.1),
        "no finite unit": equal_on_every_draw("x", [1.0, 1.0], [5.0, 1.0], tolerance=0.1, relative_to=[np.inf, 1.0]),
    }.items():
        assert (check.state, check.draws_for, check.draws_undecided) == ("undecided", 1, 1), why


def test_draws_that_are_left_out_are_reported_with_the_reason_or_without():
    check = every_draw("x", [0.0], at_most=1.0, excluded={"rank above 2": 3, "no such": 0})
    assert check.excluded == "3 left out: rank above 2"
    found = evaluation_of(every_draw("x", np.zeros(17), at_most=1.0), tables={"run": pd.DataFrame({"seed": range(20)})})
    assert found.judgement.headline.excluded == "17 judged of an ensemble of 20: no reason given"


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1.0, "at_least": 0.0}])
@pytest.mark.parametrize("check", [every_draw, share_of_draws])
def test_there_is_exactly_one_bound(check, bounds):
    with pytest.raises(CheckError, match="give one of"):
        check("x", [1.0], **bounds)


def test_no_draws_are_no_evidence():
    with pytest.raises(CheckError, match="no draws"):
        every_draw("x", [], at_most=1.0)
    assert share_of_draws("x", [], at_least=0.5).state == "undecided"


def test_equality_takes_the_largest_error_of_a_draw_in_its_own_unit():
    measured = np.array([[1.0, 100.0], [2.0, 1.0]])
    check = equal_on_every_draw("x", measured, measured + np.array([[0.0, 1.0], [0.1, 0.0]]), tolerance=0.02)
    assert check.value == pytest.approx(0.05)  # 0.1 of 2, not 1 of 100
    assert (check.draws_for, check.draws_against, check.predicted) == (1, 1, 0.0)


def test_a_tolerance_that_hides_the_effect_is_undecided():
    for check in (equal, equal_on_every_draw):
        assert check("x", 1.0, 1.0, tolerance=0.5, resolution=0.1).state == "undecided"
        assert check("x", 1.0, 1.0, tolerance=0.5, resolution=0.6).state == "holds"


def test_a_bound_is_not_shown_as_the_prediction():
    for check in (
        every_draw("x", [0.5, 1.0], at_most=2.0, predicted=2.0),
        at_most("x", mean([0.5, 1.0]), 2.0),
        share_of_draws("x", [True, False], at_most=2.0),  # every share is below 2, the bound of the others too
    ):
        assert np.isnan(check.predicted), check
        assert "<= 2" in check.criterion, check
    assert every_draw("x", [0.5, 1.0], at_most=2.0, predicted=1.0).predicted == 1.0


# -- draws together ------------------------------------------------------------------------------------------------


@given(value=st.floats(-10, 10), bound=st.floats(-10, 10), half=st.floats(0, 1))
def test_bounds_are_undecided_while_the_interval_covers_them(value, bound, half):
    found = Estimate(value, value - half, value + half, 20, "mean (t)")
    below, above = at_most("x", found, bound), at_least("x", found, bound)
    if found.lower < bound < found.upper:
        assert below.state == above.state == "undecided"
    elif bound > found.upper:
        assert (below.state, above.state) == ("holds", "fails")
    elif bound < found.lower:
        assert (below.state, above.state) == ("fails", "holds")
    assert below.draws == 20
    assert below.draws_for + below.draws_against + below.draws_undecided == 20


def test_a_bound_at_the_end_of_the_interval_holds_on_the_intervals_side_alone():
    found = Estimate(1.0, 0.5, 1.5, 20, "mean (t)")
    assert at_most("x", found, 1.5).state == at_least("x", found, 0.5).state == "holds"
    assert at_most("x", found, 0.5).state == at_least("x", found, 1.5).state == "undecided"


@given(value=st.floats(-10, 10), predicted=st.floats(-10, 10), tolerance=st.floats(1e-6, 1), half=st.floats(0, 1))
def test_equal_holds_exactly_within_interval_and_tolerance(value, predicted, tolerance, half):
    found = Estimate(value, value - half, value + half, 20, "mean (t)")
    within = found.lower - tolerance <= predicted <= found.upper + tolerance
    assert equal("x", found, predicted, tolerance=tolerance).state == ("holds" if within else "fails")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_decides_nothing(value):
    assert equal("x", value, 1.0, tolerance=0.1).state == "undecided"
    assert equal("x", 1.0, value, tolerance=0.1).state == "undecided"
    assert at_most("x", np.nan, 1.0).state == at_least("x", np.nan, 1.0).state == "undecided"
    assert at_least("x", mean([0.0, 0.0]), 0.0).state == "undecided"  # no difference on any draw has no sign
    assert equal("x", mean([1.0]), 1.0).state == "undecided"  # of one draw the interval contains everything


def equal_within_a_tenth(name, estimate, predicted):
    return equal(name, estimate, predicted, tolerance=0.1)


@pytest.mark.parametrize("of", [mean, median])
@pytest.mark.parametrize("check", [at_most, at_least, equal_within_a_tenth])
def test_draws_without_a_number_leave_an_estimate_open_and_are_counted(check, of):
    found = check("x", of([0.0, np.nan, 0.1, np.nan, 0.05]), 0.0)
    assert (found.state, found.draws, found.draws_for, found.draws_undecided) == ("undecided", 5, 0, 5)
    assert found.undecided_reason == "2 of 5 draws gave no number"


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param(
            at_most("size", mean([1.0, 3.0]), 2.0),
            "size: the interval contains the bound, so the data cannot decide",
            id="a mean at its bound",
        ),
        pytest.param(
            at_most("size", Estimate(1.5, 0.5, 2.5, 9, "mean (t)"), 2.0),
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


@pytest.mark.parametrize(("good", "state"), [(20, "holds"), (0, "fails"), (12, "undecided")])
def test_a_share_needs_enough_draws(good, state):
    assert share_of_draws("x", np.arange(20) < good, at_least=0.5).state == state


def test_an_undecided_draw_counts_against_a_share_on_either_side():
    draws, open_ = np.ones(40, bool), np.arange(40) < 30
    for check in (
        share_of_draws("x", draws, at_least=0.5, undecided=open_),
        share_of_draws("x", np.where(open_, np.nan, 1.0), at_least=0.5),
        share_of_draws("x", ~draws, at_most=0.5, undecided=open_),
    ):
        assert (check.state, check.draws_for, check.draws_undecided) == ("fails", 10, 30), check
