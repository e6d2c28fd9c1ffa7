"""Colours of depths, legends, plain numbers at logarithmic axes, and medians with their draws."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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
DASHED = (0, (4, 2))


def handle(label: str, colour: Any = "black", line: Any = "-", **style: Any) -> Line2D:
    """Return a legend's line; its colour is one of the palette's names, or any other."""
    return Line2D([], [], color=COLOURS.get(colour, colour), ls=line, label=label, **style)


def depth_handles(depths: Iterable[int]) -> list[Line2D]:
    """Return a legend's lines for depths."""
    return [handle(f"depth {depth}", DEPTH_COLOURS[depth]) for depth in depths]


def plain_numbers(axis: Axis) -> None:
    """Label the ticks of a logarithmic axis with numbers rather than powers of ten."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def one_two_five(axis: Axis) -> None:
    """Label 1, 2 and 5 of each power of ten on a logarithmic axis, with plain numbers."""
    axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    plain_numbers(axis)


def median_with_draws(axis: Axes, rows: Table, by: str, colour: Any, line: Any = "-") -> None:
    """Plot the median over draws as a line, and each draw as a dot."""
    middle = rows.groupby(by)["value"].median()
    axis.plot(middle.index, middle, color=colour, ls=line)
    axis.plot(rows[by], rows["value"], ".", color=colour, ms=3.5, alpha=0.5, mew=0)
