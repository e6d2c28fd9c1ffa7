"""Singular values along descent on a matrix completion, and along the flow of one measurement."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.line_styles import DEPTH_COLOURS
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables


def singular_values(tables: Tables, *, draw: Natural) -> Figure:
    """Singular values of the end-to-end matrix along gradient descent, at depths 1, 2 and 3.

    Top: the ten largest, dark to light, from scaled identity layers, on a matrix of rank 5 of which 2000 entries are
    observed. Time is learning rate times iterations. At depth 1 all ten rise together; with depth five of them rise
    one after another and the rest stay small. Bottom: mean absolute entries of UᵀGV, for the gradient G in the
    basis of W's singular vectors, on the diagonal (which moves singular values) and off it (which turns singular
    vectors).
    """
    table = tables["paths"]
    table = table[table["draw"] == draw]
    depths = sorted(table["depth"].unique())
    figure, axes = plt.subplots(2, len(depths), figsize=(WIDTH, 4.4), sharex="col", squeeze=False)
    top = int(table["index"].max())
    for column, depth in zip(axes.T, depths, strict=True):
        rows = table[table["depth"] == depth]
        for index, colour in reversed(list(enumerate(sequence(top), start=1))):
            line = rows[(rows["quantity"] == "sigma") & (rows["index"] == index)]
            column[0].plot(line["time"], line["value"], color=colour, lw=1.2)
        for quantity, name in (("diagonal", "blue"), ("off_diagonal", "orange")):
            line = rows[rows["quantity"] == quantity]
            column[1].plot(line["time"], line["value"], color=COLOURS[name], label=quantity.replace("_", "-"))
        column[0].set(title=f"depth {depth}", ylim=(0, None))
        column[1].set(xlabel="learning rate × iterations", yscale="log")
        column[1].set_xlim(0, rows["time"].max())
    axes[0, 0].set_ylabel("singular values")
    axes[1, 0].set_ylabel(r"mean entry of $|U^\top \nabla\ell\, V|$")
    axes[1, 0].legend()
    for row in axes:
        for axis in row[1:]:
            axis.sharey(row[0]) if row is axes[0] else None
    return figure


def one_entry(tables: Tables) -> Figure:
    """One measurement of a 2 × 2 matrix: the smaller singular value against the larger, by depth.

    Left: an aligned measurement A = diag(1, ½), from a multiple of the identity; dots: gradient flow of the layers;
    lines: the closed forms, linear at depth 1, a power at depth 2, below an asymptote (dotted) from depth 3 on.
    Right: one observed entry, from random balanced layers, one line for each of several draws: the smaller singular
    value levels off at every depth alike, which the closed forms do not describe. Colours as on the left.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    aligned, entry = tables["one_measurement"], tables["one_entry"]
    settings = aligned.attrs["settings"]
    for depth, rows in aligned[aligned["quantity"] == "sigma"].groupby("depth"):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        colour = DEPTH_COLOURS[int(depth)]
        larger = np.geomspace(settings["start"], wide[1].max(), 200)
        predicted = theory.smaller_singular_value(larger, settings["start"], settings["ratio"], int(depth))
        left.plot(larger, predicted, color=colour, label=f"depth {depth}")
        places = np.geomspace(settings["start"], wide[1].max(), 12)
        dots = wide.iloc[np.unique(np.searchsorted(wide[1].to_numpy(), places).clip(max=len(wide) - 1))]
        left.plot(dots[1], dots[2], "o", color=colour, ms=3.5)
        if depth >= 3:
            limit = theory.limiting_singular_value(settings["start"], settings["ratio"], int(depth))
            left.axhline(limit, color=colour, ls=":", lw=1)
    for (depth, _), rows in entry[entry["quantity"] == "sigma"].groupby(["depth", "seed"]):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        right.plot(wide[1], wide[2], color=DEPTH_COLOURS[int(depth)], lw=1.2, alpha=0.8)
    left.set(xscale="log", yscale="log", title="aligned measurement")
    right.set(xscale="log", title="one observed entry", ylim=(0, None))
    for axis in (left, right):
        axis.set(xlabel=r"larger singular value $\sigma_1$", ylabel=r"smaller singular value $\sigma_2$")
    left.legend()
    return figure
