"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from scipy import stats

from learning_dynamics.measures.phases import PHASES, share_interval, shows
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Count, Natural, Positive

Tables = Mapping[str, pd.DataFrame]
CLASS_COLOURS = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]


def trajectories(tables: Tables, *, member: Natural) -> Figure:
    """Features and classifier in the plane, their singular values, and the features' effective rank.

    Two dimensions, four classes of unequal size, cross-entropy, gradient flow from a balanced start. Left: rows of
    f (thin) and columns of W (thick, ending in a dot), coloured by class, up to the end of the flow. Middle: singular
    values of f and of W, which coincide (Theorem B.2). Right: three effective ranks. RankMe is the exponential
    of the entropy of the covariance's eigenvalue shares, about zero or about the mean; the effective rank takes
    the singular values instead. The line is the same member; the band holds the middle half of the seeds.
    It falls while the first direction grows, and rises while the second does; it does not fall again.
    """
    (table,) = tables.values()
    rows = table[table["seed"] == member]
    figure, (plane, spectrum, rank) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    _plane_panel(plane, rows, table.attrs["settings"]["counts"])
    for index, colour in zip((1, 2), sequence(2), strict=True):
        lines = rows[(rows["index"] == index) & (rows["time"] > 0)].groupby("quantity")
        features, classifier = lines.get_group("sigma_f"), lines.get_group("sigma_w")
        spectrum.plot(features["time"], features["value"], color=colour)
        spectrum.plot(classifier["time"], classifier["value"], color=COLOURS["grey"], ls=(0, (3, 3)))
    handles = [Line2D([], [], color=colour, label=rf"$\sigma_{i}(f)$") for i, colour in enumerate(sequence(2), 1)]
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=(0, (3, 3)), label=r"$\sigma_i(W)$"))
    spectrum.legend(handles=handles, loc="upper left", handlelength=1.5)
    spectrum.set_ylabel("singular values")
    for quantity, name, label in (
        ("rankme", "blue", "RankMe"),
        ("rankme_centred", "vermilion", "RankMe, centred"),
        ("effective_rank", "green", "effective rank"),
    ):
        line = rows[(rows["quantity"] == quantity) & (rows["time"] > 0)]
        rank.plot(line["time"], line["value"], color=COLOURS[name], label=label)
    _band(rank, table, "rankme", COLOURS["blue"])
    rank.set_ylim(0.98, 2.02)
    rank.set_ylabel("effective number of dimensions")
    rank.legend(loc="lower right", handlelength=1.0, fontsize=7.5, borderaxespad=0.2)
    for axis in (spectrum, rank):
        axis.set_xscale("log")
        axis.set_xlabel("gradient-flow time $t$")
        axis.set_xlim(table.loc[table["time"] > 0, "time"].min(), table["time"].max())
    return figure


def _plane_panel(axis: Axes, rows: pd.DataFrame, counts: Sequence[int]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    for name, width, colours in (("feature", 0.8, labels), ("class", 2.2, np.arange(len(counts)))):
        x, y = (
            rows[rows["quantity"] == f"{name}_{axis_name}"].set_index(["index", "time"])["value"] for axis_name in "xy"
        )
        for index, colour in enumerate(colours, start=1):
            tint = CLASS_COLOURS[colour % len(CLASS_COLOURS)]
            axis.plot(x.loc[index], y.loc[index], color=tint, lw=width, alpha=0.8)
            if name == "class":
                axis.plot(x.loc[index].iloc[-1], y.loc[index].iloc[-1], "o", ms=5, color=tint)
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("first coordinate")
    axis.set_ylabel("second coordinate")
    handles = [
        Line2D([], [], color=CLASS_COLOURS[index], label=f"{size}") for index, size in enumerate(counts)
    ]  # fmt: skip
    axis.legend(handles=handles, title="class size", loc="best", handlelength=1.0, fontsize=7.5, title_fontsize=7.5)


def _band(axis: Axes, table: pd.DataFrame, quantity: str, colour: str, *, median: bool = False) -> None:
    """Draw the middle half of the seeds, and their median where asked."""
    values = table[(table["quantity"] == quantity) & (table["time"] > 0)].groupby("time")["value"]
    lower, middle, upper = (values.quantile(share) for share in (0.25, 0.5, 0.75))
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)
    if median:
        axis.plot(middle.index, middle, color=colour)


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


