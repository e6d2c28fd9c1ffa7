"""Claims judged alone: ``python -m learning_dynamics judge PAPER.CLAIM``."""

import re
import sys

import numpy as np
import pytest

from learning_dynamics.judging import NOT_CLAIMED, claim, equal, equal_on_every_draw, evaluate, premise
from learning_dynamics.judging.checks import CORRECTION
from learning_dynamics.pipeline.report import plain_text
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import PAPER, toy


@pytest.fixture(scope="module")
def judged_alone(tmp_path_factory):
    """The made-up paper, of which nothing was built before one claim was judged, and what the command printed."""
    workspace = toy(tmp_path_factory.mktemp("judged") / "project")
    ended = workspace.cli("judge", "toy.geometric", "--cores", "1")
    assert ended.returncode == 0, ended.stderr
    return workspace, ended.stdout


def test_only_the_metrics_that_the_claim_reads_are_made(judged_alone):
    workspace, _ = judged_alone
    results = workspace.folder / "results"
    files = {path.relative_to(results).as_posix() for path in results.rglob("*.*") if path.is_file()}
    # besides what the metrics are made from, and what jobs note of themselves
    outputs = {file for file in files if not re.search(r"/(logs|benchmarks|runs|data|resume)/|README", file)}
    assert outputs == {"toy/metrics/slow.parquet", "toy/metrics/fast.parquet"}


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("toy.geometric: reproduced, about every draw", id="verdict and quantifier"),
        pytest.param("section 2. Authors, venue, year", id="reference, and the paper's citation"),
        pytest.param(
            "Growth in steps is geometric, xₙ = (1+r)ⁿx₀, and faster at a larger rate.", id="sentence of the claim"
        ),
        pytest.param("holds: largest relative error of xₙ: ", id="headline"),
        pytest.param(
            "≤ 4.1·10⁻¹⁴ on every draw (one rounding a step); inside its bound by a factor",
            id="bound: 41 recorded steps, each with the `rounding` 1e-15 of toy.yaml",
        ),
        pytest.param("holds: growth at the larger rate: ", id="second check"),
        pytest.param("all 3 draws agree", id="draws"),
        pytest.param("contradicted: a rate one percent larger", id="rival"),
        pytest.param("Smallest relative error of the prediction that the checks would reject: ", id="resolution"),
        pytest.param("Scope: normal starts, two rates", id="scope"),
        pytest.param(
            "Judged again: The verdict stays with the one other choice of thresholds that was tried.",
            id="variations of thresholds",
        ),
        pytest.param(
            "Not tried here: other settings, as where the whole paper is judged; seeds and draws, by make robustness",
            id="variations that were not tried",
        ),
        pytest.param("Read from: results/toy/metrics/slow.parquet, results/toy/metrics/fast.parquet", id="tables"),
        pytest.param("Code: src/learning_dynamics/papers/toy/growth/claims.py:", id="code"),
    ],
)
def test_the_card_of_a_claim_has(judged_alone, part):
    _, card = judged_alone
    assert part in " ".join(card.split())  # lines of the card are wrapped


@pytest.fixture(scope="module")
def cards(built):
    """Return the cards of both claims of the built paper, by claim."""
    claims = ("toy.geometric", "toy.decay")
    ended = built.cli("judge", *claims)
    assert ended.returncode == 0, ended.stderr
    assert "Nothing to be done" in ended.stderr
    return dict(zip(claims, ended.stdout.split("\n\n"), strict=True))


def measured_numbers(card):
    """Return the numbers that the checks of a card measured; it prints 5.8e-16 as `5.8·10⁻¹⁶`."""
    printed = re.findall(r"^  holds: .*: (\d[\d.]*)(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", card, re.MULTILINE)
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return [float(f"{digits}e{power.translate(plain) or 0}") for digits, power in printed]


@pytest.mark.parametrize("name", ["toy.geometric", "toy.decay"])
def test_the_card_has_the_verdict_and_the_numbers_of_the_results(name, cards, built):
    claims = read_table(built.folder / "results/toy/claims.parquet").set_index("claim")
    checks = read_table(built.folder / "results/toy/checks.parquet").set_index("claim")
    assert cards[name].startswith(f"{name}: {claims.loc[name, 'verdict']}")
    # a card prints four digits: half a unit of the last is at most 0.5e-3 of the number
    np.testing.assert_allclose(measured_numbers(cards[name]), checks.loc[[name], "measured"], rtol=0.5e-3)


