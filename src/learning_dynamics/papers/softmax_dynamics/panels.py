"""Curves over time, intervals and maps of shares, and the names, colours and line styles that figures share.

A seed is one draw: its rows of a table have the same value in the column `seed`. An interval is a triple: lower end,
value, upper end.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, Rectangle

from learning_dynamics.evidence import Estimate
from learning_dynamics.papers.softmax_dynamics.draws import share_of
from learning_dynamics.papers.softmax_dynamics.falls import LEARNED
from learning_dynamics.papers.softmax_dynamics.phases.quantities import PROBABILITY
from learning_dynamics.plotting import COLOURS
from learning_dynamics.tidy import Quantity, Table, select

# by the number of a class, the largest first
CLASS_COLOURS = ("blue", "orange", "green", "purple", "vermilion", "sky", "black", "grey")
# from a rank's measure, a key of `spectra.RANKS`, to its name in texts
RANK_NAMES = {"rankme_centred": "RankMe", "rankme": "RankMe, not centred", "effective_rank": "effective rank"}
DASHED, DOTTED = (0, (4, 2)), (0, (1, 1))
# lines that only guide the eye, such as one half, and lines of what is predicted
GUIDE: dict[str, Any] = {"color": COLOURS["grey"], "lw": 0.9, "ls": DASHED}
EXPECTED: dict[str, Any] = GUIDE | {"color": COLOURS["black"]}
UNLEARNED: dict[str, Any] = {"fill": False, "hatch": "//", "edgecolor": "0.55", "lw": 0}  # see `hatch_unlearned`
QUARTILES = [0.25, 0.5, 0.75]
SHARE_COLOURS = mpl.colormaps["cividis"]  # of shares from 0 to 1


def class_colours(count: int) -> list[str]:
    """Return a colour for each of `count` classes; the ninth class has the first colour again."""
    return [COLOURS[CLASS_COLOURS[k % len(CLASS_COLOURS)]] for k in range(count)]


def by_index(rows: Table, quantity: Quantity) -> pd.DataFrame:
    """Return a quantity of one draw: a row for each time, and a column for each of its indices, numbered from 1.

    A quantity that has one number at each time has the single column 0.
    """
    return select(rows, quantity).pivot_table(index="time", columns="index", values="value")


def learned_times(rows: Table) -> np.ndarray:
    """Return the recorded time from which on each class of a draw is learned, shape (classes,); infinite if never.

    `rows` are those of one draw. A class is learned while its probability is above one half. The time is that of the
    first record after the passage; `falls.learned_at` interpolates between this record and the one before.
    """
    probabilities = by_index(rows, PROBABILITY)
    is_above = probabilities.to_numpy() > LEARNED  # shape (times, classes)
    # for good: above at a time and at all later ones, accumulated from the last time backwards
    learned = np.logical_and.accumulate(is_above[::-1])[::-1]
    # `argmax` is 0 for a class that is never learned, whose time is replaced
    first_times = probabilities.index[learned.argmax(axis=0)]
    return np.where(learned.any(axis=0), first_times, np.inf)


def band(axis: Axes, rows: Table, colour: str) -> None:
    """Draw the middle half of the seeds of a quantity's rows, over times after zero, as time is logarithmic."""
    by_time = rows[rows["time"] > 0].groupby("time")["value"]
    lower, upper = by_time.quantile(0.25), by_time.quantile(0.75)
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)


def line(axis: Axes, rows: Table, colour: str, label: str) -> None:
    """Draw the median over the seeds of a quantity's rows, and the middle half of the seeds as a `band`."""
    band(axis, rows, colour)
    middle = rows[rows["time"] > 0].groupby("time")["value"].median()
    axis.plot(middle.index, middle, color=colour, label=label)


def logarithmic_time(axis: Axes, table: Table) -> None:
    """Make an axis of time logarithmic, over the recorded times after zero."""
    axis.set(xscale="log", xlim=(table.loc[table["time"] > 0, "time"].min(), table["time"].max()))


def span(estimate: Estimate) -> tuple[float, float, float]:
    """Return the lower end, the value and the upper end of an estimate."""
    return estimate.lower, estimate.value, estimate.upper