def phases(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Figure:
    """Share of seeds that run through each phase, over class skews and initial scales.

    Rows: the effective rank falls first (warm-up); falls, then rises (entropy-seeking); falls, rises, falls again
    (compression-seeking), each change by at least the threshold. Columns: cross-entropy by gradient flow, by gradient
    descent, and the squared loss. Cells give the share of seeds in per cent and its 95 % Wilson interval, balanced and
    Gaussian initialisations pooled. The squared loss shows the same phases as the cross-entropy, and so do
    equal classes (bottom row of each panel) at small scales; a late fall is rare everywhere. RankMe here is that
    of the covariance about zero.
    """
    titles = {
        "cross_entropy_grid": "cross-entropy,\ngradient flow",
        "descent_grid": "cross-entropy,\ngradient descent",
        "squared_grid": "squared loss,\ngradient flow",
    }
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 6.2), sharex=True, sharey=True, squeeze=False)
    for column, (name, table) in enumerate(tables.items()):
        rows = table[(table["measure"] == measure) & np.isclose(table["threshold"], threshold)]
        for row, phase in enumerate(PHASES):
            image = _share_panel(axes[row, column], rows, phase)
        axes[0, column].set_title(titles.get(name, name))
        axes[-1, column].set_xlabel("initial scale")
    for row, phase in enumerate(PHASES):
        axes[row, 0].set_ylabel(f"{phase}\n\nclass sizes")
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.4, aspect=40, pad=0.02)
    bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    bar.set_label("share of seeds")
    return figure


def _share_panel(axis: Axes, rows: pd.DataFrame, phase: str) -> plt.AxesImage:
    """Draw a table of shares, skews by scales, with their intervals."""
    shown = shows(rows, phase)
    counts = sorted(rows["counts"].unique(), reverse=True)
    scales = sorted(rows["scale"].unique())
    shares = np.array(
        [
            [share_interval(shown[(rows["counts"] == size) & (rows["scale"] == scale)]) for scale in scales]
            for size in counts
        ]
    )
    image = axis.imshow(shares[..., 0], vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for i, j in np.ndindex(shares.shape[:2]):
        share, low, high = shares[i, j]
        text = f"{100 * share:.0f}\n{100 * low:.0f}–{100 * high:.0f}"
        axis.text(j, i, text, ha="center", va="center", fontsize=6.5, color="black" if share > 0.5 else "white")
    axis.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales])
    axis.set_yticks(range(len(counts)), [size.replace("-", " ") for size in counts])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return image


def controls(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Figure:
    """The effective rank with skew, bottleneck or cross-entropy taken away.

    Medians and the middle half of the seeds (uncentred RankMe). First panel: all three present. The rank still falls
    and rises with two examples in every class, with three dimensions for four classes, and with the
    squared loss; it falls furthest with skewed classes. Last panel: shares of seeds over the whole grid of scales
    and initialisations (and skews, where classes are skewed) that fall and then rise, and that fall once more after
    that, with 95 % Wilson intervals.
    """
    panels = {
        "skewed": "skewed, cross-entropy",
        "uniform": "uniform classes",
        "no_bottleneck": "no bottleneck, $d = 3$",
        "squared": "squared loss, skewed",
        "squared_uniform": "squared loss, uniform",
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.4))
    for axis, (name, title) in zip(axes.ravel(), panels.items(), strict=False):
        table = tables[name]
        dimension = table.attrs["settings"]["dimension"]
        _band(axis, table, measure, COLOURS["blue"], median=True)
        axis.axhline(dimension, color=COLOURS["grey"], lw=0.8, ls=(0, (4, 2)))
        axis.set(xscale="log", ylim=(0.95, dimension + 0.07), title=title, xlabel="gradient-flow time $t$")
        axis.set_xlim(table.loc[table["time"] > 0, "time"].min(), table["time"].max())
    for axis in axes[:, 0]:
        axis.set_ylabel("RankMe")
    grids = {
        "skewed": ("cross_entropy_grid", True),
        "uniform": ("cross_entropy_grid", False),
        "no bottle-\nneck": ("no_bottleneck_grid", True),
        "squared": ("squared_grid", True),
        "squared,\nuniform": ("squared_grid", False),
    }
    _control_shares(axes[1, 2], tables, grids, measure, threshold)
    return figure


def _control_shares(
    axis: Axes, tables: Tables, grids: Mapping[str, tuple[str, bool]], measure: str, threshold: float
) -> None:
    for offset, (phase, colour, label) in enumerate(
        (("entropy-seeking", "blue", "falls, rises"), ("compression-seeking", "vermilion", "…and falls again"))
    ):
        for place, (name, skewed) in enumerate(grids.values()):
            table = tables[name]
            rows = table[(table["measure"] == measure) & np.isclose(table["threshold"], threshold)]
            rows = rows[(rows["largest"] > rows["smallest"]) == skewed]
            share, low, high = share_interval(shows(rows, phase))
            axis.errorbar(
                share,
                place + 0.2 * offset - 0.1,
                xerr=[[share - low], [high - share]],
                fmt="o",
                ms=4,
                color=COLOURS[colour],
                label=label if place == 0 else None,
            )
    axis.set_yticks(range(len(grids)), list(grids))
    axis.invert_yaxis()
    axis.set(xlim=(-0.03, 1), xlabel="share of seeds")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=7.5, handletextpad=0.1, columnspacing=0.8
    )
