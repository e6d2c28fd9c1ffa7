"""The style sheets, the widths, and `Plot`, which a figure's function returns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.figure import Figure

WIDTH = 7.0  # inches: the text width of a two-column page
COLUMN = 3.4  # inches: one of its columns
# by look: the style sheet that is laid over the project's, and the width that a figure of WIDTH gets
LOOKS = {"paper": (None, WIDTH), "talk": ("talk.mplstyle", WIDTH), "thesis": ("thesis.mplstyle", 5.9)}


def style(look: str = "paper") -> AbstractContextManager:
    """Return a context in which figures are drawn in the project's style: for a paper, a talk or a thesis.

    >>> with style("talk"):
    ...     mpl.rcParams["font.size"] > 9
    True
    """
    _know_bundled_fonts()
    sheet, _ = LOOKS[look]
    return plt.style.context([Path(__file__).with_name(name) for name in ("project.mplstyle", sheet) if name])


def sized(figure: Figure, look: str) -> Figure:
    """Bring a figure to the width of a look, its proportions kept, and return it; layouts adapt when it is drawn."""
    wide, high = figure.get_size_inches() * LOOKS[look][1] / WIDTH
    figure.set_size_inches(wide, high)
    return figure


def _know_bundled_fonts() -> None:
    """Add matplotlib's own fonts to those it knows, if its cache in the user's home has lost them.

    With an incomplete cache mathematics is set from another font's table, where a sigma is three quarters and a
    minus is an i, and nothing but a line in the log says so.
    """
    known = {Path(font.fname).name for font in font_manager.fontManager.ttflist}
    for font in sorted(Path(mpl.get_data_path(), "fonts/ttf").glob("*.ttf")):
        if font.name not in known:
            font_manager.fontManager.addfont(font)


def sequence(count: int) -> list[tuple[float, float, float, float]]:
    """Return `count` colours, dark to light, for ordered things such as singular values."""
    # chosen: above 0.85 viridis is yellow, which is pale on white
    return [tuple(colour) for colour in mpl.colormaps["viridis"](np.linspace(0.0, 0.85, count))]


@dataclass(frozen=True)
class Plot:
    """A figure, the numbers that its caption names, and what it shows for those who cannot see it.

    Attributes
    ----------
    figure : Figure
    facts : mapping from str to number or str
        What the ``{name:format}`` fields of caption and alternative text are filled with.
    alt : str
        One or two sentences; may have fields.
    table : DataFrame of str, optional
        What the figure shows, if that is a table: the page has it as text. Cells and names of columns are prose with
        formulas between dollars.
    """

    figure: Figure
    facts: Mapping[str, Any] = field(default_factory=dict)
    alt: str = ""
    table: pd.DataFrame | None = None

    @classmethod
    def of(cls, drawn: Figure | Plot) -> Plot:
        """Return a `Plot` as it is, and a bare figure as a `Plot` without facts."""
        return drawn if isinstance(drawn, Plot) else cls(drawn)
