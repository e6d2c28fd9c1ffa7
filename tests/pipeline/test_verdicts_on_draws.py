"""`verdict_on_draw`: the verdict on a claim on one draw of random settings, from how its checks ended there.

A draw has data sets or starts, and each gives a check a value. A check holds if all are at most 1.
"""

import numpy as np
import pytest

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Evaluation, Judgement, at_most, every_draw
from learning_dynamics.pipeline.commands import variation

HOLDS, FAILS = every_draw("x", 0.0, at_most=1.0), every_draw("x", 2.0, at_most=1.0)
HOLDS_OF_MANY = every_draw("x", np.zeros(100), at_most=1.0)
OPEN_MEAN = at_most("x", mean([0.0, 3.0]), 1.0)  # the interval of this mean contains the bound


def check_of(n_values, undecided, against=0):
    """Return a check of some values, of which some are nan, which leaves them undecided, some are 2, the rest 0."""
    values = [np.nan] * undecided + [2.0] * against
    return every_draw("x", values + [0.0] * (n_values - len(values)), at_most=1.0)


@pytest.mark.parametrize(
    ("evaluated", "printed", "on_draw"),
    [
        pytest.param("contradicted", [FAILS], "contradicted", id="it fails"),
        pytest.param(
            "contradicted", [check_of(20, undecided=1, against=1)], "contradicted", id="one value is against it"
        ),
        # 2 values of 102 are undecided, which are few, but they are all that this mean has
        pytest.param("undecided", [HOLDS_OF_MANY, OPEN_MEAN], "undecided", id="a mean is undecided"),
        # 5 and 6 values of 110 are few
        pytest.param(
            "undecided", [HOLDS_OF_MANY, check_of(10, undecided=5)], "reproduced", id="half a check is undecided"
        ),
        pytest.param(
            "undecided",
            [HOLDS_OF_MANY, check_of(10, undecided=6)],
            "undecided",
            id="more than half a check is undecided",
        ),
        # at most one in ten does not count (`MIN_DECIDED`): 2 of 20
        pytest.param("undecided", [check_of(20, undecided=2)], "reproduced", id="one value in ten is undecided"),
        pytest.param("undecided", [check_of(20, undecided=3)], "undecided", id="more than one in ten are undecided"),
    ],
)
def test_a_claim_is_reproduced_on_a_draw_if_few_of_its_values_are_undecided(evaluated, printed, on_draw):
    """All others must hold; a few are at most one in ten of all values, and at most half of a check's."""
    evaluation = Evaluation(evaluated, judgement=Judgement(*printed))
    verdict, _ = variation.verdict_on_draw(evaluation, "reproduced")
    assert verdict == on_draw


@pytest.mark.parametrize(
    ("evaluated", "printed", "corrected", "on_draw"),
    [
        # as on a draw of one layer: what is printed may be wrong of more layers only
        pytest.param("reproduced", [HOLDS], [HOLDS], "corrected", id="both statements hold"),
        pytest.param("reproduced", [HOLDS], [FAILS], "reproduced", id="the printed statement holds"),
        pytest.param("contradicted", [FAILS], [FAILS], "contradicted", id="neither holds"),
        pytest.param("undecided", [FAILS], [HOLDS], "corrected", id="a rival gets the same verdict"),
        pytest.param(
            "undecided", [OPEN_MEAN], [check_of(20, undecided=2)], "undecided", id="the printed statement is undecided"
        ),
        pytest.param("undecided", [FAILS], [OPEN_MEAN], "undecided", id="the correction is undecided"),
        pytest.param(
            "undecided",
            [FAILS],
            [HOLDS_OF_MANY, OPEN_MEAN],
            "undecided",
            id="a check of the correction is undecided",
        ),
        pytest.param(
            "undecided",
            [FAILS],
            [check_of(20, undecided=2)],
            "corrected",
            id="one value in ten of the correction is undecided",
        ),
    ],
)
def test_a_corrected_claim_is_corrected_on_a_draw_where_its_correction_holds(evaluated, printed, corrected, on_draw):
    """A few undecided values of the correction do not count."""
    evaluation = Evaluation(evaluated, judgement=Judgement(*printed), corrected=Judgement(*corrected))
    verdict, _ = variation.verdict_on_draw(evaluation, "corrected")
    assert verdict == on_draw


@pytest.mark.parametrize(
    ("printed", "rivals", "on_draw"),
    [
        pytest.param(HOLDS, {"chance": "reproduced", "another": "contradicted"}, "reproduced", id="a rival holds too"),
        pytest.param(HOLDS, {"another": "contradicted"}, "undecided", id="no rival holds: it has another reason"),
        pytest.param(OPEN_MEAN, {"chance": "undecided"}, "undecided", id="statement and rival are undecided"),
        pytest.param(OPEN_MEAN, {"chance": "reproduced"}, "undecided", id="a rival holds, the statement is undecided"),
    ],
)
def test_a_claim_that_is_undecided_only_for_a_rival_is_reproduced_on_a_draw(printed, rivals, on_draw):
    """The reason names the rival."""
    evaluation = Evaluation("undecided", judgement=Judgement(printed), rivals=rivals)
    verdict, reason = variation.verdict_on_draw(evaluation, "reproduced")
    assert verdict == on_draw
    assert ("chance would get the same verdict on this draw" in reason) == (on_draw == "reproduced")


def test_the_reason_of_a_corrected_draw_names_the_rival_that_gets_the_same_verdict():
    judgements = {"judgement": Judgement(FAILS), "corrected": Judgement(HOLDS)}
    evaluation = Evaluation("undecided", **judgements, rivals={"chance": "corrected"})
    _, reason = variation.verdict_on_draw(evaluation, "corrected")
    assert reason == "chance would get the same verdict on this draw"


def test_the_reason_of_a_corrected_draw_says_if_the_printed_statement_holds_too():
    evaluation = Evaluation("reproduced", judgement=Judgement(HOLDS), corrected=Judgement(HOLDS))
    _, reason = variation.verdict_on_draw(evaluation, "corrected")
    assert reason == "the correction holds; as printed it is not refused on this draw"
