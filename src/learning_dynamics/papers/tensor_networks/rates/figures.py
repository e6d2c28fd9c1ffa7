"""The loss of classification beside the bounds of D.1.1."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.tidy import Table, select


def loss_bounds(losses: Table) -> Drawn:
    r"""The loss of classification beside its bounds, from starts of different loss.

    Two diagonal layers on single points; one line for each of {draws} draws, divided by the printed bound
    $\mathcal L(0) / (1 + c t)$ (orange) and by $\mathcal L(0) / (1 + c\, \mathcal L(0)\, t)$ (blue). A bound holds
    where its line stays below one (dotted). From starts with a loss below one the printed one does not.
    """
    rows = select(losses, "log_loss", network="diagonal", depth=2)
    constants = select(losses, "constant", network="diagonal", depth=2).set_index(["seed", "start_margin"])["value"]
    margins = sorted(rows["start_margin"].unique())
    figure, axes = plt.subplots(1, len(margins), figsize=(WIDTH, 2.8), sharey=True, squeeze=False)
    for axis, margin in zip(axes[0], margins, strict=True):
        for seed, run in rows[rows["start_margin"] == margin].groupby("seed"):
            line = run.sort_values("log_time")
            values, tau = line["value"].to_numpy(), line["log_time"].to_numpy()
            for kind, colour in (("printed", COLOURS["orange"]), ("derived", COLOURS["blue"])):
                factor = np.array(1.0) if kind == "printed" else np.exp(values[0])
                bound = log_bound(values[:1], constants[seed, margin], np.expm1(tau), factor=factor)
                axis.semilogy(tau, np.exp(values - bound), color=colour, lw=0.9)
        axis.axhline(1.0, color=COLOURS["black"], ls=":", lw=1.0)
        axis.set_title(rf"$\mathcal{{L}}(0) = {np.exp(-margin):.2g}$")
        axis.set_xlabel(r"$\log(1 + t)$")
    axes[0, 0].set_ylabel(r"$\mathcal{L}(t)$ / bound")
    handles = [
        Line2D([], [], color=COLOURS["orange"], label="as printed"),
        Line2D([], [], color=COLOURS["blue"], label=r"with $\mathcal{L}(0)$ in the denominator"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return Drawn(
        figure,
        {"draws": rows["seed"].nunique()},
        alt="Three panels; from a start with small loss the ratio to the printed bound rises far above one.",
    )
