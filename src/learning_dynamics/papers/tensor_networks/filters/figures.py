"""Limit directions of networks with filters of several lengths (Corollary 4)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from learning_dynamics.papers.tensor_networks.drawing import NETWORKS, handle
from learning_dynamics.papers.tensor_networks.filters import quantities
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Table, select

PALE = "#D9D9D9"


def filters(run: Table) -> Plot:
    r"""Limit directions of two-layer convolutional networks with filters of several lengths, trained on one point.

    Each row, (a) to (d), has one data point $x$ with label $y$. The first column shows the point's spectrum $|Fx|$,
    with $F$ the Fourier transform, relative to the largest entry. The other columns have filters of length $k_1$. Grey
    bars show $y x$ scaled to unit length, dots the direction of the coefficients $\beta$ where the flow ends. It
    converges so slowly that it is followed in $\log\log t$, up to {last_log_log_time:.0f}. Black lines show Corollary
    4's limit, for lengths 1 and 2. Numbers are the angles between $\beta$ and $y x$. Length 1 keeps the data point.
    Length 2 passes low frequencies where neighbouring entries of $x$ correlate positively, and high ones where
    negatively. The full length leaves the strongest frequency only, which may be a conjugate pair, as in (c).
    """
    table = run[run["length"] > 0]  # networks with filters; others have the length 0
    lengths, seeds = np.unique(table["length"]), np.unique(table["seed"])
    green = NETWORKS["convolutional"][0]
    row_height = 1.4 + 0.7 / len(seeds)  # the whole figure is 0.7 inches higher than 1.4 for each row
    figure, axes = panels(len(seeds), 1 + len(lengths), height=row_height, sharey="col")
    for row, seed in enumerate(seeds):
        # y x, which is listed for every length: that of the first is read. As y is 1 or -1, |F(y x)| is |F x|.
        point = select(table, quantities.POINT, seed=seed, length=lengths[0])["value"].to_numpy()
        _draw_spectrum(axes[row, 0], point)
        axes[row, 0].set_ylabel(f"$x_{row + 1}$", rotation=0, labelpad=10)
        for axis, length in zip(axes[row, 1:], lengths, strict=True):
            directions = select(table, quantities.DIRECTION, seed=seed, length=length)
            axis.bar(directions["index"], point / np.linalg.norm(point), color=PALE, width=0.75)
            axis.plot(directions["index"], directions["predicted"], color=COLOURS["black"], lw=1.0)
            axis.plot(directions["index"], directions["value"], "o", color=green, ms=3.5)
            axis.axhline(0, color=COLOURS["grey"], lw=0.5)
            axis.set_ylim(-1.0, 1.35)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            cosine = directions["value"] @ point / np.linalg.norm(point)  # the direction has length one already
            angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
            axis.text(0.97, 0.97, rf"${angle:.0f}^\circ$", transform=axis.transAxes, ha="right", va="top", fontsize=8)
        axes[row, 1].set_ylabel(r"$\beta_j / \|\beta\|$", labelpad=0)
        for axis in axes[row, 2:]:
            axis.tick_params(labelleft=False)
    for axis, title in zip(axes[0], ["spectrum", *(rf"$k_1 = {length}$" for length in lengths)], strict=True):
        axis.set_title(title)
    letters(axes[:, 0])
    for axis, label in zip(axes[-1], ["frequency", *(["entry"] * len(lengths))], strict=True):
        axis.set_xlabel(label)
    for axis in axes[:-1].ravel():
        axis.tick_params(labelbottom=False)
    handles = [
        Rectangle((0, 0), 1, 1, color=PALE, label=r"$y x / \|x\|$"),
        handle(r"flow, $\beta / \|\beta\|$", green, ls="", marker="o", ms=3.5),
        handle("Corollary 4", COLOURS["black"], lw=1.0),
    ]
    legend_below(figure, handles, 3)
    return Plot(
        figure,
        {"last_log_log_time": float(run["log_log_time"].max())},
        alt="A grid of small panels: signals in rows, filter lengths in columns; dots of the network's direction are, "
        "for lengths 1 and 2, on the lines that Corollary 4 predicts.",
    )


def _draw_spectrum(axis: Axes, point: np.ndarray) -> None:
    """Draw the sizes of a real point's Fourier transform, up to the highest frequency, relative to the largest."""
    sizes = np.abs(np.fft.rfft(point))
    axis.bar(np.arange(len(sizes)), sizes / sizes.max(), color=COLOURS["sky"], width=0.6)
    axis.set_ylim(0, 1.1)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
