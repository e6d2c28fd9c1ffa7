"""Verdicts: every one can be returned, and each turns where it should."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

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
    @takes_rivals("state")
    def is_in(state):
        return STATES[state]

    found = evaluation_of(is_in(printed, corrected=corrected, rivals={"another": "fails"}), correction="it is so")
    assert found.verdict == verdict
    assert verdict in VERDICTS
    assert (found.reason == "") == (verdict != "undecided")


def judged_with_correction(printed, correction):
    """Evaluate a claim by a check as printed and as corrected, with a rival that fails."""

    @takes_rivals("check")
    def is_so(check):
        return check

    return evaluation_of(is_so(printed, corrected=correction, rivals={"another": FAILS}), correction="it is so")


def test_an_undecided_correction_is_named_where_the_sentence_fails():
    found = judged_with_correction(FAILS, OPEN.as_undecided("too few"))
    assert found.reason == "it fails as printed, and the correction is undecided: error: it cannot be judged; too few"
    assert found.judgement.state == "fails"
    assert found.rivals == {"another": "undecided"}


def test_the_sentence_is_named_where_it_is_undecided_itself():
    assert judged_with_correction(OPEN.as_undecided("too few"), OPEN).reason == "error: it cannot be judged; too few"


def test_an_empirical_statement_is_never_corrected_or_contradicted():
    failing = every_draw("accuracy", 2.0, at_most=1.0, rivals={"another": 3.0})
    found = evaluation_of(failing, empirical=True)
    assert (found.verdict, found.reason) == ("not reproduced", "does not show at this scale")
    with pytest.raises(ValueError, match="an empirical statement is not corrected"):
        evaluation_of(failing, empirical=True, correction="another number")


def test_a_verdict_without_scope_is_refused_and_one_without_rivals_undecided():
    with pytest.raises(ValueError, match="say for what it was tested"):
        evaluation_of(HOLDS, scope="  ")
    assert (evaluation_of(HOLDS).verdict, evaluation_of(HOLDS).reason) == ("undecided", "no rival was tried")


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
    assert evaluation_of(headline).quantifier == evaluation_of(headline, quantifier=of).quantifier == of
    assert evaluation_of(headline, quantifier="some setting").quantifier == "some setting"
    if of != "a number":  # of a single draw every quantifier is true
        for other in set(get_args(Quantifier)) - {of, "some setting"}:
            with pytest.raises(ValueError, match=f"is about {other}, and its headline checks {of}"):
                evaluation_of(headline, quantifier=other)
    with pytest.raises(ValueError, match="Theorem 1: quantifier `every draw` is not one of all draws, most draws"):
        evaluation_of(headline, quantifier="every draw")


def test_a_correction_speaks_of_the_same_draws():
    printed = every_draw("x", [2.0, 0.5], at_most=1.0, corrected=NOT_CLAIMED, rivals={"another": 0.1})
    share = share_of_draws("x", np.ones(50), at_least=0.5, printed=NOT_CLAIMED)
    with pytest.raises(ValueError, match="is about all draws, and its headline checks most draws: x"):
        evaluation_of(printed, share, correction="most of them", quantifier="all draws")


def test_a_premise_that_is_not_met_leaves_the_claim_undecided():
    def trained(error):
        return evaluation_of(
            every_draw("x", 2.0, at_most=1.0, rivals={"another": {"at_most": 0.5}}),
            premise(every_draw("train error at the end", error, at_most=0.0, because="collapse is told after it")),
        )

    assert (trained(0.0).verdict, trained(0.0).judgement.deciding.name) == ("contradicted", "x")
    assert trained(0.125).reason.startswith("train error at the end: the premise is not met (0.125; <= 0")
    for error in (0.125, np.nan):  # not measured: not met, either
        assert trained(error).verdict == "undecided", error
        assert trained(error).judgement.deciding.is_premise, error


def test_a_premise_is_no_prediction():
    bounded = every_draw("x", 0.5, at_most=1.0, rivals={"another": 0.1})
    for beside in ({"rivals": {"another": 0.1}}, {"corrected": 2.0}):
        with pytest.raises(ValueError, match=r"^y: a premise has no rivals and no correction"):
            premise(every_draw("y", 0.5, at_most=1.0, **beside))
    with pytest.raises(ValueError, match=r"^error: is a premise; yield the check that the claim is about before"):
        evaluation_of(premise(HOLDS), bounded)


@pytest.mark.parametrize("beside", [{"rivals": {"another": 2.0}}, {"rivals": {"another": 0.7}, "corrected": 2.0}])
def test_no_prediction_changes_whether_a_premise_holds(beside):
    @takes_rivals("bound")
    def premise_that_a_prediction_moves(bound):
        return replace(every_draw("y", 1.5, at_least=bound), is_premise=True)

    checks = every_draw("x", 0.9, at_most=0.8, **beside), premise_that_a_prediction_moves(0.8, **beside)
    with pytest.raises(ValueError, match=r"^Theorem 1: the (rival `another`|correction) changes whether a premise"):
        evaluation_of(*checks, correction="another")


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
