"""Limits of regression between two norms (Theorem 4; Corollary 5)."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.tables import Tables


def depth(tables: Tables) -> Figure:
    """Limits of diagonal networks of several depths, between the solutions of least ℓ1 and least ℓ2 norm.

    Left: the first coefficient at the limit against the initial scale. Lines: the minimiser of Q (Corollary 5);
    circles: gradient flow; crosses: gradient descent. The deeper the network, the sharper the change from one
    norm to the other. Right: relative distance from the minimiser of Q. That of the flow is the residual at
    which it was stopped, that of gradient descent is proportional to its step.
    """
    table = tables["depth"]
    depths = sorted(table["depth"].unique())
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.0))
    for number, colour in zip(depths, sequence(len(depths)), strict=True):
        rows = table[(table["depth"] == number) & (table["seed"] == 0)]
        first = rows[(rows["quantity"] == "coefficient") & (rows["index"] == 1)]
        flow, descent = (first[first["method"] == method].sort_values("scale") for method in ("flow", "descent"))
        left.semilogx(flow["scale"], flow["predicted"], color=colour, lw=1.3)
        left.semilogx(flow["scale"], flow["value"], "o", mfc="none", mec=colour, ms=6)
        left.semilogx(descent["scale"], descent["value"], "x", color=colour, ms=4)
        for method, marker in (("flow", "o"), ("descent", "x")):
            error = rows[(rows["quantity"] == "error") & (rows["method"] == method)].sort_values("scale")
            face = "none" if marker == "o" else colour
            right.loglog(error["scale"], error["value"], marker, ls="-", lw=0.7, color=colour, mfc=face, ms=4.5)
    ends = table[(table["quantity"] == "coefficient") & (table["index"] == 1) & (table["method"] == "flow")]
    for scale, place, label in (
        (ends["scale"].min(), "right", r"$\ell_1$"),
        (ends["scale"].max(), "left", r"$\ell_2$"),
    ):
        row = ends[(ends["scale"] == scale) & (ends["depth"] == depths[-1])].iloc[0]
        left.axhline(row["predicted"], color=COLOURS["grey"], lw=0.7, ls=(0, (1, 2)), zorder=0)
        edge = ends["scale"].max() if place == "right" else ends["scale"].min()
        left.annotate(f"least {label} norm", (edge, row["predicted"]), xytext=(0, 3 if place == "right" else -3),
                      textcoords="offset points", ha=place, va="bottom" if place == "right" else "top",
                      fontsize=8.5)  # fmt: skip
    left.set_ylabel(r"$\beta_1$ at the limit")
    right.set_ylabel(r"relative distance from $\mathrm{argmin}\,Q$")
    for axis in (left, right):
        axis.set_xlabel(r"initial scale $\alpha$")
    handles = [Line2D([], [], color=c, label=f"$L = {n}$") for n, c in zip(depths, sequence(len(depths)), strict=True)]
    handles += [
        Line2D([], [], ls="", marker="o", mfc="none", color=COLOURS["grey"], label="gradient flow"),
        Line2D([], [], ls="", marker="x", color=COLOURS["grey"], label="gradient descent"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure
