"""The toy in the manner of Figure 4, and the map of its phases."""

import itertools
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.panels import (
    DASHED,
    RANK_NAMES,
    band,
    by_index,
    class_colours,
    learned_times,
    logarithmic_time,
    share_bar,
    share_map,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of

# until the first class is learned, until the last is, after that: the paper's three phases, by what defines them
STYLES = ("-", (0, (3, 1.2)), (0, (1, 1)))
STYLE_NAMES = ("until the first class is learned", "until all are", "after that")
# the paper's three phases, by what the rank does, and the tints of their bands
PHASE_NAMES = ("warm-up", "entropy-\nseeking", "compression-\nseeking")
PHASE_TINTS = ("grey", "sky", "orange")
POPULATION_NAMES = {"rankme_centred": "over examples", "class_rankme_centred": "over classes"}


def figure4(skewed: Table, strongly: Table, *, threshold: Positive) -> Drawn:
    r"""Runs of the toy in two settings: class sizes {sizes}, and {strong_sizes}; $d$ = {dimension}, cross-entropy.

    Columns: the two settings, of each the seed that stays nearest to the median, of {known} and of {strong_known}.
    First and second row: rows of $f$ and columns of $W$, two coordinates of each. Colours are classes, large dots the
    ends. Lines are solid until the first class is learned, dashed until all are, dotted after that. Third row: the two
    singular values, and $\sigma_1 - \sigma_2$. Fourth row: RankMe, centred, over all examples, and over the means of
    classes, each class counting once. The vermilion band holds the middle half of the seeds over classes. Vertical
    lines, in the colour of a class: it is learned (its mean probability passes one half).

    Shaded: the phases of the rank over classes. Grey: a fall to the lowest rank until the first class is learned. Blue:
    a rise. Beige: a fall of at least {threshold:g} after it, where there is one. The paper's Figure 4 shows such paths,
    singular values and rank for sizes that it does not state, dotted, solid and dashed in its three phases. Here the
    second setting has all three, over classes and not over examples.
    """
    figure, grid = plt.subplots(4, 2, figsize=(WIDTH, 9.6), height_ratios=[1.15, 1.15, 1.0, 1.0])
    tables = (skewed, strongly)
    for column, table in zip(grid.T, tables, strict=True):
        _setting(column, table, threshold)
    handles = [
        Line2D([], [], color=COLOURS["black"], ls=style, lw=1.2, label=name)
        for style, name in zip(STYLES, STYLE_NAMES, strict=True)
    ]
    grid[1, 0].legend(handles=handles, handlelength=1.8, fontsize=7.5, loc="best", labelspacing=0.2)
    facts = {
        "sizes": _listed(skewed),
        "strong_sizes": _listed(strongly),
        "dimension": settings_of(skewed)["dimension"],
        "threshold": threshold,
        "known": select(skewed, "feature_x")["seed"].nunique(),
        "strong_known": select(strongly, "feature_x")["seed"].nunique(),
    }
    alt = "Paths of features and weights, singular values and RankMe in two settings; at the larger skew the rank over "
    return Drawn(
        figure, facts, alt + "classes falls again while the rarest class is learned, that over examples rises."
    )


def _listed(table: Table) -> str:
    return ", ".join(map(str, settings_of(table)["counts"]))


def _setting(axes: Sequence[Axes], table: Table, threshold: float) -> None:
    """Draw one setting's features, weights, singular values and ranks, one below the other."""
    plane, weights, spectrum, rank = axes
    rows = table[table["seed"] == typical_member(table)]
    counts = settings_of(table)["counts"]
    learned = learned_times(rows)
    marks = (float(np.min(learned)), float(np.max(learned)))
    colours = class_colours(len(counts))
    labels = np.repeat(np.arange(len(counts)), counts)
    _paths(plane, rows, "feature", [colours[label] for label in labels], marks, 1.0)
    _paths(weights, rows, "class", colours, marks, 1.8)
    plane.set_title(f"class sizes {_listed(table)}\nfeatures $f$")
    weights.set_title("classifier $W$")
    after_start = rows[rows["time"] > 0]
    sigma = by_index(after_start, "sigma")
    for index, colour in zip((1, 2), sequence(2), strict=True):
        spectrum.plot(sigma.index, sigma[index], color=colour, label=rf"$\sigma_{index}$")
    gap = sigma[1] - sigma[2]
    spectrum.plot(gap.index, gap, color=COLOURS["vermilion"], ls=DASHED, lw=1.1, label=r"$\sigma_1 - \sigma_2$")
    spectrum.set(ylabel="singular values of $f$")
    band(rank, select(table, "class_rankme_centred"), COLOURS["vermilion"])
    for name, tint in (("rankme_centred", "black"), ("class_rankme_centred", "vermilion")):
        curve = select(after_start, name)
        rank.plot(curve["time"], curve["value"], color=COLOURS[tint], label=POPULATION_NAMES[name])
    rank.set(ylabel="RankMe", ylim=(0.98, settings_of(table)["dimension"] + 0.06))
    times, course = (select(rows, "class_rankme_centred")[name].to_numpy() for name in ("time", "value"))
    edges = phase_edges(times, course, marks[0], threshold)
    for axis in (spectrum, rank):
        for time, tint in zip(learned, colours, strict=True):
            axis.axvline(time, color=tint, lw=1.0, zorder=0)
        for (begin, end), tint in zip(itertools.pairwise(edges), PHASE_TINTS, strict=False):
            axis.axvspan(begin, end, color=COLOURS[tint], alpha=0.16, lw=0, zorder=-1)
        logarithmic_time(axis, table)
        axis.set_xlabel("gradient-flow time $t$")
    label_edges = np.maximum(edges, table.loc[table["time"] > 0, "time"].min())
    for (begin, end), name in zip(itertools.pairwise(label_edges), PHASE_NAMES, strict=False):
        place, above = np.sqrt(begin * end), rank.get_xaxis_transform()
        rank.text(place, 1.02, name, transform=above, ha="center", va="bottom", fontsize=7.5)
    spectrum.legend(loc="upper left", handlelength=1.5, fontsize=8)
    rank.legend(loc="lower right", handlelength=1.3, fontsize=8)
    handles = [
        Line2D([], [], color=tint, label=f"{size} in class {k}")
        for k, (tint, size) in enumerate(zip(colours, counts, strict=True), start=1)
    ]
    plane.legend(handles=handles, handlelength=1.0, fontsize=7.5, loc="best", labelspacing=0.2)


def phase_edges(times: np.ndarray, course: np.ndarray, learned: float, threshold: float) -> list[float]:
    """Return the times at which phases of a rank begin and the last ends: warm-up, growth, and a fall if there is one.

    Parameters
    ----------
    times, course : ndarray, shape (times,)
    learned : float
        When the first class is learned; the warm-up's trough is sought until then.
    """
    until = int(np.searchsorted(times, learned)) if np.isfinite(learned) else len(times) - 1
    since = int(falls.troughs(course[None], np.array([min(until, len(times) - 1)]))[0])
    turning = [since + place for place in falls.turning_points(course[since:], threshold)]
    tops = [(top, bottom) for top, bottom in itertools.pairwise(turning[1:]) if course[bottom] < course[top]]
    if not tops:
        return [times[0], times[since], times[-1]]
    top, bottom = max(tops, key=lambda pair: course[pair[0]] - course[pair[1]])
    return [times[0], times[since], times[top], times[bottom]]


def typical_member(table: Table) -> int:
    """Return the member, of those with recorded coordinates, whose rank over classes stays nearest to the median."""
    rank = select(table, "class_rankme_centred").pivot_table(index="seed", columns="time", values="value")
    with_coordinates = select(table, "feature_x")["seed"].unique()
    return int((rank - rank.median()).abs().max(axis=1)[with_coordinates].idxmin())


def _paths(
    axis: Axes, rows: Table, name: str, colours: Sequence[str], marks: tuple[float, float], width: float
) -> None:
    x, y = (by_index(rows, f"{name}_{letter}") for letter in "xy")
    cuts = [0, *np.searchsorted(x.index, marks), len(x) - 1]
    for index, colour in enumerate(colours, start=1):
        a, b = x[index].to_numpy(), y[index].to_numpy()
        for (begin, end), style in zip(itertools.pairwise(cuts), STYLES, strict=True):
            part = slice(begin, end + 1)
            axis.plot(a[part], b[part], color=colour, lw=width, ls=style, alpha=0.9)
        axis.plot(a[0], b[0], ".", ms=3, color=colour)
        axis.plot(a[-1], b[-1], "o", ms=4, color=colour)
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel="first coordinate", ylabel="second coordinate")


