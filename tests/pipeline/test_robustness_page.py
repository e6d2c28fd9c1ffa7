"""What is said of claims judged again: lines, digits, marks, and the table and page of all of them."""

import functools

import pandas as pd
import pytest

from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.commands import verdicts
from learning_dynamics.pipeline.report import robustness
from learning_dynamics.pipeline.report.robustness import count_judged_again, describe_thresholds, marks, stable_digits
from learning_dynamics.pipeline.store.records import COLUMNS as CLAIM_COLUMNS
from learning_dynamics.pipeline.store.records import VARIATION_COLUMNS, variation_row
from tests.support import PAPERS, plan

# of settings that no phrase names
describe = functools.partial(robustness.describe, phrases={})
page = functools.partial(robustness.page, phrases={"toy": {}})


def rows(*changes):
    """Rows of the claim `toy.a`: change, what, value and verdict of each."""
    names = ("change", "what", "value", "verdict")
    made = [
        {"paper": "toy", "claim": "toy.a", "measured": 1.0, "reason": ""} | dict(zip(names, one, strict=True))
        for one in changes
    ]
    return pd.DataFrame(made, columns=[column.name for column in VARIATION_COLUMNS])


def claims_of(verdict):
    blank = {"float": float("nan"), "int": 0, "str": ""}
    whole = {column.name: blank[column.type] for column in CLAIM_COLUMNS}
    return pd.DataFrame([whole | {"paper": "toy", "claim": "toy.a", "verdict": verdict, "reason": "because"}])


SCALES = [
    ("setting", "small.scale", value, verdict)
    for value, verdict in (("0.01", "undecided"), ("1e-05", "reproduced"), ("0.003", "reproduced"))
]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        pytest.param([], "", id="nothing was tried"),
        pytest.param(
            SCALES,
            "The verdict stays with `scale` from 1e-5 to 0.003 in the run `small` (undecided at 0.01)",
            id="a range",
        ),
        pytest.param(
            [("setting", "small.scale", "1", "undecided")],
            "The verdict does not stay with any other value of `scale` that was tried in the run `small` "
            "(undecided at 1)",
            id="nowhere in a range",
        ),
        pytest.param(
            [("setting", "grid.counts", "[[8, 4]]", "undecided"), ("setting", "grid.counts", "[[2, 1]]", "reproduced")],
            "The verdict stays with `counts` at 2:1 in the run `grid` (undecided at 8:4)",
            id="counts of classes",
        ),
        pytest.param(
            [("threshold", "share", "0.9", "reproduced"), ("threshold", "share and loss", "0.8 and 1", "undecided")],
            "The verdict stays with 1 of 2 other choices of thresholds (undecided if `share` is 0.8 and `loss` is 1)",
            id="thresholds, of which one is two together",
        ),
        pytest.param(
            [("seed", "seed", str(seed), "reproduced") for seed in range(3)],
            "The verdict stays with 3 of 3 other seeds",
            id="all seeds",
        ),
        pytest.param(
            [("seed", "seed", "2024", "reproduced"), ("seed", "seed", "2025", "contradicted")],
            "The verdict stays with 1 of 2 other seeds (contradicted with seed 2025)",
            id="one of two seeds",
        ),
        pytest.param(
            [("draw", "draw", "1", "reproduced"), ("draw", "draw", "2", "untested"), ("draw", "draw", "3", "untested")],
            "The verdict stays with 1 of 3 random settings (2 untested)",
            id="draws of which two say nothing",
        ),
    ],
)
def test_a_line_says_where_a_verdict_holds_and_turns(changes, line):
    assert describe("reproduced", rows(*changes)) == line


SEEDS = rows(("seed", "seed", "1", "reproduced"), ("seed", "seed", "2", "reproduced"))


@pytest.mark.parametrize(
    ("others", "digits", "text"),
    [
        pytest.param((0.126, 0.121), 2, " (measured 0.12 to 0.13)", id="differ in the third"),
        pytest.param((0.12341, 0.1235), 4, "", id="differ in the fourth"),
        pytest.param((0.12345, 0.12345), 4, "", id="are the same"),
        pytest.param((2e-12, 1e-12), 2, "", id="are rounding errors"),
        pytest.param((float("nan"), float("nan")), 4, "", id="are none"),
    ],
)
def test_a_number_has_the_digits_that_seeds_leave_and_the_line_says_their_range(others, digits, text):
    judged = SEEDS.assign(measured=others)
    assert stable_digits({"verdict": "reproduced", "measured": 0.12345}, judged) == digits
    assert describe("reproduced", judged) == f"The verdict stays with 2 of 2 other seeds{text}"


