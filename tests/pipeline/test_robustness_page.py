"""Claims judged again with other seeds, draws, settings or thresholds: how reports describe and mark the outcomes.

The claim is a made-up one, `toy.a`, and so are its outcomes.
"""

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

# without phrases of the configuration that name thresholds: these are called by their keys
describe = functools.partial(robustness.describe, phrases={})
page = functools.partial(robustness.page, phrases={"toy": {}})


def rows(*variations):
    """Return a row of the claim `toy.a` for each variation: what kind it is, what was changed, to what, the verdict."""
    same = {"paper": "toy", "claim": "toy.a", "measured": 1.0, "reason": ""}
    records = [
        same | {"change": change, "what": what, "value": value, "verdict": verdict}
        for change, what, value, verdict in variations
    ]
    return pd.DataFrame(records, columns=[column.name for column in VARIATION_COLUMNS])


def claims_of(verdict):
    """Return the table of the claim `toy.a` with its verdict in the default run; other columns are blank."""
    blank = {"float": float("nan"), "int": 0, "str": ""}
    blank_row = {column.name: blank[column.type] for column in CLAIM_COLUMNS}
    return pd.DataFrame([blank_row | {"paper": "toy", "claim": "toy.a", "verdict": verdict, "reason": "because"}])


# `scale` of the run `small` changed: two values keep the verdict, the largest does not
SCALES = [
    ("setting", "small.scale", "0.01", "undecided"),
    ("setting", "small.scale", "1e-05", "reproduced"),
    ("setting", "small.scale", "0.003", "reproduced"),
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


TWO_SEEDS = rows(("seed", "seed", "1", "reproduced"), ("seed", "seed", "2", "reproduced"))


@pytest.mark.parametrize(
    ("measured", "digits", "range_in_line"),
    [
        pytest.param((0.126, 0.121), 2, " (measured 0.12 to 0.13)", id="seeds differ in the third digit"),
        pytest.param((0.12341, 0.1235), 4, "", id="seeds differ in the fourth digit"),
        pytest.param((0.12345, 0.12345), 4, "", id="seeds agree"),
        pytest.param((2e-12, 1e-12), 2, "", id="seeds measure rounding errors"),
        pytest.param((float("nan"), float("nan")), 4, "", id="seeds measure nothing"),
    ],
)
def test_a_number_has_the_digits_in_which_seeds_agree_and_a_wide_range_is_in_the_line(measured, digits, range_in_line):
    judged = TWO_SEEDS.assign(measured=measured)
    assert stable_digits({"verdict": "reproduced", "measured": 0.12345}, judged) == digits
    assert describe("reproduced", judged) == f"The verdict stays with 2 of 2 other seeds{range_in_line}"


@pytest.mark.parametrize("verdict", ["corrected", "undecided"])
def test_seeds_that_give_another_verdict_than_reproduced_are_described_alike(verdict):
    judged = TWO_SEEDS.assign(measured=(0.2, 0.3), verdict=verdict)
    assert stable_digits({"verdict": verdict, "measured": 0.25}, judged) == 2
    assert describe(verdict, judged) == "The verdict stays with 2 of 2 other seeds (measured 0.2 to 0.3)"


def test_changes_that_keep_a_verdict_and_changes_that_turn_it_are_two_sentences():
    judged = rows(("setting", "small.scale", "0.1", "reproduced"), ("threshold", "loss", "1", "undecided"))
    assert describe("reproduced", judged) == (
        "The verdict stays with `scale` at 0.1 in the run `small`. "
        "It does not stay with the one other choice of thresholds that was tried (undecided if `loss` is 1)"
    )


VERDICTS_OF_SEEDS = [
    pytest.param("reproduced", ["reproduced", "reproduced", "undecided"], "", id="two of three agree"),
    pytest.param("reproduced", ["reproduced", "undecided", "undecided"], "‡", id="one of three agrees"),
    pytest.param("corrected", ["contradicted", "undecided", "corrected"], "‡", id="all differ from each other"),
    pytest.param("reproduced", ["undecided"], "‡", id="one of one differs"),
    pytest.param("undecided", ["reproduced", "reproduced"], "‡", id="all decide an undecided claim"),
    pytest.param("reproduced", [], "", id="no other seeds"),
]


def judged_with_seeds(verdict, verdicts_of_seeds):
    """Return the table of the claim, with its verdict in the default run, after it is judged with other seeds."""
    seeds = [("seed", "seed", str(seed), of_seed) for seed, of_seed in enumerate(verdicts_of_seeds)]
    return count_judged_again(claims_of(verdict).assign(expected=verdict), rows(*seeds))


@pytest.mark.parametrize(("verdict", "verdicts_of_seeds", "mark"), VERDICTS_OF_SEEDS)
def test_other_seeds_change_neither_the_verdict_of_the_default_run_nor_its_reason(verdict, verdicts_of_seeds, mark):
    counted = judged_with_seeds(verdict, verdicts_of_seeds)
    assert list(counted["verdict"]) == [verdict]
    assert list(counted["reason"]) == ["because"]
    assert verdicts.complaints(counted) == []  # about verdicts that are not expected
    assert counted.dtypes.equals(claims_of(verdict).dtypes)


@pytest.mark.parametrize(("verdict", "verdicts_of_seeds", "mark"), VERDICTS_OF_SEEDS)
def test_a_verdict_is_marked_if_fewer_than_two_thirds_of_other_seeds_give_it(verdict, verdicts_of_seeds, mark):
    (claim,) = judged_with_seeds(verdict, verdicts_of_seeds).to_dict("records")
    assert claim["seeds"] == len(verdicts_of_seeds)
    assert claim["seeds_agreeing"] == verdicts_of_seeds.count(verdict)
    assert marks(claim) == mark


@pytest.mark.parametrize(("verdict", "verdicts_of_seeds", "mark"), VERDICTS_OF_SEEDS)
def test_the_table_of_verdicts_has_the_mark_and_explains_it(verdict, verdicts_of_seeds, mark):
    printed = verdicts.describe(judged_with_seeds(verdict, verdicts_of_seeds))
    assert f" {verdict}{mark}\n" in printed
    assert f"1 claims: 1 {verdict}\n" in printed
    assert ("‡ fewer than two thirds of the other seeds that were tried give this verdict" in printed) == bool(mark)


def test_a_threshold_that_turns_a_verdict_alone_is_named_alone():
    """Those that were changed with it are not named."""
    # at level 2 the verdict is undecided whatever the average is; another share makes it another verdict
    judged = rows(
        ("threshold", "level", "2", "undecided"),
        ("threshold", "level and average", "2 and median", "undecided"),
        ("threshold", "level and share", "2 and 0.1", "not reproduced"),
        ("threshold", "level and share", "3 and 0.1", "undecided"),
    )
    # a phrase of the claim `known` comes before that of all claims; a share of 0.1 has none
    phrases = {"level": "?", "known.level": "{} is low", "average": {"median": "medians count"}, "share": {"0.2": "?"}}
    assert describe("reproduced", judged.assign(claim="p.known"), phrases=phrases) == (
        "The verdict does not stay with any of 4 other choices of thresholds (undecided if 2 is low, "
        "not reproduced if 2 is low and `share` is 0.1, undecided if 3 is low and `share` is 0.1)"
    )


def test_the_page_writes_formulas_of_phrases_in_unicode():
    judged = rows(("threshold", "level", "1e-06", "undecided"), ("setting", "small.scale", "0.1", "reproduced"))
    phrases = {"toy": {"level": r"$\rho$ is {}"}}
    text = page(count_judged_again(claims_of("reproduced"), judged), judged, phrases=phrases)
    assert "|`scale` at 0.1 in the run `small`|0/1 (undecided if ρ is 1e-6)|" in text


def test_a_value_may_hold_the_word_that_joins_values():
    row = {"claim": "toy.a", "what": "level and reading", "value": "0.1 and norm and angle"}
    assert describe_thresholds(row, phrases={}) == "`level` is 0.1 and `reading` is norm and angle"


def varied_thresholds(config, paper):
    """Yield the claim, the threshold and the other values of it, for each that a paper's configuration varies."""
    for claim, block in config.paper_block(paper)["claims"].items():
        for threshold, values in (block.get("vary") or {}).items():
            yield claim, threshold, values


@pytest.mark.parametrize("paper", PAPERS)
def test_every_other_value_of_a_threshold_has_a_phrase(paper):
    config = plan().config
    for claim, threshold, values in varied_thresholds(config, paper):
        for value in values:
            row = {"claim": f"{paper}.{claim}", "what": threshold, "value": str(value)}
            described = describe_thresholds(row, config.phrases(paper))
            assert "`" not in described, (claim, threshold, value)  # it would be called by its key, in backticks


@pytest.mark.parametrize("paper", PAPERS)
def test_every_phrase_is_of_a_threshold_that_is_varied(paper):
    config = plan().config
    phrases = set(config.phrases(paper))
    used = set()
    for claim, threshold, _ in varied_thresholds(config, paper):
        own_phrase = f"{claim}.{threshold}"  # comes before the phrase of the same threshold of all claims
        used.add(own_phrase if own_phrase in phrases else threshold)
    assert phrases - used == set()


def test_the_matrix_says_how_many_other_seeds_give_the_verdict():
    judged = rows(("seed", "seed", "7", "reproduced"), *(("seed", "seed", str(seed), "undecided") for seed in (8, 9)))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert "|✓‡&nbsp;`a`|||1/3 (undecided with seed 8, undecided with seed 9)||" in text
    assert (
        "Other seeds were tried for 1 claims: for 0 every seed gives the verdict, for 1 fewer than two thirds" in text
    )


def test_the_page_marks_a_verdict_that_a_setting_turns_and_lists_draws_that_do():
    judged = rows(*SCALES, ("draw", "draw", "4", "contradicted"))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert (
        "|✓†&nbsp;`a`|`scale` from 1e-5 to 0.003 in the run `small` (undecided at 0.01)|||0/1 (1 contradicted)|" in text
    )
    assert "- `toy.a`, draw 4: contradicted" in text


def test_the_page_does_not_mark_a_verdict_that_stays():
    _, *stay = SCALES
    # above the table marks are explained
    _, _, table = page(claims_of("reproduced"), rows(*stay)).partition("|claims|")
    assert table
    assert "†" not in table


def test_claims_that_agree_share_a_row_of_the_page():
    claim, judged = claims_of("reproduced"), rows(("setting", "small.scale", "1e-05", "reproduced"))
    two_claims = pd.concat([claim, claim.assign(claim="toy.b")])
    text = page(two_claims, pd.concat([judged, judged.assign(claim="toy.b")]))
    assert "|✓&nbsp;`a` ✓&nbsp;`b`|`scale` at 1e-5 in the run `small`" in text


def test_the_table_marks_a_verdict_that_another_setting_turns_and_no_other():
    turns, *stay = SCALES
    claims = claims_of("reproduced")
    assert "reproduced†" in verdicts.describe(count_judged_again(claims, rows(turns, *stay)))
    assert "†" not in verdicts.describe(count_judged_again(claims, rows(*stay)))


# -- a claim that something happens in some setting is not refuted by a setting in which it does not -------------------


@pytest.mark.parametrize(
    ("quantifier", "judged", "verdict", "reason"),
    [
        ("some setting", "contradicted", "not reproduced", "does not show in this setting; why"),
        ("some setting", "reproduced", "reproduced", "why"),
        ("some setting", "undecided", "undecided", "why"),
        ("all draws", "contradicted", "contradicted", "why"),
    ],
)
def test_a_setting_without_the_effect_does_not_contradict_a_claim_about_some_setting(
    quantifier, judged, verdict, reason
):
    """It is not reproduced there, where a claim about all draws is contradicted."""
    evaluation = Evaluation(judged, reason="why", quantifier=quantifier)
    row = variation_row("toy", "a", change="setting", what="small.scale", value=0.1, evaluation=evaluation)
    assert (row["verdict"], row["reason"]) == (verdict, reason)


NOT_AT_ANOTHER_SCALE = ("setting", "small.scale", "0.1", "not reproduced")
NOT_AT_A_THRESHOLD = ("threshold", "reached", "1", "not reproduced")


@pytest.mark.parametrize(
    ("quantifier", "verdict", "variations", "is_marked"),
    [
        pytest.param("some setting", "reproduced", [NOT_AT_ANOTHER_SCALE], False, id="it does not show elsewhere"),
        pytest.param(
            "some setting",
            "reproduced",
            [NOT_AT_ANOTHER_SCALE, NOT_AT_A_THRESHOLD],
            True,
            id="it does not show with another threshold",
        ),
        pytest.param(
            "some setting",
            "not reproduced",
            [("setting", "small.scale", "1", "reproduced")],
            True,
            id="it shows elsewhere only",
        ),
        pytest.param("all draws", "reproduced", [NOT_AT_ANOTHER_SCALE], True, id="it is about all draws"),
    ],
)
def test_a_claim_about_some_setting_has_no_mark_for_settings_in_which_it_does_not_show(
    quantifier, verdict, variations, is_marked
):
    claims = claims_of(verdict).assign(quantifier=quantifier)
    printed = verdicts.describe(count_judged_again(claims, rows(*variations)))
    assert ("†" in printed) == is_marked


def test_a_line_names_settings_in_which_a_claim_about_some_setting_does_not_show():
    assert describe("reproduced", rows(NOT_AT_ANOTHER_SCALE)) == (
        "The verdict does not stay with any other value of `scale` that was tried in the run `small` "
        "(not reproduced at 0.1)"
    )


@pytest.mark.parametrize(
    ("place", "line"),
    [
        pytest.param(0, "The verdict stays with 2 of 2 other seeds (measured 0.57 to 0.61)", id="the headline decides"),
        pytest.param(2, "The verdict stays with 2 of 2 other seeds", id="another check decides"),
    ],
)
def test_numbers_of_other_seeds_are_shown_where_the_headline_decides(place, line):
    """A variation has the headline's number alone, and the card that of the check that decides."""
    judged = rows(*(("seed", "seed", seed, "reproduced") for seed in ("3001", "3002"))).assign(measured=[0.57, 0.61])
    assert describe("reproduced", robustness.comparable_numbers(judged, {"check": place})) == line
