"""Growth rates of singular values, against their size and against the largest class's."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Count
from learning_dynamics.tables import Tables


def growth(tables: Tables, *, members: Count) -> Figure:
    """How fast singular values change, against how large they are.

    Left: along the flow, derivatives by finite differences against |g_i| σ_i (Theorem B.3); every recorded
    time of every seed shown lies on the line. Middle: at random balanced starts of four scales; the slope is one,
    and the factor |g_i| spreads by more than a decade (the shaded band holds two standard deviations of its logarithm).
    Right: along the flow, against the singular value itself. Both directions first follow the slope of one, then leave
    it as their examples are fitted; late on the rate falls while the singular value still grows.
    """
    flow, starts = tables["skewed"], tables["initial_growth"]
    figure, (identity, initial, along) = plt.subplots(1, 3, figsize=(WIDTH, 2.6), sharey=False)
    shown = flow[flow["seed"] < members]
    rates = shown[shown["quantity"] == "rate_f"].set_index(["seed", "time", "index"])
    sigma = shown[shown["quantity"] == "sigma_f"].set_index(["seed", "time", "index"])["value"]
    for index, colour in zip((2, 1), reversed(sequence(2)), strict=True):
        chosen = rates.xs(index, level="index")
        size = {2: 7.0, 1: 2.5}[index]
        identity.plot(
            chosen["predicted"].abs(), chosen["value"].abs(), "o", ms=size, mew=0, color=colour, rasterized=True
        )
        path = sigma.xs(index, level="index")
        for seed in range(members):
            along.plot(path.loc[seed], chosen["value"].loc[seed].abs(), color=colour, lw=0.6, alpha=0.6)
    low, high = 1e-6, 10.0
    identity.plot([low, high], [low, high], color=COLOURS["black"], lw=0.8, zorder=0)
    identity.set(
        xlim=(low, high), ylim=(low, high), xlabel=r"$|g_i|\,\sigma_i(W)$", ylabel=r"$|\dot\sigma_i(f)|$, differences"
    )
    initial.plot(starts["sigma"], starts["rate"].abs(), ".", ms=1.5, color=COLOURS["sky"], rasterized=True)
    logs = np.log(starts["rate"].abs() / starts["sigma"])
    grid = np.geomspace(starts["sigma"].min(), starts["sigma"].max(), 2)
    fit = stats.linregress(np.log(starts["sigma"]), np.log(starts["rate"].abs()))
    initial.plot(grid, np.exp(fit.intercept) * grid**fit.slope, color=COLOURS["black"], lw=1.2)
    lower, upper = (np.exp(logs.mean() + sign * 2 * logs.std()) for sign in (-1, 1))
    initial.fill_between(grid, lower * grid, upper * grid, color=COLOURS["grey"], alpha=0.25, lw=0)
    initial.set(xlabel=r"$\sigma_i$ at the start", ylabel=r"$|\dot\sigma_i|$ at the start", ylim=(1e-8, 10))
    initial.text(0.05, 0.95, f"slope {fit.slope:.2f} ± {1.96 * fit.stderr:.2f}", transform=initial.transAxes, va="top")
    ends = np.array([1e-3, 10.0])
    along.plot(ends, ends, color=COLOURS["black"], lw=0.8, ls=(0, (4, 2)), zorder=3)
    along.set(xlabel=r"$\sigma_i$", ylabel=r"$|\dot\sigma_i|$", ylim=(1e-6, 10), xlim=(3e-4, 20))
    handles = [Line2D([], [], color=colour, label=rf"$\sigma_{i}$") for i, colour in enumerate(sequence(2), 1)]
    handles.append(Line2D([], [], color=COLOURS["black"], lw=0.8, ls=(0, (4, 2)), label="slope 1"))
    along.legend(handles=handles, loc="upper left", handlelength=1.2, labelspacing=0.2)
    for axis in (identity, initial, along):
        axis.set_xscale("log")
        axis.set_yscale("log")
    return figure


def dominant_class(tables: Tables, *, classes: Count) -> Figure:
    """Growth rates at uniform predictions, against the size of the largest class and the number of classes.

    Left: relative growth rates |dσ_i/dt| / σ_i at random balanced starts (dots; the line is their root mean
    square): independent of the largest class's size N, and far below the bounds √N and N. Middle: the growth rate
    of σ_1 after a tiny start has aligned with the fastest direction: √N when classes are many, a little less for
    four, as the spectral norm of A predicts (lines). Right: what dropping terms in 1/V from g_i costs (eq. 21),
    and how far the spectral norm of A lies below √N, worst over N.
    """
    starts, early = tables["initial_skews"], tables["early_growth"]
    figure, (random, aligned, many) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    chosen = starts[starts["classes"] == min(classes, starts["classes"].max())]
    rate = chosen["rate"].abs() / chosen["sigma"]
    sizes = np.array(sorted(chosen["largest"].unique()), dtype=float)
    random.plot(chosen["largest"], rate, ".", ms=2.5, color=COLOURS["sky"])
    mean_square = np.sqrt((rate**2).groupby(chosen["largest"]).mean())
    random.plot(mean_square.index, mean_square, "o-", ms=4, color=COLOURS["blue"], label="random start")
    ends = np.array(sorted(early["largest"].unique()), dtype=float)
    end = early[early["time"] == early["time"].max()]
    for axis, domain in ((random, sizes), (aligned, ends)):
        axis.plot(domain, domain, color=COLOURS["vermilion"], ls=(0, (4, 2)), label="$N$")
        axis.plot(domain, np.sqrt(domain), color=COLOURS["black"], ls=(0, (4, 2)), label=r"$\sqrt{N}$")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("largest class size $N$")
    random.set_yscale("log")
    aligned.set_yscale("log", base=2)
    for count, colour in zip(sorted(end["classes"].unique()), ("green", "purple"), strict=False):
        cell = end[end["classes"] == count].groupby("largest")["growth"].median()
        aligned.plot(cell.index, cell, "o", ms=4.5, color=COLOURS[colour], label=f"aligned, $V = {count}$")
        norms = [theory.fastest_growth([int(size)] + [1] * (count - 1)) for size in ends]
        aligned.plot(ends, norms, color=COLOURS[colour], lw=1.0)
    random.set_ylabel(r"$|\dot\sigma_i| / \sigma_i$")
    random.set_title(f"random start, $V = {chosen['classes'].iloc[0]}$")
    aligned.set_ylabel(r"$\dot\sigma_1 / \sigma_1$")
    aligned.set_title("aligned start")
    squares = starts.assign(error=(starts["gain_many_classes"] - starts["gain"]) ** 2, square=starts["gain"] ** 2)
    sums = squares.groupby("classes")[["error", "square"]].sum()
    many.plot(
        sums.index, np.sqrt(sums["error"] / sums["square"]), "o-", ms=4, color=COLOURS["blue"], label="$g_i$, eq. 21"
    )
    short = 1 - (starts["fastest"] / np.sqrt(starts["largest"])).groupby(starts["classes"]).min()
    many.plot(short.index, short, "s-", ms=4, color=COLOURS["orange"], label=r"$\|A\|$ below $\sqrt{N}$")
    domain = sums.index.to_numpy(dtype=float)
    many.plot(domain, 1 / np.sqrt(domain), color=COLOURS["black"], lw=0.8, ls=(0, (4, 2)), label=r"$1/\sqrt{V}$")
    many.set(xscale="log", yscale="log", xlabel="number of classes $V$", ylabel="relative error")
    many.set_title("terms in $1/V$ dropped")
    for axis in (random, aligned, many):
        axis.legend(loc="best", handlelength=1.4, fontsize=7.5, labelspacing=0.2)
    return figure
