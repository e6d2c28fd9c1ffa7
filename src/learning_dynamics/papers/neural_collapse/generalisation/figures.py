"""Test images: how variability collapses on them, and the accuracies of Table 1."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.neural_collapse.collapse.figures import TRACE, recipe
from learning_dynamics.papers.neural_collapse.generalisation.table1 import accuracies
from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    LOSSES,
    curves,
    side_by_side,
    title_of,
    under_both_losses,
)
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import EFFECTIVELY_ZERO, at_the_end, when_errors_end
from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table


def fig12(mse: Sequence[Table], ce: Sequence[Table]) -> Drawn:
    r"""Within-class variability on test images along training, under both losses.

    Solid: $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ with means and covariances of the test features. Faint dashes
    repeat the train values of figure 10. Lines: geometric mean over seeds. Bands: their range. Vertical lines as in
    figure 10. In the paper's Figure 12, too, variability falls on test images, more slowly than on train images, and
    ends above. {recipe}
    """
    trainings = [*mse, *ce]
    # in the legend's columns, test and train of a loss stand below each other
    lines = side_by_side(
        under_both_losses("nc1", "test", "{}, test"),
        under_both_losses("nc1", "train", "{}, train", ls=DASHED, alpha=0.5, lw=1.0),
    )
    figure = curves(trainings, lines, ylabel=TRACE)
    facts = {
        "recipe": recipe(trainings),
        "test": np.median(at_the_end(trainings, quantities.NC1, "test")),
        "train": np.median(at_the_end(trainings, quantities.NC1)),
    }
    alt = (
        "Within-class variability along training; at the end {test:.1g} on test, {train:.1g} on train images (medians)."
    )
    return Drawn(figure, facts, alt)


def table1(mse: Sequence[Table], ce: Sequence[Table], *, one_image: Positive) -> Drawn:
    """Test accuracy at the first measured epoch at 99.9 % train accuracy, and at the end of training.

    Per cent of test images: the mean over seeds with its standard error. The change is in percentage points, with its
    median over seeds in brackets. Over all trainings under MSE the change has the mean {mean:.1f} and the median
    {median:.1f}, from {least:.1f} to {most:.1f}{one_image}. Over the paper's fifteen networks the mean is $1.83$ and
    the median $0.96$. Rows of the paper's data sets carry the paper's numbers, which are of MSE, beside ours. {recipe}
    """
    table = accuracies([*mse, *ce])
    header = ["data, network", "loss", "at zero error", "at the end", "change"]
    rows = [
        [
            title_of((row.data, row.network)),
            LOSSES[row.loss],
            _percent(row.zero_error, row.zero_error_se),
            _percent(row.end, row.end_se),
            _percent(row.change, row.change_se, "+") + ("" if np.isnan(row.change) else f" ({row.change_median:+.2f})"),
        ]
        for row in table.itertuples()
    ]
    if table["paper_end"].notna().any():
        header += ["paper: zero error", "paper: end"]
        for cells, published in zip(rows, table[["paper_zero_error", "paper_end"]].to_numpy(), strict=True):
            cells += ["" if np.isnan(value) else f"{value:.2f}" for value in published]
    figure, axis = plt.subplots(figsize=(WIDTH, 0.5 + 0.26 * len(rows)))
    axis.axis("off")
    grid = axis.table(rows, colLabels=header, loc="center", cellLoc="center", edges="open")
    # rules above and below the head and at the end, as tables in print have them
    for (row, _), cell in grid.get_celld().items():
        if row == 0:
            cell.visible_edges = "BT"
        elif row == len(rows):
            cell.visible_edges = "B"
    grid.auto_set_font_size(False)
    grid.set_fontsize(8)
    grid.auto_set_column_width(list(range(len(header))))
    grid.scale(1, 1.4)
    start = when_errors_end(mse, quantities.ERROR, "test", train_error=EFFECTIVELY_ZERO)
    gain = 100 * (start - at_the_end(mse, quantities.ERROR, "test"))
    digits = any(str(name).startswith("digits") for name in table["data"])
    facts = {
        "mean": np.nanmean(gain),
        "median": np.nanmedian(gain),
        "least": np.nanmin(gain),
        "most": np.nanmax(gain),
        "one_image": f"; one test image of the digits is {one_image:.2f} points" if digits else "",
        "recipe": recipe(mse),
    }
    return Drawn(figure, facts, "A table of test accuracies; under MSE they change by {mean:.1f} points in the mean.")


def _percent(value: float, error: float, sign: str = "") -> str:
    if np.isnan(value):
        return "no zero error"
    return f"{value:{sign}.2f}" + ("" if np.isnan(error) else f" ± {error:.2f}")
