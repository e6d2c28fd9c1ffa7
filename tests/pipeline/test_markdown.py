"""What a paper's page in Markdown says of a claim."""

import pytest

from learning_dynamics.pipeline.report import contents, markdown
from learning_dynamics.pipeline.report.contents import Paper, Topic
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES


def page(tmp_path, **changed):
    """The page of a paper with one claim that was judged nowhere but under variants and sensitivity checks."""
    claim = {
        "claim": "made_up.a", "id": "a", "verdict": "reproduced", "speaks_of": "", "reference": "Figure 1",
        "code": "src/learning_dynamics/judging.py#L1", "statement": "It falls.", "correction": "", "reason": "",
        "scope": "everywhere", "turning": [], "variants": [], "sensitivity": [], "rivals": {},
        "standing": {
            "predicted": float("nan"), "quantity": "the size", "measured": 1.0, "lower": float("nan"),
            "criterion": "at most 2", "draws_for": 3, "draws_against": 0, "draws_undecided": 0, "left_out": "",
        },
    }  # fmt: skip
    topic = Topic("made_up", "flow", "The flow", [], [claim | changed])
    return markdown.paper_page(Paper("made_up", "Things", "Nobody", "", "", [topic], [], [], [], None, []), tmp_path)


def variant(verdict, ours=False, **choices):
    return {"choices": choices, "ours": ours, "measured": 1.0, "verdict": verdict}


OURS = variant("reproduced", ours=True, share=95, loss=1e-3)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ([], "varied: 1 of 1 agree."),
        ([variant("reproduced", share=90, loss=1e-3)], "varied: 2 of 2 agree."),
        (
            [variant("not reproduced", share=99, loss=1e-3), variant("undecided", share=99, loss=0.5)],
            "varied: 1 of 3 agree; not reproduced with `share` = 99; undecided with `share` = 99, `loss` = 0.5.",
        ),
        ([variant("undecided", share=share, loss=1e-3) for share in range(6)], "`share` = 3; 2 more."),
    ],
)
def test_variants_that_disagree_are_named_by_what_differs(tmp_path, others, told):
    assert told in page(tmp_path, variants=[OURS, *others])


def test_sensitivity_checks_that_disagree_are_named(tmp_path):
    check = {"run": "small", "setting": "step", "value": "0.04", "measured": 1.0}
    text = page(tmp_path, sensitivity=[check | {"verdict": one} for one in ("reproduced", "undecided")])
    assert "Again with a chosen setting varied: 1 of 2 agree; undecided with `step` = 0.04 in small." in text
    assert "Our own choices" not in text


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("does not show at this scale", ""),
        ("one direction is learnt; does not show at this scale", "one direction is learnt"),
        ("the interval covers the bound", "the interval covers the bound"),
        ("", ""),
    ],
)
def test_a_reason_leaves_out_what_the_verdict_says(reason, told):
    assert contents.drop_repeated_clause(VERDICT_STYLES["not reproduced"].meaning, reason) == told
