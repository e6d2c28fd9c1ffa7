"""The toy in the manner of Figure 4, its biases over time, the map of its phases, and the controls."""

from __future__ import annotations

import itertools
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from learning_dynamics.evidence import share
from learning_dynamics.papers.softmax_dynamics.draws import members as members_of
from learning_dynamics.papers.softmax_dynamics.draws import monotone, shapes, values
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, select, settings_of

CLASS_COLOURS = [COLOURS[name] for name in ("blue", "orange", "green", "purple")]
# until the first class is learned, until the last is, after that: the paper's three phases, by what defines them
STYLES = ("-", (0, (3, 1.2)), (0, (1, 1)))
STYLE_NAMES = ("until the first class is learned", "until all are", "after that")
RANK_NAMES = {"rankme_centred": "RankMe", "rankme": "RankMe, not centred", "effective_rank": "effective rank"}


def figure4(skewed: Table) -> Drawn:
    r"""One run of the toy in the plane: skewed classes ({sizes}), two dimensions, cross-entropy, from a Gaussian start.

    Top: rows of $f$ and columns of $W$; large dots are the ends. Colours are classes, line styles are phases by what is
    learned: solid until the first class is learned, dashed until all are, dotted after. Bottom: singular values, with
    $\sigma_1 - \sigma_2$, and RankMe, centred and not. Vertical lines mark when each class is learned (its mean
    probability passes one half), in its colour; the grey band holds the middle half of {draws} seeds (RankMe, centred).
    Drawn is the one of {known} seeds that stays nearest to the median of all.
    """
    rows = skewed[skewed["seed"] == _typical_member(skewed)]
    counts = settings_of(skewed)["counts"]
    learned = _learned(rows, len(counts))
    marks = (float(np.min(learned)), float(np.max(learned)))
    figure, grid = plt.subplots(2, 2, figsize=(WIDTH, 5.4))
    (plane, weights), (spectrum, rank) = grid
    labels = np.repeat(np.arange(len(counts)), counts)
    _paths(plane, rows, "feature", labels, marks, 1.0)
    _paths(weights, rows, "class", np.arange(len(counts)), marks, 1.8)
    plane.set_title("features $f$")
    weights.set_title("classifier $W$")
    for index, colour in zip((1, 2), sequence(2), strict=True):
        line = select(rows, "sigma", index=index)
        line = line[line["time"] > 0]
        spectrum.plot(line["time"], line["value"], color=colour, label=rf"$\sigma_{index}$")
    first, second = (select(rows, "sigma", index=index).set_index("time")["value"] for index in (1, 2))
    gap = (first - second)[first.index > 0]
    spectrum.plot(gap.index, gap, color=COLOURS["vermilion"], ls=(0, (4, 2)), lw=1.1, label=r"$\sigma_1 - \sigma_2$")
    spectrum.set(ylabel="singular values of $f$")
    _band(rank, skewed, "rankme_centred", COLOURS["grey"])
    for name, colour in (("rankme_centred", "black"), ("rankme", "vermilion")):
        line = select(rows, name)
        line = line[line["time"] > 0]
        rank.plot(line["time"], line["value"], color=COLOURS[colour], label=RANK_NAMES[name])
    rank.set(ylabel="effective number of dimensions", ylim=(0.98, 2.12))
    for axis in (spectrum, rank):
        for time, colour in zip(learned, CLASS_COLOURS, strict=False):
            axis.axvline(time, color=colour, lw=1.0, zorder=0)
        axis.set(xscale="log", xlabel="gradient-flow time $t$")
        axis.set_xlim(skewed.loc[skewed["time"] > 0, "time"].min(), skewed["time"].max())
    spectrum.legend(loc="upper left", handlelength=1.5)
    rank.legend(loc="lower right", handlelength=1.3, fontsize=8)
    handles = [
        Line2D([], [], color=CLASS_COLOURS[k], label=f"{size} in class {k + 1}") for k, size in enumerate(counts)
    ]
    plane.legend(handles=handles, handlelength=1.0, fontsize=7.5, loc="best", labelspacing=0.2)
    handles = [
        Line2D([], [], color=COLOURS["black"], ls=style, lw=1.2, label=name)
        for style, name in zip(STYLES, STYLE_NAMES, strict=True)
    ]
    weights.legend(handles=handles, handlelength=1.8, fontsize=7.5, loc="best", labelspacing=0.2)
    facts = {"sizes": ", ".join(map(str, counts)), "draws": int(skewed["seed"].nunique())}
    facts["known"] = int(select(skewed, "feature_x")["seed"].nunique())
    return Drawn(
        figure,
        facts,
        "Paths of features and weights, singular values and RankMe, with the times at which classes are learned.",
    )


