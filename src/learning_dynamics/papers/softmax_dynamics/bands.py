"""Bands that hold the middle half of the seeds."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes


def band(axis: Axes, table: pd.DataFrame, quantity: str, colour: str, *, median: bool = False) -> None:
    """Draw the middle half of the seeds, and their median where asked."""
    values = table[(table["quantity"] == quantity) & (table["time"] > 0)].groupby("time")["value"]
    lower, middle, upper = (values.quantile(share) for share in (0.25, 0.5, 0.75))
    axis.fill_between(lower.index, lower, upper, color=colour, alpha=0.2, lw=0)
    if median:
        axis.plot(middle.index, middle, color=colour)