@pytest.mark.parametrize("verdict", ["corrected", "undecided"])
def test_any_verdict_can_stay(verdict):
    spread = SEEDS.assign(measured=(0.2, 0.3), verdict=verdict)
    assert stable_digits({"verdict": verdict, "measured": 0.25}, spread) == 2
    assert describe(verdict, spread) == "The verdict stays with 2 of 2 other seeds (measured 0.2 to 0.3)"


def test_what_keeps_a_verdict_and_what_does_not_are_two_sentences():
    judged = rows(("setting", "small.scale", "0.1", "reproduced"), ("threshold", "loss", "1", "undecided"))
    assert describe("reproduced", judged) == (
        "The verdict stays with `scale` at 0.1 in the run `small`. "
        "It does not stay with the one other choice of thresholds that was tried (undecided if `loss` is 1)"
    )


@pytest.mark.parametrize(
    ("own", "others", "mark"),
    [
        pytest.param("reproduced", ["reproduced", "reproduced", "undecided"], "", id="two of three agree"),
        pytest.param("reproduced", ["reproduced", "undecided", "undecided"], "‡", id="one of three agrees"),
        pytest.param("corrected", ["contradicted", "undecided", "corrected"], "‡", id="all differ from each other"),
        pytest.param("reproduced", ["undecided"], "‡", id="one of one differs"),
        pytest.param("undecided", ["reproduced", "reproduced"], "‡", id="all decide what is undecided"),
        pytest.param("reproduced", [], "", id="no other seeds"),
    ],
)
def test_a_mark_counts_other_seeds_and_the_verdict_stays_that_of_the_default_run(own, others, mark):
    claims = claims_of(own).assign(expected=own)
    judged = rows(*(("seed", "seed", str(number), other) for number, other in enumerate(others)))
    counted = count_judged_again(claims, judged)
    # the verdict, and its reason, are those of the default run
    assert list(counted["verdict"]) == [own]
    assert list(counted["reason"]) == ["because"]
    assert verdicts.complaints(counted) == []
    assert counted.dtypes.equals(claims.dtypes)
    # seeds are counted and marked
    (claim,) = counted.to_dict("records")
    assert (claim["seeds"], claim["seeds_agreeing"]) == (len(others), others.count(own))
    assert marks(claim) == mark
    # the mark is printed and explained
    printed = verdicts.describe(counted)
    assert f" {own}{mark}\n" in printed
    assert f"1 claims: 1 {own}\n" in printed
    assert ("‡ fewer than two thirds of the other seeds that were tried give this verdict" in printed) == bool(mark)


def test_of_thresholds_that_turn_a_verdict_together_only_those_that_all_matter_are_named():
    judged = rows(
        ("threshold", "level", "2", "undecided"),
        ("threshold", "level and average", "2 and median", "undecided"),
        ("threshold", "level and share", "2 and 0.1", "not reproduced"),
        ("threshold", "level and share", "3 and 0.1", "undecided"),
    )
    phrases = {"level": "?", "known.level": "{} is low", "average": {"median": "medians count"}, "share": {"0.2": "?"}}
    assert describe("reproduced", judged.assign(claim="p.known"), phrases=phrases) == (
        "The verdict does not stay with any of 4 other choices of thresholds (undecided if 2 is low, "
        "not reproduced if 2 is low and `share` is 0.1, undecided if 3 is low and `share` is 0.1)"
    )


def test_the_page_has_formulas_in_unicode_and_names_as_they_are():
    judged = rows(("threshold", "level", "1e-06", "undecided"), ("setting", "small.scale", "0.1", "reproduced"))
    phrases = {"toy": {"level": r"$\rho$ is {}"}}
    text = page(count_judged_again(claims_of("reproduced"), judged), judged, phrases=phrases)
    assert "|`scale` at 0.1 in the run `small`|0/1 (undecided if ρ is 1e-6)|" in text


