"""Limits of regression: between two norms (Theorem 4; Corollary 5), and by Corollary 6 corrected (errata 7)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.tensor_networks.drawing import DOTTED, SCALE_LABEL, depth_colours, depth_handles, handle
from learning_dynamics.papers.tensor_networks.limit_checks import relative_distances
from learning_dynamics.papers.tensor_networks.regression import quantities
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Draws, Quantity, Table, select

FLOOR = 1e-12  # below the flows' errors; a distance of zero has no place on a logarithmic axis


def depth(flow: Table, descent: Table, random: Table) -> Plot:
    r"""Limits of diagonal networks of several depths, between the solutions of least $\ell_1$ and least $\ell_2$ norm.

    Diagonal networks of $L$ layers fit (a) the point of figure 1 and (b) random data from random weights. In (a) lines
    show the first coefficient $\beta_1$ of the minimiser of Corollary 5's function $Q$ against the initial scale.
    Circles are limits of gradient flow, crosses those of gradient descent, and dotted lines the solutions of least
    norm. The deeper the network, the sharper the change between them. The flow's limits differ from the minimiser of
    $Q$ by at most {error:.1e}. In (b) lines show the relative distance of the flow's limit from the solution of least
    weighted $\ell_1$ norm (solid) or $\ell_2$ norm (dashed). With two layers the solid line hardly falls at small
    scales. Dots are medians of {draws} draws.
    """
    colours = depth_colours(flow)
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    for layers, colour in colours.items():
        curve = select(flow, quantities.MINIMISER_CURVE, depth=layers).sort_values("scale")
        left.semilogx(curve["scale"], curve["value"], color=colour, lw=1.3)
        first_coefficient = {"index": 1, "seed": 0, "depth": layers}  # at every scale, of the only data set
        by_flow = select(flow, quantities.COEFFICIENT, **first_coefficient).sort_values("scale")
        by_descent = select(descent, quantities.COEFFICIENT, **first_coefficient).sort_values("scale")
        left.semilogx(by_flow["scale"], by_flow["value"], "o", mfc="none", color=colour, ms=5.5)
        left.semilogx(by_descent["scale"], by_descent["value"], "x", mfc="none", color=colour, ms=4.5)
        for quantity, style in ((quantities.WEIGHTED_L1, "-"), (quantities.WEIGHTED_L2, "--")):
            scales, distances = _distances(random, quantity, layers)
            right.loglog(scales, np.median(distances, axis=0), style, color=colour, marker=".", lw=1.2)
    _draw_least_norm(left, flow, quantities.PLAIN_L1, r"least $\ell_1$ norm", side="right")
    _draw_least_norm(left, flow, quantities.PLAIN_L2, r"least $\ell_2$ norm", side="left")
    left.margins(y=0.12)
    left.set(xlabel=SCALE_LABEL, ylabel=r"$\beta_1$ at the limit", title="one data point")
    right.set(xlabel=SCALE_LABEL, ylabel="relative distance", title="random data")
    letters((left, right))
    handles = [
        *depth_handles(colours),
        handle("(a) flow", ls="", marker="o", mfc="none"),
        handle("(a) descent", ls="", marker="x"),
        handle(r"(b) from $\ell_1$", ls="-"),
        handle(r"(b) from $\ell_2$", ls="--"),
    ]
    legend_below(figure, handles, 7)
    coefficients = select(flow, quantities.COEFFICIENT)
    error = float((coefficients["value"] - coefficients["predicted"]).abs().max())
    return Plot(
        figure,
        {"draws": random["seed"].nunique(), "error": error},
        alt="Left: curves of a coefficient that rise from the least l1 norm to the least l2 norm as the initial scale "
        "grows. Right: distances from both solutions that fall towards the two ends.",
    )


def _draw_least_norm(axis: Axes, flow: Table, quantity: Quantity, label: str, *, side: str) -> None:
    """Draw the first coefficient of a solution of least norm as a level, named at one side of the panel."""
    # the first row that there is: the solution depends on no depth and no scale
    level = select(flow, quantity, index=1)["predicted"].iloc[0]
    axis.axhline(level, color=COLOURS["grey"], lw=0.8, ls=DOTTED, zorder=0)
    x = 0.98 if side == "right" else 0.02
    axis.text(x, level + 0.004, label, transform=axis.get_yaxis_transform(), ha=side, fontsize=8)


def _distances(table: Table, quantity: Quantity, layers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scales, shape (scales,), and distances of limits from predictions, shape (data sets, scales).

    Distances are relative to the prediction's length, and at least `FLOOR`.
    """
    scales = np.unique(select(table, quantity)["scale"])
    distances = [relative_distances(Draws(table, depth=layers, scale=scale), quantity) for scale in scales]
    return scales, np.maximum(np.stack(distances, axis=1), FLOOR)


def even_data(flow: Table) -> Plot:
    r"""Corollary 6 as printed and corrected (errata 7): distance of the flow's limit from the minimiser of $Q$.

    Full-length convolutional networks fit even random data of $d =$ {size} entries, with (a) two and (b) three layers.
    Lines show the relative distance of the flow's limit from a minimiser, one for each of {draws} draws. Orange lines
    take the printed minimiser, of $Q(F z)$, with $F$ the Fourier transform. Blue lines take that of $Q(d^{-(L-1)/2} F
    z)$, with $L$ layers, and stay at the integrator's error. The printed formula's error vanishes as the scale tends to
    zero or infinity, but not between. Towards zero it falls slowly with two layers, and in one draw of (b).
    """
    depths = np.unique(flow["depth"])
    figure, axes = panels(1, len(depths), height=2.8, sharey=True)
    for axis, layers in zip(axes[0], depths, strict=True):
        for quantity, colour in (
            (quantities.PRINTED_MINIMISER, COLOURS["orange"]),
            (quantities.COEFFICIENT, COLOURS["blue"]),
        ):
            scales, distances = _distances(flow, quantity, layers)
            axis.loglog(scales, distances.T, color=colour, lw=1.0, marker=".")  # a line for each data set
        axis.set(title=f"$L = {layers}$", xlabel=SCALE_LABEL)
    letters(axes.flat)
    axes[0, 0].set_ylabel("relative distance")
    handles = [
        handle("as printed", COLOURS["orange"], marker="."),
        handle(r"with the factor $d^{-(L-1)/2}$", COLOURS["blue"], marker="."),
    ]
    legend_below(figure, handles, 2)
    size = int(select(flow, quantities.COEFFICIENT)["index"].max())
    return Plot(
        figure,
        {"draws": flow["seed"].nunique(), "size": size},
        alt="Distances of the printed formula that rise to a maximum at intermediate scales, and of the corrected one "
        "that stay at the integrator's error.",
    )
