"""What a claim says of its rivals and of its correction, the smallest error that it detects, its facts and its row.

A rival is a wrong prediction, which the checks must refuse; a correction is what holds where the printed prediction
fails. Either replaces the bound or prediction of a check, or the arguments that it names. `NOT_CLAIMED` says that the
printed sentence, the correction or a rival is silent about the quantity.
"""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import CheckError, ProjectError
from learning_dynamics.evidence import optimum
from learning_dynamics.judging import (
    NOT_CLAIMED,
    Facts,
    Reason,
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
from learning_dynamics.pipeline.store.records import check_rows, claim_row
from tests.judging.made_up import check_named, estimate, evaluation_of

MEASURED = np.array([1.0, 2.0, 4.0])  # a size, on each of three draws
TRUE = np.array([1.0, 2.0, 4.0 + 1e-9])  # what predicts it, within the tolerance
TOLERANCE = 1.5e-6  # above one of the errors that are tried, a quarter of a decade apart, and below the next
FIRST_ABOVE_TOLERANCE = 10**-5.75  # 1.8e-6
SHAPE = np.array([0.1, 0.2, 0.7])  # what a second check finds at most 1 on each of three draws

every_verdict = pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),  # the two predictions of the size
    [(TRUE, None, "reproduced"), (2 * TRUE, TRUE, "corrected"), (2 * TRUE, 3 * TRUE, "contradicted")],
    ids=["reproduced", "corrected", "contradicted"],
)


def evaluation_of_two_checks(printed, corrected, *, rivals_of_size=None, rivals_of_shape=None, scaled=False):
    """Evaluate a claim whose first check has this prediction and correction, and whose second one holds."""
    size = equal_on_every_draw(
        "size",
        MEASURED,
        printed,
        tolerance=TOLERANCE,
        corrected=corrected,
        rivals=rivals_of_size or {"another": 9 * TRUE},
        scaled=scaled,
    )
    shape = every_draw("shape", SHAPE, at_most=1.0, rivals=rivals_of_shape)
    return evaluation_of(size, shape, correction="c", reason="a slip")


@every_verdict
def test_the_printed_prediction_decides_or_else_its_correction(printed, corrected, verdict):
    found = evaluation_of_two_checks(printed, corrected)
    assert found.verdict == verdict
    assert check_named("size", found.decisive).state == ("fails" if verdict == "contradicted" else "holds")
    assert check_named("shape", found.decisive).state == "holds"


@every_verdict
def test_a_correction_leaves_the_claim_the_quantifier_of_its_headline(printed, corrected, verdict):
    assert evaluation_of_two_checks(printed, corrected).quantifier == "all draws"


@every_verdict
def test_the_reason_is_given_unless_the_claim_is_reproduced(printed, corrected, verdict):
    assert evaluation_of_two_checks(printed, corrected).reason == ("" if verdict == "reproduced" else "a slip")


@every_verdict
@pytest.mark.parametrize(
    ("rivals_of_size", "rivals_of_shape"),
    # The check of the size refuses 2.5 and 3.5 times what is measured. That of the shape, at most 0.7, refuses a bound
    # of 0.5 and values of nine times the shape, and accepts a bound of 2
    [
        pytest.param({"rival": 2.5 * TRUE}, None, id="of the first check"),
        pytest.param(None, {"rival": 0.5}, id="of the second check"),
        pytest.param(None, {"rival": {"values": 9 * SHAPE}}, id="another value instead of another prediction"),
        pytest.param({"rival": 3.5 * TRUE}, {"rival": 2.0}, id="of both, the first of which refuses it"),
        pytest.param({"rival": {"predicted": TRUE}}, {"rival": 0.5}, id="of both, the second of which refuses it"),
    ],
)
def test_a_rival_is_refused_by_any_check(rivals_of_size, rivals_of_shape, printed, corrected, verdict):
    found = evaluation_of_two_checks(printed, corrected, rivals_of_size=rivals_of_size, rivals_of_shape=rivals_of_shape)
    assert found.verdict == verdict
    assert found.rivals["rival"] == "contradicted"


