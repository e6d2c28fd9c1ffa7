"""Completion against the number of observed entries, by method."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import thresholds
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
    depths = [int(table["depth"].iloc[0]) for table in deep]
    unknown = beyond = 0
    for row, scale in zip(axes, scales, strict=True):
        for table, depth in [*zip(deep, depths, strict=True), (convex, 0)]:
            colour = DEPTH_COLOURS[depth] if depth else COLOURS["grey"]
            rows = select(table, scale=scale) if depth else table
            converged = rows[rows["converged"]] if depth else rows
            _band(row[0], converged, "error", colour)
            _band(row[1], _beyond_truth(converged), "nuclear_norm", colour)
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
        row[2].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        row[2].yaxis.set_minor_formatter(NullFormatter())
        row[2].set_yticks([200, 400, 800])
    for axis in axes[-1, :2]:
        axis.set_xlabel("observed entries")
    axes[-1, 2].set_xticks(range(len(depths) + 1), [*(str(depth) for depth in depths), "min."])
    axes[-1, 2].set_xlabel("depth")
    handles = [*depth_handles(depths), Line2D([], [], color=COLOURS["grey"], label="nuclear norm minimisation")]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    runs = [select(table, "error") for table in deep]
    facts = {
        "draws": int(convex["draw"].nunique()),
        "recovered": recovered,
        "runs": sum(len(run) for run in runs),
        "lost": sum(int((~run["converged"]).sum()) for run in runs),
        "unknown": unknown,
        "beyond": beyond,
    }
    alt = "Errors fall steeply at a number of entries that is smaller for deeper networks than for the convex program."
    return Drawn(figure, facts=facts, alt=alt)


def _band(axis: Axes, table: Table, quantity: Quantity, colour: str) -> None:
    values = select(table, quantity).groupby("observed")["value"]
    middle = values.median()
    axis.plot(middle.index, middle, ".-", color=colour, ms=4)
    axis.fill_between(middle.index, values.min(), values.max(), color=colour, alpha=0.15, lw=0)


def _beyond_truth(table: Table) -> Table:
    """Return the table with nuclear norms less the true one of their draw."""
    true = select(table, "true_nuclear_norm").groupby("draw")["value"].first()
    norm = table["quantity"] == "nuclear_norm"
    return table.assign(value=np.where(norm, table["value"] - table["draw"].map(true), table["value"]))
