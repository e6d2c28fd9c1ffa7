"""Descent with label noise, and paths and statistics of the noise-driven process."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory
from learning_dynamics.papers.spectral_bias.panels import index_legend, singular_values
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables

PATHS = ("blue", "orange", "green")


def fig1b(tables: Tables, *, member: Natural) -> Figure:
    """The hidden layer's singular values in scalar regression: gradient descent, and with label noise.

    Orthonormal data in five dimensions, width 200, a large initial scale. Plain descent raises one singular value
    and leaves the others where they started. Label noise, drawn afresh at every step, makes them decay, so
    that the layer ends at rank one whatever its scale at the start.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.5), sharey=True)
    for axis, table, title in zip(
        axes, tables.values(), ("gradient descent", "label-noise gradient descent"), strict=True
    ):
        singular_values(axis, table[table["seed"] == member])
        axis.set_title(title)
        axis.set_xlabel("step size × number of steps")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    index_legend(figure, 5)
    return figure


def fig3a(tables: Tables) -> Figure:
    """Three paths of the noise-driven process: both singular values of W.

    dW = dB aᵀ, da = Wᵀ dB in two dimensions from W = I, a = 0, with steps shrinking as the inverse square
    root of their number. The smaller singular value decays on each path. The larger one wanders: over many
    paths it has no drift (see `ensemble` and the claim on this figure).
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.5))
    for name, line in (("sigma_1", "-"), ("sigma_2", "--")):
        for path, colour in enumerate(PATHS):
            rows = table[(table["quantity"] == name) & (table["seed"] == path)]
            axis.plot(rows["time"], rows["value"], line, color=COLOURS[colour], lw=1.2)
    axis.set(yscale="log", xlabel="time $t$", ylabel="singular values of $W$", xlim=(0, table["time"].max()))
    handles = [
        Line2D([], [], color=COLOURS["black"], ls=ls, label=label)
        for ls, label in (("-", r"$\sigma_1$"), ("--", r"$\sigma_2$"))
    ]
    handles += [Line2D([], [], color=COLOURS[c], label=f"run {i}") for i, c in enumerate(PATHS, start=1)]
    figure.legend(handles=handles, loc="outside right center")
    return figure


def fig3b(tables: Tables) -> Figure:
    """Three paths of the noise-driven process: the commutators of W's rows with a.

    The mean over both rows of the size of the commutator's entry, on the paths of `fig3a`. It decays along
    typical paths such as these, but not in the mean over paths, as `ensemble` shows.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.5))
    for path, colour in enumerate(PATHS):
        rows = table[(table["quantity"] == "commutator") & (table["seed"] == path) & (table["value"] > 0)]
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], lw=1.2, label=f"run {path + 1}")
    axis.set(yscale="log", xlabel="time $t$", ylabel="commutator $|[w_i, a]|$", xlim=(0, table["time"].max()))
    figure.legend(loc="outside right center")
    return figure


def ensemble(tables: Tables) -> Figure:
    """The noise-driven process over many paths: moments explode, typical paths align, the mean commutator stays.

    d = 2. Left: second moments, with 95 % intervals, against the exact ones; at late times a sample mean
    misses the rare paths that carry them. Middle: the commutator's entry |e|. Its mean tends to 0.482, computed
    exactly, where the paper has 0; its median decays, at the almost sure rate −0.237 (dashed, slope only). The band
    holds 80 % of the paths. Right: what is left of it when the lengths are divided out, the sine of the angle
    between a row of W and a, closes on typical paths; det W is a martingale whose mean stays at 1 while its
    median falls.
    """
    moments, growth = tables.values()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.9))
    for quantity, colour, label in (("hidden_norm", "blue", r"$E|w_i|^2$"), ("output_norm", "orange", r"$E a_i^2$")):
        rows = _statistic(moments, quantity, "mean")
        _with_interval(left, rows[rows["time"] > 0], colour, label)
        left.plot(rows["time"], rows["predicted"], "--", color=COLOURS["black"], lw=1.0)
    left.plot([], [], "--", color=COLOURS["black"], lw=1.0, label="exact")
    left.set(yscale="log", ylim=(0.3, None), title="second moments")
    _mean_and_median(middle, moments, "commutator")
    middle.axhline(
        noise_theory.commutator_mean_limit(),
        color=COLOURS["vermilion"],
        ls="--",
        lw=1.0,
        label="exact limit of the mean",
    )
    median = _statistic(moments, "commutator", "quantile 0.5")
    anchor = median[median["time"] >= 0.5 * median["time"].max()].iloc[0]
    exact = growth.loc[growth["quantity"] == "commutator", "predicted"].iloc[0]
    late = np.array([anchor["time"], median["time"].max()])
    middle.plot(
        late,
        0.8 * anchor["value"] * np.exp(exact * (late - late[0])),
        "--",
        color=COLOURS["black"],
        lw=1.0,
        label="almost sure rate",
    )
    middle.set(yscale="log", ylim=(5e-3, 3), title=r"commutator $|e|$")
    _mean_and_median(right, moments, "relative_commutator", label="sine of the angle")
    for name, line in (("mean", "-"), ("quantile 0.5", ":")):
        rows = _statistic(moments, "determinant", name)
        label = r"$\det W$, mean" if name == "mean" else r"$\det W$, median"
        right.plot(rows["time"], rows["value"], line, color=COLOURS["green"], label=label)
    right.set(yscale="log", title=r"angle, and $\det W$")
    for axis in (left, middle, right):
        axis.set_xlabel("time $t$")
        axis.set_xlim(0, moments["time"].max())
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22))
    return figure


def _statistic(table: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    """Return an ensemble statistic over time."""
    return table[(table["quantity"] == quantity) & (table["statistic"] == name)]


def _with_interval(axis: Axes, rows: pd.DataFrame, colour: str, label: str) -> None:
    """Draw a statistic with its confidence interval as error bars."""
    low = np.minimum(rows["value"] - rows["lower"], 0.95 * rows["value"])  # keeps the bar on a logarithmic axis
    axis.errorbar(
        rows["time"],
        rows["value"],
        yerr=[low, rows["upper"] - rows["value"]],
        fmt="o",
        ms=3,
        lw=1.0,
        color=COLOURS[colour],
        label=label,
    )


def _mean_and_median(axis: Axes, table: pd.DataFrame, quantity: str, label: str = "") -> None:
    """Draw mean (with its interval), median, and the band that holds 80 % of the paths, after time 0."""
    prefix = f"{label}, " if label else ""
    median, low, high = (
        _statistic(table, quantity, name).iloc[1:] for name in ("quantile 0.5", "quantile 0.1", "quantile 0.9")
    )
    axis.fill_between(median["time"], low["value"], high["value"], color=COLOURS["sky"], alpha=0.3, lw=0)
    _with_interval(axis, _statistic(table, quantity, "mean").iloc[1:], "vermilion", f"{prefix}mean")
    axis.plot(median["time"], median["value"], color=COLOURS["blue"], label=f"{prefix}median")
