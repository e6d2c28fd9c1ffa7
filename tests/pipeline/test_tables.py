"""A table that a figure shows is written as HTML on the page, and as Markdown, CSV and LaTeX when it is published."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from learning_dynamics.pipeline.report import tables
from learning_dynamics.pipeline.report.contents import Exhibit
from learning_dynamics.pipeline.report.markdown import _figure_or_table


@pytest.fixture
def table():
    """A table with a formula, a sign that HTML escapes, and a heading of two lines, which is one line as text."""
    rows = [["depth 2", r"$5.9 \cdot 10^{-7}$", "$-3.6$"], ["a < b", "–", "0"]]
    return pd.DataFrame(rows, columns=["method", "error,\nslides", "norm"])


def test_html_has_formulas_and_escapes_what_is_not_html(table):
    html = tables.to_html(table)
    assert "<msup><mn>10</mn>" in html  # of MathML
    assert "a &lt; b" in html
    assert html.count("<tr") == 3  # a heading and two rows


def test_csv_can_be_read_back_and_has_formulas_in_unicode(table):
    rows = list(csv.reader(io.StringIO(tables.to_csv(table))))
    assert rows == [["method", "error, slides", "norm"], ["depth 2", "5.9·10⁻⁷", "−3.6"], ["a < b", "–", "0"]]


def test_latex_has_a_line_for_each_row_between_rules_and_cells_as_they_are(table):
    assert tables.to_latex(table).splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"method & error, slides & norm \\",
        r"\midrule",
        r"depth 2 & $5.9 \cdot 10^{-7}$ & $-3.6$ \\",
        r"a < b & – & 0 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_markdown_has_the_table_and_links_to_its_csv_and_latex(table):
    exhibit = Exhibit(
        paper="paper",
        name="name",
        title="t",
        caption="c",
        alt="a",
        png=Path("a.png"),
        pdf=Path("a.pdf"),
        code="code",
        command="command",
        table=table,
    )
    assert _figure_or_table(exhibit).splitlines() == [
        "| method | error, slides | norm |",
        "|---|---:|---:|",
        r"| depth 2 | $`5.9 \cdot 10^{-7}`$ | $`-3.6`$ |",
        r"| a \< b | – | 0 |",
        "",
        "[CSV](paper/name.csv), [LaTeX](paper/name.tex)",
    ]
