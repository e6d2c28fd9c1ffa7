"""Robustness against small perturbations along training, under MSE and under cross-entropy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    Line,
    curves,
    describe_panels,
    ends_under_both_losses,
    side_by_side,
    under_both_losses,
)
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    at_the_end,
    data_and_network,
    growth_since_errors_end,
)
from learning_dynamics.plotting import Plot
from learning_dynamics.tidy import Table

PERTURBATION = r"mean of $\|r\|\,/\,\|x\|$"
# growth of the robustness measure from zero train error to the last epoch, by the caption of the paper's Figure 9
PAPERS_GAIN = {"paper_median": 0.1762, "paper_mean": 0.9278}


def fig9(mse: Sequence[Table]) -> Plot:
    r"""Robustness against small perturbations along training, under MSE, by three measures.

    Lines show the mean over test images of $\|r\|/\|x\|$, for the standardised image $x$ and a perturbation $r$ that is
    to change the network's decision. Circles are DeepFool's $r$, the paper's measure, even where it fails. Dashed lines
    (crossing) are the straight way to the nearest train image of another decision, up to where the decision changes.
    The smallest perturbation is at most as long: where circles are above dashes, DeepFool has overshot. Thick lines
    take the smaller of the two for each image, DeepFool's only where it changes the decision. All else is drawn as in
    `fig3`, of its trainings under MSE. The number in a panel is the growth of DeepFool's measure from 99.9 % train
    accuracy to the last epoch, mean over seeds. In the paper's Figure 9 it is {paper_median} in the median over
    networks and {paper_mean} in the mean; over our trainings {median:.2g} and {mean:.2g}. {panels}
    """
    gains = {data_and_network(table): _gains(table) for table in mse}
    growth: dict[tuple[str, str], str] = {
        cell: f"growth ${np.nanmean(gain):z.2f}$" if np.isfinite(gain).any() else "growth not measured"
        for cell, gain in gains.items()
    }
    figure = curves(mse, _measures(""), ylabel=PERTURBATION, notes=growth)
    all_gains = np.concatenate(list(gains.values()))
    facts = {"median": np.nanmedian(all_gains), "mean": np.nanmean(all_gains), **PAPERS_GAIN}
    figure.suptitle(
        "growth in the paper: median {paper_median:.2f}, mean {paper_mean:.2f}".format(**PAPERS_GAIN), fontsize=9
    )
    return _annotate(figure, mse, facts)


def _gains(table: Table) -> np.ndarray:
    """Return DeepFool's measure at the last epoch minus that where train errors end, shape (seeds,); nan if unknown."""
    return growth_since_errors_end([table], quantities.ROBUSTNESS, "test", train_error=EFFECTIVELY_ZERO)


def fig11(mse: Sequence[Table], ce: Sequence[Table]) -> Plot:
    """Robustness against small perturbations under MSE and under cross-entropy, by three measures.

    Lines and circles are the three measures of `fig9`, under MSE (blue) and cross-entropy (CE, orange). The vertical
    axis is logarithmic, because DeepFool's measure (circles) can overshoot by far. Vertical lines and trainings are
    those of `fig3`. In the paper's Figure 11 robustness tends to be better under MSE, sometimes by several magnitudes.
    Here it ends better under MSE, by DeepFool, on {better} of {pairs} networks. {panels}
    """
    figure = curves([*mse, *ce], _measures(", {}"), ylabel=PERTURBATION, height=2.4, columns=3)
    ends_mse, ends_ce = ends_under_both_losses(mse, ce, quantities.ROBUSTNESS, "test")
    return _annotate(figure, [*mse, *ce], {"better": int((ends_mse > ends_ce).sum()), "pairs": len(ends_mse)})


def _measures(label_ending: str) -> list[Line]:
    """Return the lines of three measures. Their labels end with `label_ending`, where {} becomes the loss's name."""
    return side_by_side(
        under_both_losses(quantities.ROBUSTNESS, "test", "DeepFool" + label_ending, marker="o", ms=3, lw=1.0),
        under_both_losses(quantities.ROBUSTNESS_CROSSING, "test", "crossing" + label_ending, ls=DASHED, lw=1.0),
        under_both_losses(quantities.ROBUSTNESS_SMALLEST, "test", "smaller of both" + label_ending, lw=2.4),
    )


def _annotate(figure: Figure, trainings: Sequence[Table], own_facts: Mapping[str, Any]) -> Plot:
    """Return the plot with its own facts, the facts that both figures have, and the description of both figures."""
    facts = {
        **own_facts,
        "panels": describe_panels(trainings),
        "smallest": at_the_end(trainings, quantities.ROBUSTNESS_SMALLEST, "test").mean(),
        "deepfool": at_the_end(trainings, quantities.ROBUSTNESS, "test").mean(),
    }
    alt = (
        "Relative size of perturbations against epochs; at the end {deepfool:.1g} by DeepFool in the mean, "
        "{smallest:.1g} by the smallest that is known."
    )
    return Plot(figure, facts, alt)
