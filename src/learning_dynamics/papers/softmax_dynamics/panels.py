"""Curves, intervals and maps of shares, and the names and colours that figures share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from learning_dynamics.evidence import Estimate
from learning_dynamics.papers.softmax_dynamics.falls import LEARNED
from learning_dynamics.plotting import COLOURS
from learning_dynamics.tidy import Quantity, Table, select

CLASS_COLOURS = ("blue", "orange", "green", "purple", "vermilion", "sky", "black", "grey")
RANK_NAMES = {"rankme_centred": "RankMe", "rankme": "RankMe, not centred", "effective_rank": "effective rank"}
DASHED = (0, (4, 2))
GUIDE: dict[str, Any] = {"color": COLOURS["grey"], "lw": 0.9, "ls": DASHED}
EXPECTED: dict[str, Any] = GUIDE | {"color": COLOURS["black"]}
QUARTILES = [0.25, 0.5, 0.75]


def class_colours(count: int) -> list[str]:
    """Return a colour for each class; from the ninth on they come again."""
    return [COLOURS[CLASS_COLOURS[k % len(CLASS_COLOURS)]] for k in range(count)]


def learned_times(rows: Table, classes: int) -> np.ndarray:
    """Return the recorded time from which on each class of a draw is learned; infinite for one that never is."""
    wide = select(rows, "probability", index=list(range(1, classes + 1))).pivot_table(
        index="time", columns="index", values="value"
    )
    learned = np.logical_and.accumulate(wide.to_numpy()[::-1] > LEARNED)[::-1]
    return np.where(learned.any(axis=0), wide.index[learned.argmax(axis=0)], np.inf)


def line(axis: Axes, rows: Table, colour: object, label: str) -> None:
    """Draw the median over seeds of a quantity's rows and the middle half of them."""
    by_time = rows[rows["time"] > 0].groupby("time")["value"]
    lower, middle, upper = map(by_time.quantile, QUARTILES)
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)
    axis.plot(middle.index, middle, color=colour, label=label)


def band(axis: Axes, table: Table, quantity: Quantity, colour: str) -> None:
    """Draw the middle half of the seeds."""
    by_time = select(table, quantity).groupby("time")["value"]
    lower, upper = by_time.quantile(0.25), by_time.quantile(0.75)
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.25, lw=0)


def logarithmic_time(axis: Axes, table: Table) -> None:
    """Let an axis run over the recorded times after zero."""
    axis.set(xscale="log", xlim=(table.loc[table["time"] > 0, "time"].min(), table["time"].max()))


def span(estimate: Estimate) -> tuple[float, float, float]:
    """Return the lower end, the value and the upper end of an estimate."""
    return estimate.lower, estimate.value, estimate.upper


def quartiles(groups: Any) -> np.ndarray:
    """Return the ends and the middle of the middle half of each of some groups of numbers, shape (groups, 3)."""
    return np.transpose([groups.quantile(q) for q in QUARTILES])


def bars(axis: Axes, at: Any, spans: Any, *, horizontal: bool = False, **style: Any) -> None:
    """Draw values with intervals at places along the axis: lower end, value and upper end, shape (places, 3)."""
    low, middle, high = np.transpose(spans)
    error = [middle - low, high - middle]
    if horizontal:
        axis.errorbar(middle, at, xerr=error, **style)
    else:
        axis.errorbar(at, middle, yerr=error, **style)


def share_map(
    axis: Axes,
    spans: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    most: float = 1.0,
    size: float = 7,
    linespacing: float = 1.0,
    **options: Any,
) -> AxesImage:
    """Draw shares in per cent with their intervals below, as a map with colours up to the share `most`.

    Parameters
    ----------
    spans : ndarray, shape (rows, columns, 3)
        Lower end, share and upper end; nan in cells that stay empty.
    size, linespacing : float
        Of the text.
    """
    for i, j in np.argwhere(np.isfinite(spans[..., 1])):
        low, value, high = spans[i, j]
        text = f"{100 * value:.0f}\n{100 * low:.0f}–{100 * high:.0f}"
        colour = "black" if value > 0.6 * most else "white"
        axis.text(j, i, text, ha="center", va="center", fontsize=size, color=colour, linespacing=linespacing)
    axis.set_xticks(range(len(columns)), columns)
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return axis.imshow(spans[..., 1], vmin=0, vmax=max(most, 0.01), cmap="cividis", aspect="auto", **options)


def hatch(axis: Axes, row: int, column: int, pattern: str = "//") -> None:
    """Hatch a cell of a map."""
    place = column - 0.5, row - 0.5
    axis.add_patch(Rectangle(place, 1, 1, fill=False, hatch=pattern, edgecolor="0.55", lw=0))


def share_bar(
    figure: Figure, image: AxesImage, axes: Any, label: str, *, decimals: int | None = 0, **options: Any
) -> None:
    """Draw the colours of maps of shares, in per cent, beside them."""
    bar = figure.colorbar(image, ax=axes, **options)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=decimals))
    bar.set_label(label)