@pytest.mark.parametrize(("printed", "corrected"), [(TRUE, None), (2 * TRUE, TRUE)], ids=["reproduced", "corrected"])
def test_the_smallest_error_that_would_have_been_refused_is_just_above_the_tolerance(printed, corrected):
    found = evaluation_of_two_checks(printed, corrected, scaled=True)
    assert found.min_detectable_error == pytest.approx(FIRST_ABOVE_TOLERANCE)


def test_a_check_that_is_not_scaled_has_no_smallest_error():
    assert np.isnan(evaluation_of_two_checks(printed=TRUE, corrected=None, scaled=False).min_detectable_error)


def test_a_contradicted_claim_has_no_smallest_error():
    assert np.isnan(evaluation_of_two_checks(printed=2 * TRUE, corrected=3 * TRUE, scaled=True).min_detectable_error)


def test_facts_are_those_of_checks_and_those_that_the_claim_adds():
    """A check gives the largest value under the name in `fact`, and the headline that of the draw nearest its bound."""
    # the values are 0.1, 0.2 and 0.7: the second is nearest its bound, 0.8 of it, the third is the largest
    check = every_draw("shape", SHAPE, at_most=[1.0, 0.25, 1.0], rivals={"strict": 0.05}, fact="largest")
    facts = evaluation_of(check, Facts(added=1.0)).facts
    assert (facts["largest"], facts["added"], facts["value"]) == (0.7, 1.0, 0.2)


# it fails with the printed prediction; the correction replaces both what is measured and what predicts it
CORRECTED_SIZE = equal_on_every_draw(
    "size", MEASURED, 3 * TRUE, tolerance=TOLERANCE, corrected={"measured": 2 * MEASURED, "predicted": 2 * TRUE}
)


def test_a_correction_may_replace_what_is_measured():
    found = evaluation_of(CORRECTED_SIZE, every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5}))
    assert (found.verdict, found.rivals) == ("corrected", {"strict": "contradicted"})
    assert found.min_detectable_error == pytest.approx(FIRST_ABOVE_TOLERANCE)


def test_where_the_printed_prediction_fails_rivals_are_compared_with_the_correction():
    shape = every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5, "loose": 2.0})
    found = evaluation_of(CORRECTED_SIZE, shape)
    assert found.rivals == {"strict": "contradicted", "loose": "corrected"}
    assert found.verdict == "undecided"  # the loose rival is not refused


@pytest.mark.parametrize("correction", [None, 5.0])
def test_where_the_printed_prediction_holds_rivals_are_compared_with_it(correction):
    below_two = at_most("mean", 1.0, 2.0, rivals={"loose": 3.0})
    found = evaluation_of(below_two, equal("slope", 1.0, 1.0, tolerance=0.1, corrected=correction))
    assert (found.verdict, found.rivals) == ("undecided", {"loose": "reproduced"})
    assert found.reason == "the rival “loose” would get the same verdict (reproduced)"


def test_a_function_that_takes_a_prediction_makes_a_check_with_rivals():
    @takes_rivals("power")
    def vanishes(slack, power=2.0, **counts):
        rest = estimate(0.1**power, lower=0.0, upper=0.1**power, draws=3)
        return at_most("late", rest, slack, fact="fact of the check within", **counts)

    # with power 2 the interval ends at 0.01, below the bound of 0.05; with the rival's power 1 it ends at 0.1
    found = evaluation_of(vanishes(0.05, rivals={"slower": 1.0}, draws_for=2, fact="fact of the function"))
    assert (found.verdict, found.rivals) == ("reproduced", {"slower": "undecided"})
    assert found.facts["fact of the check within"] == found.facts["fact of the function"] == 0.1**2
    assert found.judgement.headline.draws_for == 2


# -- checks that are undecided, and predictions that say nothing -------------------------------------------------------

BELOW_TWO = at_most("mean", 1.0, 2.0, rivals={"half": 0.5})  # it holds, and refuses its rival


def test_a_check_that_is_made_undecided_is_so_under_its_rivals_too():
    found = evaluation_of(BELOW_TWO.as_undecided("too few"))
    assert (found.verdict, found.reason, found.rivals) == ("undecided", "mean: too few", {"half": "undecided"})


def test_a_check_at_an_optimum_on_the_edge_of_its_grid_is_undecided():
    least_at_the_first = optimum(grid=[1.0, 2.0], values=[1.0, 2.0])
    found = evaluation_of(at_optimum(BELOW_TWO, least_at_the_first))
    assert (found.verdict, found.reason) == ("undecided", "mean: the best lies at the edge of its grid")


def test_a_check_at_an_optimum_inside_its_grid_says_where_that_is():
    least_at_the_second = optimum(grid=[1, 2, 3], values=[3.0, 1.0, 2.0])
    check = at_optimum(BELOW_TWO, least_at_the_second)
    assert check.state == "holds"
    assert "best of 3 values from 1 to 3 at 2" in check.criterion


@pytest.mark.parametrize("nothing", [np.nan, [np.nan] * 3, np.full(3, np.nan), {"predicted": np.nan}], ids=str)
def test_a_rival_that_says_nothing_refuses_nothing_however_it_is_written(nothing):
    found = evaluation_of(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": nothing}))
    assert (found.verdict, found.rivals) == ("undecided", {"nothing": "reproduced"})


@pytest.mark.parametrize("nothing", [np.nan, [np.nan] * 3, np.full(3, np.nan), {"predicted": np.nan}], ids=str)
def test_a_correction_that_says_nothing_is_undecided_however_it_is_written(nothing):
    found = evaluation_of(
        equal_on_every_draw("x", np.ones(3), 2.0, tolerance=0.1, corrected=nothing, rivals={"three": 3.0})
    )
    judgement_of_correction = found.corrected
    assert (found.verdict, judgement_of_correction.state) == ("undecided", "undecided")


def test_a_rival_without_draws_is_refused():
    with pytest.raises(CheckError, match="x: no draws"):
        evaluation_of(every_draw("x", [0.5], at_most=1.0, rivals={"nothing": {"values": []}}))
    with pytest.raises(CheckError, match="x: predicted must have the shape of measured"):
        evaluation_of(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": []}))


# -- checks that only the printed sentence, the correction or a rival has ----------------------------------------------


def test_a_check_of_the_correction_alone_judges_the_correction_and_its_rivals():
    """It is no part of the printed sentence."""
    # the correction's values and those of the loose rival are below the bound of 2.5; twice as large ones are not
    rivals = {"loose": {"values": [2.0, 2.2]}, "twice": {"values": [4.0, 4.2]}}
    found = evaluation_of(
        equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0),
        every_draw("rest", [2.0, 2.1], at_most=2.5, printed=NOT_CLAIMED, rivals=rivals, fact="rest"),
    )
    as_printed, as_corrected = found.judgement, found.corrected
    assert [check.name for check in as_printed.checks] == ["size"]
    assert [check.name for check in as_corrected.checks] == ["size", "rest"]
    assert found.rivals == {"loose": "corrected", "twice": "contradicted"}
    assert found.facts["rest"] == 2.1


def test_a_check_of_the_correction_alone_that_fails_leaves_the_claim_contradicted():
    found = evaluation_of(
        equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"two": 2.0}),
        every_draw("rest", 3.0, at_most=2.5, printed=NOT_CLAIMED),
    )
    assert found.verdict == "contradicted"


