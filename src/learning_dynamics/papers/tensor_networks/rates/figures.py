"""The loss of classification over its bounds, as D.1.1 prints them and corrected (errata 8)."""

import numpy as np

from learning_dynamics.papers.tensor_networks.drawing import handle
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Table, select

# styles of the lines of the loss over the printed bound, and over the corrected one
PRINTED = {"color": COLOURS["orange"], "ls": "--"}
CORRECTED = {"color": COLOURS["blue"], "ls": "-"}


def loss_bounds(losses: Table) -> Plot:
    r"""The loss of classification beside its bounds, from starts of different loss.

    Two-layer diagonal networks classify single points. Lines show the loss $\mathcal L(t)$ over a bound, one for each
    of {draws} draws. Orange dashed lines take the printed bound $\mathcal L(0) / (1 + c t)$, with $c$ from appendix
    D.1.1. Blue lines take $\mathcal L(0) / (1 + c\, \mathcal L(0)\, t)$. A bound holds where its line stays below one
    (dotted). (a) From a large loss the printed bound is looser. (b) From a loss of one the bounds are equal. (c) From a
    small loss the printed bound fails: the ratio rises fast, then falls slowly.
    """
    shown = {"network": "diagonal", "depth": 2}
    rows = select(losses, quantities.LOG_LOSS, **shown)
    # c of D.1.1's bound, by margin at the start and draw
    constants = select(losses, quantities.BOUND_CONSTANT, **shown).set_index(["start_margin", "seed"])["value"]
    margins = np.unique(rows["start_margin"])  # ascending: from panel to panel the initial loss falls
    figure, axes = panels(1, len(margins), height=2.8, sharey=True)
    for axis, margin in zip(axes[0], margins, strict=True):
        for seed, draw in rows[rows["start_margin"] == margin].groupby("seed"):
            log_loss, log_time = draw["value"].to_numpy(), draw["log_time"].to_numpy()
            c, time = constants[margin, seed], np.expm1(log_time)
            log_initial = log_loss[0]
            # log(L(0) / (1 + c f t)): the factor f is L(0) in the corrected bound and one in the printed
            log_corrected = log_bound(log_initial, c, time, factor=np.exp(log_initial))
            log_printed = log_bound(log_initial, c, time, factor=1.0)
            # dashes over a full line: where bounds are equal both are seen
            axis.semilogy(log_time, np.exp(log_loss - log_corrected), **CORRECTED, lw=0.9)
            axis.semilogy(log_time, np.exp(log_loss - log_printed), **PRINTED, lw=0.9)
        axis.axhline(1.0, color=COLOURS["black"], ls=":", lw=1.0)
        # a single point's exponential loss is exp(-margin)
        axis.set(title=rf"$\mathcal{{L}}(0) = {np.exp(-margin):.2g}$", xlabel=r"$\log(1 + t)$")
    axes[0, 0].set_ylabel(r"$\mathcal{L}(t)$ / bound")
    letters(axes.flat)
    handles = [
        handle("as printed", PRINTED["color"], ls=PRINTED["ls"]),
        handle(r"with $\mathcal{L}(0)$ in the denominator", CORRECTED["color"], ls=CORRECTED["ls"]),
    ]
    legend_below(figure, handles, 2)
    return Plot(
        figure,
        {"draws": losses["seed"].nunique()},
        alt="Three panels; from a start with small loss the ratio to the printed bound rises far above one.",
    )
