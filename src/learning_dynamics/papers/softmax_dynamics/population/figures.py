"""The phase diagram: where the rank falls while rare classes are learned, over examples and over classes.

The tables are of runs of `population`, which are flows, or of `training`. A population is what the rank is taken over:
examples, where a class counts as often as it has examples, or classes, where each counts once. A cell is one
combination of class sizes, dimension and scale; the column `seed` numbers its draws. A draw has `fallen` if the depth
of its fall is the threshold or more. The column `counts` has the class sizes by name, such as 64-16-4-1; V is the
number of classes.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.draws import fall_rows, share_of
from learning_dynamics.papers.softmax_dynamics.panels import (
    EXPECTED,
    bars,
    hatch_unlearned,
    in_per_cent,
    quartiles,
    share_bar,
    share_map,
    span,
    unlearned_handle,
)
from learning_dynamics.papers.softmax_dynamics.sizes import ratio, sizes_of
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, plain_number, shared_legend
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of

# the edge of the cells in which most draws fall; its ends project, so that pieces meet at corners
BOUNDARY: dict[str, Any] = {"color": COLOURS["vermilion"], "lw": 2.0, "solid_capstyle": "projecting"}

# names of class sizes proportional to 1/k^p, where k is the number of a class, for p = 0, 1 and 2
LAWS = ("equal sizes", "sizes as $1/k$", "sizes as $1/k^2$")


def phase_diagram(region: Table, *, threshold: Positive) -> Plot:
    r"""Where the rank falls while the rarest classes are learned, under {method}: share of seeds.

    Four classes of sizes $r^3 : r^2 : r : 1$ are trained from Gaussian starts in {dimensions} dimensions. A
    class has {rows} of features. The rank is RankMe, centred. In (a) and (b) every class counts once, in (c) and (d) as
    often as it has examples. The warm-up ends where the rank is lowest before the first class is learned. A later fall
    counts if the rank has risen in between, and if it falls by {threshold:g} or more while the rarest classes are
    learned. Cells give the share of {seeds} seeds in per cent with its 95 % Wilson interval. The orange line bounds the
    cells in which most seeds fall; a panel without it has no such cell. Cells of training in which fewer than half of
    the seeds have learned are hatched; a flow has none.
    """
    dimensions = sorted(region["dimension"].unique())
    scales = sorted(region["scale"].unique())
    # rows of a map: class sizes, labelled with the largest over the smallest
    sizes = {counts: f"{ratio(counts):.0f}" for counts in _by_skew(region)}
    # trainings record whether a draw has learned; flows do not, and `learned` is then empty: no cell is hatched
    learned = region[region["quantity"] == HAS_LEARNED]
    figure, axes = plt.subplots(
        2, len(dimensions), figsize=(WIDTH, 1.6 + 0.62 * len(sizes)), sharex=True, sharey=True, squeeze=False
    )
    for panels, population in zip(axes, ("classes", "examples"), strict=True):
        draws = fall_rows(region, falls.FALL_RARE, population, threshold)
        for axis, dimension in zip(panels, dimensions, strict=True):
            _draw_map(axis, draws[draws["dimension"] == dimension], "counts", sizes, scales)
            of_dimension = learned[learned["dimension"] == dimension].rename(columns={"value": "learned"})
            # hatching writes no labels, so that those of the columns are empty
            hatch_unlearned(axis, of_dimension, rows=sizes, columns=dict.fromkeys(scales, ""), by=("counts", "scale"))
        panels[0].set_ylabel(f"over {population}\nlargest class / smallest")
    for top, bottom, dimension in zip(*axes, dimensions, strict=True):
        # a number added to all logits of an example changes no prediction: V - 1 dimensions are no bottleneck
        has_bottleneck = dimension < _classes(region) - 1
        top.set_title(f"$d = {dimension}$" + ("" if has_bottleneck else ", no bottleneck"))
        bottom.set_xlabel("initial scale")
    letters(axes.flat)
    share_bar(figure, axes, "share of seeds that fall", aspect=30, pad=0.015)
    handles: list[Artist] = [Line2D([], [], **BOUNDARY, label="edge of where most seeds fall")]
    if len(learned):
        handles.append(unlearned_handle())
    legend_below(figure, handles)
    facts = {
        "seeds": settings_of(region)["seeds"],
        "threshold": threshold,
        "dimensions": " and ".join(map(str, dimensions)),
        "method": _method(region),
        "rows": "one row" if len(learned) else "up to 16 rows",  # trainings have `rows: classes`
    }
    alt = "Shares of seeds that fall, by skew and scale, over classes and over examples, in two and three dimensions."
    return Plot(figure, facts, alt)


def boundary(draws: Table, directions: Table, *, threshold: Positive) -> Plot:
    r"""How far the rank over classes falls while the rarest class is learned: from the two-direction start, and from
    random ones.

    Gradient flow trains four classes in two dimensions, at {laws} laws of sizes and two scales. The two-direction start
    consists of two growing directions of the loss's gradient by the logits, at uniform predictions, with equal weight.
    (a) shows the fall from {seeds} random starts, median and middle half. Filled markers are over classes, open ones
    over examples. On the dashed line both falls are equal. (b) shows the share of random starts that fall by
    {threshold:g} or more, with 95 % Wilson intervals. The dashed line is 0 or 1, as the two-direction start falls or
    does not: markers on it say that chance in the start does not matter. From larger scales, and at equal or nearly
    equal sizes, the two frequent classes may end side by side; then the two kinds of start differ.
    """
    figure, (depth_axis, share_axis) = plt.subplots(1, 2, figsize=(WIDTH, 3.1))
    # Depths are read at the smallest threshold at which falls were measured, so that shallow falls have one too. The
    # threshold 0 is that of quantities which depend on none.
    smallest = draws["threshold"][draws["threshold"] > 0].min()
    for population in ("examples", "classes"):
        rows = fall_rows(draws, falls.FALL_RARE, population, smallest)
        predicted = fall_rows(directions, falls.FALL_RARE, population, smallest).set_index(["counts", "scale"])["value"]
        for scale, colour, shape in zip(sorted(rows["scale"].unique()), cycle(("blue", "orange")), cycle("os")):
            by_counts = rows[rows["scale"] == scale].groupby("counts")["value"]
            # the fall from the two-direction start, for class sizes in the order of the groups: places along the x axis
            expected = predicted.xs(scale, level="scale")[list(by_counts.groups)]
            style: dict[str, Any] = {
                "fmt": shape,
                "ms": 4.5,
                "lw": 1.0,
                "color": COLOURS[colour],
                "mfc": COLOURS[colour] if population == "classes" else "none",
                "label": f"over {population}, scale {scale:g}",
            }
            bars(depth_axis, expected, quartiles(by_counts), **style)
            if population == "classes":
                spans = [span(share_of(depths >= threshold)) for _, depths in by_counts]
                bars(share_axis, expected, spans, **style)
    end = 1.1 * max(line.get_xdata().max() for line in depth_axis.lines)
    depth_axis.plot([0, end], [0, end], zorder=0, **EXPECTED)
    # 0 up to the threshold, 1 beyond: with "pre" a value holds from the place before it
    share_axis.step([0, threshold, end], [0, 0, 1], where="pre", zorder=0, **EXPECTED)
    depth_axis.set(xlabel="fall from the two-direction start", ylabel="fall from random starts")
    share_axis.set(xlabel="fall from the two-direction start", ylabel="share of seeds that fall", ylim=(-0.03, 1.03))
    depth_axis.set_title("depth of the fall")
    share_axis.set_title("share of seeds")
    letters((depth_axis, share_axis))
    in_per_cent(share_axis.yaxis)
    depth_axis.legend(loc="upper left", fontsize=7.5, handletextpad=0.2)
    settings = settings_of(draws)
    facts = {"laws": len(settings["counts"]), "seeds": settings["seeds"], "threshold": threshold}
    return Plot(figure, facts, "Falls from random starts against those from the two-direction start, and their shares.")


def _draw_map(
    axis: plt.Axes, draws: pd.DataFrame, row_column: str, rows: Mapping[Any, str], scales: Sequence[float]
) -> None:
    """Draw the share of draws that have `fallen` in each cell of a map, and edges around cells with more than half.

    Rows of the map are values of the column `row_column` of `draws`, with the labels in `rows`, from below; columns are
    scales.
    """
    columns = {scale: plain_number(scale) for scale in scales}
    image = share_map(axis, draws, "fallen", rows=rows, columns=columns, by=(row_column, "scale"), origin="lower")
    shares = np.asarray(image.get_array())  # shape (rows, columns)
    _draw_edges(axis, shares > 0.5)


def _draw_edges(axis: plt.Axes, inside: np.ndarray) -> None:
    """Draw the edges between cells of a map that are inside a set and cells that are not.

    `inside` has the shape (rows, columns). The cell in row i and column j is a unit square around x = j, y = i.
    """
    for i, j in np.argwhere(inside[:, 1:] != inside[:, :-1]):  # cells (i, j) and (i, j + 1)
        axis.plot([j + 0.5, j + 0.5], [i - 0.5, i + 0.5], **BOUNDARY)
    for i, j in np.argwhere(inside[1:] != inside[:-1]):  # cells (i, j) and (i + 1, j)
        axis.plot([j - 0.5, j + 0.5], [i + 0.5, i + 0.5], **BOUNDARY)


def many_classes(laws: Sequence[Table], *, scale: Positive, threshold: Positive) -> Plot:
    r"""More classes: how far the rank ends below its highest, and how often by {threshold:g} or more, against $d / V$.

    Gradient flow trains {classes} classes ($V$) in $d$ dimensions, with up to 16 rows of features a class, from {seeds}
    Gaussian starts of scale {scale:g}. Sizes are equal, or fall with a class's number $k$ as $1/k$ or $1/k^2$. The rank
    is RankMe, centred, over classes (filled, solid) and over examples (open, dashed). (a) shows the share of seeds
    whose rank ends {threshold:g} or more below its highest, with 95 % Wilson intervals. (b) shows the median and middle
    half of the fall from the highest rank to the end. Curves near zero may cover each other.
    """
    figure, axes = plt.subplots(
        len(laws), 2, figsize=(WIDTH, 0.5 + 2.4 * len(laws)), sharex=True, sharey="col", squeeze=False
    )
    for (share_axis, depth_axis), table in zip(axes, laws, strict=True):
        # one colour for each law of sizes, equal ones first
        for counts, colour in zip(_by_skew(table), cycle(("grey", "blue", "vermilion"))):
            for population in ("classes", "examples"):
                _draw_falls_by_dimension(
                    share_axis,
                    depth_axis,
                    _drops(table, population).loc[counts],
                    counts=counts,
                    population=population,
                    scale=scale,
                    threshold=threshold,
                    colour=COLOURS[colour],
                )
        share_axis.set(ylabel="share of seeds", ylim=(-0.03, 1.03))
        in_per_cent(share_axis.yaxis)
        depth_axis.set(ylabel="fall from the\nhighest rank")
        for axis in (share_axis, depth_axis):
            axis.set_title(f"$V = {_classes(table)}$", fontsize=9)
    letters(axes.flat)
    for axis in axes[-1]:
        axis.set_xlabel("$d / V$")
    shared_legend(figure, [axes[0, 0]], fontsize=8, handlelength=1.8)
    facts = {
        "classes": _listed(_classes(table) for table in laws),
        "scale": scale,
        "seeds": _listed(settings_of(table)["seeds"] for table in laws),
        "threshold": threshold,
    }
    alt = "Falls of the rank against d / V for sizes of three laws, over classes and over examples."
    return Plot(figure, facts, alt)


def many_classes_diagram(laws: Sequence[Table], *, threshold: Positive) -> Plot:
    r"""Where the rank over classes ends below its highest with more classes: share of seeds, over scale and dimensions.

    Gradient flow trains $V$ classes in $d$ dimensions from Gaussian starts, with up to 16 rows of features a class and
    {seeds} seeds a cell. Rows of panels have {classes} classes. In the columns sizes are equal, or fall with a class's
    number $k$ as $1/k$ or $1/k^2$. The rank is RankMe, centred, over classes. A seed falls if its rank ends
    {threshold:g} or more below the highest since the warm-up's trough. Cells give the share in per cent with its 95 %
    Wilson interval. Orange lines bound the cells in which most seeds fall. Over examples the share is
    {largest_share_over_examples:.0%} at most. Flows that did not finish, {share_failed:.1%}, count as not falling.
    """
    figure, axes = plt.subplots(
        len(laws),
        3,
        figsize=(WIDTH, 0.9 + 0.4 * sum(table["dimension"].nunique() for table in laws)),
        sharex=True,
        sharey="row",
        squeeze=False,
        height_ratios=[table["dimension"].nunique() for table in laws],
    )
    largest_share_over_examples = 0.0
    for panels, table in zip(axes, laws, strict=True):
        scales, dimensions = (sorted(table[name].unique()) for name in ("scale", "dimension"))
        # whether each draw falls; a flow that failed, whose drop is nan, does not
        falls_over_classes = _drops(table, "classes") >= threshold
        falls_over_examples = _drops(table, "examples") >= threshold
        shares_over_examples = falls_over_examples.groupby(["counts", "scale", "dimension"]).mean()
        largest_share_over_examples = max(largest_share_over_examples, shares_over_examples.max())
        for axis, counts in zip(panels, _by_skew(table), strict=True):
            draws = falls_over_classes.loc[counts].rename("fallen").reset_index()
            _draw_map(axis, draws, "dimension", {number: str(number) for number in dimensions}, scales)
        panels[0].set_ylabel(f"$V = {_classes(table)}$\n$d$")
    # the columns of panels have the class sizes by their skew, which is the order of the laws
    for axis, law in zip(axes[0], LAWS, strict=True):
        axis.set_title(law, fontsize=10)
    letters(axes.flat)
    for axis in axes[-1]:
        axis.set_xlabel("initial scale")
    share_bar(figure, axes, "share of seeds that fall", aspect=40, pad=0.015)
    facts = {
        "classes": _listed(_classes(table) for table in laws),
        "seeds": _listed(settings_of(table)["seeds"] for table in laws),
        "threshold": threshold,
        "largest_share_over_examples": largest_share_over_examples,
        "share_failed": pd.concat([_drops(table, "classes") for table in laws]).isna().mean(),
    }
    alt = "Shares of seeds that fall, by scale and dimensions, for equal sizes and two power laws."
    return Plot(figure, facts, alt)


def _drops(table: Table, population: str) -> pd.Series:
    """Return how far each draw's rank ends below its highest since the warm-up's trough; nan if its flow failed.

    The series is indexed by counts, scale, dimension and seed.
    """
    keys = ["counts", "scale", "dimension", "seed"]
    peak = select(table, falls.PEAK, population=population).set_index(keys)["value"]
    end = select(table, falls.END, population=population).set_index(keys)["value"]
    return peak - end


def _draw_falls_by_dimension(
    share_axis: plt.Axes,
    depth_axis: plt.Axes,
    drops: pd.Series,
    *,
    counts: str,
    population: str,
    scale: float,
    threshold: float,
    colour: Any,
) -> None:
    """Draw the share of seeds whose rank ends below its highest by the threshold or more, and by how much, over d / V.

    Parameters
    ----------
    drops : Series, by scale, dimension and seed
        Those of `_drops` for the class sizes `counts`.
    scale : float
        The one that is drawn.
    """
    classes = len(sizes_of(counts))
    by_dimension = drops[np.isclose(drops.index.get_level_values("scale"), scale)].groupby("dimension")
    places = np.array(list(by_dimension.groups)) / classes
    over_classes = population == "classes"
    style: dict[str, Any] = {
        "fmt": "o-" if over_classes else "o--",
        "ms": 4,
        "lw": 1.0,
        "color": colour,
        "mfc": colour if over_classes else "none",
    }
    power = round(np.log(ratio(counts)) / np.log(classes))  # of sizes as 1/k^p the first of V is V^p times the last
    label = f"{LAWS[power]}, over {population}"
    spans = [span(share_of(depths >= threshold)) for _, depths in by_dimension]
    bars(share_axis, places, spans, label=label, **style)
    bars(depth_axis, places, quartiles(by_dimension), **style)


def _by_skew(table: Table) -> list[str]:
    """Return the names of the class sizes in a table, the least skewed first."""
    return sorted(table["counts"].unique(), key=ratio)


def _classes(table: Table) -> int:
    """Return the number of classes in a table, the same in all of its rows."""
    return len(sizes_of(table["counts"].iloc[0]))


def _method(table: Table) -> str:
    """Return how the draws of a table were trained, in words; a table without the column `method` is of flows."""
    if "method" not in table:
        return "gradient flow"
    trainings = table[["method", "learning_rate", "decay"]].drop_duplicates().itertuples(index=False)
    return _listed(f"{method} at rate {rate:g} with decay {decay:g}" for method, rate, decay in trainings)


def _listed(values: Iterable[object]) -> str:
    """Return the values as an enumeration in words, each once, in the order of their first appearance."""
    names = list(dict.fromkeys(map(str, values)))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
