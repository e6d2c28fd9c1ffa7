"""One flow in the plane, its singular values, and the features' effective rank."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.softmax_dynamics.bands import band
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables

CLASS_COLOURS = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]


def trajectories(tables: Tables, *, member: Natural) -> Figure:
    """Features and classifier in the plane, their singular values, and the features' effective rank.

    Two dimensions, four classes of unequal size, cross-entropy, gradient flow from a balanced start. Left: rows of
    f (thin) and columns of W (thick, ending in a dot), coloured by class, up to the end of the flow. Middle: singular
    values of f and of W, which coincide (Theorem B.2). Right: three effective ranks. RankMe is the exponential
    of the entropy of the covariance's eigenvalue shares, about zero or about the mean; the effective rank takes
    the singular values instead. The line is the same member; the band holds the middle half of the seeds.
    It falls while the first direction grows, and rises while the second does; it does not fall again.
    """
    (table,) = tables.values()
    rows = table[table["seed"] == member]
    figure, (plane, spectrum, rank) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    _plane_panel(plane, rows, table.attrs["settings"]["counts"])
    for index, colour in zip((1, 2), sequence(2), strict=True):
        lines = rows[(rows["index"] == index) & (rows["time"] > 0)].groupby("quantity")
        features, classifier = lines.get_group("sigma_f"), lines.get_group("sigma_w")
        spectrum.plot(features["time"], features["value"], color=colour)
        spectrum.plot(classifier["time"], classifier["value"], color=COLOURS["grey"], ls=(0, (3, 3)))
    handles = [Line2D([], [], color=colour, label=rf"$\sigma_{i}(f)$") for i, colour in enumerate(sequence(2), 1)]
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=(0, (3, 3)), label=r"$\sigma_i(W)$"))
    spectrum.legend(handles=handles, loc="upper left", handlelength=1.5)
    spectrum.set_ylabel("singular values")
    for quantity, name, label in (
        ("rankme", "blue", "RankMe"),
        ("rankme_centred", "vermilion", "RankMe, centred"),
        ("effective_rank", "green", "effective rank"),
    ):
        line = rows[(rows["quantity"] == quantity) & (rows["time"] > 0)]
        rank.plot(line["time"], line["value"], color=COLOURS[name], label=label)
    band(rank, table, "rankme", COLOURS["blue"])
    rank.set_ylim(0.98, 2.02)
    rank.set_ylabel("effective number of dimensions")
    rank.legend(loc="lower right", handlelength=1.0, fontsize=7.5, borderaxespad=0.2)
    for axis in (spectrum, rank):
        axis.set_xscale("log")
        axis.set_xlabel("gradient-flow time $t$")
        axis.set_xlim(table.loc[table["time"] > 0, "time"].min(), table["time"].max())
    return figure


def _plane_panel(axis: Axes, rows: pd.DataFrame, counts: Sequence[int]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    for name, width, colours in (("feature", 0.8, labels), ("class", 2.2, np.arange(len(counts)))):
        x, y = (
            rows[rows["quantity"] == f"{name}_{axis_name}"].set_index(["index", "time"])["value"] for axis_name in "xy"
        )
        for index, colour in enumerate(colours, start=1):
            tint = CLASS_COLOURS[colour % len(CLASS_COLOURS)]
            axis.plot(x.loc[index], y.loc[index], color=tint, lw=width, alpha=0.8)
            if name == "class":
                axis.plot(x.loc[index].iloc[-1], y.loc[index].iloc[-1], "o", ms=5, color=tint)
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("first coordinate")
    axis.set_ylabel("second coordinate")
    handles = [
        Line2D([], [], color=CLASS_COLOURS[index], label=f"{size}") for index, size in enumerate(counts)
    ]  # fmt: skip
    axis.legend(handles=handles, title="class size", loc="best", handlelength=1.0, fontsize=7.5, title_fontsize=7.5)
