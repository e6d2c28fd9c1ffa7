"""Phases of the effective rank over the grid, and what is left of them in the controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from learning_dynamics.papers.softmax_dynamics.bands import band
from learning_dynamics.papers.softmax_dynamics.phases.detection import PHASES, share_interval, shows
from learning_dynamics.papers.softmax_dynamics.selections import chosen
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.settings import Positive
from learning_dynamics.tables import Tables


def phases(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Figure:
    """Share of seeds that run through each phase, over class skews and initial scales.

    Rows: the effective rank falls first (warm-up); falls, then rises (entropy-seeking); falls, rises, falls again
    (compression-seeking), each change by at least the threshold. Columns: cross-entropy by gradient flow, by gradient
    descent, and the squared loss. Cells give the share of seeds in per cent and its 95 % Wilson interval, balanced and
    Gaussian initialisations pooled. The squared loss shows the same phases as the cross-entropy, and so do
    equal classes (bottom row of each panel) at small scales; a late fall is rare everywhere. RankMe here is that
    of the covariance about zero.
    """
    titles = {
        "cross_entropy_grid": "cross-entropy,\ngradient flow",
        "descent_grid": "cross-entropy,\ngradient descent",
        "squared_grid": "squared loss,\ngradient flow",
    }
    figure, axes = plt.subplots(len(PHASES), len(tables), figsize=(WIDTH, 6.2), sharex=True, sharey=True, squeeze=False)
    for column, (name, table) in enumerate(tables.items()):
        rows = table[(table["measure"] == measure) & np.isclose(table["threshold"], threshold)]
        for row, phase in enumerate(PHASES):
            image = _share_panel(axes[row, column], rows, phase)
        axes[0, column].set_title(titles.get(name, name))
        axes[-1, column].set_xlabel("initial scale")
    for row, phase in enumerate(PHASES):
        axes[row, 0].set_ylabel(f"{phase}\n\nclass sizes")
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.4, aspect=40, pad=0.02)
    bar.ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    bar.set_label("share of seeds")
    return figure


def _share_panel(axis: Axes, rows: pd.DataFrame, phase: str) -> plt.AxesImage:
    """Draw a table of shares, skews by scales, with their intervals."""
    shown = shows(rows, phase)
    counts = sorted(rows["counts"].unique(), reverse=True)
    scales = sorted(rows["scale"].unique())
    shares = np.array(
        [
            [share_interval(shown[(rows["counts"] == size) & (rows["scale"] == scale)]) for scale in scales]
            for size in counts
        ]
    )
    image = axis.imshow(shares[..., 0], vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for i, j in np.ndindex(shares.shape[:2]):
        share, low, high = shares[i, j]
        text = f"{100 * share:.0f}\n{100 * low:.0f}–{100 * high:.0f}"
        axis.text(j, i, text, ha="center", va="center", fontsize=6.5, color="black" if share > 0.5 else "white")
    axis.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales])
    axis.set_yticks(range(len(counts)), [size.replace("-", " ") for size in counts])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return image


def controls(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Figure:
    """The effective rank with skew, bottleneck or cross-entropy taken away.

    Medians and the middle half of the seeds (uncentred RankMe). First panel: all three present. The rank still falls
    and rises with two examples in every class, with three dimensions for four classes, and with the
    squared loss; it falls furthest with skewed classes. Last panel: shares of seeds over the whole grid of scales
    and initialisations (and skews, where classes are skewed) that fall and then rise, and that fall once more after
    that, with 95 % Wilson intervals.
    """
    panels = {
        "skewed": "skewed, cross-entropy",
        "uniform": "uniform classes",
        "no_bottleneck": "no bottleneck, $d = 3$",
        "squared": "squared loss, skewed",
        "squared_uniform": "squared loss, uniform",
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.4))
    for axis, (name, title) in zip(axes.ravel(), panels.items(), strict=False):
        table = tables[name]
        dimension = table.attrs["settings"]["dimension"]
        band(axis, table, measure, COLOURS["blue"], median=True)
        axis.axhline(dimension, color=COLOURS["grey"], lw=0.8, ls=(0, (4, 2)))
        axis.set(xscale="log", ylim=(0.95, dimension + 0.07), title=title, xlabel="gradient-flow time $t$")
        axis.set_xlim(table.loc[table["time"] > 0, "time"].min(), table["time"].max())
    for axis in axes[:, 0]:
        axis.set_ylabel("RankMe")
    grids = {
        "skewed": ("cross_entropy_grid", True),
        "uniform": ("cross_entropy_grid", False),
        "no bottle-\nneck": ("no_bottleneck_grid", True),
        "squared": ("squared_grid", True),
        "squared,\nuniform": ("squared_grid", False),
    }
    _control_shares(axes[1, 2], tables, grids, measure, threshold)
    return figure


def _control_shares(
    axis: Axes, tables: Tables, grids: Mapping[str, tuple[str, bool]], measure: str, threshold: float
) -> None:
    for offset, (phase, colour, label) in enumerate(
        (("entropy-seeking", "blue", "falls, rises"), ("compression-seeking", "vermilion", "…and falls again"))
    ):
        for place, (name, skewed) in enumerate(grids.values()):
            rows = chosen(tables[name], measure, threshold, skewed=skewed)
            share, low, high = share_interval(shows(rows, phase))
            axis.errorbar(
                share,
                place + 0.2 * offset - 0.1,
                xerr=[[share - low], [high - share]],
                fmt="o",
                ms=4,
                color=COLOURS[colour],
                label=label if place == 0 else None,
            )
    axis.set_yticks(range(len(grids)), list(grids))
    axis.invert_yaxis()
    axis.set(xlim=(-0.03, 1), xlabel="share of seeds")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, fontsize=7.5, handletextpad=0.1, columnspacing=0.8
    )