HOLDS_FOR_THE_CORRECTION = every_draw("rest", 0.1, at_most=1.0, printed=NOT_CLAIMED)
FAILS_FOR_THE_CORRECTION = every_draw("rest", 9.0, at_most=1.0, printed=NOT_CLAIMED)
ONLY_SETTING = optimum(grid=[1.0], values=[1.0])  # at the edge of its grid, which leaves a check undecided


@pytest.mark.parametrize(
    "added",
    [
        pytest.param(HOLDS_FOR_THE_CORRECTION, id="it holds"),
        pytest.param(FAILS_FOR_THE_CORRECTION, id="it fails"),
        pytest.param(at_optimum(HOLDS_FOR_THE_CORRECTION, ONLY_SETTING), id="undecided, it would hold"),
        pytest.param(at_optimum(FAILS_FOR_THE_CORRECTION, ONLY_SETTING), id="undecided, it would fail"),
    ],
)
def test_a_check_of_the_correction_alone_refuses_no_rival_of_a_sentence_that_holds(added):
    found = evaluation_of(at_most("mean", 1.0, 2.0, rivals={"loose": 3.0}), added)
    assert found.rivals == {"loose": "reproduced"}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(
            equal("size", 1.0, tolerance=0.1, printed=3.0, corrected=1.0, rivals={"two": {"predicted": 2.0}}),
            id="by a keyword each",
        ),
        pytest.param(
            equal("size", 1.0, 1.0, tolerance=0.1, printed=3.0, rivals={"two": 2.0}),
            id="the correction as an argument, the printed one by its keyword",
        ),
        pytest.param(
            equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"two": 2.0}),
            id="the printed one as an argument, the correction by its keyword",
        ),
    ],
)
def test_predictions_may_be_given_by_keyword_or_as_the_argument(check):
    found = evaluation_of(check)
    assert (found.verdict, found.rivals) == ("corrected", {"two": "contradicted"})
    as_printed, as_corrected = found.judgement.headline, found.corrected.headline
    assert as_printed.predicted == 3.0
    assert as_corrected.predicted == 1.0


def test_what_printed_changes_is_not_changed_for_the_correction_or_a_rival():
    # the correction has the arguments as given, 2 for 2; the rival too, with another tolerance; the printed one 3 for 2
    check = equal("size", 2.0, 2.0, tolerance=0.1, printed={"estimate": 3.0}, rivals={"loose": {"tolerance": 0.2}})
    found = evaluation_of(check)
    as_printed, as_corrected = found.judgement.headline, found.corrected.headline
    assert (as_printed.value, as_printed.state) == (3.0, "fails")
    assert (as_corrected.value, as_corrected.state) == (2.0, "holds")
    assert found.rivals == {"loose": "corrected"}


def test_a_rival_replaces_the_bound_that_the_correction_alone_names():
    # 5 is at least 1, as the correction says, and not 6, as the rival does
    check = every_draw("x", [5.0], printed=NOT_CLAIMED, corrected={"at_least": 1.0}, rivals={"six": 6.0})
    found = evaluation_of(equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"six": 2.0}), check)
    assert (found.verdict, found.rivals) == ("corrected", {"six": "contradicted"})
    check_of_the_rival = check.under(["six"], factor=1.0)
    assert check_of_the_rival.state == "fails"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"printed": {"value": 1.0}}, "x: `printed`: no parameter `value`; did you mean `values`?"),
        ({"printed": {"at_most": 1.0}, "corrected": {"values": 1.0}}, "missing a required argument: .values."),
        ({"values": 1.0, "at_most": 1.0, "rivals": {"": 2.0}}, "x: `` is no rival's name"),
        ({"values": 1.0, "at_most": 1.0, "rivals": {"r": {"values": NOT_CLAIMED}}}, "x: `r`: give NOT_CLAIMED as"),
        ({"values": NOT_CLAIMED, "at_most": 1.0}, "x: give NOT_CLAIMED as printed="),
        ({"values": 1.0, "at_mist": 1.0}, "x: got an unexpected keyword argument 'at_mist'"),
    ],
    ids=["misspelt", "lacking", "no name", "in a rival", "as an argument", "unknown"],
)
def test_a_prediction_that_does_not_fit_is_refused_with_the_name_of_its_check(arguments, message):
    with pytest.raises(ProjectError, match=message):
        every_draw("x", **arguments)


