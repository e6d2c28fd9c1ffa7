"""Rivals, corrections and facts beside the number that a check is about."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import CheckError, ProjectError
from learning_dynamics.evidence import Estimate, optimum
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
from tests.judging.made_up import evaluation_of

MEASURED, TRUE, SHAPE = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0 + 1e-9]), np.array([0.1, 0.2, 0.7])

every_verdict = pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [(TRUE, None, "reproduced"), (2 * TRUE, TRUE, "corrected"), (2 * TRUE, 3 * TRUE, "contradicted")],
    ids=["reproduced", "corrected", "contradicted"],
)


def evaluation_of_two_checks(printed, corrected, *, rivals_of_size=None, rivals_of_shape=None, scaled=False):
    """Evaluate a claim whose first check has this prediction and correction, and whose second one holds."""
    size = equal_on_every_draw(
        "size",
        MEASURED,
        printed,
        tolerance=1e-6,
        corrected=corrected,
        rivals=rivals_of_size or {"another": 9 * TRUE},
        scaled=scaled,
    )
    shape = every_draw("shape", SHAPE, at_most=1.0, rivals=rivals_of_shape)
    return evaluation_of(size, shape, correction="c", reason="a slip")


@every_verdict
def test_what_is_printed_or_else_its_correction_decides(printed, corrected, verdict):
    found = evaluation_of_two_checks(printed, corrected)
    assert found.verdict == verdict
    of_size = "fails" if verdict == "contradicted" else "holds"
    assert [check.state for check in found.decisive.checks] == [of_size, "holds"]
    assert found.quantifier == "all draws"


@every_verdict
def test_the_reason_is_given_unless_the_claim_is_reproduced(printed, corrected, verdict):
    assert evaluation_of_two_checks(printed, corrected).reason == ("" if verdict == "reproduced" else "a slip")


@every_verdict
@pytest.mark.parametrize(
    ("rivals_of_size", "rivals_of_shape"),
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
def test_the_smallest_error_that_would_have_been_refused_is_about_the_tolerance_if_it_is_sought(printed, corrected):
    assert 1e-7 < evaluation_of_two_checks(printed, corrected, scaled=True).min_detectable_error < 1e-5
    assert np.isnan(evaluation_of_two_checks(printed, corrected, scaled=False).min_detectable_error)


def test_of_a_contradicted_claim_no_smallest_error_is_sought():
    assert np.isnan(evaluation_of_two_checks(2 * TRUE, 3 * TRUE, scaled=True).min_detectable_error)


def test_facts_are_the_outermost_draw_of_a_check_and_what_the_claim_adds():
    # the second draw is nearest its bound, the third is the largest
    check = every_draw("shape", SHAPE, at_most=[1.0, 0.25, 1.0], rivals={"half": 0.05}, fact="largest")
    facts = evaluation_of(check, Facts(added=1.0)).facts
    assert (facts["largest"], facts["added"], facts["value"]) == (0.7, 1.0, 0.2)


def test_rivals_are_compared_with_the_correction_which_may_replace_what_is_measured():
    double = {"measured": 2 * MEASURED, "predicted": 2 * TRUE}
    error = equal_on_every_draw("error", MEASURED, 3 * TRUE, tolerance=1e-6, corrected=double)
    found = evaluation_of(error, every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5, "loose": 2.0}))
    assert found.rivals == {"strict": "contradicted", "loose": "corrected"}
    assert found.verdict == "undecided"
    found = evaluation_of(error, every_draw("shape", SHAPE, at_most=1.0, rivals={"strict": 0.5}))
    assert found.verdict == "corrected"
    assert 1e-7 < found.min_detectable_error < 1e-5  # about the tolerance


def test_a_check_of_ones_own_takes_rivals_and_its_prediction_may_be_its_default():
    @takes_rivals("power")
    def vanishes(slack, power=2.0, **counts):
        rest = Estimate(0.1**power, 0.0, 0.1**power, 3, "mean (t)")
        return at_most("late", rest, slack, fact="rest", **counts)

    found = evaluation_of(vanishes(0.05, rivals={"slower": 1.0}, draws_for=2, fact="left"))
    assert found.facts["rest"] == found.facts["left"] == 0.1**2
    assert (found.verdict, found.rivals) == ("reproduced", {"slower": "undecided"})
    assert found.judgement.headline.draws_for == 2


def test_a_check_with_rivals_that_is_made_undecided_stays_so():
    check = at_most("mean", 1.0, 2.0, rivals={"half": 0.5})
    found = evaluation_of(check.as_undecided("too few"))
    assert (found.verdict, found.reason, found.rivals) == ("undecided", "mean: too few", {"half": "undecided"})
    found = evaluation_of(at_optimum(check, optimum([1.0, 2.0], [1.0, 2.0])))
    assert found.reason == "mean: the best lies at the edge of its grid"
    inside = at_optimum(check, optimum([1, 2, 3], [3.0, 1.0, 2.0]))
    assert inside.state == "holds"
    assert "best of 3 values from 1 to 3 at 2" in inside.criterion


def test_rivals_are_compared_with_what_is_printed_where_that_holds():
    weak = at_most("mean", 1.0, 2.0, rivals={"weak": 3.0})
    for corrected in (None, 5.0):
        found = evaluation_of(weak, equal("slope", 1.0, 1.0, tolerance=0.1, corrected=corrected))
        assert (found.verdict, found.rivals) == ("undecided", {"weak": "reproduced"}), corrected
        assert found.reason == "the rival “weak” would get the same verdict (reproduced)", corrected


@pytest.mark.parametrize("nothing", [np.nan, [np.nan] * 3, np.full(3, np.nan), {"predicted": np.nan}], ids=str)
def test_a_rival_that_says_nothing_refuses_nothing_however_it_is_written(nothing):
    found = evaluation_of(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": nothing}))
    assert (found.verdict, found.rivals) == ("undecided", {"nothing": "reproduced"})


@pytest.mark.parametrize("nothing", [np.nan, [np.nan] * 3, np.full(3, np.nan), {"predicted": np.nan}], ids=str)
def test_a_correction_that_says_nothing_is_undecided_however_it_is_written(nothing):
    found = evaluation_of(
        equal_on_every_draw("x", np.ones(3), 2.0, tolerance=0.1, corrected=nothing, rivals={"three": 3.0})
    )
    assert (found.verdict, found.corrected.state) == ("undecided", "undecided")


def test_a_rival_without_draws_is_a_mistake_and_no_empty_prediction():
    with pytest.raises(CheckError, match="x: no draws"):
        evaluation_of(every_draw("x", [0.5], at_most=1.0, rivals={"nothing": {"values": []}}))
    with pytest.raises(CheckError, match="shape"):
        evaluation_of(equal_on_every_draw("x", np.ones(3), 1.0, tolerance=0.1, rivals={"nothing": []}))


def test_a_check_of_the_correction_alone_is_not_printed_and_tests_its_rivals():
    rivals = {"loose": {"values": [2.0, 2.2]}, "twice": {"values": [4.0, 4.2]}}
    found = evaluation_of(
        equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0),
        every_draw("rest", [2.0, 2.1], at_most=2.5, printed=NOT_CLAIMED, rivals=rivals, fact="rest"),
    )
    assert [check.name for check in found.judgement.checks] == ["size"]
    assert [check.name for check in found.corrected.checks] == ["size", "rest"]
    assert found.rivals == {"loose": "corrected", "twice": "contradicted"}
    assert found.facts["rest"] == 2.1


def test_a_check_of_the_correction_alone_that_fails_leaves_the_claim_contradicted():
    found = evaluation_of(
        equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"two": 2.0}),
        every_draw("rest", 3.0, at_most=2.5, printed=NOT_CLAIMED),
    )
    assert found.verdict == "contradicted"


def test_a_check_of_the_correction_alone_is_no_part_of_a_rival_of_what_is_printed():
    def weak(values):
        """Evaluate a claim that holds as printed, with a rival that holds too but for what the correction adds."""
        added = every_draw("rest", values, at_most=1.0, printed=NOT_CLAIMED)
        return evaluation_of(at_most("mean", 1.0, 2.0, rivals={"weak": 3.0}), at_optimum(added, optimum([1.0], [1.0])))

    assert weak(9.0).rivals == weak(0.1).rivals == {"weak": "reproduced"}


def test_what_is_printed_may_be_given_as_the_correction_and_rivals_are():
    """The three are of one kind: the arguments are those of all, or else the correction's."""
    in_full = equal("size", 1.0, tolerance=0.1, printed=3.0, corrected=1.0, rivals={"two": {"predicted": 2.0}})
    in_short = equal("size", 1.0, 1.0, tolerance=0.1, printed=3.0, rivals={"two": 2.0})
    arguments_alone = equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"two": 2.0})
    found = [evaluation_of(check) for check in (in_full, in_short, arguments_alone)]
    assert [one.verdict for one in found] == ["corrected"] * 3
    assert [one.judgement.headline.predicted for one in found] == [3.0] * 3
    assert [one.corrected.headline.predicted for one in found] == [1.0] * 3
    assert [one.rivals for one in found] == [{"two": "contradicted"}] * 3


def test_what_printed_changes_is_no_part_of_a_correction_or_a_rival():
    """All three change the arguments as given, not one another."""
    check = equal("size", 2.0, 2.0, tolerance=0.1, printed={"estimate": 3.0}, rivals={"loose": {"tolerance": 0.2}})
    found = evaluation_of(check)
    assert [one.headline.value for one in (found.judgement, found.corrected)] == [3.0, 2.0]
    assert (found.judgement.headline.state, found.rivals) == ("fails", {"loose": "corrected"})


def test_a_bound_that_the_correction_alone_names_is_the_prediction():
    check = every_draw("x", [5.0], printed=NOT_CLAIMED, corrected={"at_least": 1.0}, rivals={"six": 6.0})
    found = evaluation_of(equal("size", 1.0, 3.0, tolerance=0.1, corrected=1.0, rivals={"six": 2.0}), check)
    assert (found.verdict, found.rivals) == ("corrected", {"six": "contradicted"})
    assert check.under(["six"], 1.0).state == "fails"


@pytest.mark.parametrize(
    ("arguments", "said"),
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
def test_what_does_not_fit_is_one_line_that_names_the_check(arguments, said):
    with pytest.raises(ProjectError, match=said):
        every_draw("x", **arguments)


def test_a_lower_bound_below_zero_is_tightened_towards_zero():
    found = evaluation_of(every_draw("x", [-0.9, 0.5], at_least=-1.0, scaled=True, rivals={"more": -0.5}))
    assert found.verdict == "reproduced"
    assert found.min_detectable_error == pytest.approx(0.1, rel=0.8)


def test_a_prediction_that_is_no_number_is_scaled_by_a_function_of_its_own():
    @takes_rivals("course", scaled=lambda course, factor: lambda time: course(factor * time))
    def follows(course):
        times = np.arange(1.0, 4.0)
        return equal_on_every_draw("size", np.exp(-times), course(times), tolerance=0.1)

    found = evaluation_of(follows(lambda time: np.exp(-time), rivals={"half as fast": lambda time: np.exp(-time / 2)}))
    assert (found.verdict, found.rivals) == ("reproduced", {"half as fast": "contradicted"})
    assert 0.05 < found.min_detectable_error < 0.2


def test_a_correction_and_a_rival_may_leave_a_check_out():
    found = evaluation_of(
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
    nobodys = every_draw("rest", at_most=1.0, printed=NOT_CLAIMED, corrected=NOT_CLAIMED, rivals={"half": NOT_CLAIMED})
    found = evaluation_of(every_draw("x", 0.8, at_most=1.0, rivals={"half": 0.5}), nobodys)
    assert (found.verdict, len(found.judgement.checks)) == ("reproduced", 1)


def test_what_is_not_claimed_is_written_where_it_is_missing():
    with pytest.raises(CheckError, match="rest: give NOT_CLAIMED as printed=, as corrected= or as a rival"):
        every_draw("rest", NOT_CLAIMED, at_most=1.0)
    with pytest.raises(CheckError, match=r"nothing is checked of .*neither.*: every check is NOT_CLAIMED"):
        evaluation_of(every_draw("first", [0.5], at_most=1.0, rivals={"neither": NOT_CLAIMED}))
    with pytest.raises(CheckError, match=r"rest: `strict`: missing a required argument: 'values'"):
        every_draw("rest", at_most=2.5, printed=NOT_CLAIMED, corrected={"values": 2.0}, rivals={"strict": 0.5})
    with pytest.raises(CheckError, match="a premise has no rivals and no correction"):
        premise(every_draw("rest", 0.5, at_most=1.0, printed=NOT_CLAIMED))


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
    assert evaluation_of(check).min_detectable_error == pytest.approx(10**-0.75)


def test_a_reason_of_the_run_replaces_the_decorators():
    failing = every_draw("x", 2.0, at_most=1.0, rivals={"another": {"values": 0.5}})

    @claim("Theorem 1", scope="here", reason="a slip")
    def made_up(is_small):
        yield failing
        if is_small:
            yield Reason("the run is small")

    assert evaluate(made_up, {"is_small": True}, {}).reason == "the run is small"
    assert evaluate(made_up, {"is_small": False}, {}).reason == "a slip"
    assert evaluation_of(every_draw("x", 0.5, at_most=1.0, rivals={"another": 0.1}), Reason("small")).reason == ""


@pytest.mark.parametrize(
    "predicted", [1, 1.0, [1, 1, 1], np.ones(3), np.ones(3, int), pd.Series([1.0, 1.0, 1.0])], ids=str
)
def test_the_smallest_error_that_would_have_been_refused_is_found_for_every_kind_of_number(predicted):
    found = evaluation_of(equal_on_every_draw("x", np.ones(3), predicted, tolerance=0.1, rivals={"two": 2.0}))
    assert found.verdict == "reproduced"
    assert 0.1 <= found.min_detectable_error < 0.2


def test_the_corrections_name_is_no_rivals():
    with pytest.raises(CheckError, match="say in words what is wrong"):
        equal("x", 1.0, 1.0, rivals={"the correction": 2.0})


@pytest.mark.parametrize("found", [equal("x", 1.0, 1.0, rivals={"two": 2.0}), []], ids=["returned", "nothing"])
def test_what_is_no_claim_says_what_to_write(found):
    with pytest.raises(CheckError, match=r"yields no check|yield its checks"):
        evaluate(claim("section 1", scope="made up")(lambda: found), {}, {})


def test_the_row_of_a_claim_shows_its_headline_and_the_nearest_margin_of_all_parts():
    mark = claim("Theorem 1", scope="made up")(lambda: None).claim
    found = evaluation_of(
        every_draw("distance", 0.5, at_most=1.0, rivals={"less": 0.1}), every_draw("norm", 0.9, at_most=1.0)
    )
    assert claim_row(mark, found)["quantity"] == "distance"
    assert claim_row(mark, found)["margin"] == pytest.approx(1 / 0.9)
    assert [part["quantity"] for part in check_rows(found)] == ["distance", "norm"]
