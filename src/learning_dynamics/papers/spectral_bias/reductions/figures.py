"""The network beside its mirror flows, and its loss beside the bound that they give."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.spectral_bias.panels import power
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables


def mirror(tables: Tables, *, member: Natural) -> Figure:
    """Both mirror flows against the network.

    Left: mirror coordinates of β's singular values with three outputs, at γ = 1. Solid: ½ sinh⁻¹(σ/γ) of the
    simulated network; dots: the integral of the force −∂L/∂σ, with which it agrees; dashed: the gradient of
    the potential as printed, which does not. Right: the entries of β with one output, at γ = 0.01, from the
    network (solid) and from the mirror flow integrated by itself (dots).
    """
    vector, scalar = tables.values()
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    large = vector["gamma"].max()
    rows = vector[vector["seed"] == _member_at(vector, large, member)]
    for index, colour in enumerate(sequence(3), start=1):
        at = rows[rows["index"] == index]
        exact, printed = (at[at["quantity"] == name] for name in ("mirror_coordinate", "printed_mirror_coordinate"))
        left.plot(exact["time"], exact["value"], color=colour, label=rf"$i = {index}$")
        left.plot(exact["time"][::8], exact["predicted"][::8], ".", color=colour, ms=5)
        left.plot(printed["time"], printed["value"], "--", color=colour, lw=1.0)
    left.set(
        xscale="log",
        xlabel="time $t$",
        ylabel="mirror coordinate of $\\sigma_i(\\beta)$",
        title=rf"three outputs, $\gamma = {power(large)}$",
    )
    handles = [
        *left.get_legend_handles_labels()[0],
        Line2D([], [], ls="", marker=".", color=COLOURS["black"], label="integrated force"),
        Line2D([], [], ls="--", lw=1.0, color=COLOURS["black"], label="as printed"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    scales = sorted(scalar["gamma"].unique())
    middle = scales[(len(scales) - 1) // 2]
    rows = scalar[scalar["seed"] == _member_at(scalar, middle, member)]
    entries = rows[rows["quantity"] == "beta"]
    for (_, entry), colour in zip(entries.groupby("index"), sequence(entries["index"].nunique()), strict=True):
        right.plot(entry["time"], entry["value"], color=colour, lw=1.2)
        right.plot(entry["time"][::8], entry["predicted"][::8], ".", color=colour, ms=4)
    right.set(
        xscale="log",
        xlabel="time $t$",
        ylabel=r"entries of $\beta$",
        title=rf"one output, $\gamma = {power(middle)}$",
    )
    return figure


def rate(tables: Tables, *, member: Natural) -> Figure:
    """The loss with one output, and its bound.

    Solid: training loss of the network at three scales. Dashed: the bound D_ψ(β*, 0) / (√(2γ) t) of Lemma
    C.8. The smaller the scale, the later the descent and the weaker the bound.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.6))
    gammas = sorted(table["gamma"].unique(), reverse=True)
    for gamma, colour in zip(gammas, ("blue", "green", "vermilion"), strict=False):
        rows = table[(table["gamma"] == gamma) & (table["quantity"] == "loss")]
        rows = rows[rows["seed"] == _member_at(table, gamma, member)]
        axis.loglog(rows["time"], rows["value"], color=COLOURS[colour], label=rf"$\gamma = {power(gamma)}$")
        axis.loglog(rows["time"], rows["predicted"], "--", color=COLOURS[colour], lw=1.0)
    axis.plot([], [], "--", color=COLOURS["black"], lw=1.0, label="bound")
    axis.set(xlabel="time $t$", ylabel=r"loss $L(\beta(t))$", ylim=(1e-5, None))
    figure.legend(loc="outside right center")
    return figure


def _member_at(table: pd.DataFrame, gamma: float, member: int) -> int:
    """Return the seed column's value of the `member`-th data set at a scale."""
    return sorted(table.loc[table["gamma"] == gamma, "seed"].unique())[member]
