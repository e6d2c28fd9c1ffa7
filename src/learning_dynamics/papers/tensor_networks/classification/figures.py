"""Classifiers on their way to the max-margin direction, in logarithmic time."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.tensor_networks.architecture_styles import NETWORKS
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables


def log_time(tables: Tables) -> Figure:
    """Angle between the classifier and its max-margin direction, followed to t = exp(10⁶).

    One line for each start, at the settings of figure 3. Circles: where two million steps of gradient descent
    end, log t = 7. Dotted: the power of log t that theory gives, 1/2 for fully connected and diagonal networks
    and 2/3 for convolutional ones on these data. At t = 10⁶⁰ some angles are still several degrees: the
    direction forgets its start only like a power of log t.
    """
    flow, descent = tables["settling"], tables["classification"]
    scales = sorted(flow["scale"].unique())
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 3.0), sharey=True, squeeze=False)
    last = descent[(descent["time"] == descent["time"].max()) & (descent["quantity"] == "angle")]
    end = np.log1p(last["time"].iloc[0] * descent.attrs["settings"]["step"])
    late = flow["tau"].max()
    for axis, scale in zip(axes[0], scales, strict=True):
        rows = flow[(flow["scale"] == scale) & (flow["quantity"] == "angle") & (flow["tau"] >= 1)]
        for (network, _), run in rows.groupby(["network", "direction"]):
            axis.loglog(run["tau"], run["value"], color=NETWORKS[network][0], lw=1.0)
        for network, points in last[last["scale"] == scale].groupby("network"):
            axis.loglog(
                np.full(len(points), end), points["value"], "o", ms=4, mfc="none", mec=NETWORKS[network][0], zorder=4
            )
        for network, (colour, _) in NETWORKS.items():
            found = flow[(flow["scale"] == scale) & (flow["network"] == network) & (flow["tau"] == late)]
            exponent = found[found["quantity"] == "exponent"]["predicted"].median()
            top = 4 * found[found["quantity"] == "angle"]["value"].max()
            taus = np.array([late / 1e3, late])
            axis.loglog(taus, top * (taus / late) ** -exponent, ":", color=colour, lw=1.2)
        axis.axvline(60 * np.log(10), color=COLOURS["grey"], lw=0.8, zorder=0)
        axis.text(
            60 * np.log(10) * 1.15,
            0.02,
            r"$t = 10^{60}$",
            transform=axis.get_xaxis_transform(),
            fontsize=8,
            color=COLOURS["grey"],
        )
        axis.set_title(rf"$\alpha = {scale:g}$")
        axis.set_xlabel(r"$\log(1 + t)$")
        axis.set_ylim(1e-6, 200)
    axes[0, 0].set_ylabel("angle to max margin (degrees)")
    handles = [Line2D([], [], color=colour, label=name) for colour, name in NETWORKS.values()]
    handles += [
        Line2D(
            [], [], ls="", marker="o", ms=4, mfc="none", color=COLOURS["grey"], label=r"$2 \cdot 10^6$ steps of descent"
        ),
        Line2D([], [], ls=":", lw=1.2, color=COLOURS["grey"], label="predicted power"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, columnspacing=1.2)
    return figure
