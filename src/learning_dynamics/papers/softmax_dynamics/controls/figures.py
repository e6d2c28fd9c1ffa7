"""The rank without skew, without bottleneck, and under the squared loss.

A grid is a run whose flows start from every combination of class sizes, kind of start, scale and draw. In a run of one
combination a seed is one draw. `measure` names a rank, and `threshold` is the least change of it that counts as a fall
or a rise.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from learning_dynamics.papers.softmax_dynamics.draws import share_of
from learning_dynamics.papers.softmax_dynamics.falls import FALL_RARE
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.panels import (
    DASHED,
    RANK_NAMES,
    band,
    bars,
    in_per_cent,
    learned_times,
    logarithmic_time,
    span,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, select, settings_of


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
    measure: Measure,
    threshold: Positive,
    members: Count,
) -> Plot:
    r"""The rank with skew, bottleneck and cross-entropy, and without one or two of them.

    Gradient flow trains the toy. (a), the paper's case, has skew, bottleneck and cross-entropy; the others lack one or
    two of these, as their titles say. (a) to (e) show {measure} of the first {lines} seeds (lines) and the middle half
    of all (band), from Gaussian starts of scale {scale:g}, up to the time {end:g}, or {squared_end:g} under the squared
    loss. A line has no black dot if some class is never learned. In (e) any two directions fit equally well, so final
    ranks differ between seeds. (f) shows shares of the flows from all scales, kinds of starts and skews, with 95 %
    Wilson intervals; changes of {threshold:g} or more count. Green: once the rank has risen from its lowest value in
    the warm-up, it never falls. Dark orange, late falls: it falls after such a rise, while the rarest classes are
    learned. By the paper's Figures 12 and 13 the rank of the controls only grows after the warm-up.
    """
    without_bottleneck = f"no bottleneck, $d = {settings_of(no_bottleneck)['dimension']}$"
    panels = {
        "skewed, cross-entropy": skewed,
        "equal, cross-entropy": uniform,
        without_bottleneck: no_bottleneck,
        "skewed, squared loss": squared,
        "equal, squared loss": squared_uniform,
    }
    # the setting `members` is how many seeds are drawn as lines in (a) to (e), where a run has that many
    lines = min(members, *(settings_of(table)["seeds"] for table in panels.values()))
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.8))
    *rank_axes, share_axis = axes.ravel()
    for axis, (title, table) in zip(rank_axes, panels.items(), strict=True):
        _rank_panel(axis, table, measure, lines)
        axis.set_title(title)
    # from a panel's title to the grid of its case, and to whether the case is the skewed classes of the grid
    cases = {
        "skewed, cross-entropy": (grid, True),
        "equal, cross-entropy": (grid, False),
        without_bottleneck: (wide_grid, True),
        "skewed, squared loss": (squared_grid, True),
        "equal, squared loss": (squared_grid, False),
    }
    _share_panel(share_axis, cases, measure, threshold)
    letters(axes.flat)
    dot: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4}
    handles = [
        Line2D([], [], color=COLOURS["blue"], lw=0.9, label="one seed"),
        Patch(color=COLOURS["blue"], alpha=0.2, lw=0, label="middle half of the seeds"),
        Line2D([], [], color=COLOURS["grey"], lw=0.8, ls=DASHED, label="number of dimensions"),
        Line2D([], [], color=COLOURS["orange"], label="first class learned", **dot),
        Line2D([], [], color=COLOURS["black"], label="last class learned", **dot),
        *share_axis.get_legend_handles_labels()[0],
    ]
    legend_below(figure, handles, columns=4)
    facts = {
        "measure": RANK_NAMES[measure],
        "lines": lines,
        "scale": settings_of(skewed)["scale"],
        "threshold": threshold,
        "end": skewed["time"].max(),
        "squared_end": squared["time"].max(),
    }
    alt = "{measure} over time for seeds of the paper's case and four controls, and shares that fall late or not."
    return Plot(figure, facts, alt)


def _rank_panel(axis: Axes, table: Table, measure: Measure, lines: int) -> None:
    """Plot the rank over time: a line for each of the first seeds, `lines` of them, and a band for all seeds.

    Dots on a line are where the first class and the last are learned.
    """
    settings = settings_of(table)
    band(axis, select(table, measure), COLOURS["blue"])
    for seed in range(lines):
        rows = table[table["seed"] == seed]
        curve = select(rows, measure)
        axis.plot(curve["time"], curve["value"], color=COLOURS["blue"], lw=0.7, alpha=0.7)
        rank_by_time = curve.set_index("time")["value"]
        learned = learned_times(rows)  # recorded times, at which the curve has a rank; infinite if never
        for time, colour in ((learned.min(), "orange"), (learned.max(), "black")):
            if np.isfinite(time):
                axis.plot(time, rank_by_time[time], "o", ms=3, color=COLOURS[colour], zorder=3)
    axis.axhline(settings["dimension"], color=COLOURS["grey"], lw=0.8, ls=DASHED)
    # a rank is from 1 to the dimension: a little room for lines at either end (chosen)
    axis.set(ylim=(0.95, settings["dimension"] + 0.07), xlabel="flow time $t$", ylabel=RANK_NAMES[measure])
    logarithmic_time(axis, table)


def _share_panel(axis: Axes, cases: Mapping[str, tuple[Table, bool]], measure: Measure, threshold: float) -> None:
    """Plot for each case, one below the other, the share of flows whose rank never falls, and of those that fall late.

    A rank never falls if it does not after a rise from the warm-up's trough. It falls late if it falls, after a rise,
    while the rarest classes are learned. A flow that failed does neither.
    """
    for place, (table, skewed) in enumerate(cases.values()):
        grid = Grid(table, skewed=skewed)
        never_falls = grid.keeps_growing(measure, threshold)
        falls_late = grid.number(FALL_RARE, measure=measure, threshold=threshold) >= threshold
        for shift, holds, colour, label in (
            (-0.13, never_falls, "green", "(f) no fall after a rise"),
            (0.13, falls_late, "vermilion", "(f) late fall"),
        ):
            label_once = label if place == 0 else None  # the legend has each share once
            style = {"fmt": "o", "ms": 4, "color": COLOURS[colour], "label": label_once}
            bars(axis, [place + shift], [span(share_of(holds))], horizontal=True, **style)
    axis.set_yticks(range(len(cases)), [name.replace(", ", ",\n") for name in cases], fontsize=8)
    axis.invert_yaxis()
    axis.set(xlim=(-0.03, 1.03), xlabel="share of flows", title="all scales, starts, skews")
    in_per_cent(axis.xaxis)