def test_a_value_may_hold_the_word_that_joins_values():
    row = {"claim": "toy.a", "what": "level and reading", "value": "0.1 and norm and angle"}
    assert describe_thresholds(row, {}) == "`level` is 0.1 and `reading` is norm and angle"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_other_setting_of_a_claim_is_called_something_and_nothing_else_is(paper):
    config = plan().config
    phrases, unused = config.phrases(paper), set(config.phrases(paper))
    for name, block in config.paper_block(paper)["claims"].items():
        for setting, values in (block.get("vary") or {}).items():
            unused -= {f"{name}.{setting}" if f"{name}.{setting}" in phrases else setting}
            for value in values:
                row = {"claim": f"{paper}.{name}", "what": setting, "value": str(value)}
                assert "`" not in describe_thresholds(row, phrases), (name, setting, value)
    assert unused == set()


def test_the_matrix_says_how_many_other_seeds_give_the_verdict():
    judged = rows(("seed", "seed", "7", "reproduced"), *(("seed", "seed", str(seed), "undecided") for seed in (8, 9)))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert "|✓‡&nbsp;`a`|||1/3 (undecided with seed 8, undecided with seed 9)||" in text
    assert (
        "Other seeds were tried for 1 claims: for 0 every seed gives the verdict, for 1 fewer than two thirds" in text
    )


def test_the_page_marks_what_another_choice_turns():
    judged = rows(*SCALES, ("draw", "draw", "4", "contradicted"))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert (
        "|✓†&nbsp;`a`|`scale` from 1e-5 to 0.003 in the run `small` (undecided at 0.01)|||0/1 (1 contradicted)|" in text
    )
    assert "- `toy.a`, draw 4: contradicted" in text
    assert "†" not in page(claims_of("reproduced"), rows(*SCALES[1:])).partition("|claims|")[2]


def test_claims_that_agree_share_a_row_of_the_page():
    two = pd.concat([claims_of("reproduced"), claims_of("reproduced").assign(claim="toy.b")])
    both = page(two, pd.concat([rows(SCALES[1]), rows(SCALES[1]).assign(claim="toy.b")]))
    assert "|✓&nbsp;`a` ✓&nbsp;`b`|`scale` at 1e-5 in the run `small`" in both


def test_the_table_marks_what_another_choice_turns():
    judged = rows(*SCALES, ("draw", "draw", "4", "contradicted"))
    assert "reproduced†" in verdicts.describe(count_judged_again(claims_of("reproduced"), judged))
    assert "†" not in verdicts.describe(count_judged_again(claims_of("reproduced"), rows(*SCALES[1:])))


@pytest.mark.parametrize(
    ("quantifier", "judged", "written"),
    [
        ("some setting", "contradicted", "not reproduced"),
        ("some setting", "reproduced", "reproduced"),
        ("some setting", "undecided", "undecided"),
        ("all draws", "contradicted", "contradicted"),
    ],
)
def test_what_can_happen_is_not_contradicted_where_it_does_not(quantifier, judged, written):
    evaluation = Evaluation(judged, reason="why", quantifier=quantifier)
    row = variation_row("toy", "a", "setting", "small.scale", value=0.1, evaluation=evaluation)
    assert row["verdict"] == written
    assert row["reason"] == ("why" if judged == written else "does not show in this setting; why")


def test_what_can_happen_has_no_mark_for_settings_in_which_it_does_not():
    can_happen = claims_of("reproduced").assign(quantifier="some setting")
    elsewhere = ("setting", "small.scale", "0.1", "not reproduced")
    for claims, judged, mark in (
        (can_happen, rows(elsewhere), False),
        (can_happen, rows(elsewhere, ("threshold", "reached", "1", "not reproduced")), True),
        (can_happen.assign(verdict="not reproduced"), rows(("setting", "small.scale", "1", "reproduced")), True),
        (claims_of("reproduced"), rows(elsewhere), True),
    ):
        assert ("†" in verdicts.describe(count_judged_again(claims, judged))) == mark, (
            claims["verdict"].item(),
            judged["change"].tolist(),
        )
    assert describe("reproduced", rows(elsewhere)) == (
        "The verdict does not stay with any other value of `scale` that was tried in the run `small` "
        "(not reproduced at 0.1)"
    )