def test_a_prediction_that_is_no_number_is_scaled_by_a_function_of_its_own():
    @takes_rivals("course", scaled=lambda course, factor: lambda time: course(factor * time))
    def follows(course):
        times = np.arange(1.0, 4.0)
        return equal_on_every_draw("size", np.exp(-times), course(times), tolerance=0.1)

    found = evaluation_of(follows(lambda time: np.exp(-time), rivals={"half as fast": lambda time: np.exp(-time / 2)}))
    assert (found.verdict, found.rivals) == ("reproduced", {"half as fast": "contradicted"})
    # a course that is faster by a share e differs at time 3 by 1 - exp(-3 e), relative to exp(-3): for e = 0.032 this
    # is below the tolerance of 0.1, and the next error that is tried is 0.056
    assert found.min_detectable_error == pytest.approx(10**-1.25)


def test_a_correction_and_a_rival_may_leave_a_check_out():
    found = evaluation_of(
        every_draw("first", [0.5], at_most=1.0, rivals={"second alone": NOT_CLAIMED}),
        every_draw("second", [2.0], at_most=1.0, corrected=NOT_CLAIMED, rivals={"second alone": 1.0}),
        every_draw("third", [0.5], at_most=1.0, rivals={"first alone": NOT_CLAIMED}),
    )
    as_printed, as_corrected = found.judgement, found.corrected
    assert [check.name for check in as_printed.checks] == ["first", "second", "third"]
    assert [check.name for check in as_corrected.checks] == ["first", "third"]
    # a rival that claims less than what holds is not refused
    assert found.rivals == {"second alone": "contradicted", "first alone": "corrected"}
    assert found.verdict == "undecided"


def test_a_check_that_nobody_claims_is_no_part_of_any_judgement():
    nobodys = every_draw("rest", at_most=1.0, printed=NOT_CLAIMED, corrected=NOT_CLAIMED, rivals={"half": NOT_CLAIMED})
    found = evaluation_of(every_draw("x", 0.8, at_most=1.0, rivals={"half": 0.5}), nobodys)
    assert (found.verdict, len(found.judgement.checks)) == ("reproduced", 1)


def test_not_claimed_as_an_argument_is_refused():
    with pytest.raises(CheckError, match="rest: give NOT_CLAIMED as printed=, as corrected= or as a rival"):
        every_draw("rest", NOT_CLAIMED, at_most=1.0)


def test_a_rival_that_claims_nothing_of_any_check_is_refused():
    with pytest.raises(CheckError, match=r"nothing is checked of \['neither'\]: every check is NOT_CLAIMED"):
        evaluation_of(every_draw("first", [0.5], at_most=1.0, rivals={"neither": NOT_CLAIMED}))


def test_a_rival_needs_values_of_its_own_where_only_the_correction_has_them():
    with pytest.raises(CheckError, match=r"rest: `strict`: missing a required argument: 'values'"):
        every_draw("rest", at_most=2.5, printed=NOT_CLAIMED, corrected={"values": 2.0}, rivals={"strict": 0.5})


def test_a_premise_cannot_be_left_out_of_the_printed_sentence():
    with pytest.raises(CheckError, match="a premise has no rivals and no correction"):
        premise(every_draw("rest", 0.5, at_most=1.0, printed=NOT_CLAIMED))


