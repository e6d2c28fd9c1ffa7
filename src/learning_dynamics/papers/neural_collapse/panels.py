"""Panels over epochs of training: a grid of networks and data sets, bands over seeds, and lines where errors end."""

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    NETWORKS,
    at_the_end,
    by_seed,
    data_and_network,
    epochs_errors_end,
)
from learning_dynamics.plotting import COLOURS, WIDTH, letters, shared_legend
from learning_dynamics.tidy import Quantity, Table, settings_of

Line = dict[str, Any]  # what `curves` draws: quantity, split, loss, and further arguments of `band`
Panels = dict[tuple[str, str], Axes]  # by data set and network
DATA_SETS = {
    "digits": "digits",
    "digits32": "digits, 32 × 32",
    "mnist_sample": "MNIST (5000)",
    "synthetic": "synthetic",
    "mnist": "MNIST",
    "fashion_mnist": "FashionMNIST",
    "svhn": "SVHN",
    "cifar10": "CIFAR10",
    "stl10": "STL10",
}
LOSSES = {"mse": "MSE", "ce": "CE"}
LOSS_COLOURS = {"mse": COLOURS["blue"], "ce": COLOURS["orange"]}
DASHED = (0, (4, 2))
PLAIN = FuncFormatter(lambda value, _: f"{value:g}")


def title_of(cell: tuple[str, str]) -> str:
    """Return the title of the panel of a (data set, network)."""
    data, network = cell
    return f"{DATA_SETS.get(data, data)}, {NETWORKS[network]}"


def training_grid(trainings: Sequence[Table], *, height: float) -> tuple[Figure, Panels]:
    """Return a figure with one panel for each data set and network, by (data set, network).

    Rows are networks and columns data sets; with a single data set its networks are side by side.
    """
    cells = [data_and_network(table) for table in trainings]
    data_sets = list(dict.fromkeys(data for data, _ in cells))  # each once, in the order of the trainings
    trained_networks = {network for _, network in cells}
    networks = [network for network in NETWORKS if network in trained_networks]
    # in the order of `axes.ravel()`: row by row
    grid_cells = [(data, network) for network in networks for data in data_sets]
    rows, columns = (1, len(networks)) if len(data_sets) == 1 else (len(networks), len(data_sets))
    size = (WIDTH, 0.5 + height * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, sharex=True, sharey=True)
    panels = dict(zip(grid_cells, axes.ravel(), strict=True))
    for cell, axis in panels.items():
        axis.set_title(title_of(cell))
    letters(panels.values())
    for axis in axes[-1]:
        axis.set_xlabel("epoch")
    return figure, panels


def describe_panels(trainings: Sequence[Table]) -> str:
    """Say which letters the panels of a training grid have, for captions."""
    count = len(set(map(data_and_network, trainings)))
    if count < 2:
        return ""
    return f"Panels (a) to ({string.ascii_lowercase[count - 1]}) show one data set and network each."


def band(axis: Axes, values: pd.DataFrame, *, ranged: bool = True, **style: Any) -> None:
    """Draw the mean over seeds against epochs, on a logarithmic axis the geometric mean, and the range over seeds.

    `values` have epochs as rows and seeds as columns; `ranged` says whether the range is drawn; `style` are arguments
    of `Axes.plot`.
    """
    if axis.get_yscale() == "log":
        # zeros have no place on a logarithmic axis
        values = values.where(values > 0)
        middle = np.exp(np.log(values).mean(axis=1))
    else:
        middle = values.mean(axis=1)
    (line,) = axis.plot(values.index, middle, **style)
    if ranged:
        axis.fill_between(
            values.index, values.min(axis=1), values.max(axis=1), color=line.get_color(), alpha=0.15, linewidth=0
        )


