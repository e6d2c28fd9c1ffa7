"""Limit directions of networks with filters of several lengths (Corollary 4)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from learning_dynamics.papers.tensor_networks.drawing import NETWORKS
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.tidy import Table, select

PALE = "#D9D9D9"


def filters(run: Table) -> Drawn:
    r"""Limit directions of two-layer convolutional networks with filters of several lengths, trained on one point.

    Rows are data points $x$ with label $y$. First column: their spectrum $|Fx|$, relative to its largest entry. Others,
    by filter length $k_1$: $y x$ scaled to unit length (grey), the direction of $\beta$ at
    a $\log\log t$ of {reached:.0f} (dots), and Corollary 4's limit for lengths 1 and 2 (line). Printed: the angle
    between $\beta$ and $y x$. Length 1 keeps the data point; length 2 passes low or high frequencies, by the sign of
    the autocorrelation; full length leaves the largest frequency, which may be a conjugate pair.
    """
    table = run[run["length"] > 0]
    lengths, members = sorted(table["length"].unique()), sorted(table["seed"].unique())
    figure, axes = plt.subplots(
        len(members),
        1 + len(lengths),
        figsize=(WIDTH, 1.3 * len(members) + 0.7),
        squeeze=False,
        sharey="col",
    )
    for row, member in enumerate(members):
        rows = table[table["seed"] == member]
        point = select(rows, "point", length=lengths[0]).sort_values("index")["value"].to_numpy()
        _draw_spectrum(axes[row, 0], point)
        axes[row, 0].set_ylabel(f"$x_{row + 1}$", rotation=0, labelpad=10)
        for column, length in enumerate(lengths, start=1):
            axis = axes[row, column]
            directions = select(rows, "direction", length=length).sort_values("index")
            axis.bar(directions["index"], point / np.linalg.norm(point), color=PALE, width=0.75)
            axis.plot(directions["index"], directions["predicted"], color=COLOURS["black"], lw=1.0)
            axis.plot(directions["index"], directions["value"], "o", color=NETWORKS["convolutional"][0], ms=3.5)
            axis.axhline(0, color=COLOURS["grey"], lw=0.5)
            axis.set_ylim(-1.0, 1.35)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            cosine = directions["value"] @ point / np.linalg.norm(point)
            angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
            axis.text(0.97, 0.97, rf"${angle:.0f}^\circ$", transform=axis.transAxes, ha="right", va="top", fontsize=8)
            if column > 1:
                axis.tick_params(labelleft=False)
            else:
                axis.set_ylabel(r"$\beta_j / \|\beta\|$", labelpad=0)
    for axis, title in zip(axes[0], ["spectrum", *(rf"$k_1 = {length}$" for length in lengths)], strict=True):
        axis.set_title(title)
    for axis, label in zip(axes[-1], ["frequency", *(["entry"] * len(lengths))], strict=True):
        axis.set_xlabel(label)
    for axis in axes[:-1].ravel():
        axis.tick_params(labelbottom=False)
    handles = [
        Rectangle((0, 0), 1, 1, color=PALE, label=r"$y x / \|x\|$"),
        Line2D(
            [], [], ls="", marker="o", ms=3.5, color=NETWORKS["convolutional"][0], label=r"flow, $\beta / \|\beta\|$"
        ),
        Line2D([], [], color=COLOURS["black"], lw=1.0, label="Corollary 4"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return Drawn(
        figure,
        {"reached": float(run["sigma"].max())},
        alt="A grid of small panels: signals in rows, filter lengths in columns; dots of the network's direction lie "
        "on the lines that Corollary 4 predicts.",
    )


def _draw_spectrum(axis: plt.Axes, point: np.ndarray) -> None:
    sizes = np.abs(np.fft.rfft(point))
    axis.bar(np.arange(len(sizes)), sizes / sizes.max(), color=COLOURS["sky"], width=0.6)
    axis.set_ylim(0, 1.1)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
