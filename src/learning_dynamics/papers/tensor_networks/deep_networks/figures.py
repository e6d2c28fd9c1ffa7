"""How limits of deep fully connected networks depend on the initial scale (Theorem 6 and its proof)."""

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.drawing import SCALE, depth_colours, depth_handles, handle
from learning_dynamics.plotting import COLOURS, Drawn, legend_below, panels
from learning_dynamics.tidy import Table, select

# each panel's quantity, its label, and the powers of alpha that guide the eye: measured, and printed where another is
PANELS = (
    ("distance", r"$\|\beta - \beta_*\| / \|\beta_*\|$", (1, 0)),
    ("rank_one", r"$\|W_l - s_l u_l v_l^T\|_F$", (1, 2)),
    ("misaligned", r"$1 - (v_l^T u_{l+1})^2$", (4, 2)),
)


def small_scales(descending: Table, gaussian: Table) -> Drawn:
    r"""Limits of deep fully connected networks as the initial scale falls.

    Left: the distance from the interpolator of least $\ell_2$ norm (Theorem 6.2). Middle: the distance of the matrices
    from rank one, (88). Right: the misalignment of adjacent singular vectors, (93). One line for each draw. Solid: from
    layers within the conditions of Theorem 6.1. Dashed: from Gaussian layers, which need not fulfil them. Dotted:
    powers of $\alpha$, in grey those that (88) and (93) print.
    """
    colours = depth_colours(descending)
    figure, axes = panels(1, 3, height=3.0, lettered=False)
    for axis, (quantity, label, powers) in zip(axes[0], PANELS, strict=True):
        for table, style in ((descending, "-"), (gaussian, "--")):
            for (number, _), run in select(table, quantity).groupby(["depth", "seed"]):
                line = run.sort_values("scale")
                axis.loglog(line["scale"], np.maximum(line["value"], 1e-16), style, color=colours[number], lw=0.9)
        rows = select(pd.concat([descending, gaussian]), quantity)
        scales = np.unique(rows["scale"])[:2]
        # above all lines, and named to their left
        level = 4 * rows[rows["scale"] == scales[1]]["value"].max()
        for power, colour in zip(powers, (COLOURS["black"], COLOURS["grey"]), strict=True):
            if power:
                guide = level * (scales / scales[1]) ** power
                axis.loglog(scales, guide, ":", color=colour, lw=1.6)
                axis.text(
                    0.85 * scales[0], guide[0], rf"$\alpha^{power}$", color=colour, ha="right", va="center", fontsize=9
                )
        axis.set_xlim(left=0.25 * scales[0])
        axis.set(xlabel=SCALE, ylabel=label)
    handles = [*depth_handles(colours), handle("conditions of 6.1"), handle("Gaussian layers", ls="--")]
    legend_below(figure, handles, len(handles))
    return Drawn(figure, {}, alt="Three panels in double logarithmic axes; lines fall with slope one, one and four.")
