"""The toy in the manner of Figure 4, and the map of its phases."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from learning_dynamics.evidence import share
from learning_dynamics.papers.softmax_dynamics.draws import members as members_of
from learning_dynamics.papers.softmax_dynamics.draws import shapes, values
from learning_dynamics.papers.softmax_dynamics.panels import RANK_NAMES, band, class_colours, learned_times
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of

# until the first class is learned, until the last is, after that: the paper's three phases, by what defines them
STYLES = ("-", (0, (3, 1.2)), (0, (1, 1)))
STYLE_NAMES = ("until the first class is learned", "until all are", "after that")


def figure4(skewed: Table) -> Drawn:
    r"""One run of the toy: skewed classes ({sizes}), $d = {dimension}$, cross-entropy, from a Gaussian start.

    Top: rows of $f$ and columns of $W$, two coordinates of each; large dots are the ends. Colours are classes, line
    styles are phases by what is learned: solid until the first class is learned, dashed until all are, dotted after.
    Bottom: singular values, with $\sigma_1 - \sigma_2$, and RankMe, centred and not. Vertical lines mark when each
    class is learned (its mean probability passes one half), in its colour; the grey band holds the middle half of
    {draws} seeds (RankMe, centred). Drawn is the one of {known} seeds that stays nearest to the median of all.
    """
    rows = skewed[skewed["seed"] == typical_member(skewed)]
    counts = settings_of(skewed)["counts"]
    learned = learned_times(rows, len(counts))
    marks = (float(np.min(learned)), float(np.max(learned)))
    figure, grid = plt.subplots(2, 2, figsize=(WIDTH, 5.4))
    (plane, weights), (spectrum, rank) = grid
    colours = class_colours(len(counts))
    labels = np.repeat(np.arange(len(counts)), counts)
    _paths(plane, rows, "feature", [colours[label] for label in labels], marks, 1.0)
    _paths(weights, rows, "class", colours, marks, 1.8)
    plane.set_title("features $f$")
    weights.set_title("classifier $W$")
    for index, colour in zip((1, 2), sequence(2), strict=True):
        curve = select(rows, "sigma", index=index)
        curve = curve[curve["time"] > 0]
        spectrum.plot(curve["time"], curve["value"], color=colour, label=rf"$\sigma_{index}$")
    first, second = (select(rows, "sigma", index=index).set_index("time")["value"] for index in (1, 2))
    gap = (first - second)[first.index > 0]
    spectrum.plot(gap.index, gap, color=COLOURS["vermilion"], ls=(0, (4, 2)), lw=1.1, label=r"$\sigma_1 - \sigma_2$")
    spectrum.set(ylabel="singular values of $f$")
    band(rank, skewed, "rankme_centred", COLOURS["grey"])
    for name, tint in (("rankme_centred", "black"), ("rankme", "vermilion")):
        curve = select(rows, name)
        curve = curve[curve["time"] > 0]
        rank.plot(curve["time"], curve["value"], color=COLOURS[tint], label=RANK_NAMES[name])
    rank.set(ylabel="effective dimensions", ylim=(0.98, settings_of(skewed)["dimension"] + 0.12))
    for axis in (spectrum, rank):
        for time, tint in zip(learned, colours, strict=True):
            axis.axvline(time, color=tint, lw=1.0, zorder=0)
        axis.set(xscale="log", xlabel="gradient-flow time $t$")
        axis.set_xlim(skewed.loc[skewed["time"] > 0, "time"].min(), skewed["time"].max())
    spectrum.legend(loc="upper left", handlelength=1.5)
    rank.legend(loc="lower right", handlelength=1.3, fontsize=8)
    handles = [
        Line2D([], [], color=tint, label=f"{size} in class {k}")
        for k, (tint, size) in enumerate(zip(colours, counts, strict=True), start=1)
    ]
    plane.legend(handles=handles, handlelength=1.0, fontsize=7.5, loc="best", labelspacing=0.2)
    handles = [
        Line2D([], [], color=COLOURS["black"], ls=style, lw=1.2, label=name)
        for style, name in zip(STYLES, STYLE_NAMES, strict=True)
    ]
    weights.legend(handles=handles, handlelength=1.8, fontsize=7.5, loc="best", labelspacing=0.2)
    facts = {
        "sizes": ", ".join(map(str, counts)),
        "dimension": settings_of(skewed)["dimension"],
        "draws": int(skewed["seed"].nunique()),
        "known": int(select(skewed, "feature_x")["seed"].nunique()),
    }
    return Drawn(
        figure,
        facts,
        "Paths of features and weights, singular values and RankMe, with the times at which classes are learned.",
    )


def typical_member(table: Table) -> int:
    """Return the member, of those whose coordinates are known, whose RankMe stays nearest to the median's course."""
    rank = select(table, "rankme_centred").pivot_table(index="seed", columns="time", values="value")
    known = select(table, "feature_x")["seed"].unique()
    return int((rank - rank.median()).abs().max(axis=1)[known].idxmin())


