"""Checks and verdicts: the engine can return every verdict, and turns where it should."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning_dynamics.evidence import Estimate, distinct, mean, median, optimum, slope
from learning_dynamics.judging import (
    NOT_CLAIMED,
    VERDICTS,
    Facts,
    Judgement,
    Quantifier,
    Reason,
    Untested,
    at_least,
    at_most,
    at_optimum,
    claim,
    equal,
    equal_on_every_draw,
    evaluate,
    every_draw,
    premise,
    share_of_draws,
    takes_rivals,
)
from learning_dynamics.pipeline.store.records import claim_row, part_rows

HOLDS = every_draw("error", 0.1, at_most=1.0)
FAILS = every_draw("error", 2.0, at_most=1.0)
OPEN = every_draw("error", np.nan, at_most=1.0)
STATES = {"holds": HOLDS, "fails": FAILS, "undecided": OPEN}


def judged(*checks, tables=None, **about):
    """Evaluate a claim of these checks, by the name of Theorem 1."""

    @claim("Theorem 1", **{"scope": "made up", **about})
    def made_up(**_tables):
        yield from checks

    return evaluate(made_up, tables or {}, {})


# -- every draw ------------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.floats(-10, 10), st.just(np.nan), st.just(np.inf)), min_size=1), st.floats(-10, 10))
def test_every_draw_is_counted_for_against_or_undecided(values, bound):
    values = np.array(values)
    for check, good in (
        (every_draw("x", values, at_most=bound), values <= bound),
        (every_draw("x", values, at_least=bound), values >= bound),
    ):
        finite = np.isfinite(values)
        counts = (check.draws_for, check.draws_against, check.draws_undecided)
        assert counts == ((good & finite).sum(), (~good & finite).sum(), (~finite).sum())
        assert sum(counts) == check.draws == len(values)
        expected = "fails" if counts[1] else "undecided" if counts[2] else "holds"
        assert check.state == expected


def test_the_worst_draw_is_shown_with_its_margin_and_the_largest_where_that_is_another():
    # nearest by factor, not by distance
    check = every_draw("x", [1.0, 40.0, 2.0], at_most=[1.9, 60.0, 20.0])
    assert (check.value, check.margin, check.interval) == (40.0, 1.5, "nearest its bound of 3 draws")
    # from a bound of zero there is no factor
    assert every_draw("x", [-3.0, -1.0, -2.0], at_most=0.0).value == -1.0
    check = every_draw("x", [1.0, 4.0, 2.0], at_least=0.5)
    assert (check.value, check.margin) == (1.0, 2.0)
    assert every_draw("x", [1.0, 40.0, 2.0], at_most=[1.01, 60.0, 20.0]).interval.endswith("draws; the largest is 40")
    assert every_draw("x", [1.0, 40.0], at_least=[0.2, 39.0]).interval.endswith("draws; the least is 1")


ODD = np.array([1.234567, 1.3456789, np.pi])


@pytest.mark.parametrize(
    ("numbers", "different"),
    [
        (ODD, 3),
        (ODD[[0, 1, 0]] * (1 + 1e-11 * np.arange(3)), 2),
        ([2.0, 2.0, 2.0], 3),  # ranks
        ([2.3e-16, 2.3e-16], 2),  # rounding
        (1e-6 * ODD[[0, 1, 0]], 2),
        (np.stack([ODD, ODD * (1 + 1e-10)]), 1),
        (np.stack([ODD, ODD * np.array([1, 1, 1 + 1e-6])]), 2),
    ],
)
def test_draws_that_agree_to_rounding_are_one(numbers, different):
    assert distinct(numbers) == different


def test_what_repeats_is_told():
    assert every_draw("x", ODD[[0, 1, 0]], at_most=9.0).interval.endswith("; 2 of the numbers differ")
    assert mean(ODD[[0, 1, 0]]).how == "mean (t); 2 of the 3 numbers differ"
    # errors of what repeats differ by rounding; a constant that is predicted may repeat
    repeated = ODD[[0, 0, 0]] * (1 + 1e-12 * np.array([1, 3, -2]))
    assert "1 of the numbers differ" in equal_on_every_draw("x", repeated, ODD[[0, 0, 0]], tolerance=1e-9).interval
    assert "differ" not in equal_on_every_draw("x", repeated, ODD[0], tolerance=1e-9).interval


def test_draws_that_a_run_could_not_decide_or_that_have_a_nan_anywhere_or_no_finite_unit_are_undecided():
    for check in (
        every_draw("x", [0.0, 0.0], at_most=1.0, undecided=[False, True]),
        equal_on_every_draw("x", [[1.0, np.nan], [1.0, 1.0]], 1.0, tolerance=0.1),
        equal_on_every_draw("x", [1.0, 1.0], [5.0, 1.0], tolerance=0.1, relative_to=[np.inf, 1.0]),
    ):
        assert (check.state, check.draws_for, check.draws_undecided) == ("undecided", 1, 1)


def test_what_is_left_out_is_told_and_what_a_claim_drops_by_itself_as_well():
    check = every_draw("x", [0.0], at_most=1.0, excluded={"rank above 2": 3, "no such": 0})
    assert check.excluded == "3 left out: rank above 2"
    found = judged(every_draw("x", np.zeros(17), at_most=1.0), tables={"run": pd.DataFrame({"seed": range(20)})})
    assert found.judgement.headline.excluded == "17 judged of an ensemble of 20: no reason given"


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1.0, "at_least": 0.0}])
@pytest.mark.parametrize("check", [every_draw, share_of_draws])
def test_there_is_exactly_one_bound(check, bounds):
    with pytest.raises(ValueError, match="give one of"):
        check("x", [1.0], **bounds)


def test_no_draws_are_no_evidence():
    with pytest.raises(ValueError, match="no draws"):
        every_draw("x", [], at_most=1.0)
    assert share_of_draws("x", [], at_least=0.5).state == "undecided"


def test_equality_takes_the_largest_error_of_a_draw_in_its_own_unit():
    measured = np.array([[1.0, 100.0], [2.0, 1.0]])
    check = equal_on_every_draw("x", measured, measured + np.array([[0.0, 1.0], [0.1, 0.0]]), tolerance=0.02)
    assert check.value == pytest.approx(0.05)  # 0.1 of 2, not 1 of 100
    assert (check.draws_for, check.draws_against, check.predicted) == (1, 1, 0.0)


def test_a_tolerance_that_hides_the_effect_is_undecided():
    assert equal("x", mean([1.0, 1.1]), 1.0, tolerance=0.5, resolution=0.1).state == "undecided"
    assert equal_on_every_draw("x", [1.0, 1.1], 1.0, tolerance=0.5, resolution=0.1).state == "undecided"


def test_a_bound_is_not_shown_as_the_prediction():
    for check in (
        every_draw("x", [0.5, 1.0], at_most=2.0, predicted=2.0),
        at_most("x", mean([0.5, 1.0]), 2.0),
        share_of_draws("x", [True, False], at_most=2.0),
    ):
        assert np.isnan(check.predicted)
        assert "<= 2" in check.criterion
    assert every_draw("x", [0.5, 1.0], at_most=2.0, predicted=1.0).predicted == 1.0


# -- draws together --------------------------------------------------------------------------------------------------


@given(value=st.floats(-10, 10), bound=st.floats(-10, 10), half=st.floats(0, 1))
def test_bounds_are_undecided_while_the_interval_covers_them(value, bound, half):
    found = Estimate(value, value - half, value + half, 20, "mean (t)")
    below, above = at_most("x", found, bound), at_least("x", found, bound)
    if found.lower < bound < found.upper:
        assert below.state == above.state == "undecided"
    elif bound > found.upper:
        assert (below.state, above.state) == ("holds", "fails")
    assert below.draws == 20
    assert below.draws_for + below.draws_against + below.draws_undecided == 20


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
    assert equal("x", mean([1.0]), 1.0).state == "undecided"  # of one draw the interval contains everything


@pytest.mark.parametrize("of", [mean, median])
@pytest.mark.parametrize("check", [at_most, at_least, lambda *given: equal(*given, tolerance=0.1, resolution=0.5)])
def test_draws_without_a_number_leave_an_estimate_open_and_are_counted(check, of):
    found = check("x", of([0.0, np.nan, 0.1, np.nan, 0.05]), 0.0)
    assert (found.state, found.draws, found.draws_for, found.draws_undecided) == ("undecided", 5, 0, 5)
    assert found.undecided_reason == "2 of 5 draws gave no number"


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (at_most("size", mean([1.0, 3.0]), 2.0), "size: the interval covers the bound"),
        (
            at_most("size", Estimate(1.5, 0.5, 2.5, 9, "mean (t)"), 2.0),
            "size: the interval covers the bound; about 36 draws would decide instead of 9, if they were alike",
        ),
        (at_most("size", np.nan, 2.0), "size: it cannot be judged"),
        (at_most("size", mean([1.0, 1.1]), 2.0, draws_undecided=1), "size: 1 of 2 draws cannot be judged"),
        (every_draw("size", [1.0, np.nan, 1.5], at_most=2.0), "size: 1 of 3 draws cannot be judged"),
    ],
)
def test_an_undecided_claim_says_what_left_it_open(part, why):
    assert judged(every_draw("error", 0.1, at_most=1.0, rivals={"not": 0.0}), part).reason == why


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
        assert (check.state, check.draws_for, check.draws_undecided) == ("fails", 10, 30)


# -- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        ("holds", "holds", "reproduced"),
        ("fails", "holds", "corrected"),
        ("fails", "undecided", "contradicted"),
        ("fails", None, "contradicted"),
        ("undecided", "holds", "undecided"),
    ],
)
def test_the_verdict_follows_from_the_checks(printed, corrected, verdict):
    @takes_rivals("state")
    def is_in(state):
        return STATES[state]

    found = judged(is_in(printed, corrected=corrected, rivals={"another": "fails"}), correction="it is so")
    assert found.verdict == verdict
    assert verdict in VERDICTS
    assert (found.reason == "") == (verdict != "undecided")


def test_an_empirical_statement_is_never_corrected_or_contradicted():
    failing = every_draw("accuracy", 2.0, at_most=1.0, rivals={"another": 3.0})
    found = judged(failing, empirical=True)
    assert (found.verdict, found.reason) == ("not reproduced", "does not show at this scale")
    with pytest.raises(ValueError, match="an empirical statement is not corrected"):
        judged(failing, empirical=True, correction="another number")


def test_a_verdict_without_scope_is_refused_and_one_without_rivals_undecided():
    with pytest.raises(ValueError, match="say for what it was tested"):
        judged(HOLDS, scope="  ")
    assert (judged(HOLDS).verdict, judged(HOLDS).reason) == ("undecided", "no rival was tried")


@pytest.mark.parametrize(
    ("headline", "of"),
    [
        (every_draw("x", [0.1, 0.2], at_most=1.0, rivals={"less": 0.0}), "all draws"),
        (every_draw("x", 0.1, at_most=1.0, rivals={"less": 0.0}), "a number"),
        (share_of_draws("x", [True, False], at_least=0.1, rivals={"all": 0.99}), "most draws"),
        (at_most("x", mean([0.1, 0.2, 0.3]), 9.0, rivals={"less": 0.0}), "an average"),
        (at_most("x", median(np.linspace(0, 1, 40)), 9.0, rivals={"less": 0.0}), "an average"),
        (at_most("x", replace(mean([0.1, 0.2]), how="geometric mean (t)"), 9.0, rivals={"less": 0.0}), "an average"),
        (at_most("x", slope([0.0, 1.0, 2.0], [0.1, 0.2, 0.4]), 9.0, rivals={"less": 0.0}), "an average"),
    ],
)
def test_a_claim_says_of_which_draws_it_speaks(headline, of):
    assert judged(headline).quantifier == judged(headline, quantifier=of).quantifier == of
    assert judged(headline, quantifier="some setting").quantifier == "some setting"
    if of != "a number":  # of a single draw every quantifier is true
        for other in set(get_args(Quantifier)) - {of, "some setting"}:
            with pytest.raises(ValueError, match=f"is about {other}, and its headline checks {of}"):
                judged(headline, quantifier=other)
    with pytest.raises(ValueError, match="Theorem 1: quantifier `every draw` is not one of all draws, most draws"):
        judged(headline, quantifier="every draw")


def test_a_correction_speaks_of_the_same_draws():
    printed = every_draw("x", [2.0, 0.5], at_most=1.0, corrected=NOT_CLAIMED, rivals={"another": 0.1})
    share = share_of_draws("x", NOT_CLAIMED, at_least=0.5, corrected={"holds": np.ones(50)})
    with pytest.raises(ValueError, match="is about all draws, and its headline checks most draws: x"):
        judged(printed, share, correction="most of them", quantifier="all draws")


def test_a_premise_that_is_not_met_leaves_the_claim_undecided():
    def trained(error):
        return judged(
            every_draw("x", 2.0, at_most=1.0, rivals={"another": {"at_most": 0.5}}),
            premise(every_draw("train error at the end", error, at_most=0.0, because="collapse is told after it")),
        )

    assert (trained(0.0).verdict, trained(0.0).judgement.deciding.name) == ("contradicted", "x")
    assert trained(0.125).reason.startswith("train error at the end: the premise is not met (0.125; <= 0")
    for unmet in (trained(0.125), trained(np.nan)):  # not measured: not met, either
        assert unmet.verdict == "undecided"
        assert unmet.judgement.deciding.is_premise


def test_a_premise_is_no_prediction():
    bounded = every_draw("x", 0.5, at_most=1.0, rivals={"another": 0.1})
    for beside in ({"rivals": {"another": 0.1}}, {"corrected": 2.0}):
        with pytest.raises(ValueError, match=r"^y: a premise has no rivals and no correction"):
            premise(every_draw("y", 0.5, at_most=1.0, **beside))
    with pytest.raises(ValueError, match=r"^error: is a premise; yield the check that the claim is about before"):
        judged(premise(HOLDS), bounded)


@pytest.mark.parametrize("beside", [{"rivals": {"another": 2.0}}, {"rivals": {"another": 0.7}, "corrected": 2.0}])
def test_no_prediction_changes_whether_a_premise_holds(beside):
    @takes_rivals("bound")
    def premise_that_a_prediction_moves(bound):
        return replace(every_draw("y", 1.5, at_least=bound), is_premise=True)

    checks = every_draw("x", 0.9, at_most=0.8, **beside), premise_that_a_prediction_moves(0.8, **beside)
    with pytest.raises(ValueError, match=r"^Theorem 1: the (rival `another`|correction) changes whether a premise"):
        judged(*checks, correction="another")


def test_the_check_that_decides_is_shown():
    assert Judgement(HOLDS, OPEN, FAILS).deciding is FAILS
    assert Judgement(HOLDS, OPEN).deciding is OPEN
    assert Judgement(HOLDS, premise(HOLDS), FAILS, premise(HOLDS)).deciding is FAILS
    assert Judgement(HOLDS, replace(HOLDS, name="another")).deciding is HOLDS


def test_a_number_that_nothing_repeats_has_no_interval():
    assert np.isnan(at_most("x", 1.0, 2.0).upper)
    assert at_most("x", mean([1.0, 1.0]), 2.0).upper == 1.0


@claim("Theorem 1", scope="numbers", correction="it is twice that")
def example(run, *, factor=1.0):
    if run is None:
        raise Untested("needs a table")
    yield equal("size", mean(factor * run), 1.0, tolerance=0.01, corrected=2.0, rivals={"three": 3.0})
    yield Reason("it drifts")
    yield Facts(more=5)


RUN = 1 + 1e-3 * np.random.default_rng(3).standard_normal(20)


@pytest.mark.parametrize(
    ("factor", "verdict", "rivals"),
    [(1.0, "reproduced", "contradicted"), (2.0, "corrected", "contradicted"), (3.0, "contradicted", "reproduced")],
)
def test_a_claim_is_judged_with_its_rivals(factor, verdict, rivals):
    found = evaluate(example, {"run": RUN}, {"factor": factor})
    assert (found.verdict, found.rivals) == (verdict, {"three": rivals})
    assert found.reason == ("" if verdict == "reproduced" else "it drifts")
    assert found.facts["more"] == 5
    assert found.facts["value"] == pytest.approx(factor, rel=1e-2)
    assert found.decisive.headline.name == "size"
    if verdict == "reproduced":
        assert 0.01 < found.min_detectable_error < 0.02  # of the tolerance


def test_what_is_missing_makes_a_claim_untested():
    found = evaluate(example, {"run": None}, {})
    assert (found.verdict, found.reason, found.decisive) == ("untested", "needs a table", None)


# -- rivals, corrections and facts beside the number ------------------------------------------------------------------

MEASURED, TRUE, SHAPE = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0 + 1e-9]), np.array([0.1, 0.2, 0.7])
BOUNDS = np.array([1.0, 0.25, 1.0])  # the second draw is nearest its bound, the third the largest


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [(TRUE, None, "reproduced"), (2 * TRUE, TRUE, "corrected"), (2 * TRUE, 3 * TRUE, "contradicted")],
)
def test_what_stands_beside_a_check_is_judged_with_it(printed, corrected, verdict, scaled):
    @claim("Lemma 1", scope="three numbers", correction="c", reason="a slip")
    def checks():
        rivals = {"twice": 2.5 * TRUE, "first": 3.5 * TRUE, "second": {"predicted": TRUE}}
        yield equal_on_every_draw(
            "error", MEASURED, printed, tolerance=1e-6, corrected=corrected, rivals=rivals, scaled=scaled
        )
        rivals = {"first": 2.0, "second": 0.5, "half": 0.5, "other": {"values": 9 * SHAPE}}
        yield every_draw("shape", SHAPE, at_most=BOUNDS, rivals=rivals, fact="top")
        yield Facts(first=1.0)

    found = evaluate(checks, {}, {})
    assert found.verdict == verdict
    assert found.rivals == dict.fromkeys(("twice", "first", "second", "half", "other"), "contradicted")
    assert found.reason == ("" if verdict == "reproduced" else "a slip")
    assert [check.state for check in found.decisive.checks] == [
        "holds" if verdict != "contradicted" else "fails",
        "holds",
    ]
    assert (found.facts["top"], found.facts["first"], found.quantifier) == (0.7, 1.0, "all draws")
    if scaled and verdict != "contradicted":
        assert 1e-7 < found.min_detectable_error < 1e-5  # about the tolerance
    else:
        assert np.isnan(found.min_detectable_error)


def test_rivals_stand_beside_the_correction_which_may_replace_what_is_measured():
    double = {"measured": 2 * MEASURED, "predicted": 2 * TRUE}
    error = equal_on_every_draw("error", MEASURED, 3 * TRUE, tolerance=1e-6, corrected=double)
    found = judged(error, every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5, "loose": 2.0}))
    assert found.rivals == {"strict": "contradicted", "loose": "corrected"}
    assert found.verdict == "undecided"
    found = judged(error, every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5}))
    assert found.verdict == "corrected"
    assert 1e-7 < found.min_detectable_error < 1e-5  # about the tolerance


def test_a_check_of_ones_own_takes_rivals_and_its_prediction_may_be_its_default():
    @takes_rivals("power")
    def vanishes(slack, power=2.0, **counts):
        rest = Estimate(0.1**power, 0.0, 0.1**power, 3, "mean (t)")
        return at_most("late", rest, slack, fact="rest", **counts)

    found = judged(vanishes(0.05, rivals={"slower": 1.0}, draws_for=2, fact="left"))
    assert found.facts["rest"] == found.facts["left"] == 0.1**2
    assert (found.verdict, found.rivals) == ("reproduced", {"slower": "undecided"})
    assert found.judgement.headline.draws_for == 2


def test_a_check_with_rivals_that_is_made_undecided_stays_so():
    check = at_most("mean", 1.0, 2.0, rivals={"half": 0.5})
    found = judged(check.as_undecided("too few"))
    assert (found.verdict, found.reason, found.rivals) == ("undecided", "mean: too few", {"half": "undecided"})
    found = judged(at_optimum(check, optimum([1.0, 2.0], [1.0, 2.0])))
    assert found.reason == "mean: the best lies at the edge of its grid"
    inside = at_optimum(check, optimum([1, 2, 3], [3.0, 1.0, 2.0]))
    assert inside.state == "holds"
    assert "best of 3 values from 1 to 3 at 2" in inside.criterion


def test_rivals_stand_beside_what_is_printed_where_that_holds():
    weak = at_most("mean", 1.0, 2.0, rivals={"weak": 3.0})
    for corrected in (None, 5.0):
        found = judged(weak, equal("slope", 1.0, 1.0, tolerance=0.1, corrected=corrected))
        assert (found.verdict, found.rivals) == ("undecided", {"weak": "reproduced"})
        assert found.reason == "weak would get the same verdict (reproduced)"


@pytest.mark.parametrize("nothing", [np.nan, [np.nan] * 3, np.full(3, np.nan), {"predicted": np.nan}], ids=str)
def test_a_rival_that_says_nothing_refuses_nothing_however_it_is_written(nothing):
    found = judged(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": nothing}))
    assert (found.verdict, found.rivals) == ("undecided", {"nothing": "reproduced"})


def test_a_rival_without_draws_is_a_mistake_and_no_empty_prediction():
    with pytest.raises(ValueError, match="x: no draws"):
        judged(every_draw("x", [0.5], at_most=1.0, rivals={"nothing": {"values": []}}))
    with pytest.raises(ValueError, match="shape"):
        judged(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": []}))


def of_correction(**beside):
    """Evaluate a claim that fails as printed, with a check that its correction alone makes, of numbers near two."""
    return judged(
        equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0),
        every_draw("rest", NOT_CLAIMED, at_most=2.5, corrected={"values": [2.0, 2.1]}, **beside),
    )


def test_a_check_of_the_correction_alone_is_not_printed_and_tests_its_rivals():
    found = of_correction(rivals={"loose": {"values": [2.0, 2.2]}, "twice": {"values": [4.0, 4.2]}}, fact="rest")
    assert [check.name for check in found.judgement.checks] == ["size"]
    assert [check.name for check in found.corrected.checks] == ["size", "rest"]
    assert found.rivals == {"loose": "corrected", "twice": "contradicted"}
    assert found.facts["rest"] == 2.1
    # a check of the correction that fails leaves the claim contradicted
    assert (
        judged(
            equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"two": 2.0}),
            every_draw("rest", NOT_CLAIMED, at_most=2.5, corrected={"values": 3.0}),
        ).verdict
        == "contradicted"
    )


def test_a_check_of_the_correction_alone_is_no_part_of_a_rival_of_what_is_printed():
    def weak(values):
        """Evaluate a claim that holds as printed, with a rival that holds too but for what the correction adds."""
        added = every_draw("rest", NOT_CLAIMED, at_most=1.0, corrected={"values": values})
        return judged(at_most("mean", 1.0, 2.0, rivals={"weak": 3.0}), at_optimum(added, optimum([1.0], [1.0])))

    assert weak(9.0).rivals == weak(0.1).rivals == {"weak": "reproduced"}


def test_a_correction_and_a_rival_may_leave_a_check_out():
    found = judged(
        every_draw("first", [0.5], at_most=1.0, rivals={"second alone": NOT_CLAIMED}),
        every_draw("second", [2.0], at_most=1.0, corrected=NOT_CLAIMED, rivals={"second alone": 1.0}),
        every_draw("third", [0.5], at_most=1.0, rivals={"first alone": NOT_CLAIMED}),
    )
    assert [check.name for check in found.judgement.checks] == ["first", "second", "third"]
    assert [check.name for check in found.corrected.checks] == ["first", "third"]
    # a rival that claims less than what holds is not refused
    assert found.rivals == {"second alone": "contradicted", "first alone": "corrected"}
    assert found.verdict == "undecided"


def test_a_check_that_nobody_claims_is_no_part_of_any_judgement():
    nobodys = every_draw("rest", NOT_CLAIMED, at_most=1.0, corrected=NOT_CLAIMED, rivals={"half": NOT_CLAIMED})
    found = judged(every_draw("x", 0.8, at_most=1.0, rivals={"half": 0.5}), nobodys)
    assert (found.verdict, len(found.judgement.checks)) == ("reproduced", 1)


def test_what_is_not_claimed_is_written_where_it_is_missing():
    with pytest.raises(ValueError, match="needs a correction or a rival that claims it"):
        every_draw("rest", NOT_CLAIMED, at_most=1.0)
    with pytest.raises(ValueError, match=r"nothing is checked of .*neither.*: every check is NOT_CLAIMED"):
        judged(every_draw("first", [0.5], at_most=1.0, rivals={"neither": NOT_CLAIMED}))
    with pytest.raises(ValueError, match=r"strict.*: give every argument that is not claimed as printed"):
        of_correction(rivals={"strict": 0.5})
    with pytest.raises(ValueError, match="a premise has no rivals and no correction"):
        premise(every_draw("rest", NOT_CLAIMED, at_most=1.0, corrected={"values": 0.5}))


@pytest.mark.parametrize(
    "check",
    [
        every_draw("x", [0.85, 0.5], at_most=1.0, scaled=True, rivals={"half": 0.5}),
        every_draw("x", [1.15, 2.0], at_least=1.0, scaled=True, rivals={"twice": 2.0}),
        every_draw("x", [-1.15, -2.0], at_most=-1.0, scaled=True, rivals={"twice": -2.0}),
        at_most("x", 0.85, 1.0, scaled=True, rivals={"half": 0.5}),
        at_least("x", 1.15, 1.0, scaled=True, rivals={"twice": 2.0}),
        share_of_draws("x", np.arange(1000) < 70, at_most=0.1, scaled=True, rivals={"half": 0.05}),
    ],
    ids=str,
)
def test_a_bound_is_scaled_to_the_side_that_is_tighter(check):
    # every number is 0.12 to 0.15 inside; 0.178 is the first error beyond that is tried
    assert judged(check).min_detectable_error == pytest.approx(10**-0.75)


def test_a_reason_of_the_run_stands_in_the_place_of_the_decorators():
    failing = every_draw("x", 2.0, at_most=1.0, rivals={"another": {"values": 0.5}})

    @claim("Theorem 1", scope="here", reason="a slip")
    def made_up(is_small):
        yield failing
        if is_small:
            yield Reason("the run is small")

    assert evaluate(made_up, {"is_small": True}, {}).reason == "the run is small"
    assert evaluate(made_up, {"is_small": False}, {}).reason == "a slip"
    assert judged(every_draw("x", 0.5, at_most=1.0, rivals={"another": 0.1}), Reason("small")).reason == ""


@pytest.mark.parametrize(
    "predicted", [1, 1.0, [1, 1, 1], np.ones(3), np.ones(3, int), pd.Series([1.0, 1.0, 1.0])], ids=str
)
def test_what_would_have_been_refused_is_found_of_every_number(predicted):
    found = judged(equal_on_every_draw("x", np.ones(3), predicted, tolerance=0.1, rivals={"two": 2.0}))
    assert found.verdict == "reproduced"
    assert 0.1 <= found.min_detectable_error < 0.2


def test_the_corrections_name_is_no_rivals():
    with pytest.raises(ValueError, match="choose another"):
        equal("x", 1.0, 1.0, rivals={"the correction": 2.0})


@pytest.mark.parametrize("found", [equal("x", 1.0, 1.0, rivals={"two": 2.0}), []], ids=["returned", "nothing"])
def test_what_is_no_claim_says_what_to_write(found):
    with pytest.raises(TypeError, match=r"yields no check|yield its checks"):
        evaluate(claim("section 1", scope="made up")(lambda: found), {}, {})


def test_the_row_of_a_claim_shows_its_headline_and_the_nearest_margin_of_all_parts():
    mark = claim("Theorem 1", scope="made up")(lambda: None).claim
    found = judged(every_draw("distance", 0.5, at_most=1.0, rivals={"less": 0.1}), every_draw("norm", 0.9, at_most=1.0))
    assert claim_row(mark, found)["quantity"] == "distance"
    assert claim_row(mark, found)["margin"] == pytest.approx(1 / 0.9)
    assert [part["quantity"] for part in part_rows(found)] == ["distance", "norm"]
