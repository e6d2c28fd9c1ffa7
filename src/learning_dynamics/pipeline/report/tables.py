"""Tables that a figure shows: as HTML, as CSV and as LaTeX; `markdown` has them as Markdown.

Cells and names of columns are texts with formulas between dollars (`plotting.style.Plot`).
"""

import pandas as pd
from markupsafe import Markup

from learning_dynamics.pipeline.report import maths


def to_html(table: pd.DataFrame) -> Markup:
    """Return a table whose formulas are MathML."""
    converted = table.map(maths.html).rename(columns=maths.html)
    text = converted.to_html(index=False, escape=False, border=0, classes="values")
    # `scope` lets a screen reader say the heading of its column with each cell
    return Markup(text.replace("<th>", '<th scope="col">'))


def to_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV, formulas in Unicode."""
    return table.map(maths.plain).rename(columns=maths.plain).to_csv(index=False, lineterminator="\n")


def to_latex(table: pd.DataFrame) -> str:
    """Return a table as LaTeX, for the package booktabs."""
    # a name may be broken into lines, for the figure; formulas between dollars are LaTeX already
    in_one_line = table.rename(columns=lambda name: " ".join(name.split()))
    return in_one_line.to_latex(index=False, column_format="l" + "r" * (table.shape[1] - 1))