def _typical_member(table: Table) -> int:
    """Return the member, of those whose coordinates are known, whose RankMe stays nearest to the median's course."""
    rank = select(table, "rankme_centred").pivot_table(index="seed", columns="time", values="value")
    known = select(table, "feature_x")["seed"].unique()
    return int((rank - rank.median()).abs().max(axis=1)[known].idxmin())


def _learned(rows: Table, classes: int) -> np.ndarray:
    """Return when each class's probability first passes one half."""
    times = []
    for index in range(1, classes + 1):
        line = select(rows, "probability", index=index)
        above = line[line["value"] > 0.5]["time"]
        times.append(above.min() if len(above) else np.inf)
    return np.array(times)


def _paths(axis: Axes, rows: Table, name: str, colours: np.ndarray, marks: tuple[float, float], width: float) -> None:
    x, y = (select(rows, f"{name}_{letter}") for letter in "xy")
    for index, colour in enumerate(colours, start=1):
        line = [table[table["index"] == index] for table in (x, y)]
        times = line[0]["time"].to_numpy()
        a, b = (table["value"].to_numpy() for table in line)
        cuts = [0, *np.searchsorted(times, marks), len(times) - 1]
        for (begin, end), style in zip(itertools.pairwise(cuts), STYLES, strict=True):
            part = slice(begin, end + 1)
            axis.plot(a[part], b[part], color=CLASS_COLOURS[colour], lw=width, ls=style, alpha=0.9)
        axis.plot(a[0], b[0], ".", ms=3, color=CLASS_COLOURS[colour])
        axis.plot(a[-1], b[-1], "o", ms=4, color=CLASS_COLOURS[colour])
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel="first coordinate", ylabel="second coordinate")


