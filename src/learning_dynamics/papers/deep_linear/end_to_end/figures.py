"""The layers' product against its own dynamics, and the drift from balance."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from learning_dynamics.papers.deep_linear.line_styles import DASHED, DEPTH_COLOURS
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tables import Tables


def preconditioner(tables: Tables, *, member: Natural) -> Figure:
    """The end-to-end matrix moves by an equation of its own, and balance is what makes it so.

    Left: singular values of the product of three layers under gradient flow (lines) and of the end-to-end dynamics
    (dots), from balanced layers. Middle: how far the two are apart, from balanced layers and from Gaussian ones.
    Right: how far gradient descent with step η has left balance at a fixed time, draws in grey, with a line of
    slope one.
    """
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    table = tables["balanced_flow"]
    rows = table[(table["depth"] == 3) & (table["seed"] == member)]
    count = int(rows[rows["quantity"] == "sigma"]["index"].max())
    for index, colour in enumerate(sequence(count), start=1):
        for quantity, marker in (("sigma", "-"), ("direct", ".")):
            line = rows[(rows["quantity"] == quantity)]
            line = line[line["index"] == (index if quantity == "sigma" else index - 1)]
            line = line if quantity == "sigma" else line.iloc[::4]
            left.plot(line["time"], line["value"], marker, color=colour, ms=5)
    left.set(xlabel="gradient-flow time $t$", ylabel="singular values", title="depth 3, balanced")
    for run, style in (("balanced_flow", "-"), ("unbalanced_flow", DASHED)):
        apart = tables[run][tables[run]["quantity"] == "difference"]
        for depth, by_depth in apart.groupby("depth"):
            worst = by_depth.groupby("time")["value"].max()
            worst = worst[worst > 0]
            middle.plot(worst.index, worst, color=DEPTH_COLOURS[int(depth)], ls=style, lw=1.2,
                        label=f"depth {depth}" if style == "-" else None)  # fmt: skip
    middle.plot([], [], color=COLOURS["black"], ls=DASHED, lw=1.2, label="unbalanced")
    middle.set(
        yscale="log", xlabel="gradient-flow time $t$", ylabel=r"$\|W_{N:1} - W\|_F$", title="layers and equation"
    )
    middle.legend(fontsize=7, handlelength=1.4, loc="center left", bbox_to_anchor=(0.0, 0.68))
    drift = tables["balancedness_descent"]
    for _, line in drift.groupby("seed"):
        right.plot(line["learning_rate"], line["value"], ".-", color=COLOURS["grey"], lw=0.8)
    mean = drift.groupby("learning_rate")["value"].mean()
    right.plot(
        mean.index, mean.iloc[0] * mean.index / mean.index[0], color=COLOURS["black"], ls=DASHED, label="slope 1"
    )
    right.set(xscale="log", yscale="log", xlabel=r"step $\eta$", ylabel="drift from balance", title="gradient descent")
    right.xaxis.set_minor_formatter(NullFormatter())
    right.legend()
    return figure
