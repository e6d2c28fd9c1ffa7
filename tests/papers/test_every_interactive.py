"""Every figure that the reader moves, at smoke scale: it can be moved, it is small, its numbers fill what is said."""

import json

import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.interactive import chart_json
from learning_dynamics.pipeline.report.templates import fields
from tests.support import PAPERS, every_name, smoke, tables_of
from tests.typed_results import assert_filled, typed_results


def test_every_paper_has_one():
    assert [paper for paper in PAPERS if len(smoke(paper).config.interactives(paper)) != 1] == []


@pytest.mark.parametrize(("paper", "name"), every_name("interactive"))
def test_it_can_be_moved_and_says_what_it_shows(paper, name):
    plan = smoke(paper)
    spec = plan.drawing("interactive", paper, name)
    tables = tables_of(plan, paper, spec["runs"])
    drawn = paper_function(paper, "interactive", spec["function"])(**tables, **spec["settings"])
    text = chart_json(drawn, "what it shows", name)  # raises if it is too large
    assert "NaN" not in text
    assert "Infinity" not in text
    chart = json.loads(text)
    assert chart["description"] == "what it shows"
    inputs = [parameter["bind"] for parameter in chart["params"]]
    assert inputs[0]["input"] == "range"
    assert {bind["input"] for bind in inputs} <= {"range", "radio"}
    # what is chosen decides what is drawn, and the title says it
    drawing = json.dumps(chart["layer"]) + json.dumps(chart["title"], ensure_ascii=False)
    for parameter in chart["params"]:
        assert parameter["name"] in drawing, parameter
    assert chart["params"][0]["name"] in chart["title"]["text"]["expr"]
    caption = plan.config.caption(paper, name, "interactive")
    assert typed_results(caption) == typed_results(drawn.alt) == []
    assert drawn.alt
    assert fields(caption) | fields(drawn.alt) == set(drawn.facts)
    assert_filled(drawn.facts, caption, drawn.alt)
