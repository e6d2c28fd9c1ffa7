"""Where descent converges: initialisations, and the assumptions of the guarantee."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from learning_dynamics.papers.deep_linear.line_styles import DASHED
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables


def convergence(tables: Tables) -> Figure:
    """Where gradient descent converges: initialisations, and the assumptions of the guarantee.

    Left and middle: iterations to within 10⁻⁵ of the optimum against the standard deviation of the initialisation, at
    the best learning rate; of the layers' entries for independent Gaussian layers, of the end-to-end matrix's for
    balanced ones. Lines: medians; dots: draws; crosses at the top: draws that never got there. Right: loss over
    its start with both assumptions of the guarantee; balanced, but too far from the target, with a singular matrix
    in between; and unbalanced (cut off at 10³, where it has diverged). Dashed: the guaranteed bound.
    """
    ranges, guarantee = tables["initialisations"], tables["guarantee"]
    depths = sorted(ranges["depth"].unique())
    figure, axes = plt.subplots(1, len(depths) + 1, figsize=(WIDTH, 2.9))
    steps = ranges[ranges["quantity"] == "steps"]
    ceiling = 3 * steps["value"].max()
    colours = {"layer_wise": COLOURS["orange"], "balanced": COLOURS["blue"]}
    for axis, depth in zip(axes, depths, strict=False):
        for init, rows in steps[steps["depth"] == depth].groupby("init"):
            filled = rows.assign(value=rows["value"].fillna(np.inf))
            median = filled.groupby("deviation")["value"].median()
            axis.plot(median.index, median.where(np.isfinite(median)), color=colours[init],
                      label=init.replace("_", "-"))  # fmt: skip
            axis.plot(rows["deviation"], rows["value"], ".", color=colours[init], ms=4, alpha=0.6)
            lost = rows[rows["value"].isna()]
            shift = 1.15 if init == "balanced" else 1.0
            axis.plot(lost["deviation"], np.full(len(lost), ceiling * shift), "x", color=colours[init], ms=4)
        axis.set(xscale="log", yscale="log", title=f"depth {depth}", xlabel="standard deviation")
    for axis in axes[1:-1]:
        axis.sharey(axes[0])
    axes[0].set_ylabel("iterations")
    axes[0].legend(handlelength=1.2)
    _guarantee_panel(axes[-1], guarantee)
    return figure


def _guarantee_panel(axis: Axes, table: pd.DataFrame) -> None:
    loss = table[(table["quantity"] == "loss") & (table["value"] > 1e-20)]
    shown = {
        "assumptions hold": ("both", "blue"),
        "beyond a singular matrix": ("too far", "vermilion"),
        "unbalanced": ("unbalanced", "orange"),
    }
    for case, (label, colour) in shown.items():
        for number, (_, line) in enumerate(loss[loss["case"] == case].groupby("seed")):
            axis.plot(line["time"], line["value"].clip(upper=1e3), color=COLOURS[colour], lw=1.0,
                      label=None if number else label)  # fmt: skip
    bound = table[table["predicted"].notna()].groupby("time")["predicted"].first()
    axis.plot(bound.index, bound, color=COLOURS["black"], ls=DASHED, lw=1.0, label="guarantee")
    axis.set(yscale="log", ylim=(1e-12, 1e7), title="assumptions", xlabel="step × iterations", ylabel="loss / start")
    axis.legend(fontsize=7, loc="lower right", handlelength=1.2)
