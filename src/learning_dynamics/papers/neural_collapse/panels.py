"""Panels over epochs of training: a grid of networks and data sets, bands over seeds, the zero-error line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from learning_dynamics.papers.neural_collapse.epochs import by_seed, zero_error_epochs
from learning_dynamics.plotting.style import COLOURS, WIDTH

NETWORKS = {"vgg": "VGG", "resnet": "ResNet", "densenet": "DenseNet"}
DATA_SETS = {
    "digits": "digits",
    "digits32": "digits, 32 × 32",
    "synthetic": "synthetic",
    "mnist": "MNIST",
    "fashion_mnist": "FashionMNIST",
    "svhn": "SVHN",
    "cifar10": "CIFAR10",
    "stl10": "STL10",
}
LOSSES = {"mse": "MSE", "ce": "CE"}
ZERO_ERROR = COLOURS["vermilion"]


class Cell(NamedTuple):
    """Which training a run is; runs are named ``<data set>_<network>_<loss>``."""

    data: str
    network: str
    loss: str

    @classmethod
    def of(cls, run: str) -> Cell:
        """Read a run's name."""
        data, network, loss = run.rsplit("_", 2)
        return cls(data, network, loss)

    @property
    def title(self) -> str:
        """The panel's title."""
        return f"{DATA_SETS.get(self.data, self.data)}, {NETWORKS.get(self.network, self.network)}"


def training_grid(
    runs: Iterable[str], *, height: float = 2.1, **sharing: Any
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Return a figure with one panel for each data set and network, by (data set, network).

    Rows are networks and columns data sets; with a single data set its networks stand side by side.
    """
    cells = [Cell.of(run) for run in runs]
    data_sets = list(dict.fromkeys(cell.data for cell in cells))
    networks = [network for network in NETWORKS if any(cell.network == network for cell in cells)]
    if len(data_sets) == 1:
        shape, places = (1, len(networks)), [(data_sets[0], network) for network in networks]
    else:
        shape = (len(networks), len(data_sets))
        places = [(data, network) for network in networks for data in data_sets]
    figure, axes = plt.subplots(*shape, figsize=(WIDTH, 0.35 + height * shape[0]), squeeze=False, **sharing)
    panels = dict(zip(places, axes.ravel(), strict=True))
    for (data, network), axis in panels.items():
        axis.set_title(Cell(data, network, "").title)
    for axis in axes[-1]:
        axis.set_xlabel("epoch")
    return figure, panels


def band(axis: Axes, values: pd.DataFrame, **drawn: Any) -> None:
    """Draw the mean over seeds against epochs, the geometric mean on a logarithmic axis, and the range over seeds."""
    if axis.get_yscale() == "log":
        # zeros have no place on a logarithmic axis
        values = values.where(values > 0)
        middle = np.exp(np.log(values).mean(axis=1))
    else:
        middle = values.mean(axis=1)
    (line,) = axis.plot(values.index, middle, **drawn)
    axis.fill_between(
        values.index, values.min(axis=1), values.max(axis=1), color=line.get_color(), alpha=0.2, linewidth=0
    )


def zero_error_line(axis: Axes, table: pd.DataFrame, **drawn: Any) -> None:
    """Mark where training errors end: a line at the median over seeds."""
    epoch = zero_error_epochs(table).median()
    if np.isfinite(epoch):
        axis.axvline(epoch, **{"color": ZERO_ERROR, "lw": 1.0, "zorder": 1, **drawn})


def curves(
    tables: Mapping[str, pd.DataFrame],
    quantities: Iterable[Mapping[str, Any]],
    *,
    ylabel: str,
    log: bool = True,
    height: float = 2.1,
    sharey: bool = True,
) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Draw quantities against epochs in a training grid, with a legend below.

    Each of `quantities` has ``quantity`` and ``label``, and may have ``split``, ``loss`` (draw it for runs of
    that loss alone) and line properties.
    """
    figure, panels = training_grid(tables, height=height, sharex=True, sharey=sharey)
    losses = {Cell.of(run).loss for run in tables}
    for (data, network), axis in panels.items():
        axis.set_xscale("log")
        axis.set_yscale("log" if log else "linear")
        if log:
            # labels at 2 and 5 where the range is too small for powers of ten alone
            axis.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        for run, table in tables.items():
            cell = Cell.of(run)
            if (cell.data, cell.network) != (data, network):
                continue
            for wanted in quantities:
                if wanted.get("loss", cell.loss) != cell.loss:
                    continue
                drawn = {key: value for key, value in wanted.items() if key not in ("quantity", "split", "loss")}
                values = by_seed(table, wanted["quantity"], wanted.get("split", "train")).dropna(how="all")
                band(axis, values, **drawn)
            style: dict[str, Any] = {"label": "zero train error"}
            if len(losses) > 1:
                colour = {"mse": COLOURS["blue"], "ce": COLOURS["orange"]}[cell.loss]
                style = {"label": f"zero train error, {LOSSES[cell.loss]}", "color": colour, "ls": (0, (1, 1))}
            zero_error_line(axis, table, **style)
    for axis in figure.axes:
        place = axis.get_subplotspec()
        if place is not None and place.is_first_col():
            axis.set_ylabel(ylabel)
    shared_legend(figure)
    return figure, panels


def shared_legend(figure: Figure, columns: int = 4, **drawn: Any) -> None:
    """Put one legend below all panels, each label once."""
    entries: dict[str, Artist] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=min(columns, len(entries)), **drawn
    )
