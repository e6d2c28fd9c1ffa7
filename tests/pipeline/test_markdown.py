"""What a paper's page in Markdown says of a claim."""

from learning_dynamics.pipeline.report import contents, markdown
from learning_dynamics.pipeline.report.contents import Paper, Topic
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES


def page(tmp_path, **changed):
    """The page of a paper with one claim that was judged once."""
    claim = {
        "claim": "made_up.a", "id": "a", "verdict": "reproduced", "quantifier": "all draws", "reference": "Figure 1",
        "code": "src/learning_dynamics/judging.py#L1", "statement": "It falls.", "correction": "", "reason": "",
        "scope": "everywhere", "robustness": "", "turned": False, "rivals": {},
        "standing": {
            "predicted": float("nan"), "quantity": "the size", "measured": 1.0, "lower": float("nan"),
            "criterion": "at most 2", "draws_for": 3, "draws_against": 0, "draws_undecided": 0, "left_out": "",
        },
    }  # fmt: skip
    topic = Topic("made_up", "flow", "The flow", [], [claim | changed])
    return markdown.paper_page(Paper("made_up", "Things", "Nobody", "", "", [topic], [], [], [], None, []), tmp_path)


def test_a_card_says_how_the_claim_fared_when_it_was_judged_again(tmp_path):
    text = page(tmp_path, robustness="Holds under 2 of 3 seeds", turned=True)
    assert "**reproduced**† (all draws). Figure 1" in text
    assert "\n  Holds under 2 of 3 seeds.\n" in text
    assert "†" not in page(tmp_path)


def test_a_reason_leaves_out_what_the_verdict_says():
    for reason, told in (
        ("does not show at this scale", ""),
        ("one direction is learnt; does not show at this scale", "one direction is learnt"),
        ("the interval covers the bound", "the interval covers the bound"),
        ("", ""),
    ):
        assert contents.drop_repeated_clause(VERDICT_STYLES["not reproduced"].meaning, reason) == told


def test_words_are_no_markup():
    assert markdown.prose("<script>x</script> [a](javascript:b)") == r"\<script\>x\</script\> [a\](javascript:b)"
