"""Panels, lines and legends that several figures of the paper share.

`member` is the number of the draw that a figure shows. It is the draw's seed in the table, except in tables of
`reductions`, whose seeds number pairs of a scale and a draw (`seed_at`).
"""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.plotting import COLOURS, WIDTH, legend_below, letters, sequence
from learning_dynamics.tidy import Table, select, settings_of

DASHES = (0, (4, 2))
LIGHT_GREY = "#B4B4B4"
FLOOR = 1e-17  # exact zeros, which have no place on a logarithmic axis, are raised to it


def rgb(colour: str | tuple) -> str | tuple:
    """Return the palette's colour of a name; what the palette does not have is returned as it is."""
    return COLOURS.get(colour, colour) if isinstance(colour, str) else colour


def curve(
    axis: Axes,
    rows: pd.DataFrame,
    colour: str | tuple,
    style: str = "-",
    column: str = "value",
    floor: float = -np.inf,
    **options: Any,
) -> None:
    """Draw a column of rows, which are of one quantity of one draw, against time.

    Values below `floor` are raised to it.
    """
    axis.plot(rows["time"], np.maximum(rows[column], floor), style, color=rgb(colour), **options)


def singular_values(
    axis: Axes,
    table: Table,
    member: int,
    top: int | None = None,
    colours: Sequence[str | tuple] | None = None,
    **where: object,
) -> None:
    """Draw the first `top` singular values of one draw's hidden layer against time, or all of them.

    `colours` has a colour for each, the largest first, and then says how many are drawn, whatever `top` is. Without it
    colours go from dark to light. `where` selects rows of the table further.
    """
    rows = select(table, SIGMA_W1, seed=member, **where)
    if colours is None:
        n_values = int(rows["index"].max())
        colours = sequence(n_values if top is None else min(top, n_values))
    # the largest is drawn last, on top of the others
    for index in range(len(colours), 0, -1):
        curve(axis, rows[rows["index"] == index], colours[index - 1])
    axis.set_xlim(0, rows["time"].max())


def colours_of_learned(learned: int, count: int) -> list[str | tuple]:
    """Return colours of `count` singular values: the first `learned` ones differ, all others are grey."""
    colours: list[str | tuple] = [*sequence(learned), *[LIGHT_GREY] * (count - learned)]
    return colours[:count]  # fewer may be drawn than are learned


def spectra_against_limits(
    titles: Sequence[str], tables: Sequence[Table], member: int, top: int, *, height: float, entries: Sequence[Artist]
) -> Figure:
    """Draw the first `top` singular values of W1 against time, and their predicted limits as dashes.

    Each table has a panel, with one draw of it.
    As many singular values are coloured as the predictor has; the others are grey. Dashes are the limits of Corollary
    3.1: black for orthogonal layers, vermilion for Gaussian ones, to which it does not apply. `entries` end the legend.
    """
    # numbers of singular values of the predictor and of W1; the data of all tables have the same sizes
    learned = int(select(tables[0], SIGMA_BETA)["index"].max())
    count = min(top, int(select(tables[0], SIGMA_W1)["index"].max()))
    colours = colours_of_learned(learned, count)
    figure, axes = plt.subplots(1, len(tables), figsize=(WIDTH, height), sharey=True)
    for axis, title, table in zip(axes, titles, tables, strict=True):
        singular_values(axis, table, member, top, colours, phase="flow")
        is_orthogonal = "gamma" in settings_of(table)  # Gaussian layers have a variance instead
        limits = select(table, SIGMA_W1, seed=member, phase="limit")["predicted"].to_numpy()
        for limit in limits[:top]:
            level(axis, limit, "black" if is_orthogonal else "vermilion", DASHES, zorder=3)
        axis.set(title=title, xlabel="time $t$")
    axes[0].set(ylabel=r"singular values $\sigma_i(W_1)$", ylim=(0, None))
    letters(axes)
    handles = index_handles(learned)[:count]
    if count > learned:
        handles.append(line_handle(rf"$\sigma_{{{learned + 1}}}$ to $\sigma_{{{count}}}$", LIGHT_GREY, width=1.6))
    legend_below(figure, [*handles, *entries])
    return figure


def level(
    axis: Axes, value: float, colour: str = "black", style: Any = "-", width: float = 1.0, zorder: int = 0
) -> None:
    """Draw a horizontal line at a value, below all else by default."""
    axis.axhline(value, color=COLOURS[colour], ls=style, lw=width, zorder=zorder)


def guide(
    axis: Axes,
    x: Any,
    y: Any,
    colour: str = "black",
    style: str = "--",
    width: float = 1.0,
    zorder: int = 2,
    label: str | None = None,
) -> None:
    """Draw a line with which what is measured is compared: a slope, or a curve that theory gives."""
    axis.plot(x, y, style, color=COLOURS[colour], lw=width, zorder=zorder, label=label)


def seed_at(table: Table, gamma: float, member: int) -> int:
    """Return the seed that draw number `member`, from 0, has at one scale in a table of `reductions`."""
    return int(np.sort(table.loc[table["gamma"] == gamma, "seed"].unique())[member])


def line_handle(label: str, colour: str | tuple = "black", style: Any = "-", width: float = 1.2) -> Line2D:
    """Return a legend's entry for a line."""
    return Line2D([], [], color=rgb(colour), ls=style, lw=width, label=label)


def marks_handle(label: str, colour: str = "black", marker: str = ".", *, hollow: bool = False) -> Line2D:
    """Return a legend's entry for markers, filled unless they are hollow."""
    fill = "none" if hollow else COLOURS[colour]
    return Line2D([], [], ls="", marker=marker, color=COLOURS[colour], mfc=fill, label=label)


def index_handles(count: int) -> list[Artist]:
    """Return legend entries sigma_1, sigma_2, ... for the colours that `count` singular values have."""
    return [
        line_handle(rf"$\sigma_{{{index}}}$", colour, width=1.6)
        for index, colour in enumerate(sequence(count), start=1)
    ]


def power(value: float) -> str:
    """Return a number as TeX: ``10^{-3}`` for a power of ten, else its digits, as ``0.25``."""
    exponent = np.log10(value)
    if value != 1 and abs(exponent - round(exponent)) < 1e-9:
        return rf"10^{{{round(exponent)}}}"
    return f"{value:g}"
