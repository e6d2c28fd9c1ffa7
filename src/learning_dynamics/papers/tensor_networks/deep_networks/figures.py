"""How limits of deep fully connected networks depend on the initial scale (Theorem 6 and its proof)."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.tensor_networks.deep_networks import quantities
from learning_dynamics.papers.tensor_networks.drawing import SCALE_LABEL, depth_colours, depth_handles, median_and_range
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Quantity, Table, select


class Panel(NamedTuple):
    """A quantity, its label, and the powers of alpha with which it falls, which dotted lines show."""

    quantity: Quantity
    label: str
    measured_power: int
    printed_power: int | None  # that which the paper prints; None where it is the measured one


PANELS = (
    Panel(quantities.DISTANCE_FROM_LEAST_L2, r"$\|\beta - \beta_*\| / \|\beta_*\|$", 1, None),
    Panel(quantities.DISTANCE_FROM_RANK_ONE, r"$\|W_l - s_l u_l v_l^T\|_F$", 1, 2),
    Panel(quantities.MISALIGNMENT, r"$1 - (v_l^T u_{l+1})^2$", 4, 2),
)


def small_scales(descending: Table, gaussian: Table) -> Plot:
    r"""Limits of deep fully connected networks as the initial scale falls.

    Networks of $L$ layers $W_l$ fit random data. Lines are medians of {draws} draws, and bands, too narrow to see in
    (b), show all draws. (a) to (c) Starts fulfil the conditions of Theorem 6.1. (d) to (f) Starts are Gaussian and need
    not fulfil them. (a), (d) The limit $\beta$ tends to the interpolator $\beta_*$ of least $\ell_2$ norm (Theorem
    6.2). (b), (e) The matrices tend to rank one, (88), with top singular values $s_l$ and vectors $u_l$, $v_l$. (c),
    (f) Adjacent singular vectors align, (93). Black dotted lines show the powers of $\alpha$ with which these distances
    fall at small scales, grey ones those that (88) and (93) print.
    """
    colours = depth_colours(descending)
    figure, axes = panels(2, len(PANELS), height=2.5, sharex=True, sharey="col")
    for row, table in zip(axes, (descending, gaussian), strict=True):
        for axis, panel in zip(row, PANELS, strict=True):
            rows = select(table, panel.quantity)
            for depth, rows_of_depth in rows.groupby("depth"):
                # shape (draws, scales); zero has no place on a logarithmic axis
                by_scale = rows_of_depth.pivot_table(index="seed", columns="scale", values="value").clip(lower=1e-16)
                median_and_range(axis, by_scale.columns.to_numpy(), by_scale.to_numpy(), colours[depth])
            _draw_guides(axis, rows, panel)
            axis.set(xscale="log", yscale="log", ylabel=panel.label)
    axes[0, 1].set_title("conditions of Theorem 6.1")
    axes[1, 1].set_title("Gaussian layers")
    for axis in axes[-1]:
        axis.set_xlabel(SCALE_LABEL)
    letters(axes.flat)
    legend_below(figure, depth_handles(colours))
    return Plot(
        figure,
        {"draws": descending["seed"].nunique()},
        alt="Six panels in double logarithmic axes; lines fall with slope one, one and four.",
    )


def _draw_guides(axis: Axes, rows: Table, panel: Panel) -> None:
    """Draw powers of the scale above all lines, named to their left: the measured one black, the printed one grey."""
    scales = np.unique(rows["scale"])[:2]  # the guides go from the smallest scale to the next, where they meet
    level = 4 * rows[rows["scale"] == scales[1]]["value"].max()
    for power, colour in ((panel.measured_power, COLOURS["black"]), (panel.printed_power, COLOURS["grey"])):
        if power is None:
            continue
        guide = level * (scales / scales[1]) ** power
        axis.plot(scales, guide, ":", color=colour, lw=1.6)
        axis.text(0.85 * scales[0], guide[0], rf"$\alpha^{power}$", color=colour, ha="right", va="center", fontsize=9)
    axis.set_xlim(left=0.25 * scales[0])
