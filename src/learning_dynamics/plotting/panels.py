"""Panels side by side: their letters, legends for all of them, labels at the ends of lines, logarithmic ticks."""

import string
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from learning_dynamics.plotting.style import WIDTH

CHARACTER = 0.075  # inches: about the width of a character in a legend
HANDLE = 0.45  # inches: the width of a line in a legend with the space around it


def panels(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float = 2.4, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure of panels and its axes, always of shape (rows, columns).

    Parameters
    ----------
    rows, columns : int
    width : float
        Of the whole, in inches: `WIDTH` or `COLUMN`.
    height : float
        Of each row, in inches.
    **options
        As for ``matplotlib.pyplot.subplots``: ``sharex``, ``sharey``, ``width_ratios``.
    """
    return plt.subplots(rows, columns, figsize=(width, rows * height), squeeze=False, **options)


def letters(axes: Iterable[Axes]) -> None:
    """Begin the titles of the given panels with (a), (b), ...; call it when they have their titles."""
    for letter, panel in zip(string.ascii_lowercase, axes, strict=False):
        panel.title.set_text(f"({letter}) {panel.get_title()}".strip())


def shared_legend(figure: Figure, axes: Iterable[Axes] | None = None, **options: Any) -> Legend:
    """Set one legend below all panels, with each label once; without the option `ncols`, in as many columns as fit.

    Its entries are those of `axes`, by default of all panels.

    Raises
    ------
    ValueError
        If nothing has a label.
    """
    handles: dict[str, Any] = {}  # by label
    for panel in figure.axes if axes is None else axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        raise ValueError("nothing is labelled: give artists a label")
    longest = max(len(label.replace("$", "").replace("\\", "")) for label in handles)
    columns = int(np.clip(figure.get_size_inches()[0] // (HANDLE + CHARACTER * longest), 1, len(handles)))
    options = {"ncols": columns, "loc": "outside lower center", **options}
    labels = _in_order_of_columns(list(handles), options["ncols"])
    return figure.legend([handles[label] for label in labels], labels, **options)


def legend_below(figure: Figure | SubFigure, handles: Sequence[Artist], columns: int | None = None) -> None:
    """Set a legend below all panels with the given entries, row by row; without `columns`, in one row.

    `shared_legend` finds the entries itself, by the labels of artists.
    """
    columns = columns or len(handles)
    figure.legend(handles=_in_order_of_columns(handles, columns), loc="outside lower center", ncols=columns)


def _in_order_of_columns(entries: Sequence[Any], columns: int) -> list[Any]:
    """Return a legend's entries, given row by row, in matplotlib's order: it fills a legend column by column."""
    return [entry for column in range(columns) for entry in entries[column::columns]]


def direct_labels(panel: Axes, *, gap: float = 11.0, pad: float = 4.0) -> None:
    """Write each labelled line's label at its last point in its colour, instead of a legend.

    Call it when limits and scales are final. Labels that would touch are moved apart.

    Parameters
    ----------
    gap : float
        Least distance of two labels, in points.
    pad : float
        Distance from the line's end, in points.
    """
    labelled = [line for line in panel.get_lines() if not str(line.get_label()).startswith("_")]
    is_log = np.array([panel.get_xscale() == "log", panel.get_yscale() == "log"])
    ends = {}  # by line; lines without a point that the panel's scales can show are left out
    for line in labelled:
        points = np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])
        # a logarithmic scale gives zero a finite place: far below the panel
        drawable = points[(np.isfinite(points) & ((points > 0) | ~is_log)).all(axis=1)]
        if len(drawable):
            ends[line] = drawable[-1]
    if not ends:
        return
    heights = panel.transData.transform(list(ends.values()))[:, 1] * 72 / panel.figure.dpi
    shifts = _spread_out(heights, gap) - heights
    for (line, end), shift in zip(ends.items(), shifts, strict=True):
        panel.annotate(
            str(line.get_label()),
            tuple(end),
            xytext=(pad, shift),
            textcoords="offset points",
            color=line.get_color(),
            va="center",
            fontsize=plt.rcParams["legend.fontsize"],
            annotation_clip=False,
        )


def _spread_out(heights: np.ndarray, gap: float) -> np.ndarray:
    """Return heights in the same order, moved as little as needed to make neighbours at least `gap` apart."""
    order = np.argsort(heights, kind="stable")
    # Subtract from each height, in ascending order, one gap for each height below it: neighbours are far enough apart
    # if the result never decreases. Pooling adjacent violators gives the nearest sequence that never decreases: while a
    # pool's mean is below that of the pool before, both become one. A pool, [mean, size], gives its mean to all in it.
    wanted = heights[order] - gap * np.arange(len(heights))
    pools: list[list[float]] = []
    for height in wanted:
        pools.append([float(height), 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, count = pools.pop()
            total = pools[-1][1] + count
            pools[-1] = [(pools[-1][0] * pools[-1][1] + value * count) / total, total]
    level = np.concatenate([np.full(int(count), value) for value, count in pools])
    moved = np.empty_like(heights, dtype=float)
    moved[order] = level + gap * np.arange(len(heights))
    return moved


def legible_ticks(figure: Figure) -> None:
    """Label each logarithmic axis that has matplotlib's own ticks so that its range shows and labels do not touch.

    The figure's layout is settled when this returns.
    """
    both_axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    logarithmic = [axis for axis in both_axes if type(axis.get_major_locator()) is LogLocator]
    for axis in logarithmic:
        _label_short_range(axis)
    figure.draw_without_rendering()
    crowded = logarithmic
    # every second tick goes, again and again, until labels are apart, or two are left
    while crowded := [axis for axis in crowded if len(_shown_ticks(axis)) > 2 and _labels_touch(axis)]:
        for axis in crowded:
            axis.set_major_locator(FixedLocator(_shown_ticks(axis)[::2]))
            axis.set_minor_locator(NullLocator())
        figure.draw_without_rendering()


def _label_short_range(axis: Axis) -> None:
    """Label 1, 2 and 5 times each power of ten on a logarithmic axis that spans less than two decades.

    Powers alone would say too little.
    """
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() != "log" or low <= 0 or high / low >= 100:
        return
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.outer(10.0**powers, [1, 2, 5]).ravel()
    # a tick that is an end of the range but for rounding stays
    ticks = ticks[(ticks >= low * (1 - 1e-9)) & (ticks <= high * (1 + 1e-9))]
    if len(ticks) < 2:  # a range such as 1.2 to 1.8, which has no two of them: even steps
        even = np.linspace(low, high, 4)[1:-1]
        # with as few digits as tell them apart and leave them in the range
        rounded = ([float(f"{tick:.{digits}g}") for tick in even] for digits in range(2, 18))
        ticks = np.array(next(pair for pair in rounded if low <= pair[0] < pair[1] <= high))
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))


def _shown_ticks(axis: Axis) -> list[float]:
    """Return the major ticks within an axis's range."""
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_majorticklocs() if low <= tick <= high]


def _labels_touch(axis: Axis) -> bool:
    """Whether two neighbouring labels of an axis are less than four pixels apart."""
    boxes = [label.get_window_extent().padded(2) for label in axis.get_ticklabels() if label.get_text()]
    return any(one.overlaps(other) for one, other in pairwise(boxes))


def plain_number(value: float, digits: int = 6) -> str:
    """Return a positive number as text: with a power of ten if it is below a thousandth, or ten thousand and more.

    It is rounded to `digits` significant digits; at most six are shown, and three before a power of ten.
    """
    value = float(f"{value:.{digits}g}")
    if 1e-3 <= value < 1e4:
        return f"{value:g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if float(mantissa) == 1 else f"${float(mantissa):g} \\cdot {power}$"
