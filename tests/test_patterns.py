"""Nine ways in which a claim can be believed without cause, each committed by a made-up claim: none passes quietly."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import mean, median, optimum
from learning_dynamics.judging import (
    Finding,
    at_least,
    at_most,
    at_optimum,
    claim,
    equal,
    equal_on_every_draw,
    evaluate,
    every_draw,
    share_of_draws,
)
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store.records import claim_row, part_rows
from tests.typed_results import typed_results

SEEDS = 20
RNG = np.random.default_rng(4)
TABLE = pd.DataFrame({"seed": np.arange(SEEDS), "value": 1 + 0.01 * RNG.standard_normal(SEEDS)})


def judged(judge, printed=1.0, rivals=None, table=TABLE, **about):
    """Evaluate a claim made of a judge and its predictions."""

    @claim("Theorem 1", **{"scope": "made up", **about})
    def made_up(run) -> Finding:
        """A statement."""
        return Finding(judge, printed, {"twice as much": 2.0} if rivals is None else rivals)

    return evaluate(made_up, {"run": table}, {})


def test_the_measure_of_all_below_is_a_claim_that_stands():
    found = judged(lambda predicted: [equal("mean", mean(TABLE["value"]), predicted)])
    assert found.verdict == "reproduced"
    assert found.rivals == {"twice as much": "contradicted"}
    assert found.min_detectable_error < 0.1


# 1 -- a claim that cannot lose


@pytest.mark.parametrize(
    "judge",
    [
        # the stopping rule of the integrator, whatever was predicted
        lambda predicted: [every_draw("loss at the end", np.full(SEEDS, 1e-11), at_most=1e-10)],
        # an identity: both sides are the prediction
        lambda predicted: [equal_on_every_draw("error", predicted, predicted, tolerance=1e-12)],
        # a bound that holds for algebraic reasons
        lambda predicted: [every_draw("cosine", np.cos(TABLE["value"] * predicted), at_most=1.0)],
        # a conditional share: of the draws that agree, all agree
        lambda predicted: [share_of_draws("agree", np.ones(SEEDS, bool), at_least=0.5)],
    ],
    ids=["stopping rule", "identity", "algebra", "conditional share"],
)
def test_a_claim_that_cannot_lose_is_undecided(judge):
    found = judged(judge)
    assert found.verdict == "undecided"
    assert "twice as much would get the same verdict (reproduced)" in found.reason


def test_a_claim_without_rivals_is_undecided():
    found = judged(lambda predicted: [equal("mean", mean(TABLE["value"]), predicted)], rivals={})
    assert (found.verdict, found.reason) == ("undecided", "no rival was tried")


@pytest.mark.parametrize("rival", [np.nan, np.inf, np.full(3, np.nan)], ids=str)
def test_a_rival_that_names_no_number_refuses_nothing(rival):
    found = judged(
        lambda predicted: [equal("mean", mean(TABLE["value"]), float(np.max(predicted)))], rivals={"no": rival}
    )
    assert found.verdict == "undecided"


def test_one_rival_that_is_refused_does_not_excuse_another():
    found = judged(
        lambda predicted: [equal("mean", mean(TABLE["value"]), predicted)], rivals={"two": 2.0, "near": 1.001}
    )
    assert found.verdict == "undecided"
    assert "near would get" in found.reason


# 2 -- selection


def with_nan(count):
    values = TABLE["value"].to_numpy().copy()
    values[:count] = np.nan
    return values


@pytest.mark.parametrize(
    "check",
    [
        every_draw("x", with_nan(3), at_most=2.0),
        equal_on_every_draw("x", with_nan(3), 1.0, tolerance=0.5),
        at_most("x", mean(with_nan(3)), 2.0),
        at_most("x", median(with_nan(3)), 2.0),
        at_least("x", median(with_nan(3)), 0.0),
        at_most("x", mean(with_nan(3)[3:]), 2.0, draws_undecided=3),
        share_of_draws("x", with_nan(3), at_least=0.99),
    ],
    ids=["every", "equal", "mean", "median", "median from below", "told but not counted", "share"],
)
def test_draws_that_could_not_be_judged_are_not_dropped(check):
    assert check.state != "holds"


def test_a_draw_that_disagrees_counts():
    values = TABLE["value"].to_numpy().copy()
    values[0] = 5.0
    check = every_draw("x", values, at_most=2.0)
    assert (check.state, check.draws_against, check.value) == ("fails", 1, 5.0)


def test_draws_that_a_claim_drops_by_itself_are_shown():
    kept = TABLE["value"][3:]
    found = judged(lambda predicted: [equal_on_every_draw("x", kept, predicted, tolerance=0.1)], rivals={"two": 2.0})
    assert claim_row(evaluated_about(), found)["excluded"] == "17 judged of an ensemble of 20: no reason given"


def evaluated_about():
    @claim("Theorem 1", scope="made up")
    def made_up() -> None: ...

    return made_up.claim


def test_draws_left_out_for_a_reason_show_the_reason():
    kept = TABLE["value"][3:]
    found = judged(
        lambda predicted: [equal_on_every_draw("x", kept, predicted, tolerance=0.1, excluded={"rank above one": 3})]
    )
    assert found.decisive.headline.excluded == "3 left out: rank above one"


# 3 -- best of many


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [3.0, 1.0, 1.0]])
def test_the_best_at_the_edge_of_a_grid_is_undecided(values):
    best = optimum([0.1, 1.0, 10.0], values)
    found = judged(lambda predicted: [at_optimum(equal("best", best.value, predicted), best)], rivals={"2": 2.0})
    assert found.verdict == "undecided"
    assert "at its edge" in found.judgement.headline.criterion
    assert "the best lies at the edge of its grid" in found.reason


@pytest.mark.parametrize("values", [[1.0], [-50.0, 52.0, 3.0]], ids=["one draw", "draws that scatter"])
def test_an_interval_that_contains_everything_says_nothing(values):
    found = judged(lambda predicted: [equal("mean", mean(values), predicted)])
    assert found.verdict == "undecided"


def test_an_infinite_interval_decides_nothing_even_if_another_part_refuses_the_rivals():
    found = judged(
        lambda predicted: [equal("mean", mean([1.0]), 1.0), every_draw("x", np.full(SEEDS, predicted), at_most=1.5)]
    )
    assert found.verdict == "undecided"


def test_a_tolerance_that_hides_the_effect_is_undecided():
    check = equal("x", mean(TABLE["value"]), 1.0, tolerance=0.5, resolution=0.1)
    assert check.state == "undecided"
    assert equal_on_every_draw("x", TABLE["value"], 1.0, tolerance=0.5, resolution=0.1).state == "undecided"


# 4 -- the headline


def test_the_headline_is_the_quantity_named_however_near_another_part_lies():
    found = judged(
        lambda predicted: [
            equal("distance to the solution", mean(TABLE["value"]), predicted),
            every_draw("nuclear norm", np.full(SEEDS, 0.99), at_most=1.0),
        ]
    )
    row = claim_row(evaluated_about(), found)
    assert row["quantity"] == "distance to the solution"
    assert row["margin"] == pytest.approx(1 / 0.99)  # the nearest of all, and the part that it belongs to is a row
    assert [(part["part"], part["quantity"]) for part in part_rows(found)] == [
        (0, "distance to the solution"),
        (1, "nuclear norm"),
    ]


def test_a_part_that_fails_is_not_hidden_by_the_headline():
    found = judged(
        lambda predicted: [equal("distance", mean(TABLE["value"]), predicted), every_draw("rank", [3.0], at_most=2.0)]
    )
    assert found.verdict == "contradicted"
    assert [part["state"] for part in part_rows(found)] == ["holds", "fails"]


# 5 -- a threshold as prediction


def test_a_bound_is_not_shown_as_the_prediction():
    for check in (
        every_draw("x", TABLE["value"], at_most=2.0, predicted=2.0),
        at_most("x", mean(TABLE["value"]), 2.0),
        share_of_draws("x", TABLE["value"] > 0, at_least=0.5),
    ):
        assert np.isnan(check.predicted)
        assert "2" in check.criterion or "0.5" in check.criterion
    assert every_draw("x", TABLE["value"], at_most=2.0, predicted=1.0).predicted == 1.0


# 6 -- a figure that does not show it: refused with the configuration, in tests/pipeline/test_project.py


# 7 -- an empirical claim judged by a toy


def test_an_empirical_statement_is_never_corrected_or_contradicted():
    def judge(predicted):
        return [equal("accuracy", mean(TABLE["value"]), predicted)]

    found = judged(judge, printed=3.0, empirical=True, scope="digits of 8 x 8")
    assert found.verdict == "not reproduced"
    assert found.reason == "does not show at this scale"
    with pytest.raises(ValueError, match="an empirical statement is not corrected"):
        judged(judge, empirical=True, correction="another number")


@pytest.mark.parametrize("scope", ["", "  "])
def test_a_verdict_without_scope_is_refused(scope):
    with pytest.raises(ValueError, match="say for what it was tested"):
        judged(lambda predicted: None, scope=scope)


# 8 -- results in prose


@pytest.mark.parametrize(
    "text",
    [
        "The error is 0.0018 of the start.",
        "It holds on 19 of 20 draws.",
        "Accuracy reaches 97 %.",
        "Errors of 3e-9.",
        "The rank is 2.00 at the end",
    ],
)
def test_typed_results_are_found(text):
    assert typed_results(text)


@pytest.mark.parametrize(
    "text",
    [
        "Theorem 3.2 (b) and Figure 1a of section 3.3 hold.",
        r"The error is {value:.2e} of $\sigma_1 = 0.5$ on {draws} draws.",
        "Networks with two layers, d = 5 and n = 10.",
        "Varre et al. 2023, eq. (2.2)",
        "Bars are 95 % intervals of the mean; bands the 95 % Wilson interval.",
    ],
)
def test_fields_mathematics_and_references_are_no_results(text):
    assert typed_results(text) == []


def test_a_field_that_nothing_fills_is_refused():
    with pytest.raises(ProjectError, match=r"a field `\{valeu\}` that nothing fills; did you mean `value`"):
        fill("The error is {valeu:.2g}.", {"value": 1.0})


# 9 -- roles by order: refused with the configuration, in tests/pipeline/test_project.py
