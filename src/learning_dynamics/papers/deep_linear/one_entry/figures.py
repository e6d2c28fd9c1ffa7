"""One measurement of a 2 x 2 matrix: the smaller singular value against the larger."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear.drawing import DEPTH_COLOURS
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.tidy import Table, by_draw, select, settings_of


def one_entry(aligned: Table, entry: Table) -> Drawn:
    r"""One measurement of a $2 \times 2$ matrix: the smaller singular value against the larger, by depth.

    Top: a measurement aligned with the matrix, from a multiple of the identity; dots: gradient flow of the layers;
    lines: the closed forms, linear at depth 1, a power at depth 2, below an asymptote (dotted) from depth 3 on. Axes
    are linear. Bottom: one observed entry, from random balanced layers, one line for each of {draws} draws: the
    smaller singular value levels off at every depth. At depth 1 it first touches zero in the draws whose determinant
    changes sign (thin lines); deeper balanced layers keep the sign.
    """
    depths = sorted(aligned["depth"].unique())
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    settings = settings_of(aligned)
    start, ratio = settings["start"], settings["ratio"]
    for depth in depths:
        place, colour = min(depth, 3) - 1, DEPTH_COLOURS[int(depth)]
        larger, smaller = (by_draw(aligned, "sigma", depth=depth, index=index)[0] for index in (1, 2))
        top = axes[0, place]
        line = np.linspace(start, np.nanmax(larger), 400)
        top.plot(line, theory.smaller_singular_value(line, start, ratio, int(depth)), color=colour,
                 label=f"depth {depth}")  # fmt: skip
        at = np.unique(np.searchsorted(larger, np.linspace(start, np.nanmax(larger), 14)).clip(max=len(larger) - 1))
        top.plot(larger[at], smaller[at], "o", color=colour, ms=3.5)
        if depth >= 3:
            limit = theory.limiting_singular_value(start, ratio, int(depth))
            top.axhline(limit, color=colour, ls=":", lw=1)
            top.annotate("asymptote", (line[-1], limit), ha="right", va="bottom", fontsize=7, color=colour,
                         xytext=(0, 1), textcoords="offset points")  # fmt: skip
        bottom = axes[1, place]
        for _, each in select(entry, depth=depth).groupby("seed"):
            values = [select(each, "sigma", index=index)["value"].to_numpy() for index in (1, 2)]
            turned = select(each, "determinant")["value"].iloc[-1] < 0
            bottom.plot(*values, color=colour, lw=0.7 if turned else 1.3, alpha=0.8)
        bottom.set(xscale="log", ylim=(0, None))
    for place, title in enumerate(("depth 1: linear", "depth 2: a power", "depths 3, 4: asymptotes")):
        axes[0, place].set(title=title, ylim=(0, None))
        axes[0, place].legend(fontsize=7, loc="lower right")
        axes[0, place].set_xlabel(r"larger singular value $\sigma_1$")
        axes[1, place].set_xlabel(r"larger singular value $\sigma_1$")
    for axis in axes[:, 1:].flat:
        axis.set_ylabel(r"$\sigma_2$")
    axes[0, 0].set_ylabel("aligned measurement\n" + r"$\sigma_2$")
    axes[1, 0].set_ylabel("one observed entry\n" + r"$\sigma_2$")
    alt = "Six panels: closed forms and flows for aligned measurements above, levelling curves for one entry below."
    return Drawn(figure, facts={"draws": int(entry["seed"].nunique())}, alt=alt)