def test_the_card_says_whether_other_settings_change_the_verdict(cards):
    kept = "The verdict stays with steps at 20 in the run slow; with the one other choice of thresholds that was tried."
    assert f"Judged again: {kept}" in " ".join(cards["toy.geometric"].split())
    assert "Not tried here" not in cards["toy.geometric"]


def test_the_status_is_0_whatever_the_verdict(workspace):
    workspace.configure("claims", "geometric", "rounding", value=1e-30)  # no double is that close
    ended = workspace.cli("judge", "toy.geometric")
    assert ended.returncode == 0, ended.stderr
    # the dagger: the other `rounding` of toy.yaml, 1e-14, gives another verdict
    assert "toy.geometric: contradicted†, about every draw (expected: reproduced)" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toy.geometrc"], "toy: no claim `geometrc`; did you mean `geometric`?"),
        (["toy.decay", "toy.deca"], "toy: no claim `deca`; did you mean `decay`?"),
        (["toi.geometric"], "toi.geometric: no paper `toi`; did you mean `toy`?"),
        (["geometric"], "`geometric`: a claim has the name of its paper before it, as in toy.geometric"),
        (["toy"], "`toy`: a claim has the name of its paper before it, as in toy."),  # followed by any claim of toy
        (["toy.decay", "--configfile", "none.yaml"], "none.yaml: no such file"),
    ],
)
def test_what_cannot_be_judged_is_answered_by_one_line(built, arguments, message):
    ended = built.cli("judge", *arguments)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"error: {message}"), ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{value:.1e}", "{valu:.1e}", "the text has a field `{valu}` that nothing fills; did you mean `value`?"),
        ('r"""Growth', '_ = r"""Growth', "has no docstring; write the claim's sentence there, first"),
    ],
    ids=["a misspelt field", "no docstring"],
)
def test_the_job_of_claims_refuses_a_text_that_cannot_be_shown(workspace, old, new, message):
    workspace.edit(f"{PAPER}/growth/claims.py", old, new)
    ended = workspace.cli("claims", "toy")
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "growth/claims.py: `geometric`" in ended.stderr
    assert message in ended.stderr


def test_a_random_py_in_the_working_folder_does_not_hide_the_module_random(workspace):
    workspace.write("random.py", "")
    # in a new process: the one that `cli` forks has already imported the standard module
    ended = workspace.run(sys.executable, "-m", "learning_dynamics", "judge", "toy.decay")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("toy.decay: reproduced")


def test_no_card_is_printed_where_a_run_fails(clean):
    clean.edit(f"{PAPER}/growth/runs.py", "states = [data", "raise ValueError('planted')\n    states = [data")
    ended = clean.cli("judge", "toy.geometric")
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert "planted" in ended.stderr


def card_of(function, marks="", variations=(), width=72):
    """Return the card of a claim that reads no tables, as text; the claim is called `made_up.a`."""
    evaluation = evaluate(function, tables={}, settings={})
    claim_row = records.claim_row(function.claim, evaluation)
    checks = records.check_rows(evaluation)
    return plain_text.card(
        claim_row
        | {
            "claim": "made_up.a",
            "paper": "made_up",
            "statement": "It is $x$.",
            "marks": marks,
            "as_expected": True,
            "rivals": evaluation.rivals,
            "checks": checks,
            "variations": list(variations),
            "robustness": "",
            "on_other_processors": "",
            "elsewhere": "",
            "explanation": "",
            "evidence": ["results/made_up/metrics/a.parquet"],
            "code": "claims.py#L1",
        },
        "Authors, 2020",
        width=width,
    )


def between(card, opening, end):
    """Return the part of a card after the words `opening`, which it has, up to `end`."""
    assert opening in card
    return card.partition(opening)[2].partition(end)[0]


# a claim of which the correction holds: it measures 2 and 4 where the sentence predicts 1 and 2
@claim("Theorem 1", scope="everywhere", correction="It is $2x$.")
def doubled():
    """It is $x$."""
    yield equal_on_every_draw(
        "error of $x$",
        [2.0, 4.0],
        predicted=[1.0, 2.0],
        tolerance=1e-3,
        corrected=[2.0, 4.0],
        rivals={"thrice": [3.0, 6.0]},
    )
    yield equal("the half", 1.0, predicted=1.0, tolerance=0.1, printed=NOT_CLAIMED)


def test_a_corrected_claim_shows_what_holds_and_the_checks_of_both_predictions():
    card = card_of(doubled)
    assert card.startswith("made_up.a: corrected, about every draw\nTheorem 1. Authors, 2020\n  It is x.\n")
    assert "What holds: It is 2x.\n" in card
    printed, _, corrected = card.partition("Checks of the correction:")
    # errors are relative to the measured numbers: |2 - 1| / 2
    assert "fails: error of x: 0.5, predicted 0 (decides)" in printed
    assert "the half" not in printed
    assert "holds: error of x: 0, predicted 0 (decides)" in corrected
    assert "holds: the half: 1, predicted 1\n" in corrected


@claim("Theorem 1", scope="everywhere", origin="ours")
def observed():
    """It is $x$."""
    yield equal("the half", 1.0, predicted=1.0, tolerance=0.1, rivals={"one": 2.0})


def test_a_claim_of_our_own_is_not_credited_to_the_paper():
    _, credit, _ = card_of(observed).split("\n", maxsplit=2)
    assert credit == "Our own claim, no sentence of the paper; see Theorem 1. Authors, 2020"


def test_a_correction_is_not_shown_among_the_rivals():
    # inside a check the correction is one of its rivals, under the phrase `CORRECTION`
    rivals = between(card_of(doubled), "Rivals", "Scope")
    assert "  contradicted: thrice\n" in rivals
    assert CORRECTION not in rivals


def test_a_mark_beside_the_verdict_is_explained():
    card = card_of(doubled, marks="†")
    assert card.startswith("made_up.a: corrected†, about every draw\n")
    assert "† another choice of a threshold or setting gives another verdict." in card


def test_a_card_without_variations_says_that_none_were_tried():
    assert "Not tried here" in card_of(doubled)


def test_a_card_with_variations_does_not_say_that_none_were_tried():
    assert "Not tried here" not in card_of(doubled, variations=[{"change": "seed", "verdict": "reproduced"}])


@pytest.mark.parametrize("width", [40, 72])
def test_no_line_of_a_card_is_wider_than_the_terminal(width):
    assert max(map(len, card_of(doubled, width=width).splitlines())) <= width


def test_a_failing_check_says_how_far_it_is_outside_its_bound():
    @claim("Theorem 1", scope="everywhere")
    def too_large():
        """It is $x$."""
        yield equal("the number", 3.0, predicted=1.0, tolerance=0.5, rivals={"two": 2.0})

    # |3 - 1| is four times the tolerance
    assert "outside its bound by a factor 4" in between(card_of(too_large), "fails: the number: 3", "Rivals")


@claim("Theorem 1", scope="everywhere")
def without_its_premise():
    """It is $x$."""
    yield equal("the number", 1.0, predicted=1.0, tolerance=0.1, rivals={"two": 2.0})
    yield premise(equal("the hypothesis", 0.0, predicted=1.0, tolerance=0.1))  # which fails


def test_an_unmet_premise_is_named():
    card = card_of(without_its_premise)
    assert card.startswith("made_up.a: undecided, about one number\n")
    assert "Why: the hypothesis: the premise is not met (0;" in card
    hypothesis = between(card, "fails: the hypothesis", "Rivals")
    assert "(decides)" in hypothesis
    assert hypothesis.rstrip().endswith("a premise")


def test_where_a_premise_is_unmet_no_smallest_error_is_given():
    assert np.isnan(evaluate(without_its_premise, tables={}, settings={}).min_detectable_error)
    assert "would reject" not in card_of(without_its_premise)


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("reproduced", id="one verdict, which is the claim's"),
        pytest.param({"undecided or corrected": "rounding decides"}, id="two verdicts, neither of them the claim's"),
    ],
)
def test_a_card_is_silent_on_other_processors_unless_two_verdicts_are_expected(clean, expected):
    """The claim's own must be one of the two."""
    clean.configure("claims", "geometric", "expected", value=expected)
    card = clean.cli("judge", "toy.geometric").stdout
    assert card.startswith("toy.geometric: reproduced")
    assert "On other processors" not in card


def test_a_card_names_the_verdict_of_other_processors_where_two_are_expected(clean):
    clean.configure("claims", "geometric", "expected", value={"undecided or reproduced": "rounding decides"})
    card = clean.cli("judge", "toy.geometric").stdout
    assert "On other processors the verdict can be undecided: rounding decides" in card
