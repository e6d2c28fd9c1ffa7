"""The search for the third phase, as a map with intervals."""

from __future__ import annotations

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from learning_dynamics.evidence import share
from learning_dynamics.papers.softmax_dynamics.compression.selections import CONTROLS, map_draws
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, settings_of

CASE_COLOURS = {"treated": "blue", "equal": "orange", "wide": "green"}


def compression_map(
    skews: Table,
    classes: Table,
    variants: Table,
    *,
    measure: Literal["rankme_centred", "rankme"],
    threshold: Positive,
    within: Literal["fall", "fall_rare", "fall_learning"],
) -> Drawn:
    r"""A search for compression: share of seeds whose rank, after a rise, falls while the rarest classes are learned.

    Falls of at least {threshold:g} count. Top: gradient descent over class sizes (rows), dimensions and initial
    scales (columns); shares in per cent with 95 % Wilson intervals below, {seeds} seeds a cell; of equal classes all
    are rarest. Bottom left: training changed in one respect at a time, both scales together: with skew and bottleneck
    (the paper's case), without skew, without bottleneck; the dashed line is one half. Bottom right: the rank's net
    change meanwhile, median and middle half of the seeds.
    """
    figure = plt.figure(figsize=(WIDTH, 9.2))
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.25, 1.0])
    _cells(top, pd.concat([skews, classes]), within, measure, threshold)
    dots, net = bottom.subplots(1, 2, sharey=True, width_ratios=[1.5, 1.0])
    rows = {control: map_draws(variants, within, measure, threshold, control=control) for control in CONTROLS}
    changes = {control: map_draws(variants, "net", measure, 0.0, control=control) for control in CONTROLS}
    keys = list(dict.fromkeys(zip(variants["variant"], variants["amount"], strict=True)))
    for shift, control in zip((-0.22, 0.0, 0.22), CONTROLS, strict=True):
        colour = COLOURS[CASE_COLOURS[control]]
        for place, (variant, amount) in enumerate(keys):
            cell, change = (
                table[(table["variant"] == variant) & (table["amount"] == amount)]["value"]
                for table in (rows[control], changes[control])
            )
            found = share(int((cell > 0).sum()), len(cell))
            error = [[found.value - found.lower], [found.upper - found.value]]
            label = CONTROLS[control] if place == 0 else None
            dots.errorbar(found.value, place + shift, xerr=error, fmt="o", ms=3, lw=1, color=colour, label=label)
            low, middle, high = change.quantile([0.25, 0.5, 0.75])
            net.errorbar(
                middle, place + shift, xerr=[[middle - low], [high - middle]], fmt="o", ms=3, lw=1, color=colour
            )
    dots.set_yticks(range(len(keys)), [f"{name} {amount:g}" for name, amount in keys], fontsize=8)
    dots.invert_yaxis()
    dots.axvline(0.5, color=COLOURS["grey"], lw=0.9, ls=(0, (4, 2)))
    dots.set(xlim=(-0.02, 1.02), xlabel="share of seeds that compress")
    dots.xaxis.set_major_formatter(PercentFormatter(1.0))
    dots.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8, handletextpad=0.1)
    net.axvline(0.0, color=COLOURS["grey"], lw=0.9, ls=(0, (4, 2)))
    net.set(xlabel="net change of RankMe")
    facts = {"threshold": threshold, "seeds": settings_of(skews)["seeds"]}
    return Drawn(
        figure,
        facts,
        "Shares of seeds that compress, by skew, dimension, scale and optimiser, with intervals.",
    )


def _cells(figure: object, table: Table, within: str, measure: str, threshold: float) -> Axes:
    rows = map_draws(table, within, measure, threshold)
    rows = rows.assign(row=[_short(counts) for counts in rows["counts"]])
    names = list(dict.fromkeys(rows["row"]))
    columns = sorted(set(zip(rows["dimension"], rows["scale"], strict=True)))
    axis = figure.subplots()  # type: ignore[attr-defined]
    shares = np.full((len(names), len(columns)), np.nan)
    for (name, dimension, scale), cell in rows.groupby(["row", "dimension", "scale"]):
        place = names.index(name), columns.index((dimension, scale))
        found = share(int((cell["value"] > 0).sum()), len(cell))
        shares[place] = found.value
        text = f"{100 * found.value:.0f}\n{100 * found.lower:.0f}–{100 * found.upper:.0f}"
        colour = "black" if found.value > 0.35 else "white"
        axis.text(place[1], place[0], text, ha="center", va="center", fontsize=7.5, color=colour, linespacing=1.0)
    image = axis.imshow(shares, vmin=0, vmax=0.6, cmap="cividis", aspect="auto")
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set_xticks(range(len(columns)), [f"{scale:g}\n$d = {dimension}$" for dimension, scale in columns])
    axis.set_xlabel("initial scale and dimension")
    axis.set_title("full-batch gradient descent")
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axis, aspect=20, pad=0.01, extend="max")  # type: ignore[attr-defined]
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return axis


def _short(counts: str) -> str:
    sizes = counts.split("-")
    if len(sizes) <= 4:
        return " ".join(sizes)
    return f"$V = {len(sizes)}$: " + (
        f"all {sizes[0]}" if len(set(sizes)) == 1 else f"{sizes[0]} {sizes[1]} … {sizes[-1]}"
    )
