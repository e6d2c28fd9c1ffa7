"""A figure whose reader moves a parameter: a chart that Vega-Lite draws in the page, in the page's own ink."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

INK = "currentColor"  # of the text around the chart, on a light page and on a dark one
HEIGHT = 300  # CSS pixels; a chart is as wide as its place
FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'
DASHES = [6, 4]
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ITALIC = {"h": "ℎ"}  # Unicode's block of mathematical italics has a gap for it


@dataclass(frozen=True)
class Interactive:
    """A chart with at least one parameter that an input of the page sets, its facts and alternative text.

    Attributes
    ----------
    chart : alt.LayerChart or alt.FacetChart
        One panel; `complete` gives it the style.
    facts, alt
        As of `Plot`.
    """

    chart: alt.LayerChart | alt.FacetChart
    facts: Mapping[str, Any] = field(default_factory=dict)
    alt: str = ""


def slider(name: str, label: str, values: Sequence[float], start: float) -> alt.Parameter:
    """Return a parameter that a slider sets to one of `values`, which are evenly apart."""
    step = round(float(values[1] - values[0]), 9)
    bind = alt.binding_range(min=float(values[0]), max=float(values[-1]), step=step, name=label)
    return alt.param(name=name, value=start, bind=bind)


def reading(name: str, values: Sequence[float], said: Sequence[str]) -> alt.Title:
    """Return a title that says what a slider over `values` is set to."""
    step = round(float(values[1] - values[0]), 9)
    words = json.dumps(list(said), ensure_ascii=False)
    return alt.Title(text=alt.ExprRef(f"{words}[round(({name} - ({float(values[0])})) / {step})]"))


def choice(name: str, label: str, options: Sequence[Any], labels: Sequence[str], start: Any) -> alt.Parameter:
    """Return a parameter that radio buttons set to one of some options."""
    bind = alt.binding_radio(options=list(options), labels=list(labels), name=label)
    return alt.param(name=name, value=start, bind=bind)


def italic(text: str) -> str:
    """Return letters, Latin and Greek, as mathematics sets them; what is no letter stays.

    >>> italic("t")
    '𝑡'
    """
    return "".join(ITALIC.get(letter) or _slanted(letter) for letter in text)


def _slanted(letter: str) -> str:
    for first, last, to in (("a", "z", 0x1D44E), ("A", "Z", 0x1D434), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return chr(to + ord(letter) - ord(first))
    return letter


def power(exponent: float) -> str:
    """Return a power of ten as text.

    >>> power(-12)
    '10⁻¹²'
    """
    return "10" + f"{exponent:g}".translate(SUPERSCRIPTS)


def powers(lowest: int, highest: int, every: int = 1) -> alt.Axis:
    """Return a logarithmic axis with powers of ten, from one to another, as its labels."""
    exponents = list(range(lowest, highest + 1))
    labels = [power(exponent) for exponent in exponents]
    place = f"round(log(datum.value) / LN10) - ({lowest})"
    ticks = [10.0**exponent for exponent in exponents[::every]]
    return alt.Axis(values=ticks, labelExpr=f"{labels}[{place}]")


def colours(named: Mapping[str, str]) -> alt.Scale:
    """Return the scale that gives each name its colour."""
    return alt.Scale(domain=list(named), range=list(named.values()))


def complete(interactive: Interactive, said: str) -> dict[str, Any]:
    """Return a chart in the page's style, in the language of Vega-Lite, with what it shows as its description."""
    axis = {
        **dict.fromkeys(("domainColor", "tickColor", "labelColor", "titleColor"), INK),
        **{"grid": False, "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal", "titlePadding": 8},
        **{"labelFlush": False, "labelPadding": 4, "tickSize": 4, "labelOverlap": True, "aria": False},
    }
    legend = {
        **{"orient": "top", "title": None, "labelColor": INK, "labelFontSize": 12, "symbolSize": 90, "offset": 10},
        **{"columnPadding": 14, "labelLimit": 220, "symbolOpacity": 1, "symbolStrokeWidth": 2.4, "aria": False},
    }
    chart = (
        interactive.chart.properties(
            width="container",
            height=HEIGHT,
            background="transparent",
            padding=4,
            description=said,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
        .configure(font=FONT)
        .configure_mark(aria=False)  # the description says it all
        .configure_axis(**axis)
        .configure_legend(**legend)
        .configure_view(stroke=None)
        .configure_title(color=INK, anchor="start", fontSize=15, fontWeight="normal", offset=6)
        .configure_text(color=INK, fontSize=13)
    )
    with alt.data_transformers.enable("default", max_rows=None):  # a page's limit is one of bytes, see `chart_json`
        completed: dict[str, Any] = chart.to_dict()
    return completed
