"""Panels and legends that several figures of the paper share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, sequence

PATHS = ("blue", "orange", "green")


def singular_values(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw all singular values of one member's hidden layer against time, the largest on top."""
    rows = rows[rows["quantity"] == "sigma_w1"]
    for index, colour in reversed(list(enumerate(sequence(rows["index"].max()), start=1))):
        line = rows[rows["index"] == index]
        axis.plot(line["time"], line["value"], color=colour)
    axis.set_xlim(0, rows["time"].max())
    # panels may share the axis: keep what the others need
    axis.set_ylim(0, max(axis.get_ylim()[1], 1.06 * rows["value"].max()))


def index_legend(figure: Figure, count: int, more: Sequence[Artist] = ()) -> None:
    """Put a legend of the singular values' colours below the figure."""
    handles: list[Artist] = [
        Line2D([], [], color=colour, label=rf"$\sigma_{index}$")
        for index, colour in enumerate(sequence(count), start=1)
    ]
    handles.extend(more)
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def plateaus(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Return first and last time of one member's plateaus."""
    starts, ends = (rows.loc[rows["quantity"] == name, "value"] for name in ("plateau_start", "plateau_end"))
    return list(zip(starts, ends, strict=True))


def member_at(table: pd.DataFrame, gamma: float, member: int) -> int:
    """Return the seed column's value of the `member`-th data set at a scale."""
    return sorted(table.loc[table["gamma"] == gamma, "seed"].unique())[member]


def statistic(table: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    """Return an ensemble statistic over time."""
    return table[(table["quantity"] == quantity) & (table["statistic"] == name)]


def with_interval(axis: Axes, rows: pd.DataFrame, colour: str, label: str) -> None:
    """Draw a statistic with its confidence interval as error bars."""
    low = np.minimum(rows["value"] - rows["lower"], 0.95 * rows["value"])  # keeps the bar on a logarithmic axis
    axis.errorbar(
        rows["time"],
        rows["value"],
        yerr=[low, rows["upper"] - rows["value"]],
        fmt="o",
        ms=3,
        lw=1.0,
        color=COLOURS[colour],
        label=label,
    )


def mean_and_median(axis: Axes, table: pd.DataFrame, quantity: str, label: str = "") -> None:
    """Draw mean (with its interval), median, and the band that holds 80 % of the paths, after time 0."""
    prefix = f"{label}, " if label else ""
    median, low, high = (
        statistic(table, quantity, name).iloc[1:] for name in ("quantile 0.5", "quantile 0.1", "quantile 0.9")
    )
    axis.fill_between(median["time"], low["value"], high["value"], color=COLOURS["sky"], alpha=0.3, lw=0)
    with_interval(axis, statistic(table, quantity, "mean").iloc[1:], "vermilion", f"{prefix}mean")
    axis.plot(median["time"], median["value"], color=COLOURS["blue"], label=f"{prefix}median")


def power(value: float) -> str:
    """Return a number as TeX, powers of ten as such."""
    exponent = np.log10(value)
    if value != 1 and abs(exponent - round(exponent)) < 1e-9:
        return rf"10^{{{round(exponent)}}}"
    return f"{value:g}"
