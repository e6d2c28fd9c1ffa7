"""Completed matrices: errors, norms and ranks, in plots and beside the slides' tables."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.deep_linear.line_styles import DASHED, DEPTH_COLOURS
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables

# what the slides print, by observations and method: reconstruction error, nuclear norm, effective rank
PRINTED = {
    "5k": {"nuclear norm min": ("8e-7", "221", "5"), "depth 2": ("5e-6", "221", "5"), "depth 3": ("4e-6", "221", "5")},
    "2k": {"nuclear norm min": ("2e-1", "217", "8"), "depth 2": ("6e-2", "220", "6"), "depth 3": ("3e-5", "221", "5")},
}


def completion(tables: Tables) -> Figure:
    """Matrix completion by deep linear networks: reconstruction error against initialisation scale.

    Mean square error over all entries of a 100 × 100 matrix of rank 5, completed from 2000 (top) and 5000 (bottom)
    of them by gradient descent on two, three and four layers. Dots: draws; lines: their geometric means,
    solid and dashed for the two learning rates. Dotted: the minimiser of the nuclear norm. With few entries depth
    3 and 4 recover the matrix at every scale, depth 2 only in part and better the smaller the scale, the convex
    program not at all; with many entries all of them do. Runs that did not reach the training loss are not drawn.
    """
    depths = sorted(tables["completion_2k"]["depth"].unique())
    figure, axes = plt.subplots(2, len(depths), figsize=(WIDTH, 4.4), sharex=True, sharey=True, squeeze=False)
    for row, observed in zip(axes, ("2k", "5k"), strict=True):
        table = _converged(tables[f"completion_{observed}"], "error")
        baseline = tables[f"minimiser_{observed}"]
        least = _geometric_mean(baseline[baseline["quantity"] == "error"]["value"])
        for axis, depth in zip(row, depths, strict=True):
            axis.axhline(least, color=COLOURS["grey"], ls=":")
            for line, (_, rows) in zip(
                ("-", DASHED), table[table["depth"] == depth].groupby("learning_rate", sort=True), strict=False
            ):
                _with_draws(axis, rows, "scale", DEPTH_COLOURS[int(depth)], line, logarithmic=True)
            axis.set(xscale="log", yscale="log", title=f"{_entries(observed)} entries, depth {depth}")
        row[0].set_ylabel("reconstruction error")
    for axis in axes[-1]:
        axis.set_xlabel("initialisation scale $s$")
    handles = [
        Line2D([], [], color=COLOURS["black"], label="smaller learning rate"),
        Line2D([], [], color=COLOURS["black"], ls=DASHED, label="larger one"),
        Line2D([], [], color=COLOURS["grey"], ls=":", label="nuclear norm minimisation"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def norms(tables: Tables) -> Figure:
    """What the completed matrices have least of: reconstruction error, nuclear norm and effective rank against scale.

    Depths 2, 3 and 4 (means over draws, bars one standard deviation), from 2000 entries (top) and 5000 (bottom),
    at the smaller learning rate. Nuclear norms are less that of the matrix to be completed, which differs from
    draw to draw. Dotted: the minimiser of the nuclear norm; dashed: the matrix to be completed.
    With 2000 entries the networks' nuclear norm lies above the least one and their effective rank far below
    the minimiser's.
    """
    quantities = {
        "error": "reconstruction error",
        "nuclear_norm": "nuclear norm − truth's",
        "effective_rank": "effective rank",
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6), sharex=True)
    for row, observed in zip(axes, ("2k", "5k"), strict=True):
        table, baseline = tables[f"completion_{observed}"], tables[f"minimiser_{observed}"]
        for axis, (quantity, label) in zip(row, quantities.items(), strict=True):
            rows = _against_truth(_converged(table, quantity), table)
            for depth, by_depth in rows.groupby("depth"):
                first = by_depth[by_depth["learning_rate"] == by_depth["learning_rate"].min()]
                spread = first.groupby("scale")["value"]
                mean = spread.agg(_geometric_mean) if quantity == "error" else spread.mean()
                bars = None if quantity == "error" else spread.std()
                axis.errorbar(
                    mean.index,
                    mean,
                    bars,
                    color=DEPTH_COLOURS[int(depth)],
                    marker="o",
                    ms=3,
                    capsize=2,
                    elinewidth=0.8,
                )
            known = _against_truth(baseline[baseline["quantity"] == quantity], baseline)["value"]
            axis.axhline(_geometric_mean(known) if quantity == "error" else known.mean(), color=COLOURS["grey"], ls=":")
            true = baseline[baseline["quantity"] == f"true_{quantity}"]
            if len(true):
                level = 0.0 if quantity == "nuclear_norm" else true["value"].mean()
                axis.axhline(level, color=COLOURS["black"], ls=DASHED, lw=1)
            axis.set(xscale="log", yscale="log" if quantity == "error" else "linear", ylabel=label)
        row[1].set_title(f"{_entries(observed)} observed entries")
    for axis in axes[-1]:
        axis.set_xlabel("initialisation scale $s$")
    depths = sorted(tables["completion_2k"]["depth"].unique())
    handles = [Line2D([], [], color=DEPTH_COLOURS[int(d)], marker="o", ms=3, label=f"depth {d}") for d in depths]
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=":", label="nuclear norm minimisation"))
    handles.append(Line2D([], [], color=COLOURS["black"], ls=DASHED, lw=1, label="ground truth"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def completion_table(tables: Tables) -> Figure:
    """The slides' tables beside ours: reconstruction error, nuclear norm and effective rank of each method.

    Ours are means over draws, of logarithms for the error, with one standard deviation (for the error, the factor
    that it is); networks at the smallest scale and learning rate of the grid. The slides show one draw and do not
    print their initialisation scale. Errors are mean squares over all entries; the slides' 2e-1 and 6e-2 fit the root
    of ours, 0.18 and 0.07. The last column is the gap within which the convex program's optimum is
    proved to lie.
    """
    header = ["entries", "method", "error, slides", "error, ours", "norm, slides", "norm, ours", "rank, slides",
              "rank, ours", "proved gap"]  # fmt: skip
    lines = []
    for observed in ("5k", "2k"):
        for method, printed in PRINTED[observed].items():
            lines.append([_entries(observed), method, *_cells(tables, observed, method, printed)])
    figure, axis = plt.subplots(figsize=(WIDTH, 2.3))
    axis.axis("off")
    drawn = axis.table(cellText=lines, colLabels=header, loc="center", cellLoc="center", edges="horizontal",
                       colWidths=[0.075, 0.15, 0.11, 0.145, 0.1, 0.13, 0.1, 0.11, 0.1])  # fmt: skip
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7.2)
    drawn.scale(1, 1.45)
    for (row, _), cell in drawn.get_celld().items():
        cell.set_linewidth(0.5)
        if row == 0:
            cell.set_text_props(fontweight="bold")
    return figure


def _cells(tables: Tables, observed: str, method: str, printed: Sequence[str]) -> list[str]:
    if method.startswith("depth"):
        table = tables[f"completion_{observed}"]
        rows = table[(table["depth"] == int(method[-1])) & table["converged"]]
        rows = rows[rows["scale"] == rows["scale"].min()]
        rows = rows[rows["learning_rate"] == rows["learning_rate"].min()]
        gap = ""
    else:
        rows = tables[f"minimiser_{observed}"]
        gap = _power(rows[rows["quantity"] == "gap"]["value"].max())
    by = {name: rows[rows["quantity"] == name]["value"] for name in ("error", "nuclear_norm", "effective_rank")}
    factor = 10 ** np.log10(by["error"]).std()
    ours = [
        f"{_power(_geometric_mean(by['error']))} ×÷ {factor:.1f}",
        f"{by['nuclear_norm'].mean():.1f} ± {by['nuclear_norm'].std():.1f}",
        f"{by['effective_rank'].mean():.1f} ± {by['effective_rank'].std():.1f}",
    ]
    return [text for pair in zip(printed, ours, strict=True) for text in pair] + [gap]


def _converged(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return table[(table["quantity"] == quantity) & table["converged"]]


def _against_truth(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return nuclear norms less the true one of their draw; other quantities as they are."""
    if rows["quantity"].iloc[0] != "nuclear_norm":
        return rows
    true = table[table["quantity"] == "true_nuclear_norm"].groupby("draw")["value"].first()
    return rows.assign(value=rows["value"] - rows["draw"].map(true))


def _geometric_mean(values: pd.Series) -> float:
    return float(np.exp(np.log(values).mean()))


def _with_draws(axis: Axes, rows: pd.DataFrame, by: str, colour: str, style: object, *, logarithmic: bool) -> None:
    mean = rows.groupby(by)["value"].agg(_geometric_mean if logarithmic else "mean")
    axis.plot(mean.index, mean, color=colour, ls=style)
    axis.plot(rows[by], rows["value"], ".", color=colour, ms=4, alpha=0.5, mew=0)


def _power(value: float) -> str:
    """Return one digit and the exponent, as the slides print errors."""
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _entries(observed: str) -> str:
    return {"2k": "2000", "5k": "5000"}[observed]
