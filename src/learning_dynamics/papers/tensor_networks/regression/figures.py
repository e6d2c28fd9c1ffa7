"""Limits of regression between two norms (Theorem 4; Corollaries 5 and 6)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.tidy import Quantity, Table, select


def depth(flow: Table, descent: Table, random: Table) -> Drawn:
    r"""Limits of diagonal networks of several depths, between the solutions of least $\ell_1$ and least $\ell_2$ norm.

    Left: the first coefficient at the limit against the initial scale, on figure 1's point. Lines: the minimiser of $Q$
    (Corollary 5); circles: gradient flow; crosses: gradient descent; dotted: the solutions of least norm. The deeper
    the network, the sharper the change from one to the other. Right: random data and random weights, relative
    distance of the flow's limit from the solutions of least weighted $\ell_1$ (solid) and weighted $\ell_2$ norm
    (dashed), median of {draws} draws. Left, the flow's limits agree with the minimiser of $Q$ to {error:.1e}.
    """
    depths = sorted(select(flow, "coefficient")["depth"].unique())
    colours = dict(zip(depths, sequence(len(depths)), strict=True))
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    for number in depths:
        curve = select(flow, "curve", depth=number).sort_values("scale")
        left.semilogx(curve["scale"], curve["value"], color=colours[number], lw=1.3)
        for table, marker, size in ((flow, "o", 5.5), (descent, "x", 4.5)):
            rows = select(table, "coefficient", depth=number, index=1, seed=0).sort_values("scale")
            left.semilogx(rows["scale"], rows["value"], marker, mfc="none", color=colours[number], ms=size)
        distances_and_styles = (
            (_distances(random, "weighted_l1", number), "-"),
            (_distances(random, "weighted_l2", number), "--"),
        )
        for (scales, distances), style in distances_and_styles:
            right.loglog(scales, np.median(distances, axis=0), style, color=colours[number], marker=".", lw=1.2)
    for norm, label in (("plain_l1", r"least $\ell_1$ norm"), ("plain_l2", r"least $\ell_2$ norm")):
        value = select(flow, norm, index=1, depth=depths[0])["predicted"].iloc[0]
        left.axhline(value, color=COLOURS["grey"], lw=0.8, ls=(0, (1, 2)), zorder=0)
        place = {"plain_l1": (0.98, 0.004, "right"), "plain_l2": (0.02, 0.004, "left")}[norm]
        left.text(place[0], value + place[1], label, transform=left.get_yaxis_transform(), ha=place[2], fontsize=8)
    left.set_ylabel(r"$\beta_1$ at the limit")
    left.margins(y=0.12)
    right.set_ylabel("relative distance")
    for axis in (left, right):
        axis.set_xlabel(r"initial scale $\alpha$")
    handles = [Line2D([], [], color=colours[n], label=f"$L = {n}$") for n in depths]
    grey = COLOURS["grey"]
    handles += [
        Line2D([], [], ls="", marker="o", mfc="none", color=grey, label="flow"),
        Line2D([], [], ls="", marker="x", color=grey, label="descent"),
        Line2D([], [], ls="-", color=grey, label=r"to $\ell_1$"),
        Line2D([], [], ls="--", color=grey, label=r"to $\ell_2$"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=7)
    error = select(flow, "coefficient")
    return Drawn(
        figure,
        {"draws": random["seed"].nunique(), "error": float((error["value"] - error["predicted"]).abs().max())},
        alt="Left: curves of a coefficient that rise from the least l1 norm to the least l2 norm as the initial scale "
        "grows. Right: distances from both solutions that fall towards the two ends.",
    )


def _distances(table: Table, norm: Quantity, number: int) -> tuple[np.ndarray, np.ndarray]:
    rows = select(table, norm, depth=number)
    groups = rows.assign(square=(rows["value"] - rows["predicted"]) ** 2, size=rows["predicted"] ** 2)
    sums = groups.groupby(["seed", "scale"])[["square", "size"]].sum()
    distance = np.sqrt(sums["square"] / sums["size"]).unstack("scale")
    return distance.columns.to_numpy(), np.maximum(distance.to_numpy(), 1e-12)


def even_data(flow: Table) -> Drawn:
    r"""Corollary 6 as printed and corrected: distance of the flow's limit from the minimiser of $Q$.

    Even random data of {size} entries, full-length convolutional networks; one line for each of {draws} draws. Orange:
    $Q(F z)$, as printed. Blue: $Q(d^{-(L-1)/2} F z)$. The printed formula is right in both limits of the scale, of
    which the small one is reached slowly by two layers, and wrong between.
    """
    depths = sorted(select(flow, "coefficient")["depth"].unique())
    figure, axes = plt.subplots(1, len(depths), figsize=(WIDTH, 2.8), sharey=True, squeeze=False)
    for axis, number in zip(axes[0], depths, strict=True):
        printed, corrected = _distances(flow, "printed", number), _distances(flow, "coefficient", number)
        for (scales, distances), colour in ((printed, COLOURS["orange"]), (corrected, COLOURS["blue"])):
            for line in distances:
                axis.loglog(scales, line, color=colour, lw=1.0, marker=".")
        axis.set_title(f"$L = {number}$")
        axis.set_xlabel(r"initial scale $\alpha$")
    axes[0, 0].set_ylabel("relative distance")
    handles = [
        Line2D([], [], color=COLOURS["orange"], marker=".", label="as printed"),
        Line2D([], [], color=COLOURS["blue"], marker=".", label=r"with the factor $d^{-(L-1)/2}$"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    size = int(select(flow, "coefficient")["index"].max())
    return Drawn(
        figure,
        {"draws": flow["seed"].nunique(), "size": size},
        alt="Distances of the printed formula that rise to a maximum at intermediate scales, and of the corrected one "
        "that stay at the integrator's error.",
    )