def biases(skewed: Table) -> Drawn:
    r"""What is learned when, and in which directions: medians over {draws} seeds and the middle half of them.

    Skewed classes ({sizes}), two dimensions, cross-entropy, Gaussian starts. Top left: probability of its own class,
    by class; primacy bias is that the frequent one comes first. Top right: alignment of the leading eigenvectors of
    $f^T f$ and $W W^T$, and how far the most frequent class's features and weights stand from the others', in units
    of the spread within. Bottom left: share of seeds in which $\sigma_1$ grows faster than $\sigma_2$, in rates and
    in ratios (selection bias; grey, a coin). Bottom right: the difference and the ratio of the singular values.
    Vertical lines: median times at which the first class and the last are learned.
    """
    figure, ((learning, aligning), (faster, ratio)) = plt.subplots(2, 2, figsize=(WIDTH, 5.0), sharex=True)
    counts = settings_of(skewed)["counts"]
    for index, size in enumerate(counts, start=1):
        rows = select(skewed, "probability", index=index)
        _line(learning, rows, CLASS_COLOURS[(index - 1) % len(CLASS_COLOURS)], f"class {index} ({size})")
    learning.set(ylabel="probability of its own class", ylim=(0, 1.05))
    _line(aligning, select(skewed, "alignment"), COLOURS["black"], "alignment (left)")
    aligning.set(ylabel=r"$|\cos|$ of leading eigenvectors", ylim=(0, 1.05))
    second = aligning.twinx()
    second.spines["right"].set_visible(True)
    for name, colour, label in (
        ("separation_f", "blue", "features apart"),
        ("separation_w", "orange", "weights apart"),
    ):
        _line(second, select(skewed, name), COLOURS[colour], label)
    second.set(yscale="log", ylabel="distance / spread")
    lines = [*aligning.lines, *second.lines]
    aligning.legend(
        lines, [line.get_label() for line in lines], loc="upper right", bbox_to_anchor=(1.0, 0.94), fontsize=7.5
    )
    sigma, rate = (
        select(skewed, name, index=[1, 2]).pivot_table(index=["seed", "time"], columns="index", values="value")
        for name in ("sigma", "rate")
    )
    for more, colour, label in (
        (rate[1] > rate[2], "blue", r"$\dot\sigma_1 > \dot\sigma_2$"),
        (rate[1] / sigma[1] > rate[2] / sigma[2], "vermilion", r"$\dot\sigma_1 / \sigma_1 > \dot\sigma_2 / \sigma_2$"),
    ):
        shares = more.groupby("time").mean()
        shares = shares[shares.index > 0]
        faster.plot(shares.index, shares, color=COLOURS[colour], label=label)
    faster.axhline(0.5, color=COLOURS["grey"], lw=0.9, ls=(0, (4, 2)))
    faster.set(ylabel="share of seeds", ylim=(-0.02, 1.05))
    faster.yaxis.set_major_formatter(PercentFormatter(1.0))
    difference = (sigma[1] - sigma[2]).rename("value").reset_index()
    _line(ratio, (sigma[1] / sigma[2]).rename("value").reset_index(), COLOURS["vermilion"], r"$\sigma_1 / \sigma_2$")
    _line(ratio, difference, COLOURS["blue"], r"$\sigma_1 - \sigma_2$")
    ratio.set(ylabel="singular values of $f$", yscale="log")
    times = np.array([_learned(rows, len(counts)) for _, rows in skewed.groupby("seed")])
    for axis in (learning, aligning, faster, ratio):
        for when in (np.median(times.min(axis=1)), np.median(times.max(axis=1))):
            axis.axvline(when, color=COLOURS["grey"], lw=0.9, ls=":", zorder=0)
        axis.set_xscale("log")
        axis.set_xlim(skewed.loc[skewed["time"] > 0, "time"].min(), skewed["time"].max())
    for axis in (faster, ratio):
        axis.set_xlabel("gradient-flow time $t$")
    for axis, place in ((learning, "lower right"), (faster, "lower right"), (ratio, "upper right")):
        axis.legend(loc=place, fontsize=8, handlelength=1.4, labelspacing=0.2)
    facts = {"sizes": ", ".join(map(str, counts)), "draws": int(skewed["seed"].nunique())}
    return Drawn(
        figure, facts, "Curves over time of what is learned, of alignment, and of which singular value grows faster."
    )


def _line(axis: Axes, rows: Table, colour: object, label: str) -> None:
    by_time = rows[rows["time"] > 0].groupby("time")["value"]
    lower, middle, upper = (by_time.quantile(q) for q in (0.25, 0.5, 0.75))
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)
    axis.plot(middle.index, middle, color=colour, label=label)


def _band(axis: Axes, table: Table, quantity: str, colour: str) -> None:
    by_time = select(table, quantity).groupby("time")["value"]
    lower, upper = by_time.quantile(0.25), by_time.quantile(0.75)
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.25, lw=0)


