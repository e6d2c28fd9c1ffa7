"""The toy in the manner of Figure 4, and the map of its phases.

f are the features, a row of two coordinates for each example, and W is the classifier, a column for each class. A seed
is one draw: its rows of a table have the same value in the column `seed`. A class is learned when its probability
passes one half for good. The trough is where the rank is lowest until the first class is learned. `threshold` is the
least change of the rank that counts as a fall or a rise.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

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
from learning_dynamics.papers.softmax_dynamics.phases.quantities import CLASS, FEATURE, SIGMA
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, select, settings_of

# the paper's three phases, in which the rank falls, rises and falls again; the line styles of the paper's Figure 4; and
# the colours of the shades that mark the phases here
PHASE_NAMES = ("warm-up", "entropy-seeking", "compression-seeking")
PHASE_STYLES = ((0, (1, 1)), "-", (0, (4, 1.5)))
PHASE_TINTS = ("grey", "sky", "orange")
# from a rank, by its measure, to what it is taken over: all examples, or the means of classes
POPULATION_NAMES = {"rankme_centred": "over examples", "class_rankme_centred": "over classes"}


def figure4(skewed: Table, strongly: Table, *, threshold: Positive) -> Plot:
    r"""The toy at class sizes {sizes} (left) and {strong_sizes} (right), in $d$ = {dimension} dimensions.

    Gradient flow trains the features $f$ and the classifier $W$ of a linear softmax model, by cross-entropy, from small
    random starts. Each column shows one seed. Of those whose paths are recorded ({seeds} and {strong_seeds}) it is the
    one whose rank over classes stays nearest to the median over all seeds ({all_seeds} and {strong_all_seeds}). Colours
    in (a) to (d) are classes. (a) and (b) show the paths of the rows of $f$, one for each example; those of a class may
    coincide. (c) and (d) show the paths of the columns of $W$. Large dots are the ends. (e) and (f) show the two
    singular values of $f$ and their difference. (g) and (h) show RankMe, centred, over all examples (black) and over
    the means of classes, each counted once (dark orange). The orange band is the middle half over all seeds, of the
    rank over classes. A vertical line marks when the class of its colour is learned: its mean probability passes one
    half.

    Line styles in (a) to (d) and shades in (e) to (h) mark the phases of the rank over classes. The warm-up (dotted,
    grey) ends where the rank is lowest before the first class is learned. A rise on the way counts as warm-up. The
    entropy-seeking phase (solid, blue) begins with a rise and lasts until the rank falls. In the compression-seeking
    phase (dashed, beige) it falls by at least {threshold:g}; a rank without such a fall has two phases. The paper's
    Figure 4 has the same line styles in its three phases, for sizes that it does not state.
    """
    figure, grid = plt.subplots(4, 2, figsize=(WIDTH, 8.8), height_ratios=[1.15, 1.15, 1.0, 1.0])
    tables = (skewed, strongly)
    for column, table in zip(grid.T, tables, strict=True):
        _draw_setting(column, table, threshold)
    letters(grid.flat)
    handles: list[Any] = [
        (
            Patch(color=COLOURS[tint], alpha=0.16, lw=0),
            Line2D([], [], color=COLOURS["black"], ls=style, lw=1.2),
        )
        for style, tint in zip(PHASE_STYLES, PHASE_TINTS, strict=True)
    ]
    figure.legend(handles, PHASE_NAMES, loc="outside lower center", ncols=3, handlelength=3.0)
    facts = {
        "sizes": _listed(skewed),
        "strong_sizes": _listed(strongly),
        "dimension": settings_of(skewed)["dimension"],
        "threshold": threshold,
        "seeds": select(skewed, FEATURE[0])["seed"].nunique(),
        "strong_seeds": select(strongly, FEATURE[0])["seed"].nunique(),
        "all_seeds": skewed["seed"].nunique(),
        "strong_all_seeds": strongly["seed"].nunique(),
    }
    alt = "Paths of features and weights, singular values, and RankMe over examples and over classes, in two settings."
    return Plot(figure, facts, alt)


def _listed(table: Table) -> str:
    """Return the class sizes of a run in words."""
    return ", ".join(map(str, settings_of(table)["counts"]))


def _draw_setting(axes: Sequence[Axes], table: Table, threshold: float) -> None:
    """Draw features, weights, singular values and ranks of one seed, the typical one, in panels below one another."""
    features_axis, classifier_axis, values_axis, rank_axis = axes
    rows = table[table["seed"] == typical_seed(table)]
    counts = settings_of(table)["counts"]
    learned = learned_times(rows)  # shape (classes,)
    rank_over_classes = select(rows, "class_rankme_centred")
    times, ranks = rank_over_classes["time"].to_numpy(), rank_over_classes["value"].to_numpy()
    first_learned = float(np.min(learned))
    edges = phase_edges(times, ranks, first_learned, threshold)
    colours = class_colours(len(counts))
    labels = np.repeat(np.arange(len(counts)), counts)
    _draw_paths(features_axis, rows, FEATURE, colours=[colours[label] for label in labels], edges=edges, width=1.0)
    _draw_paths(classifier_axis, rows, CLASS, colours=colours, edges=edges, width=1.8)
    features_axis.set_title(f"class sizes {_listed(table)}:\nfeatures $f$")
    classifier_axis.set_title("classifier $W$")
    values_axis.set_title("singular values")
    rank_axis.set_title("effective rank")
    after_start = rows[rows["time"] > 0]
    sigma = by_index(after_start, SIGMA)
    for index, colour in zip((1, 2), sequence(2), strict=True):
        values_axis.plot(sigma.index, sigma[index], color=colour, label=rf"$\sigma_{index}$")
    gap = sigma[1] - sigma[2]
    values_axis.plot(gap.index, gap, color=COLOURS["vermilion"], ls=DASHED, lw=1.1, label=r"$\sigma_1 - \sigma_2$")
    values_axis.set(ylabel="singular values of $f$")
    band(rank_axis, select(table, "class_rankme_centred"), COLOURS["vermilion"])
    for name, tint in (("rankme_centred", "black"), ("class_rankme_centred", "vermilion")):
        curve = select(after_start, name)
        rank_axis.plot(curve["time"], curve["value"], color=COLOURS[tint], label=POPULATION_NAMES[name])
    rank_axis.set(ylabel="RankMe", ylim=(0.98, settings_of(table)["dimension"] + 0.06))
    for axis in (values_axis, rank_axis):
        for time, tint in zip(learned, colours, strict=True):
            axis.axvline(time, color=tint, lw=1.0, zorder=0)
        # a rank without a fall at the end has two phases, and the third tint is not used
        for (begin, end), tint in zip(itertools.pairwise(edges), PHASE_TINTS, strict=False):
            axis.axvspan(begin, end, color=COLOURS[tint], alpha=0.16, lw=0, zorder=-1)
        logarithmic_time(axis, table)
        axis.set_xlabel("gradient-flow time $t$")
    values_axis.legend(loc="upper left", handlelength=1.5, fontsize=8)
    rank_axis.legend(loc="lower right", handlelength=1.3, fontsize=8)
    handles = [
        Line2D([], [], color=tint, label=f"{size} in class {k}")
        for k, (tint, size) in enumerate(zip(colours, counts, strict=True), start=1)
    ]
    features_axis.legend(handles=handles, handlelength=1.0, fontsize=7.5, loc="lower left", labelspacing=0.2)


def phase_edges(times: np.ndarray, ranks: np.ndarray, learned: float, threshold: float) -> list[float]:
    """Return the times at which the phases of a rank begin, and the time at which the last of them ends.

    The phases are the warm-up, the growth and, if the rank falls after a rise, the deepest such fall. The warm-up ends
    at the trough. The growth ends where the deepest fall begins, or at the last time if there is none.

    Parameters
    ----------
    times, ranks : ndarray, shape (times,)
    learned : float
        When the first class is learned; infinite if none is.
    threshold : float
        Least change that counts as a rise or a fall.

    Returns
    -------
    list of float
        Four times, or three without a fall.
    """
    last = len(times) - 1
    first_learned = min(int(np.searchsorted(times, learned)), last) if np.isfinite(learned) else last
    # `troughs` takes series of several members; here is one
    (trough,) = falls.troughs(ranks[None], np.array([first_learned]))
    # places in `ranks`; the series from the trough on counts its own from 0
    turning = [trough + place for place in falls.turning_points(ranks[trough:], threshold)]
    # (top, bottom) of each fall that follows a rise; the swing from turning[0] to turning[1] follows none
    falls_after_rise = [(top, bottom) for top, bottom in itertools.pairwise(turning[1:]) if ranks[bottom] < ranks[top]]
    if not falls_after_rise:
        return [times[0], times[trough], times[-1]]
    depths = [ranks[top] - ranks[bottom] for top, bottom in falls_after_rise]
    top, bottom = falls_after_rise[int(np.argmax(depths))]
    return [times[0], times[trough], times[top], times[bottom]]


def typical_seed(table: Table) -> int:
    """Return the seed whose rank over classes stays nearest to the median over all seeds.

    Only seeds with recorded coordinates are candidates. The distance to the median is the largest over time.
    """
    ranks = select(table, "class_rankme_centred").pivot_table(index="seed", columns="time", values="value")
    distances = (ranks - ranks.median()).abs().max(axis=1)  # by seed
    with_coordinates = select(table, FEATURE[0])["seed"].unique()
    return int(distances[with_coordinates].idxmin())


def _draw_paths(
    axis: Axes,
    rows: Table,
    coordinates: tuple[Quantity, Quantity],
    *,
    colours: Sequence[str],
    edges: Sequence[float],
    width: float,
) -> None:
    """Draw paths in a plane, each phase in its style.

    Parameters
    ----------
    coordinates : pair of quantities
        First and second coordinate, with an index for each path.
    colours : sequence of str
        One for each path.
    edges : sequence of float
        Times as `phase_edges` returns them. The last phase is drawn to the end of the path, also where it ends before.
    """
    x_by_path, y_by_path = (by_index(rows, coordinate) for coordinate in coordinates)
    # places along the paths at which a phase begins, and the last place instead of the last edge
    cuts = [*np.searchsorted(x_by_path.index, edges[:-1]), len(x_by_path) - 1]
    for index, colour in enumerate(colours, start=1):
        x, y = x_by_path[index].to_numpy(), y_by_path[index].to_numpy()
        for (begin, end), style in zip(itertools.pairwise(cuts), PHASE_STYLES, strict=False):
            phase = slice(begin, end + 1)  # with the place at which the next phase begins, so that pieces meet
            axis.plot(x[phase], y[phase], color=colour, lw=width, ls=style, alpha=0.9)
        axis.plot(x[0], y[0], ".", ms=3, color=colour)
        axis.plot(x[-1], y[-1], "o", ms=4, color=colour)
    axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel="first coordinate", ylabel="second coordinate")


def _falls_first(grid: Grid, measure: str, threshold: float) -> pd.Series:
    """Return which members' rank falls by the threshold before it rises by the threshold, shape (members,)."""
    # a course is a text of F for a fall and R for a rise; an empty or missing one has no first letter, and is False
    return grid.courses(measure, threshold).str[0] == "F"