# -- the smallest error that would have been refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        every_draw("x", [0.85, 0.5], at_most=1.0, scaled=True, rivals={"half": 0.5}),
        every_draw("x", [1.15, 2.0], at_least=1.0, scaled=True, rivals={"twice": 2.0}),
        every_draw("x", [-1.15, -2.0], at_most=-1.0, scaled=True, rivals={"twice": -2.0}),
        every_draw("x", [-0.85, 0.5], at_least=-1.0, scaled=True, rivals={"half": -0.5}),
        at_most("x", 0.85, 1.0, scaled=True, rivals={"half": 0.5}),
        at_least("x", 1.15, 1.0, scaled=True, rivals={"twice": 2.0}),
        share_of_draws("x", np.arange(1000) < 70, at_most=0.1, scaled=True, rivals={"half": 0.05}),
    ],
    ids=str,
)
def test_a_bound_is_scaled_to_the_side_that_is_tighter(check):
    # by 0.12 to 0.15 every bound reaches its number; errors are tried a quarter of a decade apart: 0.1, 0.178
    assert evaluation_of(check).min_detectable_error == pytest.approx(10**-0.75)


def test_a_reason_of_the_run_replaces_that_of_the_decorator():
    failing = every_draw("x", 2.0, at_most=1.0, rivals={"another": {"values": 0.5}})

    @claim("Theorem 1", scope="here", reason="a slip")
    def made_up(is_small):
        yield failing
        if is_small:
            yield Reason("the run is small")

    assert evaluate(made_up, {"is_small": True}, {}).reason == "the run is small"
    assert evaluate(made_up, {"is_small": False}, {}).reason == "a slip"


def test_a_reason_of_the_run_is_not_given_where_the_claim_is_reproduced():
    found = evaluation_of(every_draw("x", 0.5, at_most=1.0, rivals={"strict": 0.1}), Reason("the run is small"))
    assert (found.verdict, found.reason) == ("reproduced", "")


@pytest.mark.parametrize(
    "predicted", [1, 1.0, [1, 1, 1], np.ones(3), np.ones(3, int), pd.Series([1.0, 1.0, 1.0])], ids=str
)
def test_the_smallest_error_is_found_for_every_kind_of_number(predicted):
    found = evaluation_of(equal_on_every_draw("x", np.ones(3), predicted, tolerance=0.1, rivals={"two": 2.0}))
    assert found.verdict == "reproduced"
    # errors are tried a quarter of a decade apart: 0.1, which is the tolerance, and 0.178
    assert found.min_detectable_error == pytest.approx(10**-0.75)


# -- refusals, and the row of a claim ----------------------------------------------------------------------------------


def test_a_rival_must_not_be_called_the_correction():
    with pytest.raises(CheckError, match="say in words what is wrong"):
        equal("x", 1.0, 1.0, rivals={"the correction": 2.0})


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        pytest.param(equal("x", 1.0, 1.0, rivals={"two": 2.0}), "yield its checks", id="a check, not yielded"),
        pytest.param([], "yields no check", id="nothing"),
    ],
)
def test_a_claim_that_yields_no_check_is_refused_with_what_to_write(returned, message):
    with pytest.raises(CheckError, match=message):
        evaluate(claim("section 1", scope="made up")(lambda: returned), {}, {})


def test_the_row_of_a_claim_shows_its_headline_and_the_least_margin_of_all_checks():
    mark = claim("Theorem 1", scope="made up")(lambda: None).claim
    found = evaluation_of(
        every_draw("distance", 0.5, at_most=1.0, rivals={"less": 0.1}), every_draw("norm", 0.9, at_most=1.0)
    )
    row = claim_row(mark, found)
    assert row["quantity"] == "distance"
    assert row["margin"] == pytest.approx(1 / 0.9)  # that of the norm; the distance's is 1 / 0.5


def test_the_checks_of_a_claim_have_a_row_each():
    found = evaluation_of(
        every_draw("distance", 0.5, at_most=1.0, rivals={"less": 0.1}), every_draw("norm", 0.9, at_most=1.0)
    )
    assert [row["quantity"] for row in check_rows(found)] == ["distance", "norm"]
