"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.spectral_bias import noise_theory, panels
from learning_dynamics.papers.spectral_bias.evidence import settled_rank
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Count, Natural

Tables = Mapping[str, pd.DataFrame]


def fig1a(tables: Tables, *, member: Natural, top: Count) -> Figure:
    """The hidden layer's top singular values under gradient flow, from orthogonal and Gaussian initialisations.

    Solid: singular values of W1 from full-width gradient flow. Dashed: their limits by Corollary 3.1; grey in
    the Gaussian panel, where the corollary does not apply and is drawn for the orthogonal layer of equal mean
    square. At small scale only the first k grow and the rest stay at √(2γ), near zero; at large scale
    the layer keeps full rank. Variance 0.01 as printed amounts to γ = 1 and keeps full rank too; the last panel
    takes 0.01 for the standard deviation, and only k singular values are left.
    """
    figure, axes = plt.subplots(1, len(tables), figsize=(WIDTH, 2.5), sharey=True, squeeze=False)
    for axis, table in zip(axes[0], tables.values(), strict=True):
        _spectrum_panel(axis, table, member, top)
        axis.set_title(_initialisation(table.attrs["settings"]))
        axis.set_xlabel("gradient-flow time $t$")
    axes[0, 0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    handles = [
        Line2D([], [], color=colour, label=rf"$\sigma_{index}$") for index, colour in enumerate(sequence(top), start=1)
    ]
    handles.append(Line2D([], [], color=COLOURS["black"], ls=(0, (4, 2)), lw=1.0, label="Corollary 3.1"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


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
        panels.singular_values(axis, table[table["seed"] == member])
        axis.set_title(title)
        axis.set_xlabel("step size × number of steps")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    panels.index_legend(figure, 5)
    return figure


def fig2(tables: Tables, *, member: Natural) -> Figure:
    """The hidden layer's singular values in a ReLU student, from small and from large weights.

    A teacher of two ReLU neurons, a student of twenty, ten samples in five dimensions. Left and middle: one
    draw. From small weights singular values grow one after the other and most stay near zero; from large
    weights all of them stay large. Right: over all draws, how many singular values carry 95 % of |W|² at the
    end. Two is the rule at small scale, but not every draw's answer.
    """
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.5))
    for axis, table in zip(axes, tables.values(), strict=False):
        panels.singular_values(axis, table[table["seed"] == member])
        axis.set_xscale("symlog", linthresh=0.1 if table.attrs["settings"]["scale"] < 0.1 else 0.01)
        axis.set_title(rf"scale ${panels.power(table.attrs['settings']['scale'])}$")
        axis.set_xlabel("time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W)$")
    ranks = [settled_rank(table, 95, table["time"].max()) for table in tables.values()]
    for shift, rank, colour, label in zip((-0.2, 0.2), ranks, ("blue", "orange"), ("small", "large"), strict=True):
        counts = rank.value_counts(normalize=True).reindex(range(1, 6), fill_value=0.0)
        axes[2].bar(counts.index + shift, counts, width=0.4, color=COLOURS[colour], label=f"{label} scale")
    axes[2].set(xlabel="rank at the end", ylabel="share of draws", xticks=range(1, 6), title=f"{len(ranks[0])} draws")
    axes[2].legend(loc="upper center")
    panels.index_legend(figure, 5)
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
        for path, colour in enumerate(panels.PATHS):
            rows = table[(table["quantity"] == name) & (table["seed"] == path)]
            axis.plot(rows["time"], rows["value"], line, color=COLOURS[colour], lw=1.2)
    axis.set(yscale="log", xlabel="time $t$", ylabel="singular values of $W$", xlim=(0, table["time"].max()))
    handles = [
        Line2D([], [], color=COLOURS["black"], ls=ls, label=label)
        for ls, label in (("-", r"$\sigma_1$"), ("--", r"$\sigma_2$"))
    ]
    handles += [Line2D([], [], color=COLOURS[c], label=f"run {i}") for i, c in enumerate(panels.PATHS, start=1)]
    figure.legend(handles=handles, loc="outside right center")
    return figure


def fig3b(tables: Tables) -> Figure:
    """Three paths of the noise-driven process: the commutators of W's rows with a.

    The mean over both rows of the size of the commutator's entry, on the paths of `fig3a`. It decays along
    typical paths such as these, but not in the mean over paths, as `ensemble` shows.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.5))
    for path, colour in enumerate(panels.PATHS):
        rows = table[(table["quantity"] == "commutator") & (table["seed"] == path) & (table["value"] > 0)]
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], lw=1.2, label=f"run {path + 1}")
    axis.set(yscale="log", xlabel="time $t$", ylabel="commutator $|[w_i, a]|$", xlim=(0, table["time"].max()))
    figure.legend(loc="outside right center")
    return figure


def fig4(tables: Tables, *, member: Natural, top: Count) -> Figure:
    """The hidden layer's top singular values when both layers start Gaussian.

    W1 starts with variance 0.001 and W2 with 0.01 or 0.001, otherwise as `fig1a`. Grey: the limits that
    Corollary 3.1 gives the orthogonal layer of equal mean square with W2 = 0. Three singular values grow and the
    others stay, whatever W2; the more W2 brings along, the less W1 has to grow.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.5), sharey=True)
    for axis, table in zip(axes, tables.values(), strict=True):
        _spectrum_panel(axis, table, member, top)
        settings = table.attrs["settings"]
        axis.set_title(rf"variance of $W_1$ ${settings['variance']:g}$, of $W_2$ ${settings['output_variance']:g}$")
        axis.set_xlabel("gradient-flow time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    line = Line2D([], [], color=COLOURS["grey"], ls=(0, (4, 2)), lw=1.0, label="Corollary 3.1")
    panels.index_legend(figure, top, [line])
    return figure


def fig5a(tables: Tables, *, member: Natural) -> Figure:
    """The ReLU student's loss from small weights: from saddle to saddle.

    Left: one draw. Shaded are plateaus, stretches where the loss falls more slowly than 1/√t while time grows by a
    quarter or more. The first is the saddle at zero, where every draw starts; the end of the next is the end
    of phase 1. Right: how many plateaus the draws have.
    """
    (table,) = tables.values()
    figure, (axis, counted) = plt.subplots(1, 2, figsize=(WIDTH, 2.6), width_ratios=(2, 1))
    rows = table[table["seed"] == member]
    losses = rows[(rows["quantity"] == "loss") & (rows["time"] > 0)]
    axis.loglog(losses["time"], losses["value"], color=COLOURS["blue"])
    for number, (first, last) in enumerate(panels.plateaus(rows), start=1):
        axis.axvspan(first, last, color=COLOURS["orange"], alpha=0.25, lw=0, label="plateau" if number == 1 else None)
    axis.set(xlabel="time $t$", ylabel="training loss")
    axis.set_xlim(losses["time"].min(), losses["time"].max())
    axis.legend(loc="upper right")
    number = table[table["quantity"] == "plateau_end"].groupby("seed").size()
    number = number.reindex(range(table["seed"].nunique()), fill_value=0)
    shares = number.value_counts(normalize=True).sort_index()
    counted.bar(shares.index, shares, color=COLOURS["orange"])
    counted.set(xlabel="plateaus", ylabel="share of draws", xticks=shares.index, title=f"{len(number)} draws")
    return figure


def fig5b(tables: Tables, *, member: Natural) -> Figure:
    """Phase 1 of the ReLU student: the hidden layer's singular values up to the end of the first nonzero saddle.

    One singular value grows; the others wait until the loss leaves the second plateau of `fig5a`, whose
    extent is shaded.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.5))
    rows = table[table["seed"] == member]
    spans = panels.plateaus(rows)
    first, last = spans[1] if len(spans) > 1 else (rows["time"].max(),) * 2
    panels.singular_values(axis, rows[rows["time"] <= last])
    axis.axvspan(first, last, color=COLOURS["orange"], alpha=0.25, lw=0)
    axis.set(xlabel="time $t$", ylabel=r"singular values $\sigma_i(W)$", xlim=(0, last))
    panels.index_legend(figure, 5)
    return figure


def jump(tables: Tables) -> Figure:
    """Singular values of the predictor are learnt one by one, in jumps, as the scale vanishes.

    Whitened data, time in units of ln(1/γ). Solid: simulated gradient flow, γ from 10⁻² to 10⁻³². Dots:
    the closed form of Theorem C.12. Dashed: the limit, which jumps at 1/(2σ*); circles mark the limit's value
    at the jump itself, σ*/(1 + 2σ*), through which all curves tend to pass.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 3.0))
    gammas = sorted(table["gamma"].unique(), reverse=True)
    for gamma, colour in zip(gammas, sequence(len(gammas)), strict=True):
        for index in sorted(table["index"].unique()):
            rows = table[(table["gamma"] == gamma) & (table["index"] == index)]
            label = rf"$\gamma = {panels.power(gamma)}$" if index == 1 else None
            axis.plot(rows["time"], rows["value"], color=colour, lw=1.3, label=label)
            axis.plot(rows["time"][5::20], rows["predicted"][5::20], ".", ms=3.5, color=colour)
    for _, rows in table[table["gamma"] == gammas[-1]].groupby("index"):
        final = rows["limit"].max()
        axis.plot([0, 1 / (2 * final)], [0, 0], "--", color=COLOURS["black"], lw=1.0, zorder=4)
        axis.plot(
            [1 / (2 * final)] * 2 + [table["time"].max()], [0, final, final], "--", color=COLOURS["black"], lw=1.0
        )
        axis.plot(1 / (2 * final), final / (1 + 2 * final), "o", mfc="none", color=COLOURS["vermilion"], zorder=5)
    axis.plot([], [], "--", color=COLOURS["black"], lw=1.0, label=r"limit $\gamma \to 0$")
    axis.plot([], [], "o", mfc="none", color=COLOURS["vermilion"], label="limit at the jump")
    axis.plot([], [], ".", color=COLOURS["grey"], label="closed form")
    axis.set(
        xlabel=r"$t \,/\, \ln(1/\gamma)$", ylabel=r"singular values $\sigma_i(\beta)$", xlim=(0, table["time"].max())
    )
    figure.legend(loc="outside right center")
    return figure


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
    rows = vector[vector["seed"] == panels.member_at(vector, large, member)]
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
        title=rf"three outputs, $\gamma = {panels.power(large)}$",
    )
    handles = [
        *left.get_legend_handles_labels()[0],
        Line2D([], [], ls="", marker=".", color=COLOURS["black"], label="integrated force"),
        Line2D([], [], ls="--", lw=1.0, color=COLOURS["black"], label="as printed"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    scales = sorted(scalar["gamma"].unique())
    middle = scales[(len(scales) - 1) // 2]
    rows = scalar[scalar["seed"] == panels.member_at(scalar, middle, member)]
    entries = rows[rows["quantity"] == "beta"]
    for (_, entry), colour in zip(entries.groupby("index"), sequence(entries["index"].nunique()), strict=True):
        right.plot(entry["time"], entry["value"], color=colour, lw=1.2)
        right.plot(entry["time"][::8], entry["predicted"][::8], ".", color=colour, ms=4)
    right.set(
        xscale="log",
        xlabel="time $t$",
        ylabel=r"entries of $\beta$",
        title=rf"one output, $\gamma = {panels.power(middle)}$",
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
        rows = rows[rows["seed"] == panels.member_at(table, gamma, member)]
        axis.loglog(rows["time"], rows["value"], color=COLOURS[colour], label=rf"$\gamma = {panels.power(gamma)}$")
        axis.loglog(rows["time"], rows["predicted"], "--", color=COLOURS[colour], lw=1.0)
    axis.plot([], [], "--", color=COLOURS["black"], lw=1.0, label="bound")
    axis.set(xlabel="time $t$", ylabel=r"loss $L(\beta(t))$", ylim=(1e-5, None))
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
        rows = panels.statistic(moments, quantity, "mean")
        panels.with_interval(left, rows[rows["time"] > 0], colour, label)
        left.plot(rows["time"], rows["predicted"], "--", color=COLOURS["black"], lw=1.0)
    left.plot([], [], "--", color=COLOURS["black"], lw=1.0, label="exact")
    left.set(yscale="log", ylim=(0.3, None), title="second moments")
    panels.mean_and_median(middle, moments, "commutator")
    middle.axhline(
        noise_theory.commutator_mean_limit(),
        color=COLOURS["vermilion"],
        ls="--",
        lw=1.0,
        label="exact limit of the mean",
    )
    median = panels.statistic(moments, "commutator", "quantile 0.5")
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
    panels.mean_and_median(right, moments, "relative_commutator", label="sine of the angle")
    for name, line in (("mean", "-"), ("quantile 0.5", ":")):
        rows = panels.statistic(moments, "determinant", name)
        label = r"$\det W$, mean" if name == "mean" else r"$\det W$, median"
        right.plot(rows["time"], rows["value"], line, color=COLOURS["green"], label=label)
    right.set(yscale="log", title=r"angle, and $\det W$")
    for axis in (left, middle, right):
        axis.set_xlabel("time $t$")
        axis.set_xlim(0, moments["time"].max())
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22))
    return figure


def _spectrum_panel(axis: Axes, table: pd.DataFrame, member: int, top: int) -> None:
    """Draw one member's top singular values against time, and their predicted limits."""
    rows = table[(table["seed"] == member) & (table["quantity"] == "sigma_w1") & (table["index"] <= top)]
    flow, limit = rows[rows["phase"] == "flow"], rows[rows["phase"] == "limit"]
    # the largest last, so that equal values show the first colour
    for index, colour in reversed(list(enumerate(sequence(top), start=1))):
        line = flow[flow["index"] == index]
        axis.plot(line["time"], line["value"], color=colour)
    exact = table.attrs["settings"]["init"] == "orthogonal"
    for predicted in limit["predicted"]:
        axis.axhline(predicted, color=COLOURS["black" if exact else "grey"], ls=(0, (4, 2)), lw=1.0, zorder=3)
    axis.set_xlim(0, flow["time"].max())
    # panels share the axis: as high as the highest of those drawn so far
    top_so_far = max(sibling.dataLim.y1 for sibling in axis.get_shared_y_axes().get_siblings(axis))
    axis.set_ylim(0, 1.06 * top_so_far)


def _initialisation(settings: Mapping) -> str:
    if settings["init"] == "orthogonal":
        return f"orthogonal,\n$\\gamma = {panels.power(settings['gamma'])}$"
    return f"Gaussian,\nvariance ${panels.power(settings['variance'])}$"
