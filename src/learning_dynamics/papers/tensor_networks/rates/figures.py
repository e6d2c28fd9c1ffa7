"""The loss of classification beside the bounds of D.1.1."""

import numpy as np

from learning_dynamics.papers.tensor_networks.drawing import handle
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Table, select

PRINTED, CORRECTED = (COLOURS["orange"], "--"), (COLOURS["blue"], "-")  # colours and styles of lines


def loss_bounds(losses: Table) -> Plot:
    r"""The loss of classification beside its bounds, from starts of different loss.

    Two diagonal layers on single points, one line for each of {draws} draws. Orange, dashed: the loss over the printed
    bound $\mathcal L(0) / (1 + c t)$. Blue: the loss over $\mathcal L(0) / (1 + c\, \mathcal L(0)\, t)$. A bound holds
    where its line stays below one (dotted). (a) From a large loss. (b) From a loss of one, where the bounds are equal.
    (c) From a small loss. There the printed bound fails.
    """
    rows, constants = (
        select(losses, quantity, network="diagonal", depth=2).set_index(["start_margin", "seed"])
        for quantity in (quantities.LOG_LOSS, quantities.BOUND_CONSTANT)
    )
    margins = rows.index.unique("start_margin").sort_values()
    figure, axes = panels(1, len(margins), height=2.8, sharey=True)
    for axis, margin in zip(axes[0], margins, strict=True):
        for seed, run in rows.loc[margin].groupby("seed"):
            values, log_time = run["value"].to_numpy(), run["log_time"].to_numpy()
            # dashes over a full line: where bounds are equal both are seen
            for factor, (colour, line) in ((np.exp(values[0]), CORRECTED), (np.array(1.0), PRINTED)):
                bound = log_bound(values[:1], constants["value"][margin, seed], np.expm1(log_time), factor=factor)
                axis.semilogy(log_time, np.exp(values - bound), color=colour, ls=line, lw=0.9)
        axis.axhline(1.0, color=COLOURS["black"], ls=":", lw=1.0)
        axis.set(title=rf"$\mathcal{{L}}(0) = {np.exp(-margin):.2g}$", xlabel=r"$\log(1 + t)$")
    axes[0, 0].set_ylabel(r"$\mathcal{L}(t)$ / bound")
    letters(axes.flat)
    handles = [
        handle("as printed", PRINTED[0], ls=PRINTED[1]),
        handle(r"with $\mathcal{L}(0)$ in the denominator", CORRECTED[0], ls=CORRECTED[1]),
    ]
    legend_below(figure, handles, 2)
    return Plot(
        figure,
        {"draws": losses["seed"].nunique()},
        alt="Three panels; from a start with small loss the ratio to the printed bound rises far above one.",
    )
