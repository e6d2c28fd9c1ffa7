"""Limit directions of networks with filters of several lengths (Corollary 4)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from learning_dynamics.papers.tensor_networks.architecture_styles import NETWORKS
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables


def filters(tables: Tables) -> Figure:
    """Limit directions of two-layer convolutional networks with filters of several lengths, trained on one point.

    Each row is one data point times its label (grey, scaled to unit length), each column a filter length k₁. Dots: the
    direction of β at log t = 10⁶; lines: predicted, by Corollary 4 for lengths 1 and 2 and by
    Theorem 3 for others. Length 1 keeps the data point, length 2 passes low or high frequencies by
    the sign of its autocorrelation, full length leaves one frequency.
    """
    table = tables["filters"]
    lengths, members = sorted(table["length"].unique()), sorted(table["seed"].unique())
    figure, axes = plt.subplots(
        len(members), len(lengths), figsize=(WIDTH, 1.35 * len(members) + 0.7), sharex=True, sharey=True, squeeze=False
    )
    for row, member in enumerate(members):
        for column, length in enumerate(lengths):
            axis = axes[row, column]
            rows = table[(table["seed"] == member) & (table["length"] == length)]
            point = rows[rows["quantity"] == "point"].sort_values("index")
            axis.bar(point["index"], point["value"] / np.linalg.norm(point["value"]), color="#D9D9D9", width=0.75)
            found = rows[rows["quantity"] == "coefficient"].sort_values("index")
            axis.plot(found["index"], found["predicted"], color=COLOURS["black"], lw=1.0)
            axis.plot(found["index"], found["value"], "o", color=NETWORKS["convolutional"][0], ms=4)
            axis.axhline(0, color=COLOURS["grey"], lw=0.5)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if row == 0:
                axis.set_title(rf"$k_1 = {length}$")
            if row == len(members) - 1:
                axis.set_xlabel("entry")
    figure.supylabel(r"$\beta / \|\beta\|$", fontsize=9.5)
    handles = [
        Rectangle((0, 0), 1, 1, color="#D9D9D9", label=r"$y x / \|x\|$"),
        Line2D([], [], ls="", marker="o", ms=4, color=NETWORKS["convolutional"][0], label=r"flow at $\log t = 10^6$"),
        Line2D([], [], color=COLOURS["black"], lw=1.0, label="predicted limit"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure
