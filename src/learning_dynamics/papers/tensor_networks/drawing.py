"""How architectures are drawn: one colour and one name for each, in every figure."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, sequence
from learning_dynamics.tidy import Table

NETWORKS = {
    "fully_connected": (COLOURS["blue"], "fully connected"),
    "diagonal": (COLOURS["vermilion"], "diagonal"),
    "convolutional": (COLOURS["green"], "convolutional"),
    "decomposable": (COLOURS["purple"], "decomposable"),
    "short_filters": (COLOURS["orange"], "short filters"),
    "general": (COLOURS["black"], "no structure"),
}
SHOWN = ["fully_connected", "diagonal", "convolutional"]  # the networks of the paper's experiments
DOTTED = (0, (1, 2))
SCALE_LABEL = r"initial scale $\alpha$"


def median_and_range(
    axis: Axes, x: np.ndarray, values: np.ndarray, colour: Any, style: str = "-", **options: Any
) -> None:
    """Draw the median over draws as a line, and all draws as a band; `values` have shape (draws, len(x))."""
    axis.plot(x, np.median(values, axis=0), style, color=colour, lw=1.2, **options)
    axis.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, lw=0)


def handle(label: str, colour: str | tuple = COLOURS["grey"], **style: Any) -> Line2D:
    """Return a legend's entry for a line or a marker that is drawn many times."""
    return Line2D([], [], color=colour, label=label, **style)


def network_handles(networks: Iterable[str]) -> list[Line2D]:
    """Return one legend entry for each architecture, in the order of `NETWORKS`."""
    chosen = set(networks)
    return [handle(label, colour) for name, (colour, label) in NETWORKS.items() if name in chosen]


def depth_colours(table: Table) -> dict[int, tuple[float, ...]]:
    """Return a colour for each depth in a table, the shallowest the darkest."""
    depths = np.unique(table["depth"])
    return dict(zip(depths, sequence(len(depths)), strict=True))


def depth_handles(colours: Mapping[int, Any]) -> list[Line2D]:
    """Return one legend entry for each depth that has a colour."""
    return [handle(f"$L = {depth}$", colour) for depth, colour in colours.items()]
