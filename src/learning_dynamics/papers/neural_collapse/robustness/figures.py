"""Robustness against small perturbations along training, under MSE and against cross-entropy."""

from __future__ import annotations

from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.panels import curves
from learning_dynamics.papers.neural_collapse.training_lines import TEST, TRAIN, under_both_losses
from learning_dynamics.tables import Tables

PERTURBATION = r"mean of $\|r\|\,/\,\|x\|$"


def fig9(tables: Tables) -> Figure:
    """Robustness against small perturbations as DeepFool measures it grows beyond zero train error, under MSE.

    Solid: mean over test images of ‖r‖/‖x‖, r the perturbation by which DeepFool changes the network's decision on the
    standardised image x. Dashed: how far the straight way to the nearest differently decided train image leads before
    the decision changes, which bounds the smallest perturbation; where the solid line is above it, DeepFool has
    overshot. Lines: mean over seeds; bands: their range; vertical: zero train error.
    """
    drawn = [
        {**TRAIN, "quantity": "robustness", "split": "test", "label": "DeepFool", "marker": "o", "ms": 3},
        {**TEST, "quantity": "robustness_crossing", "label": "crossing towards a train image"},
    ]
    return curves(tables, drawn, ylabel=PERTURBATION, log=False)[0]


def fig11(tables: Tables) -> Figure:
    """Robustness against small perturbations under MSE and under cross-entropy.

    DeepFool's perturbation relative to the image's norm on test images, as in figure 9. Lines: mean over seeds;
    bands: their range; dotted: zero train error under each loss.
    """
    drawn = under_both_losses("robustness", "test", marker="o", ms=3)
    return curves(tables, drawn, ylabel=PERTURBATION, log=False)[0]
