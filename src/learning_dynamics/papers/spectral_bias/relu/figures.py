"""The ReLU student: its singular values, its ranks, and the plateaus of its loss."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.papers.spectral_bias.panels import index_legend, power, singular_values
from learning_dynamics.papers.spectral_bias.selections import settled_rank
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables


def fig2(tables: Tables, *, member: Natural) -> Figure:
    """The hidden layer's singular values in a ReLU student, from small and from large weights.

    A teacher of two ReLU neurons, a student of twenty, ten samples in five dimensions. Left and middle: one
    draw. From small weights singular values grow one after the other and most stay near zero; from large
    weights all of them stay large. Right: over all draws, how many singular values carry 95 % of |W|² at the
    end. Two is the rule at small scale, but not every draw's answer.
    """
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.5))
    for axis, table in zip(axes, tables.values(), strict=False):
        singular_values(axis, table[table["seed"] == member])
        axis.set_xscale("symlog", linthresh=0.1 if table.attrs["settings"]["scale"] < 0.1 else 0.01)
        axis.set_title(rf"scale ${power(table.attrs['settings']['scale'])}$")
        axis.set_xlabel("time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W)$")
    ranks = [settled_rank(table, 95, table["time"].max()) for table in tables.values()]
    for shift, rank, colour, label in zip((-0.2, 0.2), ranks, ("blue", "orange"), ("small", "large"), strict=True):
        counts = rank.value_counts(normalize=True).reindex(range(1, 6), fill_value=0.0)
        axes[2].bar(counts.index + shift, counts, width=0.4, color=COLOURS[colour], label=f"{label} scale")
    axes[2].set(xlabel="rank at the end", ylabel="share of draws", xticks=range(1, 6), title=f"{len(ranks[0])} draws")
    axes[2].legend(loc="upper center")
    index_legend(figure, 5)
    return figure


def fig5a(tables: Tables, *, member: Natural) -> Figure:
    """The ReLU student's loss from small weights: from saddle to saddle.

    Left: one draw. Shaded are plateaus, stretches where the loss falls more slowly than 1/√t while time grows by a
    quarter or more. The first is the saddle at zero, where every draw starts; the end of the next is the end
    of phase 1. Right: how many plateaus the draws have.
    """
    (table,) = tables.values()
    figure, (axis, counted) = plt.subplots(1, 2, figsize=(WIDTH, 2.6), width_ratios=(2, 1))
    rows = table[table["seed"] == member]
    losses = rows[(rows["quantity"] == "loss") & (rows["time"] > 0)]
    axis.loglog(losses["time"], losses["value"], color=COLOURS["blue"])
    for number, (first, last) in enumerate(_plateaus(rows), start=1):
        axis.axvspan(first, last, color=COLOURS["orange"], alpha=0.25, lw=0, label="plateau" if number == 1 else None)
    axis.set(xlabel="time $t$", ylabel="training loss")
    axis.set_xlim(losses["time"].min(), losses["time"].max())
    axis.legend(loc="upper right")
    number = table[table["quantity"] == "plateau_end"].groupby("seed").size()
    number = number.reindex(range(table["seed"].nunique()), fill_value=0)
    shares = number.value_counts(normalize=True).sort_index()
    counted.bar(shares.index, shares, color=COLOURS["orange"])
    counted.set(xlabel="plateaus", ylabel="share of draws", xticks=shares.index, title=f"{len(number)} draws")
    return figure


def fig5b(tables: Tables, *, member: Natural) -> Figure:
    """Phase 1 of the ReLU student: the hidden layer's singular values up to the end of the first nonzero saddle.

    One singular value grows; the others wait until the loss leaves the second plateau of `fig5a`, whose
    extent is shaded.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 2.5))
    rows = table[table["seed"] == member]
    spans = _plateaus(rows)
    first, last = spans[1] if len(spans) > 1 else (rows["time"].max(),) * 2
    singular_values(axis, rows[rows["time"] <= last])
    axis.axvspan(first, last, color=COLOURS["orange"], alpha=0.25, lw=0)
    axis.set(xlabel="time $t$", ylabel=r"singular values $\sigma_i(W)$", xlim=(0, last))
    index_legend(figure, 5)
    return figure


def _plateaus(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Return first and last time of one member's plateaus."""
    starts, ends = (rows.loc[rows["quantity"] == name, "value"] for name in ("plateau_start", "plateau_end"))
    return list(zip(starts, ends, strict=True))
