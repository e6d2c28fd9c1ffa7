"""A table that a figure shows is text on the page and in the published results."""

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
    rows = [["depth 2", r"$5.9 \cdot 10^{-7}$", "$-3.6$"], ["a < b", "–", "0"]]
    return pd.DataFrame(rows, columns=["method", "error,\nslides", "norm"])


def test_html_has_formulas_and_escapes_what_is_not_html(table):
    html = tables.to_html(table)
    assert "<msup><mn>10</mn>" in html
    assert "a &lt; b" in html
    assert html.count("<tr") == 3


def test_csv_can_be_read_back_and_is_free_of_latex(table):
    rows = list(csv.reader(io.StringIO(tables.to_csv(table))))
    assert rows == [["method", "error, slides", "norm"], ["depth 2", "5.9·10⁻⁷", "−3.6"], ["a < b", "–", "0"]]


def test_latex_has_a_line_for_each_row_between_rules(table):
    lines = tables.to_latex(table).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert r"method & error, slides & norm \\" in lines
    assert r"depth 2 & $5.9 \cdot 10^{-7}$ & $-3.6$ \\" in lines


def test_markdown_has_the_table_and_links_its_files(table):
    exhibit = Exhibit(
        "paper",
        "name",
        title="t",
        caption="c",
        alt="a",
        png=Path("a.png"),
        pdf=Path("a.pdf"),
        code="code",
        command="command",
        table=table,
    )
    lines = _figure_or_table(exhibit).splitlines()
    assert lines[0] == "| method | error, slides | norm |"
    assert lines[1] == "|---|---:|---:|"
    assert lines[2].startswith("| depth 2 | $`5.9")
    assert lines[-1] == "[CSV](paper/name.csv), [LaTeX](paper/name.tex)"
