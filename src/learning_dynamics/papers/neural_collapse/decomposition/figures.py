"""The terms that the MSE loss decomposes into, along training."""

from __future__ import annotations

from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.panels import curves
from learning_dynamics.plotting import COLOURS
from learning_dynamics.tables import Tables


def fig2(tables: Tables) -> Figure:
    """The terms of the MSE loss, of which the deviation from the least-squares classifier becomes the smallest part.

    The loss, weight decay included, is L(NC1) + L(NC2/3) + L(LS⊥) to rounding: within-class variability,
    distance of class means and least-squares classifiers from the simplex, and what the actual classifier
    loses against the least-squares one. Lines: geometric mean over seeds; bands: their range; vertical: the
    first measured epoch without a train error, median over seeds. L(NC1) does not reach zero because weight
    decay keeps the network from the limit; L(LS⊥) drops with the learning rate.
    """
    terms = [
        {"quantity": "loss_nc1", "label": r"$\mathcal{L}_{\mathrm{NC1}}$", "color": COLOURS["blue"]},
        {"quantity": "loss_nc23", "label": r"$\mathcal{L}_{\mathrm{NC2/3}}$", "color": COLOURS["green"]},
        {"quantity": "loss_ls_perp", "label": r"$\mathcal{L}_{\mathrm{LS}}^{\perp}$", "color": COLOURS["purple"]},
    ]
    return curves(tables, terms, ylabel="term of the MSE loss")[0]