def in_per_cent(*axes: Axis) -> None:
    """Write the ticks of shares in per cent."""
    for axis in axes:
        axis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def quartiles(groups: Any) -> np.ndarray:
    """Return lower quartile, median and upper quartile of each group of a grouped series, shape (groups, 3)."""
    return np.transpose([groups.quantile(q) for q in QUARTILES])


def bars(axis: Axes, places: Any, spans: Any, *, horizontal: bool = False, **style: Any) -> None:
    """Draw values with intervals at places along an axis, shape (places,): x, or y if bars are horizontal.

    `spans` has the shape (places, 3): lower end, value, upper end.
    """
    lower, values, upper = np.transpose(spans)
    lengths = [values - lower, upper - values]
    if horizontal:
        axis.errorbar(values, places, xerr=lengths, **style)
    else:
        axis.errorbar(places, values, yerr=lengths, **style)


def share_map(
    axis: Axes,
    draws: pd.DataFrame,
    holds: str,
    *,
    rows: Mapping[Any, str],
    columns: Mapping[Any, str],
    by: Sequence[str],
    intervals: bool = True,
    **options: Any,
) -> AxesImage:
    """Draw the share of draws in each cell of a map, in per cent; all maps have the same colours, from none to all.

    Parameters
    ----------
    draws : DataFrame
        A row for each draw.
    holds : str
        Column of `draws` without nan: whether the draw counts into the share.
    rows, columns : mapping
        From values of the first column in `by`, and of the second, to their labels, in the order of the map's rows and
        columns. Cells without draws stay empty.
    by : sequence of two str
        The columns of `draws` that say in which row of the map, and in which of its columns, a draw is.
    intervals : bool
        Whether intervals are written below the shares; the text is smaller without them.
    **options
        Of `Axes.imshow`.

    Returns
    -------
    AxesImage
        Its array has the shares, shape (rows, columns), nan for cells without draws.
    """
    shares = np.full((len(rows), len(columns)), np.nan)
    for i, j, cell in _cells(draws, rows, columns, by):
        lower, value, upper = span(share_of(cell[holds]))
        shares[i, j] = value
        interval = f"\n{100 * lower:.0f}–{100 * upper:.0f}" if intervals else ""
        text = f"{100 * value:.0f}{interval}"
        colour = legible_on(SHARE_COLOURS(value))
        axis.text(j, i, text, ha="center", va="center", fontsize=7 if intervals else 5, color=colour)
    axis.set_xticks(range(len(columns)), columns.values())
    axis.set_yticks(range(len(rows)), rows.values())
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return axis.imshow(shares, vmin=0, vmax=1, cmap=SHARE_COLOURS, aspect="auto", **options)


def legible_on(colour: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever has more contrast with a colour by WCAG 2 (equal at a luminance of 0.179)."""
    channels = np.array(colour[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ [0.2126, 0.7152, 0.0722] > 0.179 else "white"


def hatch_unlearned(
    axis: Axes,
    draws: pd.DataFrame,
    *,
    rows: Mapping[Any, str],
    columns: Mapping[Any, str],
    by: Sequence[str],
) -> None:
    """Hatch the cells of a map in which fewer than half of the draws have learned, by the column `learned` of `draws`.

    All arguments are as those of `share_map`.
    """
    for i, j, cell in _cells(draws, rows, columns, by):
        if cell["learned"].mean() < 0.5:
            axis.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **UNLEARNED))


def unlearned_handle() -> Patch:
    """Return the legend's entry for hatched cells."""
    return Patch(**UNLEARNED | {"hatch": "////"}, label="fewer than half of the seeds learn all examples")


def _cells(
    draws: pd.DataFrame, rows: Mapping[Any, str], columns: Mapping[Any, str], by: Sequence[str]
) -> Iterator[tuple[int, int, pd.DataFrame]]:
    """Yield for each cell of a map the number of its row, the number of its column, and its draws."""
    row_values, column_values = list(rows), list(columns)
    for (row, column), cell in draws.groupby(list(by)):
        yield row_values.index(row), column_values.index(column), cell


def share_bar(figure: Figure | SubFigure, axes: Any, label: str, **options: Any) -> None:
    """Draw the colour bar of `share_map`, in per cent, beside some axes."""
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), SHARE_COLOURS), ax=axes, **options)
    in_per_cent(bar.ax.yaxis)
    bar.set_label(label)