def mark_epochs(axis: Axes, table: Table, *, drops: bool = True) -> None:
    """Mark where train errors end, at the median over seeds, and where the learning rate drops."""
    settings = settings_of(table)
    # infinite for a seed whose train errors never end; if half of the seeds or more are so, nothing is marked
    epoch = epochs_errors_end(table, EFFECTIVELY_ZERO).fillna(np.inf).median()
    if np.isfinite(epoch):
        # a wide line for MSE, dashes above it for cross-entropy: both are seen where both epochs are the same
        style: Any
        if settings["loss"] == "mse":
            style = {"lw": 2.4, "alpha": 0.45, "zorder": 1.0}
        else:
            style = {"lw": 1.0, "ls": DASHED, "zorder": 1.1}
        label = f"train errors end, {LOSSES[settings['loss']]}"
        axis.axvline(epoch, color=COLOURS["vermilion"], label=label, **style)
    if drops:
        for drop in settings["drops"]:
            axis.axvline(
                round(drop * settings["epochs"]),
                color=COLOURS["grey"],
                lw=0.8,
                ls=(0, (1, 1.5)),
                zorder=0.5,
                label="learning rate drops",
            )


def curves(
    trainings: Sequence[Table],
    lines: Iterable[Line],
    *,
    ylabel: str,
    scale: str = "log",
    height: float = 2.1,
    columns: int = 4,
    notes: Mapping[tuple[str, str], str] | None = None,
) -> Figure:
    """Draw quantities against epochs in a training grid, with a legend below.

    Parameters
    ----------
    lines
        As `under_both_losses` returns them; each is drawn for the trainings under its loss.
    scale : {"log", "linear", "symlog"}
        Of the vertical axis.
    height : float
        Of a row of panels, in inches.
    columns : int
        Of the legend.
    notes : mapping from (data set, network) to str
        What the lower right corner of a panel says.
    """
    lines = list(lines)
    figure, panels = training_grid(trainings, height=height)
    for cell, axis in panels.items():
        axis.set_xscale("log")
        axis.set_yscale(scale, **({"linthresh": 1e-3} if scale == "symlog" else {}))
        shown = [table for table in trainings if data_and_network(table) == cell]
        for table in shown:
            for line in lines:
                if line["loss"] == settings_of(table)["loss"]:
                    style = {key: value for key, value in line.items() if key not in ("quantity", "split", "loss")}
                    band(axis, by_seed(table, line["quantity"], line["split"]), **style)
        for table in shown:  # after all curves, as in the legend
            mark_epochs(axis, table, drops=table is shown[0])
        axis.xaxis.set_major_formatter(PLAIN)
        axis.set_ylabel(ylabel)
        axis.label_outer()
        if notes and cell in notes:
            behind = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            axis.text(0.97, 0.05, notes[cell], transform=axis.transAxes, ha="right", fontsize=8, bbox=behind)
    shared_legend(figure, ncols=columns)
    return figure


def ends_under_both_losses(
    mse: Sequence[Table], ce: Sequence[Table], quantity: Quantity, split: str = "train"
) -> tuple[np.ndarray, np.ndarray]:
    """Return a quantity at the end under MSE and under CE, of the networks that were trained under both.

    Each is the mean over seeds, shape (networks,).
    """
    ce_by_cell = {data_and_network(table): table for table in ce}
    ends_mse, ends_ce = [], []
    for mse_table in mse:
        cell = data_and_network(mse_table)
        if cell in ce_by_cell:
            ends_mse.append(np.mean(at_the_end([mse_table], quantity, split)))
            ends_ce.append(np.mean(at_the_end([ce_by_cell[cell]], quantity, split)))
    return np.array(ends_mse), np.array(ends_ce)


def mse_first(lines: Iterable[Line]) -> list[Line]:
    """Return the lines, those of cross-entropy thin and without a band, for figures that show only MSE in the paper."""
    thin = {"lw": 0.8, "zorder": 1.8, "ranged": False}
    return [line if line["loss"] == "mse" else line | thin for line in lines]


def under_both_losses(quantity: Quantity, split: str = "train", label: str = "{}", **style: Any) -> list[Line]:
    """Return two lines of one quantity, under MSE and under cross-entropy.

    Braces in `label` are filled with the name of the loss; `style` has further arguments of `band`.
    """
    return [
        {"quantity": quantity, "split": split, "loss": loss, "label": label.format(name), "color": LOSS_COLOURS[loss]}
        | style
        for loss, name in LOSSES.items()
    ]


def side_by_side(*kinds: Iterable[Line]) -> list[Line]:
    """Return the lines of several kinds in the order of a legend: all kinds under MSE, then all under cross-entropy.

    Each kind is two lines, as `under_both_losses` returns them.
    """
    return [line for lines_of_loss in zip(*kinds, strict=True) for line in lines_of_loss]