PHASES = (
    ("falls first", lambda words, falls: np.array([bool(w) and w[0] == "F" for w in words])),
    ("no fall after\na rise", lambda words, falls: monotone(words)),
    ("falls after a rise,\nany time", lambda words, falls: falls["fall"] > 0),
    ("falls after a rise, while\nrare classes are learned", lambda words, falls: falls["fall_rare"] > 0),
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

    Rank: {measure}; changes of at least {threshold:g} count. Rows: it falls first (warm-up); it does not fall once
    it has risen (what the paper says of its controls); it falls after a rise, at any time (compression,
    counted generously), and of that falls while the rarest classes are learned. Columns: cross-entropy in two
    dimensions, in three, and the squared loss in two. Cells give the share in per cent with its 95 % Wilson interval,
    balanced and Gaussian starts together; of equal classes (lowest row of each panel) all are rarest. Each row of
    panels has colours of its own, from nought to its largest share.
    """
    tables = {
        "cross-entropy, $d = 2$": cross_entropy,
        "cross-entropy, $d = 3$": no_bottleneck,
        "squared loss, $d = 2$": squared,
    }
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 7.6), sharex=True, sharey=True)
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
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
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


def _shares(table: Table, rule: object, measure: str, threshold: float) -> tuple[np.ndarray, list[str], list[float]]:
    cells = members_of(table)
    words = shapes(table, measure, threshold)
    falls = {name: values(table, name, 0, measure, threshold) for name in ("fall", "fall_rare")}
    shown = rule(words, falls)
    sizes = sorted(cells["counts"].unique(), reverse=True)
    scales = sorted(cells["scale"].unique())
    found = np.empty((len(sizes), len(scales), 3))
    for i, j in np.ndindex(found.shape[:2]):
        chosen = ((cells["counts"] == sizes[i]) & (cells["scale"] == scales[j])).to_numpy()
        estimate = share(int(shown[chosen].sum()), int(chosen.sum()))
        found[i, j] = estimate.value, estimate.lower, estimate.upper
    return found, sizes, scales


def controls(
    skewed: Table,
    uniform: Table,
    no_bottleneck: Table,
    squared: Table,
    squared_uniform: Table,
    grid: Table,
    wide_grid: Table,
    squared_grid: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    members: Count,
) -> Drawn:
    r"""The effective rank with skew, bottleneck or cross-entropy taken away, and with all three.

    {measure} of {members} single seeds (lines) and the middle half of all (band), Gaussian starts of scale {scale:g};
    dots: the first class and the last are learned. Last panel: shares over the whole grid of scales, starts and
    skews, with 95 % Wilson intervals: no fall once it has risen, as the paper says of the controls, and such a
    fall. Under the squared loss not all classes are learned, and the second dot is missing.
    """
    panels = {
        "skewed, cross-entropy": skewed,
        "equal classes": uniform,
        "no bottleneck, $d = 3$": no_bottleneck,
        "squared loss, skewed": squared,
        "squared loss, equal classes": squared_uniform,
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.8))
    for axis, (title, table) in zip(axes.ravel(), panels.items(), strict=False):
        settings = settings_of(table)
        _band(axis, table, measure, COLOURS["blue"])
        for seed in range(min(members, settings["seeds"])):
            rows = table[table["seed"] == seed]
            line = select(rows, measure).set_index("time")["value"]
            axis.plot(line.index, line, color=COLOURS["blue"], lw=0.7, alpha=0.7)
            learned = _learned(rows, len(settings["counts"]))
            for when, colour in ((learned.min(), "orange"), (learned.max(), "vermilion")):
                if np.isfinite(when):
                    axis.plot(when, line[when], "o", ms=3, color=COLOURS[colour], zorder=3)
        axis.axhline(settings["dimension"], color=COLOURS["grey"], lw=0.8, ls=(0, (4, 2)))
        axis.set(xscale="log", ylim=(0.95, settings["dimension"] + 0.07), title=title, xlabel="flow time $t$")
        axis.set_xlim(table.loc[table["time"] > 0, "time"].min(), table["time"].max())
    for axis in axes[:, 0]:
        axis.set_ylabel(RANK_NAMES[measure])
    cases = {
        "treated": (grid, True),
        "equal": (grid, False),
        "$d = 3$": (wide_grid, True),
        "squared": (squared_grid, True),
        "squared,\nequal": (squared_grid, False),
    }
    axis = axes[1, 2]
    for place, (table, skew) in enumerate(cases.values()):
        words = shapes(table, measure, threshold, skewed=skew)
        fallen = values(table, "fall", 0, measure, threshold, skewed=skew) > 0
        growing = monotone(words)
        for shift, shown, colour, label in (
            (-0.13, growing, "blue", "no fall after a rise"),
            (0.13, fallen, "vermilion", "falls after a rise"),
        ):
            found = share(int(shown.sum()), len(shown))
            error = [[found.value - found.lower], [found.upper - found.value]]
            name = label if place == 0 else None
            axis.errorbar(found.value, place + shift, xerr=error, fmt="o", ms=4, color=COLOURS[colour], label=name)
    axis.set_yticks(range(len(cases)), list(cases))
    axis.invert_yaxis()
    axis.set(xlim=(-0.03, 1.03), xlabel="share of seeds")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=7.5, handletextpad=0.1, columnspacing=0.6
    )
    facts = {"measure": RANK_NAMES[measure], "members": members, "scale": settings_of(skewed)["scale"]}
    return Drawn(
        figure,
        facts,
        "RankMe over time for single seeds of the treated case and four controls, and shares that grow or fall.",
    )
