"""Test images: how variability collapses on them, and the accuracies of Table 1."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.accuracies import accuracies
from learning_dynamics.papers.neural_collapse.panels import Cell, curves
from learning_dynamics.papers.neural_collapse.training_lines import under_both_losses
from learning_dynamics.plotting import WIDTH
from learning_dynamics.tables import Tables


def fig12(tables: Tables) -> Figure:
    """Variability collapse on test images, under both losses: slower and less deep than on train images.

    Tr(Σ_W pinv(Σ_B)) / C with means and covariances of the test features; faint dashes repeat the train
    values of figure 10. Lines: geometric mean over seeds; bands: their range; dotted: zero train error under each loss.
    """
    train = [
        {**line, "label": f"{line['label']}, train", "ls": (0, (4, 2)), "alpha": 0.45}
        for line in under_both_losses("nc1")
    ]
    test = [{**line, "label": f"{line['label']}, test"} for line in under_both_losses("nc1", "test")]
    return curves(tables, [*test, *train], ylabel=r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$")[0]


def table1(tables: Tables) -> Figure:
    """Test accuracy at the first measured epoch without a train error, and at the end of training, under MSE.

    Percent, mean over seeds with its standard error. Rows of the paper's data sets carry the paper's
    numbers beside ours; digits are not among them. Trained at the scale of this configuration.
    """
    table = accuracies(tables)
    head = ["data, network", "at zero error", "at the end", "change"]
    rows = [
        [
            Cell(row.data, row.network, "").title,
            _percent(row.zero_error, row.zero_error_se),
            _percent(row.end, row.end_se),
            _percent(row.change, row.change_se, "+"),
        ]
        for row in table.itertuples()
    ]
    if table["paper_end"].notna().any():
        head += ["paper: at zero error", "paper: at the end"]
        for row, published in zip(rows, table[["paper_zero_error", "paper_end"]].to_numpy(), strict=True):
            row += ["" if np.isnan(value) else f"{value:.2f}" for value in published]
    figure, axis = plt.subplots(figsize=(WIDTH, 0.5 + 0.26 * len(rows)))
    axis.axis("off")
    drawn = axis.table(rows, colLabels=head, loc="center", cellLoc="center", edges="horizontal")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(9)
    drawn.scale(1, 1.4)
    return figure


def _percent(value: float, error: float, sign: str = "") -> str:
    if np.isnan(value):
        return "no zero error"
    return f"{value:{sign}.2f}" + ("" if np.isnan(error) else f" ± {error:.2f}")
