"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Count, Natural

Tables = Mapping[str, pd.DataFrame]


def fig1a(tables: Tables, *, member: Natural, top: Count) -> Figure:
    """The hidden layer's top singular values under gradient flow, from three initialisations.

    Solid: singular values of W1 from full-width gradient flow. Dashed: their limits by Corollary 3.1; grey in
    the Gaussian panel, where the corollary does not apply and is drawn for the orthogonal layer of equal mean
    square. At small scale only the first k grow and the rest stay at √(2γ), near zero; at large scale
    the layer keeps full rank.
    """
    figure, axes = plt.subplots(1, len(tables), figsize=(WIDTH, 2.5), sharey=True, squeeze=False)
    for axis, table in zip(axes[0], tables.values(), strict=True):
        _spectrum_panel(axis, table, member, top)
        axis.set_title(_initialisation(table.attrs["settings"]))
        axis.set_xlabel("gradient-flow time $t$")
    axes[0, 0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    handles = [
        Line2D([], [], color=colour, label=rf"$\sigma_{index}$") for index, colour in enumerate(sequence(top), start=1)
    ]
    handles.append(Line2D([], [], color=COLOURS["black"], ls=(0, (4, 2)), lw=1.0, label="Corollary 3.1"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _spectrum_panel(axis: Axes, table: pd.DataFrame, member: int, top: int) -> None:
    """Draw one member's top singular values against time, and their predicted limits."""
    rows = table[(table["seed"] == member) & (table["quantity"] == "sigma_w1") & (table["index"] <= top)]
    flow, limit = rows[rows["phase"] == "flow"], rows[rows["phase"] == "limit"]
    # the largest last, so that equal values show the first colour
    for index, colour in reversed(list(enumerate(sequence(top), start=1))):
        line = flow[flow["index"] == index]
        axis.plot(line["time"], line["value"], color=colour)
    exact = table.attrs["settings"]["init"] == "orthogonal"
    for predicted in limit["predicted"]:
        axis.axhline(predicted, color=COLOURS["black" if exact else "grey"], ls=(0, (4, 2)), lw=1.0, zorder=3)
    axis.set_xlim(0, flow["time"].max())
    axis.set_ylim(0, 1.06 * max(axis.get_ylim()[1], axis.dataLim.y1))


def _initialisation(settings: Mapping) -> str:
    if settings["init"] == "orthogonal":
        return rf"orthogonal, $\gamma = {_power(settings['gamma'])}$"
    return rf"Gaussian, variance ${settings['variance']:g}$"


def _power(value: float) -> str:
    exponent = np.log10(value)
    if value != 1 and abs(exponent - round(exponent)) < 1e-9:
        return rf"10^{{{round(exponent)}}}"
    return f"{value:g}"
