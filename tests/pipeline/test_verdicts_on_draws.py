"""Verdicts on one draw of settings: what a statement and its correction come to there, and what leaves it open."""

import numpy as np
import pytest

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Evaluation, Judgement, at_most, every_draw
from learning_dynamics.pipeline.commands import variation

HOLDS, FAILS = every_draw("x", 0.0, at_most=1.0), every_draw("x", 2.0, at_most=1.0)
OPEN = at_most("x", mean([0.0, 3.0]), 1.0)
MANY = every_draw("x", np.zeros(100), at_most=1.0)


def of_twenty(undecided, against=0):
    values = [np.nan] * undecided + [2.0] * against
    return every_draw("x", values + [0.0] * (20 - len(values)), at_most=1.0)


@pytest.mark.parametrize(
    ("whole", "printed", "on_draw"),
    [
        pytest.param("contradicted", [FAILS], "contradicted", id="it fails"),
        pytest.param("contradicted", [of_twenty(1, 1)], "contradicted", id="one is against it"),
        pytest.param("undecided", [MANY, OPEN], "undecided", id="a check is open as a whole"),
        pytest.param("undecided", [MANY, of_twenty(20)], "undecided", id="a check is open on every draw"),
        pytest.param("undecided", [of_twenty(2)], "reproduced", id="one in ten is open"),
        pytest.param("undecided", [of_twenty(3)], "undecided", id="more than one in ten are open"),
    ],
)
def test_a_draw_of_a_claim_that_is_expected_to_be_reproduced(whole, printed, on_draw):
    evaluation = Evaluation(whole, Judgement(*printed))
    assert variation.verdict_on_draw(evaluation, "reproduced")[0] == on_draw


@pytest.mark.parametrize(
    ("whole", "printed", "corrected", "on_draw"),
    [
        pytest.param("reproduced", [HOLDS], [HOLDS], "corrected", id="both hold, as of one layer"),
        pytest.param("reproduced", [HOLDS], [FAILS], "reproduced", id="the printed statement holds"),
        pytest.param("contradicted", [FAILS], [FAILS], "contradicted", id="neither holds"),
        pytest.param("undecided", [FAILS], [HOLDS], "corrected", id="a rival is corrected too"),
        pytest.param("undecided", [OPEN], [of_twenty(2)], "undecided", id="the sentence is open"),
        pytest.param("undecided", [FAILS], [OPEN], "undecided", id="the correction is open"),
        pytest.param("undecided", [FAILS], [MANY, OPEN], "undecided", id="a check of the correction is open"),
        pytest.param("undecided", [FAILS], [of_twenty(2)], "corrected", id="one in ten of the correction is open"),
    ],
)
def test_a_draw_of_a_claim_that_is_expected_to_be_corrected(whole, printed, corrected, on_draw):
    evaluation = Evaluation(whole, Judgement(*printed), Judgement(*corrected))
    assert variation.verdict_on_draw(evaluation, "corrected")[0] == on_draw


@pytest.mark.parametrize(
    ("printed", "rivals", "on_draw"),
    [
        pytest.param(HOLDS, {"chance": "reproduced", "another": "contradicted"}, "reproduced", id="a rival fits too"),
        pytest.param(HOLDS, {"another": "contradicted"}, "undecided", id="it is open for another reason"),
        pytest.param(OPEN, {"chance": "undecided"}, "undecided", id="a rival is open too"),
        pytest.param(OPEN, {"chance": "reproduced"}, "undecided", id="a rival holds where the sentence is open"),
    ],
)
def test_a_draw_that_a_rival_may_explain_as_well_is_decided_by_the_statement(printed, rivals, on_draw):
    evaluation = Evaluation("undecided", Judgement(printed), None, rivals=rivals)
    verdict, why = variation.verdict_on_draw(evaluation, "reproduced")
    assert verdict == on_draw
    assert ("chance would get the same verdict on this draw" in why) == (on_draw == "reproduced")


def test_on_a_draw_a_sentence_that_fails_is_said_to_be_refused():
    evaluation = Evaluation("undecided", Judgement(FAILS), Judgement(HOLDS), rivals={"chance": "corrected"})
    assert variation.verdict_on_draw(evaluation, "corrected")[1] == "chance would get the same verdict on this draw"
    holds = Evaluation("reproduced", Judgement(HOLDS), Judgement(HOLDS))
    assert variation.verdict_on_draw(holds, "corrected")[1].endswith("as printed it is not refused on this draw")