def _falls_while_rare(grid: Grid, measure: str, threshold: float) -> np.ndarray:
    """Return which members' rank, after a rise, falls while the rarest classes are learned, shape (members,).

    Rise and fall are by the threshold or more, from the trough on.
    """
    # nan, of a failed flow, compares as False
    return grid.number(falls.FALL_RARE, measure=measure, threshold=threshold) >= threshold


# Rows of the map. Each has its label, and a function of a grid, the measure of a rank and a threshold that returns
# which members show the phase, shape (members,); a member whose flow failed shows none.
PHASES: dict[str, Callable[[Grid, str, float], ArrayLike]] = {
    "falls first": _falls_first,
    "no fall after a rise,\nfrom the trough on": Grid.keeps_growing,
    "falls after a rise, while\nrare classes are learned": _falls_while_rare,
}


def phases(
    cross_entropy: Table, no_bottleneck: Table, squared: Table, *, measure: Measure, threshold: Positive
) -> Plot:
    r"""Share of flows whose effective rank ({measure}) shows each phase, over class skews and initial scales.

    Gradient flow trains the toy from balanced and Gaussian starts, taken together. Changes of the rank by at least
    {threshold:g} count. (a) to (c) show the share whose rank falls first (warm-up). The trough is its lowest value
    until the first class is learned. (d) to (f) show the share whose rank does not fall once it has risen from the
    trough; a rank that never rises counts too. By the paper the rank of its controls only grows from there. (g) to (i)
    show the share whose rank, after such a rise, falls while the rarest classes are learned. Titles give the loss and
    the dimension $d$ of each column. Numbers are per cent of {flows} flows, half of them from each kind of start, with
    the 95 % Wilson interval. Rows of a panel are class sizes; in the lowest they are equal, and all count as rarest.
    """
    tables = (cross_entropy, no_bottleneck, squared)
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 5.9), sharex=True, sharey=True)
    for panels, (name, shows) in zip(axes, PHASES.items(), strict=True):
        for axis, table in zip(panels, tables, strict=True):
            grid = Grid(table)
            draws = grid.members.assign(holds=shows(grid, measure, threshold))
            all_counts = sorted(draws["counts"].unique(), key=sizes_of, reverse=True)
            sizes = {counts: counts.replace("-", " ") for counts in all_counts}
            scales = {scale: f"{scale:g}" for scale in sorted(draws["scale"].unique())}
            share_map(axis, draws, "holds", rows=sizes, columns=scales, by=("counts", "scale"))
        panels[0].set_ylabel(name)
    losses = {"cross_entropy": "cross-entropy", "squared": "squared loss"}
    for top_axis, bottom, settings in zip(axes[0], axes[-1], map(settings_of, tables), strict=True):
        top_axis.set_title(f"{losses[settings['loss']]}, $d = {settings['dimension']}$")
        bottom.set_xlabel("initial scale")
    letters(axes.flat)
    share_bar(figure, axes, "share of flows", aspect=40, pad=0.015)
    flows_per_cell = Grid(cross_entropy).members.groupby(["counts", "scale"]).size()
    facts = {"measure": RANK_NAMES[measure], "threshold": threshold, "flows": flows_per_cell.max()}
    alt = "Shares of flows with each phase, by class sizes and scale, for the paper's case and two controls."
    return Plot(figure, facts, alt)
