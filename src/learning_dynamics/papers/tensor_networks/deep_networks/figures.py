"""How limits of deep fully connected networks depend on the initial scale (Theorem 6 and its proof)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.tidy import Table, select


def small_scales(descending: Table, gaussian: Table) -> Drawn:
    r"""Limits of deep fully connected networks as the initial scale falls.

    Distance from the interpolator of least $\ell_2$ norm (Theorem 6.2), distance of the matrices from rank one, (88),
    and misalignment of adjacent singular vectors, (93). One line for each draw: solid from layers within the
    conditions of Theorem 6.1, dashed from Gaussian ones, which need not fulfil them. Dotted: powers of $\alpha$; grey:
    those that (88) and (93) print.
    """
    depths = sorted(descending["depth"].unique())
    colours = dict(zip(depths, sequence(len(depths)), strict=True))
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3.0))
    for axis, quantity, label, powers in zip(
        axes,
        ("distance", "rank_one", "misaligned"),
        (r"$\|\beta - \beta_*\| / \|\beta_*\|$", r"$\|W_l - s_l u_l v_l^T\|_F$", r"$1 - (v_l^T u_{l+1})^2$"),
        ((1, 0), (1, 2), (4, 2)),
        strict=True,
    ):
        for table, style in ((descending, "-"), (gaussian, "--")):
            for (number, _), run in select(table, quantity).groupby(["depth", "seed"]):
                line = run.sort_values("scale")
                axis.loglog(line["scale"], np.maximum(line["value"], 1e-16), style, color=colours[number], lw=0.9)
        rows = pd.concat([select(table, quantity) for table in (descending, gaussian)])
        scales = np.sort(rows["scale"].unique())[:2]
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
        axis.set_xlabel(r"initial scale $\alpha$")
        axis.set_ylabel(label)
    handles = [Line2D([], [], color=colours[n], label=f"$L = {n}$") for n in depths]
    grey = COLOURS["grey"]
    handles += [
        Line2D([], [], color=grey, label="conditions of 6.1"),
        Line2D([], [], color=grey, ls="--", label="Gaussian layers"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return Drawn(
        figure,
        {},
        alt="Three panels in double logarithmic axes; lines fall with slope one, one and four.",
    )
