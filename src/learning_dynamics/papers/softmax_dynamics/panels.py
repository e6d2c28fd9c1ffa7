"""Curves over time with their bands, and the names and colours that figures share."""

import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.plotting import COLOURS
from learning_dynamics.tidy import Quantity, Table, select

CLASS_COLOURS = ("blue", "orange", "green", "purple", "vermilion", "sky", "black", "grey")
RANK_NAMES = {"rankme_centred": "RankMe", "rankme": "RankMe, not centred", "effective_rank": "effective rank"}


def class_colours(count: int) -> list[str]:
    """Return a colour for each class; from the ninth on they come again."""
    return [COLOURS[CLASS_COLOURS[k % len(CLASS_COLOURS)]] for k in range(count)]


def learned_times(rows: Table, classes: int) -> np.ndarray:
    """Return when each class's probability first passes one half."""
    times = []
    for index in range(1, classes + 1):
        line = select(rows, "probability", index=index)
        above = line[line["value"] > 0.5]["time"]
        times.append(above.min() if len(above) else np.inf)
    return np.array(times)


def line(axis: Axes, rows: Table, colour: object, label: str) -> None:
    """Draw the median over seeds of a quantity's rows and the middle half of them."""
    by_time = rows[rows["time"] > 0].groupby("time")["value"]
    lower, middle, upper = (by_time.quantile(q) for q in (0.25, 0.5, 0.75))
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)
    axis.plot(middle.index, middle, color=colour, label=label)


def band(axis: Axes, table: Table, quantity: Quantity, colour: str) -> None:
    """Draw the middle half of the seeds."""
    by_time = select(table, quantity).groupby("time")["value"]
    lower, upper = by_time.quantile(0.25), by_time.quantile(0.75)
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.25, lw=0)
