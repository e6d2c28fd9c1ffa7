"""Panels, lines and legends that several figures of the paper share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, sequence
from learning_dynamics.tidy import Table, select

DASHES = (0, (4, 2))


def rgb(colour: str | tuple) -> str | tuple:
    """Return a colour of the palette by its name, and any other as it is."""
    return COLOURS.get(colour, colour) if isinstance(colour, str) else colour


def curve(
    axis: Axes, rows: pd.DataFrame, colour: str | tuple, style: str = "-", column: str = "value", **options
) -> None:
    """Draw rows of one quantity and draw against time."""
    axis.plot(rows["time"], rows[column], style, color=rgb(colour), **options)


def singular_values(axis: Axes, table: Table, member: int, top: int | None = None, **where: object) -> None:
    """Draw a draw's singular values of the hidden layer against time, the largest on top of the others."""
    rows = select(table, "sigma_w1", seed=member, **where)
    count = min(top or 10**9, int(rows["index"].max()))
    for index, colour in reversed(list(enumerate(sequence(count), start=1))):
        curve(axis, rows[rows["index"] == index], colour)
    axis.set_xlim(0, rows["time"].max())


def limits_panel(axis: Axes, table: Table, member: int, top: int, colour: str) -> None:
    """Draw one draw's top singular values against time, and their predicted limits as dashes."""
    singular_values(axis, table, member, top, phase="flow")
    ends = select(table, "sigma_w1", seed=member, phase="limit")
    for predicted in ends["predicted"].to_numpy()[:top]:
        axis.axhline(predicted, color=COLOURS[colour], ls=DASHES, lw=1.0, zorder=3)


def line(label: str, colour: str | tuple = "black", style: Any = "-", width: float = 1.2) -> Line2D:
    """Return a legend's entry for a line."""
    return Line2D([], [], color=rgb(colour), ls=style, lw=width, label=label)


def marks(label: str, colour: str = "black", marker: str = ".", *, hollow: bool = False) -> Line2D:
    """Return a legend's entry for markers."""
    fill = "none" if hollow else COLOURS[colour]
    return Line2D([], [], ls="", marker=marker, color=COLOURS[colour], mfc=fill, label=label)


def index_handles(count: int, symbol: str = r"\sigma") -> list[Artist]:
    """Return legend entries for the colours of singular values."""
    return [
        line(rf"${symbol}_{{{index}}}$", colour, width=1.6) for index, colour in enumerate(sequence(count), start=1)
    ]


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int | None = None) -> None:
    """Put one legend below all panels."""
    figure.legend(handles=list(handles), loc="outside lower center", ncols=columns or len(handles))


def power(value: float) -> str:
    """Return a number as TeX, powers of ten as such."""
    exponent = np.log10(value)
    if value != 1 and abs(exponent - round(exponent)) < 1e-9:
        return rf"10^{{{round(exponent)}}}"
    return f"{value:g}"
