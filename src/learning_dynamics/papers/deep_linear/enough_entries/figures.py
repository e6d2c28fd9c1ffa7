"""Completion against the number of observed entries, by method."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear import quantities
from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, handle
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import thresholds
from learning_dynamics.papers.deep_linear.tables import depth_of, less_true_norm, unfinished
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table, select


def enough_entries(deep: Sequence[Table], convex: Table, *, recovered: Fraction) -> Plot:
    r"""How many observed entries are enough: reconstruction error and nuclear norm against their number, by method.

    Networks and the minimiser of the nuclear norm (grey) complete matrices. Rows differ in initialisation scale $s$.
    Panels (a) and (d) show the mean square error over all entries, (b) and (e) the nuclear norm minus that of the
    target. Lines are medians over at most {draws} draws, without networks that did not reach their training loss
    ({lost} of {runs}). Bands run from the smallest to the largest draw. Panels (c) and (f) show the fewest entries from
    which a draw is recovered, by depth and for the minimiser (min.). Dots are draws, bars medians. A draw is recovered
    if its error is at most {recovered:g} of the mean square entry, the dashed line in (a) and (d). Open circles are
    upper bounds, where some training did not converge ({upper_bounds}, over all methods and scales). Networks stop at a
    training loss.{not_drawn}
    """
    scales = sorted(deep[0]["scale"].unique(), reverse=True)
    shape: dict[str, Any] = {"sharex": "col", "sharey": "col", "width_ratios": [1.2, 1.2, 0.9]}
    figure, axes = panels(len(scales), 3, height=2.35, **shape)
    depths = [depth_of(table) for table in deep]
    # how many thresholds, over all methods and scales, have an upper bound alone, and how many have no upper bound
    n_upper_bounds = n_unbounded = 0
    for (error_axis, norm_axis, threshold_axis), scale in zip(axes, scales, strict=True):
        networks = [(select(table, scale=scale), DEPTH_COLOURS[depth_of(table)]) for table in deep]
        for place, (rows, colour) in enumerate([*networks, (convex, COLOURS["grey"])]):
            # the convex program has no column `converged`: its solutions are all final
            converged = rows[rows["converged"]] if "converged" in rows else rows
            _band(error_axis, converged, quantities.ERROR, colour)
            _band(norm_axis, less_true_norm(converged), quantities.NUCLEAR_NORM, colour)
            lower, upper = thresholds(rows, recovered)
            _draw_thresholds(threshold_axis, place, lower, upper, colour)
            n_upper_bounds += int(np.sum((lower < upper) & np.isfinite(upper)))
            n_unbounded += int(np.isinf(upper).sum())
        error_axis.axhline(recovered, color=COLOURS["black"], ls=DASHED, lw=0.8)
        norm_axis.axhline(0, color=COLOURS["black"], lw=0.8)
        error_axis.set(yscale="log", ylabel="reconstruction error", title=f"$s$ = {scale:g}")
        norm_axis.set(ylabel="nuclear norm − target's", title=f"$s$ = {scale:g}")
        threshold_axis.set(ylabel="entries needed", title=f"$s$ = {scale:g}", ylim=(0, None))
    plt.setp(axes[-1], xlabel="observed entries")
    axes[-1, -1].set(xlabel="depth", xticks=range(len(deep) + 1), xticklabels=[*map(str, depths), "min."])
    letters(axes.flat)
    handles = [
        *depth_handles(depths),
        handle("minimiser of the nuclear norm", "grey"),
        handle("upper bound", line="", marker="o", ms=5.5, mfc="none"),
    ]
    legend_below(figure, handles)
    not_drawn = f" Not drawn are {n_unbounded} thresholds with no upper bound among the numbers tried."
    facts = {
        "draws": convex["draw"].nunique(),
        "recovered": recovered,
        "upper_bounds": n_upper_bounds,
        "not_drawn": not_drawn if n_unbounded else "",
    }
    alt = "Errors and nuclear norms against the number of entries, by method; numbers needed to recover, by method."
    return Plot(figure, facts=facts | unfinished(*deep), alt=alt)


def _band(axis: Axes, table: Table, quantity: Quantity, colour: str) -> None:
    """Draw the median over draws against the number of entries, in a band from the smallest to the largest draw."""
    values = select(table, quantity).groupby("observed")["value"]
    medians = values.median()
    axis.plot(medians.index, medians, ".-", color=colour, ms=4)
    axis.fill_between(medians.index, values.min(), values.max(), color=colour, alpha=0.15, lw=0)


def _draw_thresholds(axis: Axes, x: float, lower: np.ndarray, upper: np.ndarray, colour: str) -> None:
    """Draw one method's thresholds above x: dots, open circles where only an upper bound is known, their median.

    `lower` and `upper` are bounds of shape (draws,). A threshold is known where they are equal. An infinite one is
    larger than all numbers of entries that are tried, and is not drawn.
    """
    is_exact, is_drawn = lower == upper, np.isfinite(upper)
    exact, upper_bounds = upper[is_exact & is_drawn], upper[~is_exact & is_drawn]
    axis.plot(np.full(len(exact), x), exact, "o", color=colour, ms=4, alpha=0.5, mew=0)
    axis.plot(np.full(len(upper_bounds), x), upper_bounds, "o", color=colour, ms=5.5, mfc="none")
    median = np.median(upper)
    if np.isfinite(median):
        axis.plot([x - 0.25, x + 0.25], [median, median], color=colour, lw=2)
