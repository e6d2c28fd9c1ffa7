"""Every figure with a slider, at smoke scale: inputs change its drawing, it is small, its numbers fill its texts."""

import json

import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.interactive import chart_json
from learning_dynamics.pipeline.report.templates import fields
from tests.support import every_name, smoke, tables_of
from tests.typed_results import assert_filled, typed_results

SHIPPED = ("deep_linear", "neural_collapse", "softmax_dynamics", "spectral_bias", "tensor_networks")  # others need none
every_interactive = pytest.mark.parametrize(("paper", "name"), every_name("interactive"), scope="module")


@pytest.fixture(scope="module")
def interactive(paper, name):
    """The figure as its function returns it, from tables at smoke scale."""
    plan = smoke(paper)
    spec = plan.drawing("interactive", paper, name)
    tables = tables_of(plan, paper, spec["runs"])
    return paper_function(paper, "interactive", spec["function"])(**tables, **spec["settings"])


@pytest.fixture(scope="module")
def chart(interactive, name):
    """The figure as the page carries it, a chart of Vega-Lite with a description."""
    return json.loads(chart_json(interactive, "what it shows", name))


@pytest.mark.parametrize("paper", SHIPPED)
def test_every_shipped_paper_has_one(paper):
    assert len(smoke(paper).config.interactives(paper)) == 1


@every_interactive
def test_its_chart_is_small_and_of_finite_numbers_with_a_description(interactive, name):
    text = chart_json(interactive, "what it shows", name)  # raises if it is too large
    assert "NaN" not in text
    assert "Infinity" not in text
    assert json.loads(text)["description"] == "what it shows"


@every_interactive
def test_its_first_input_is_a_slider_and_others_are_sliders_or_radio_buttons(chart):
    first, *others = (parameter["bind"]["input"] for parameter in chart["params"])
    assert first == "range"
    assert set(others) <= {"range", "radio"}


@every_interactive
def test_each_input_changes_what_is_drawn_and_the_title_says_where_the_slider_is(chart):
    drawing = json.dumps(chart["layer"]) + json.dumps(chart["title"], ensure_ascii=False)
    for parameter in chart["params"]:
        assert parameter["name"] in drawing, parameter
    slider = chart["params"][0]["name"]
    assert slider in chart["title"]["text"]["expr"]


@every_interactive
def test_its_texts_have_no_typed_result_and_its_facts_fill_them(interactive, paper, name):
    caption = smoke(paper).config.caption(paper, name, "interactive")
    assert interactive.alt
    assert typed_results(caption) == typed_results(interactive.alt) == []
    assert fields(caption) | fields(interactive.alt) == set(interactive.facts)
    assert_filled(interactive.facts, caption, interactive.alt)
