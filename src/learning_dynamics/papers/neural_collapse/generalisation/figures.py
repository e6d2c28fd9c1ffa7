"""Test images: how variability collapses on them, and the accuracies of Table 1."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse.collapse.figures import TRACE
from learning_dynamics.papers.neural_collapse.generalisation.table1 import PAPER_TABLE_1, accuracies
from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    LOSSES,
    curves,
    describe_panels,
    side_by_side,
    title_of,
    under_both_losses,
)
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    at_errors_end,
    at_the_end,
    data_and_network,
)
from learning_dynamics.plotting import Plot, table_figure
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table

COLUMNS = [
    "data, network",
    "loss",
    "ours:\nzero error",
    "ours:\nend",
    "ours:\nchange",
    "ours: median\nof the change",
    "paper:\nzero error",
    "paper:\nend",
    "paper:\nchange",
]


def fig12(mse: Sequence[Table], ce: Sequence[Table]) -> Plot:
    """Within-class variability on test images along training, under both losses.

    Solid lines show the trace of `fig7` for means and covariances of the test features. Faint dashed lines repeat the
    train values of `fig10`. All else is drawn as there, of the same trainings. In the paper's Figure 12 variability
    falls more slowly on test images than on train images, and ends higher. {panels}
    """
    trainings = [*mse, *ce]
    lines = side_by_side(
        under_both_losses(quantities.NC1, "test", "{}, test"),
        under_both_losses(quantities.NC1, "train", "{}, train", ls=DASHED, alpha=0.5, lw=1.0),
    )
    figure = curves(trainings, lines, ylabel=TRACE)
    facts = {
        "panels": describe_panels(trainings),
        "test": np.median(at_the_end(trainings, quantities.NC1, "test")),
        "train": np.median(at_the_end(trainings, quantities.NC1)),
    }
    alt = (
        "Within-class variability along training; at the end {test:.1g} on test, {train:.1g} on train images (medians)."
    )
    return Plot(figure, facts, alt)


def table1(mse: Sequence[Table], ce: Sequence[Table], *, one_image: Positive) -> Plot:
    """Test accuracy at the first measured epoch at 99.9 % train accuracy, and at the end of training.

    Accuracies are per cent of test images, means over seeds with standard errors; changes are percentage points. The
    three columns on the right are the paper's, under MSE. A dash means that there is no such training, or that a
    network never reaches that accuracy. Over all our trainings under MSE, those of `fig3`, the change has the mean
    {mean:.1f} and the median {median:.1f}, from {least:.1f} to {most:.1f}{one_image}. Over the paper's fifteen networks
    the mean is {paper_mean:.2f} and the median {paper_median:.2f}.
    """
    # first the networks that were trained here, with both losses; then those of the paper that were not
    rows = [
        [
            title_of((row.data, row.network)),
            LOSSES[row.loss],
            _percent(row.zero_error, row.zero_error_se),
            _percent(row.end, row.end_se),
            _percent(row.change, row.change_se, "+"),
            _percent(row.change_median, sign="+"),
            *_published(row.paper_zero_error, row.paper_end),
        ]
        for row in accuracies([*mse, *ce]).itertuples()
    ]
    trained = {data_and_network(table) for table in mse}
    rows += [
        [title_of(cell), LOSSES["mse"], "–", "–", "–", "–", *_published(*published)]
        for cell, published in PAPER_TABLE_1.items()
        if cell not in trained
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    # gains in test accuracy from the end of train errors to the last epoch, in percentage points, shape (trainings,)
    error_at_errors_end = at_errors_end(mse, quantities.ERROR, "test", train_error=EFFECTIVELY_ZERO)
    gain = 100 * (error_at_errors_end - at_the_end(mse, quantities.ERROR, "test"))
    paper_gain = [end - zero_error for zero_error, end in PAPER_TABLE_1.values()]
    has_digits = any(data.startswith("digits") for data, _ in trained)
    facts = {
        "mean": np.nanmean(gain),
        "median": np.nanmedian(gain),
        "least": np.nanmin(gain),
        "most": np.nanmax(gain),
        "one_image": f"; one test image of the digits is {one_image:.2f} points" if has_digits else "",
        "paper_mean": np.mean(paper_gain),
        "paper_median": np.median(paper_gain),
    }
    alt = "A table of test accuracies; under MSE they change by {mean:.1f} points in the mean."
    return Plot(table_figure(table), facts, alt, table)


def _published(zero_error: float, end: float) -> list[str]:
    """Return the cells of the paper's two accuracies, in percent, and of their change; dashes where it has none."""
    return [_percent(zero_error), _percent(end), _percent(end - zero_error, sign="+")]


def _percent(value: float, error: float = np.nan, sign: str = "") -> str:
    """Return the cell of a number, with its standard error if there is one; a dash for nan. `sign` is of its format."""
    if np.isnan(value):
        return "–"
    text = f"${value:{sign}.2f}$"
    return text if np.isnan(error) else f"{text} ± {error:.2f}"
