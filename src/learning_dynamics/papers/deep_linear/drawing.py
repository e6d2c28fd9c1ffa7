"""Colours of depths, legends, and medians with their draws."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS
from learning_dynamics.tidy import Table

DEPTH_COLOURS = {
    1: COLOURS["black"],
    2: COLOURS["blue"],
    3: COLOURS["vermilion"],
    4: COLOURS["green"],
    5: COLOURS["sky"],
    8: COLOURS["purple"],
}
DASHED = (0, (4, 2))  # a line style: dashes of four line widths, gaps of two


def handle(label: str, colour: Any = "black", line: Any = "-", **style: Any) -> Line2D:
    """Return a legend's line; its colour is a name of the palette, or any colour that Matplotlib takes."""
    return Line2D([], [], color=COLOURS.get(colour, colour), ls=line, label=label, **style)


def depth_handles(depths: Iterable[int]) -> list[Line2D]:
    """Return a legend's lines, one for each depth, in its colour."""
    return [handle(f"depth {depth}", DEPTH_COLOURS[depth]) for depth in depths]


def median_with_draws(axis: Axes, rows: Table, by: str, colour: Any, line: Any = "-", label: str | None = None) -> None:
    """Plot values against the column `by`: their median over draws as a line, and each draw as a dot."""
    middle = rows.groupby(by)["value"].median()
    axis.plot(middle.index, middle, color=colour, ls=line, label=label)
    axis.plot(rows[by], rows["value"], ".", color=colour, ms=3.5, alpha=0.5, mew=0)
