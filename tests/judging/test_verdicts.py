"""Verdicts of claims made up of checks: each verdict with its reason, quantifiers, premises, and what is reported."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from learning_dynamics.errors import CheckError
from learning_dynamics.evidence import mean, median, slope
from learning_dynamics.judging import (
    NOT_CLAIMED,
    VERDICTS,
    Facts,
    Judgement,
    Quantifier,
    Reason,
    Untested,
    at_most,
    claim,
    equal,
    evaluate,
    every_draw,
    premise,
    share_of_draws,
    takes_rivals,
)
from tests.judging.made_up import FAILS, HOLDS, OPEN, STATES, evaluation_of


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        ("holds", "holds", "reproduced"),
        ("fails", "holds", "corrected"),
        ("fails", "fails", "contradicted"),
        ("fails", "undecided", "undecided"),
        ("fails", None, "contradicted"),
        ("undecided", "holds", "undecided"),
    ],
)
def test_the_verdict_follows_from_the_checks(printed, corrected, verdict):
    assert evaluation_with_correction(STATES[printed], STATES.get(corrected)).verdict == verdict
    assert verdict in VERDICTS


def evaluation_with_correction(printed, corrected):
    """Return what a claim says of a check as printed and as corrected, None without a correction; its rival fails."""

    @takes_rivals("check")
    def is_so(check):
        return check

    return evaluation_of(is_so(printed, corrected=corrected, rivals={"another": FAILS}), correction="it is so")


@pytest.mark.parametrize(("printed", "corrected"), [(HOLDS, HOLDS), (FAILS, HOLDS), (FAILS, FAILS), (FAILS, None)])
def test_a_decided_verdict_needs_no_reason(printed, corrected):
    assert evaluation_with_correction(printed, corrected).reason == ""


def test_where_the_sentence_fails_the_reason_names_an_undecided_correction():
    found = evaluation_with_correction(printed=FAILS, corrected=OPEN.as_undecided("too few"))
    assert found.reason == "it fails as printed, and the correction is undecided: error: it cannot be judged; too few"
    assert found.judgement.state == "fails"


def test_a_rival_is_undecided_like_the_correction_where_both_predictions_fail():
    assert evaluation_with_correction(printed=FAILS, corrected=OPEN).rivals == {"another": "undecided"}


def test_the_reason_of_an_undecided_sentence_is_its_own_and_not_the_corrections():
    found = evaluation_with_correction(printed=OPEN.as_undecided("too few"), corrected=OPEN)
    assert found.reason == "error: it cannot be judged; too few"


FAILING_STATEMENT = every_draw("accuracy", 2.0, at_most=1.0, rivals={"another": 3.0})


def test_an_empirical_statement_that_fails_is_not_reproduced():
    found = evaluation_of(FAILING_STATEMENT, empirical=True)
    assert (found.verdict, found.reason) == ("not reproduced", "does not show at this scale")


def test_an_empirical_statement_has_no_correction():
    with pytest.raises(CheckError, match="an empirical statement is not corrected by another scale"):
        evaluation_of(FAILING_STATEMENT, empirical=True, correction="another number")


def test_a_claim_without_scope_is_refused():
    with pytest.raises(CheckError, match="say for what it was tested"):
        evaluation_of(HOLDS, scope="  ")


def test_a_claim_without_rivals_is_undecided():
    found = evaluation_of(HOLDS)
    assert (found.verdict, found.reason) == ("undecided", "no rival was tried")


ONE_NUMBER = every_draw("x", 0.1, at_most=1.0, rivals={"less": 0.0})
GEOMETRIC_MEAN = replace(mean([0.1, 0.2]), how="geometric mean (t)")
# checks of several draws, and the quantifier that each implies
OF_DRAWS = [
    pytest.param(every_draw("x", [0.1, 0.2], at_most=1.0, rivals={"less": 0.0}), "all draws", id="every draw"),
    pytest.param(share_of_draws("x", [True, False], at_least=0.1, rivals={"all": 0.99}), "most draws", id="share"),
    pytest.param(at_most("x", mean([0.1, 0.2, 0.3]), 9.0, rivals={"less": 0.0}), "an average", id="mean"),
    pytest.param(at_most("x", median(np.linspace(0, 1, 40)), 9.0, rivals={"less": 0.0}), "an average", id="median"),
    pytest.param(at_most("x", GEOMETRIC_MEAN, 9.0, rivals={"less": 0.0}), "an average", id="geometric mean"),
    pytest.param(at_most("x", slope([0, 1, 2], [0.1, 0.2, 0.4]), 9.0, rivals={"less": 0.0}), "an average", id="slope"),
]
every_headline = pytest.mark.parametrize(
    ("headline", "quantifier"), [*OF_DRAWS, pytest.param(ONE_NUMBER, "a number", id="one number")]
)


@every_headline
def test_a_claim_has_the_quantifier_of_its_headline(headline, quantifier):
    assert evaluation_of(headline).quantifier == quantifier


@every_headline
def test_a_claim_may_state_the_quantifier_of_its_headline(headline, quantifier):
    assert evaluation_of(headline, quantifier=quantifier).quantifier == quantifier


@every_headline
def test_a_claim_on_some_setting_may_have_any_headline(headline, quantifier):
    assert evaluation_of(headline, quantifier="some setting").quantifier == "some setting"


# of a single number every quantifier is true
@pytest.mark.parametrize(
    ("headline", "quantifier", "stated"),
    [
        pytest.param(*case.values, stated, id=f"{case.id}, {stated}")
        for case in OF_DRAWS
        for stated in get_args(Quantifier)
        if stated not in ("some setting", case.values[1])
    ],
)
def test_a_claim_whose_quantifier_is_not_that_of_its_headline_is_refused(headline, quantifier, stated):
    with pytest.raises(CheckError, match=f"is about {stated}, and its headline checks {quantifier}"):
        evaluation_of(headline, quantifier=stated)


def test_an_unknown_quantifier_is_refused():
    with pytest.raises(CheckError, match="Theorem 1: quantifier `every draw` is not one of all draws, most draws"):
        evaluation_of(HOLDS, quantifier="every draw")


def test_a_correction_has_the_quantifier_of_the_sentence():
    printed = every_draw("x", [2.0, 0.5], at_most=1.0, corrected=NOT_CLAIMED, rivals={"another": 0.1})
    share = share_of_draws("x", np.ones(50), at_least=0.5, printed=NOT_CLAIMED)
    with pytest.raises(CheckError, match="is about all draws, and its headline checks most draws: x"):
        evaluation_of(printed, share, correction="most of them", quantifier="all draws")


def evaluation_after_training(error):
    """Return what a claim that fails says if its premise, a train error of zero, is measured as `error`."""
    return evaluation_of(
        every_draw("x", 2.0, at_most=1.0, rivals={"another": 0.5}),
        premise(every_draw("train error at the end", error, at_most=0.0, because="collapse is measured after it")),
    )


def test_a_premise_that_is_met_leaves_the_verdict_to_the_other_checks():
    found = evaluation_after_training(0.0)
    assert (found.verdict, found.judgement.deciding.name) == ("contradicted", "x")


@pytest.mark.parametrize("error", [0.125, pytest.param(np.nan, id="not measured")])
def test_a_premise_that_is_not_met_leaves_the_claim_undecided(error):
    found = evaluation_after_training(error)
    assert found.verdict == "undecided"
    assert found.judgement.deciding.is_premise


def test_the_reason_names_the_premise_that_is_not_met():
    reason = evaluation_after_training(0.125).reason
    assert reason.startswith("train error at the end: the premise is not met (0.125; <= 0")


@pytest.mark.parametrize("prediction", [{"rivals": {"another": 0.1}}, {"corrected": 2.0}])
def test_a_premise_has_no_rival_and_no_correction(prediction):
    with pytest.raises(CheckError, match=r"^y: a premise has no rivals and no correction"):
        premise(every_draw("y", 0.5, at_most=1.0, **prediction))


def test_a_premise_is_no_headline():
    bounded = every_draw("x", 0.5, at_most=1.0, rivals={"another": 0.1})
    with pytest.raises(CheckError, match=r"^error: is a premise; yield the check that the claim is about before"):
        evaluation_of(premise(HOLDS), bounded)


@pytest.mark.parametrize(
    ("predictions", "which"),
    [
        pytest.param({"rivals": {"another": 2.0}}, "the rival `another`", id="a rival"),
        pytest.param({"rivals": {"another": 0.7}, "corrected": 2.0}, "the correction", id="the correction"),
    ],
)
def test_a_prediction_that_changes_whether_a_premise_holds_is_refused(predictions, which):
    @takes_rivals("bound")
    def premise_that_a_prediction_moves(bound):
        # made a premise by hand: `premise` refuses checks with rivals
        return replace(every_draw("y", 1.5, at_least=bound), is_premise=True)

    # the premise, 1.5, reaches the bound of 0.8 and that of 0.7, and not the prediction of 2
    checks = every_draw("x", 0.9, at_most=0.8, **predictions), premise_that_a_prediction_moves(0.8, **predictions)
    with pytest.raises(CheckError, match=f"^Theorem 1: {which} changes whether a premise holds"):
        evaluation_of(*checks, correction="another")


@pytest.mark.parametrize(
    ("checks", "deciding"),
    [
        pytest.param((HOLDS, OPEN, FAILS), FAILS, id="the one that fails"),
        pytest.param((HOLDS, OPEN), OPEN, id="the undecided one if none fails"),
        pytest.param((HOLDS, premise(HOLDS), FAILS, premise(HOLDS)), FAILS, id="the one that fails among premises"),
        pytest.param((HOLDS, replace(HOLDS, name="another")), HOLDS, id="the headline if all hold"),
    ],
)
def test_the_deciding_check_of_a_judgement(checks, deciding):
    assert Judgement(*checks).deciding is deciding


def test_a_number_that_nothing_repeats_has_no_interval():
    assert np.isnan(at_most("x", 1.0, 2.0).upper)


def test_the_interval_of_equal_draws_is_a_point():
    assert at_most("x", mean([1.0, 1.0]), 2.0).upper == 1.0


@claim("Theorem 1", scope="numbers", correction="it is twice that")
def example(run, *, factor=1.0):
    """The mean of a run's numbers, times a factor, is 1; it is corrected to 2."""
    if run is None:
        raise Untested("needs a table")
    yield equal("size", mean(factor * run), 1.0, tolerance=0.01, corrected=2.0, rivals={"three": 3.0})
    yield Reason("it drifts")
    yield Facts(more=5)


