"""Depth and the speed of descent on a regression."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from learning_dynamics.papers.deep_linear.line_styles import DASHED, DEPTH_COLOURS
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables


def acceleration(tables: Tables) -> Figure:
    """Depth and the speed of gradient descent on a regression, for the ℓ4 and the ℓ2 loss.

    Left: relative excess over the least loss against iterations, each at its best learning rate; solid: descent on
    the layers; dashed: the end-to-end update rule; one start of several. Right: iterations to the tolerance against
    the learning rate, for descent on the layers, median over starts; circles mark the chosen rate. With the ℓ4 loss
    two and three layers need about half the iterations of one; with ℓ2 they need no fewer.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.0), sharex="col")
    for (curves, rates), table in zip(axes, tables.values(), strict=True):
        settings = table.attrs["settings"]
        excess = table[(table["quantity"] == "excess") & (table["seed"] == 0)]
        for (depth, rule), rows in excess.groupby(["depth", "rule"]):
            # up to where it is reached; the run stops there
            shown = rows[(rows["value"] > settings["tolerance"]) & (rows["value"] > 0)]
            curves.plot(
                shown["iteration"],
                shown["value"],
                color=DEPTH_COLOURS[int(depth)],
                ls="-" if rule == "network" else DASHED,
                lw=1.3,
            )
        curves.axhline(settings["tolerance"], color=COLOURS["grey"], ls=":")
        tried = table[(table["quantity"] == "iterations") & (table["rule"] == "network")]
        for depth, rows in tried.groupby("depth"):
            # a start that never gets there counts as infinitely long
            mean = rows.fillna({"value": np.inf}).groupby("learning_rate")["value"].median()
            mean = mean[np.isfinite(mean)]
            rates.plot(mean.index, mean, ".-", color=DEPTH_COLOURS[int(depth)], ms=4, lw=1.1)
            rates.plot(mean.idxmin(), mean.min(), "o", color=DEPTH_COLOURS[int(depth)], mfc="none", ms=8)
        name = rf"$\ell_{{{settings['exponent']:g}}}$ loss"
        curves.set(yscale="log", ylabel=f"{name}: relative excess")
        rates.set(xscale="log", yscale="log", ylabel="iterations to the tolerance")
        rates.yaxis.set_minor_formatter(NullFormatter())
        rates.xaxis.set_minor_formatter(NullFormatter())
        rates.set_yticks([1000, 2000], ["1000", "2000"])
    axes[1, 0].set_xlabel("iterations")
    axes[1, 1].set_xlabel("learning rate")
    axes[1, 1].set_xticks([0.05, 0.1, 0.2], ["0.05", "0.1", "0.2"])
    depths = sorted(next(iter(tables.values()))["depth"].unique())
    handles = [Line2D([], [], color=DEPTH_COLOURS[int(depth)], label=f"depth {depth}") for depth in depths]
    handles.append(Line2D([], [], color=COLOURS["black"], ls=DASHED, label="end-to-end update"))
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=":", label="tolerance"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure
