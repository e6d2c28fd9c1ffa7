"""The hidden layer's singular values along the gradient flow, with the limits of Corollary 3.1."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.spectral_bias.panels import index_legend, power
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tables import Tables


def fig1a(tables: Tables, *, member: Natural, top: Count) -> Figure:
    """The hidden layer's top singular values under gradient flow, from orthogonal and Gaussian initialisations.

    Solid: singular values of W1 from full-width gradient flow. Dashed: their limits by Corollary 3.1; grey in
    the Gaussian panel, where the corollary does not apply and is drawn for the orthogonal layer of equal mean
    square. At small scale only the first k grow and the rest stay at √(2γ), near zero; at large scale
    the layer keeps full rank. Variance 0.01 as printed amounts to γ = 1 and keeps full rank too; the last panel
    takes 0.01 for the standard deviation, and only k singular values are left.
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


def fig4(tables: Tables, *, member: Natural, top: Count) -> Figure:
    """The hidden layer's top singular values when both layers start Gaussian.

    W1 starts with variance 0.001 and W2 with 0.01 or 0.001, otherwise as `fig1a`. Grey: the limits that
    Corollary 3.1 gives the orthogonal layer of equal mean square with W2 = 0. Three singular values grow and the
    others stay, whatever W2; the more W2 brings along, the less W1 has to grow.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.5), sharey=True)
    for axis, table in zip(axes, tables.values(), strict=True):
        _spectrum_panel(axis, table, member, top)
        settings = table.attrs["settings"]
        axis.set_title(rf"variance of $W_1$ ${settings['variance']:g}$, of $W_2$ ${settings['output_variance']:g}$")
        axis.set_xlabel("gradient-flow time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    line = Line2D([], [], color=COLOURS["grey"], ls=(0, (4, 2)), lw=1.0, label="Corollary 3.1")
    index_legend(figure, top, [line])
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
    # panels share the axis: as high as the highest of those drawn so far
    top_so_far = max(sibling.dataLim.y1 for sibling in axis.get_shared_y_axes().get_siblings(axis))
    axis.set_ylim(0, 1.06 * top_so_far)


def _initialisation(settings: Mapping) -> str:
    if settings["init"] == "orthogonal":
        return f"orthogonal,\n$\\gamma = {power(settings['gamma'])}$"
    return f"Gaussian,\nvariance ${power(settings['variance'])}$"