RUN = 1 + 1e-3 * np.random.default_rng(3).standard_normal(20)  # draws of a number around one


def evaluation_of_example(factor):
    return evaluate(example, {"run": RUN}, {"factor": factor})


@pytest.mark.parametrize(
    ("factor", "verdict", "verdict_of_rival"),
    [(1.0, "reproduced", "contradicted"), (2.0, "corrected", "contradicted"), (3.0, "contradicted", "reproduced")],
)
def test_a_claim_is_judged_with_its_rivals(factor, verdict, verdict_of_rival):
    found = evaluation_of_example(factor)
    assert (found.verdict, found.rivals) == (verdict, {"three": verdict_of_rival})


@pytest.mark.parametrize(("factor", "reason"), [(1.0, ""), (2.0, "it drifts"), (3.0, "it drifts")])
def test_a_claims_reason_is_given_unless_it_is_reproduced(factor, reason):
    assert evaluation_of_example(factor).reason == reason


@pytest.mark.parametrize("factor", [1.0, 2.0, 3.0])
def test_facts_are_those_that_the_claim_yields_and_the_headlines_value(factor):
    found = evaluation_of_example(factor)
    assert found.facts["more"] == 5
    assert found.facts["value"] == pytest.approx(factor * RUN.mean())
    assert found.decisive.headline.name == "size"


def test_the_smallest_error_that_is_detected_is_just_above_the_tolerance():
    # errors are tried a quarter of a decade apart: 10^-1.75 = 0.0178 is the first above the tolerance of 0.01
    assert evaluation_of_example(1.0).min_detectable_error == pytest.approx(10**-1.75)


def test_what_is_missing_makes_a_claim_untested():
    found = evaluate(example, {"run": None}, {})
    assert (found.verdict, found.reason, found.decisive) == ("untested", "needs a table", None)
