"""Tables that a figure shows: as HTML, as CSV and as LaTeX; `markdown` has them as Markdown."""

import pandas as pd
from markupsafe import Markup

from learning_dynamics.pipeline.report import maths


def to_html(table: pd.DataFrame) -> Markup:
    """Return a table whose formulas are MathML; a screen reader reads the heading of its column with each cell."""
    converted = table.map(maths.html).rename(columns=maths.html)
    text = converted.to_html(index=False, escape=False, border=0, classes="values")
    return Markup(text.replace("<th>", '<th scope="col">'))


def to_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV, formulas in Unicode."""
    return table.map(maths.plain).rename(columns=maths.plain).to_csv(index=False, lineterminator="\n")


def to_latex(table: pd.DataFrame) -> str:
    """Return a table as LaTeX, for the package booktabs."""
    in_one_line = table.rename(columns=lambda name: " ".join(name.split()))
    return in_one_line.to_latex(index=False, column_format="l" + "r" * (table.shape[1] - 1))