def _paths(
    axis: Axes, rows: Table, name: str, colours: Sequence[str], marks: tuple[float, float], width: float
) -> None:
    x, y = (select(rows, f"{name}_{letter}") for letter in "xy")
    for index, colour in enumerate(colours, start=1):
        line = [table[table["index"] == index] for table in (x, y)]
        times = line[0]["time"].to_numpy()
        a, b = (table["value"].to_numpy() for table in line)
        cuts = [0, *np.searchsorted(times, marks), len(times) - 1]
        for (begin, end), style in zip(itertools.pairwise(cuts), STYLES, strict=True):
            part = slice(begin, end + 1)
            axis.plot(a[part], b[part], color=colour, lw=width, ls=style, alpha=0.9)
        axis.plot(a[0], b[0], ".", ms=3, color=colour)
        axis.plot(a[-1], b[-1], "o", ms=4, color=colour)
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel="first coordinate", ylabel="second coordinate")


PHASES = (
    ("falls first", lambda words, falls: np.array([bool(w) and w[0] == "F" for w in words])),
    ("grows from the warm-\nup's trough on", lambda words, falls: ~falls["fall"]),
    ("falls after a rise, while\nrare classes are learned", lambda words, falls: falls["fall_rare"]),
)


def phases(
    cross_entropy: Table,
    no_bottleneck: Table,
    squared: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
) -> Drawn:
    r"""Share of seeds whose effective rank shows each phase, over class skews and initial scales.

    Rank: {measure}; changes of at least {threshold:g} count. Rows: it falls first (warm-up); it does not fall
    once it has risen from the warm-up's trough, the lowest rank until the first class is learned (what the paper says
    of its controls); it falls after a rise since then, and as much as counts comes while the rarest are learned.
    Columns: cross-entropy in two dimensions, in three, and the squared loss in two. Cells give the share in per cent
    with its 95 % Wilson interval, balanced and Gaussian starts together; of equal classes (lowest row of each panel)
    all are rarest. Each row of panels has colours of its own, from nought to its largest share.
    """
    tables = {
        "cross-entropy, $d = 2$": cross_entropy,
        "cross-entropy, $d = 3$": no_bottleneck,
        "squared loss, $d = 2$": squared,
    }
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 5.9), sharex=True, sharey=True)
    for row, (name, rule) in enumerate(PHASES):
        found = [_shares(table, rule, measure, threshold) for table in tables.values()]
        top = max(shares[..., 0].max() for shares, _, _ in found)
        for axis, (shares, sizes, scales) in zip(axes[row], found, strict=True):
            image = axis.imshow(shares[..., 0], vmin=0, vmax=max(top, 0.01), cmap="cividis", aspect="auto")
            for i, j in np.ndindex(shares.shape[:2]):
                value, low, high = shares[i, j]
                text = f"{100 * value:.0f}\n{100 * low:.0f}–{100 * high:.0f}"
                colour = "black" if value > 0.6 * top else "white"
                axis.text(j, i, text, ha="center", va="center", fontsize=7.5, color=colour, linespacing=1.05)
            axis.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales])
            axis.set_yticks(range(len(sizes)), [size.replace("-", " ") for size in sizes])
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes[row], aspect=12, pad=0.01)
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        bar.set_label("share of seeds")
        axes[row, 0].set_ylabel(name)
    for axis, title in zip(axes[0], tables, strict=True):
        axis.set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel("initial scale")
    facts = {"measure": RANK_NAMES[measure], "threshold": threshold}
    return Drawn(
        figure,
        facts,
        "Shares of seeds with each phase, by class sizes and scale, for the treated case and two controls.",
    )


def _shares(table: Table, rule: Callable, measure: str, threshold: float) -> tuple[np.ndarray, list[str], list[float]]:
    cells = members_of(table)
    words = shapes(table, measure, threshold)
    falls = {name: values(table, name, 0, measure, threshold) >= threshold for name in ("fall", "fall_rare")}
    shown = rule(words, falls)
    sizes = sorted(cells["counts"].unique(), reverse=True)
    scales = sorted(cells["scale"].unique())
    found = np.empty((len(sizes), len(scales), 3))
    for i, j in np.ndindex(found.shape[:2]):
        chosen = ((cells["counts"] == sizes[i]) & (cells["scale"] == scales[j])).to_numpy()
        estimate = share(int(shown[chosen].sum()), int(chosen.sum()))
        found[i, j] = estimate.value, estimate.lower, estimate.upper
    return found, sizes, scales
