"""Panels and legends that several figures of the paper share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.plotting import sequence


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


def power(value: float) -> str:
    """Return a number as TeX, powers of ten as such."""
    exponent = np.log10(value)
    if value != 1 and abs(exponent - round(exponent)) < 1e-9:
        return rf"10^{{{round(exponent)}}}"
    return f"{value:g}"
