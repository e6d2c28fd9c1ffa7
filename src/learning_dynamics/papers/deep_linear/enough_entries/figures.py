"""Completion against the number of observed entries, by method."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear.drawing import (
    DASHED,
    DEPTH_COLOURS,
    depth_handles,
    handle,
    legend_below,
    plain_numbers,
)
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import thresholds
from learning_dynamics.papers.deep_linear.tables import depth_of, less_true_norm, unfinished
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table, select


def enough_entries(deep: Sequence[Table], convex: Table, *, recovered: Fraction) -> Drawn:
    r"""How many observed entries are enough: reconstruction error and nuclear norm against their number, by method.

    Left and middle, one row for each initialisation scale $s$: mean square error over all entries, and nuclear norm
    less the true one; medians over {draws} draws, bands from the smallest to the largest. Grey: the minimiser of the
    nuclear norm. Right: the number of entries from which on a draw is recovered, to {recovered:g} of the mean square
    entry (dashed on the left); medians and draws, by depth, and of the minimiser; open circles are upper bounds, of
    {unknown} draws with networks that did not reach their training loss, and {beyond} draws lie beyond the largest
    number. Networks that did not reach their training loss are left out of the medians on the left
    and in the middle ({lost} of {runs}).
    """
    scales = sorted(deep[0]["scale"].unique(), reverse=True)
    figure, axes = plt.subplots(
        len(scales),
        3,
        figsize=(WIDTH, 2.35 * len(scales)),
        squeeze=False,
        sharex="col",
        sharey="col",
        gridspec_kw={"width_ratios": [1.2, 1.2, 0.9]},
    )
    depths = [depth_of(table) for table in deep]
    unknown = beyond = 0
    for row, scale in zip(axes, scales, strict=True):
        for table, depth in [*zip(deep, depths, strict=True), (convex, 0)]:
            colour = DEPTH_COLOURS[depth] if depth else COLOURS["grey"]
            rows = select(table, scale=scale) if depth else table
            converged = rows[rows["converged"]] if depth else rows
            _band(row[0], converged, "error", colour)
            _band(row[1], less_true_norm(converged), "nuclear_norm", colour)
            lower, upper = thresholds(rows, recovered)
            exact = lower == upper
            unknown += int((~exact).sum())
            beyond += int(np.isinf(upper).sum())
            place = depths.index(depth) if depth else len(depths)
            for draws, style in ((exact, {"ms": 4, "alpha": 0.5, "mew": 0}), (~exact, {"ms": 5.5, "mfc": "none"})):
                entries = upper[draws & np.isfinite(upper)]
                row[2].plot(np.full(len(entries), place), entries, "o", color=colour, **style)
            # beyond the grid there is nothing to draw
            middle = np.median(upper) if np.isfinite(np.median(upper)) else np.nan
            row[2].plot([place - 0.25, place + 0.25], [middle] * 2, color=colour, lw=2)
        row[0].axhline(recovered, color=COLOURS["black"], ls=DASHED, lw=0.8)
        row[1].axhline(0, color=COLOURS["black"], lw=0.8)
        row[0].set(yscale="log", ylabel="reconstruction error", title=f"$s$ = {scale:g}")
        row[1].set(ylabel="nuclear norm − truth's")
        row[2].set(ylabel="entries needed", yscale="log")
        plain_numbers(row[2].yaxis)
        row[2].set_yticks([200, 400, 800])
    for axis in axes[-1, :2]:
        axis.set_xlabel("observed entries")
    axes[-1, 2].set_xticks(range(len(depths) + 1), [*(str(depth) for depth in depths), "min."])
    axes[-1, 2].set_xlabel("depth")
    legend_below(figure, [*depth_handles(depths), handle("nuclear norm minimisation", "grey")])
    facts = {"draws": convex["draw"].nunique(), "recovered": recovered, "unknown": unknown, "beyond": beyond}
    alt = "Errors fall steeply at a number of entries that is smaller for deeper networks than for the convex program."
    return Drawn(figure, facts=facts | unfinished(*deep), alt=alt)


def _band(axis: Axes, table: Table, quantity: Quantity, colour: str) -> None:
    values = select(table, quantity).groupby("observed")["value"]
    middle = values.median()
    axis.plot(middle.index, middle, ".-", color=colour, ms=4)
    axis.fill_between(middle.index, values.min(), values.max(), color=colour, alpha=0.15, lw=0)