CELL = ["counts", "scale"]
PHASES = (
    ("falls first", lambda courses, fallen: courses.str[0] == "F"),
    ("grows from the warm-\nup's trough on", lambda courses, fallen: ~fallen[falls.FALL]),
    ("falls after a rise, while\nrare classes are learned", lambda courses, fallen: fallen[falls.FALL_RARE]),
)


def phases(
    cross_entropy: Table, no_bottleneck: Table, squared: Table, *, measure: Measure, threshold: Positive
) -> Drawn:
    r"""Share of seeds whose effective rank shows each phase, over class skews and initial scales.

    Rank: {measure}. Changes of at least {threshold:g} count. Top row of panels: the rank falls first (warm-up). The
    warm-up's trough is its lowest value until the first class is learned. Middle: once it has risen from that trough it
    does not fall, as the paper says of its controls. Bottom: after that rise it falls by at least {threshold:g} while
    the rarest classes are learned. Columns: cross-entropy in two dimensions, in three, and the squared loss in two.
    Cells give the share in per cent with its 95 % Wilson interval, balanced and Gaussian starts together. In the lowest
    row of each panel classes are equal, and all are rarest. Each row of panels has a colour scale of its own, from zero
    to its largest share.
    """
    tables = (cross_entropy, no_bottleneck, squared)
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 5.9), sharex=True, sharey=True)
    for row, (name, rule) in enumerate(PHASES):
        panels = [_draws(table, rule, measure, threshold) for table in tables]
        top = max(draws.groupby(CELL)["holds"].mean().max() for draws in panels)
        for axis, draws in zip(axes[row], panels, strict=True):
            sizes = {counts: counts.replace("-", " ") for counts in sorted(draws["counts"].unique(), reverse=True)}
            scales = {scale: f"{scale:g}" for scale in sorted(draws["scale"].unique())}
            image = share_map(axis, draws, "holds", sizes, scales, CELL, most=top)
        share_bar(figure, image, axes[row], "share of seeds", aspect=12, pad=0.01)
        axes[row, 0].set_ylabel(name)
    losses = {"cross_entropy": "cross-entropy", "squared": "squared loss"}
    for top_axis, bottom, settings in zip(axes[0], axes[-1], map(settings_of, tables), strict=True):
        top_axis.set_title(f"{losses[settings['loss']]}, $d = {settings['dimension']}$")
        bottom.set_xlabel("initial scale")
    facts = {"measure": RANK_NAMES[measure], "threshold": threshold}
    return Drawn(
        figure,
        facts,
        "Shares of seeds with each phase, by class sizes and scale, for the treated case and two controls.",
    )


def _draws(table: Table, rule: Callable, measure: str, threshold: float) -> pd.DataFrame:
    """Return the members of a grid; column `holds` says whether they show a phase."""
    grid = Grid(table)
    depths = {name: grid.number(name, measure=measure, threshold=threshold) for name in (falls.FALL, falls.FALL_RARE)}
    fallen = {name: depth >= threshold for name, depth in depths.items()}
    return grid.members.assign(holds=rule(grid.courses(measure, threshold), fallen))
