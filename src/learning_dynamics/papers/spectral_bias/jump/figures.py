"""The jump process, in which singular values are learnt one by one."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from learning_dynamics.papers.spectral_bias.panels import power
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.tables import Tables


def jump(tables: Tables) -> Figure:
    """Singular values of the predictor are learnt one by one, in jumps, as the scale vanishes.

    Whitened data, time in units of ln(1/γ). Solid: simulated gradient flow, γ from 10⁻² to 10⁻³². Dots:
    the closed form of Theorem C.12. Dashed: the limit, which jumps at 1/(2σ*); circles mark the limit's value
    at the jump itself, σ*/(1 + 2σ*), through which all curves tend to pass.
    """
    (table,) = tables.values()
    figure, axis = plt.subplots(figsize=(WIDTH, 3.0))
    gammas = sorted(table["gamma"].unique(), reverse=True)
    for gamma, colour in zip(gammas, sequence(len(gammas)), strict=True):
        for index in sorted(table["index"].unique()):
            rows = table[(table["gamma"] == gamma) & (table["index"] == index)]
            label = rf"$\gamma = {power(gamma)}$" if index == 1 else None
            axis.plot(rows["time"], rows["value"], color=colour, lw=1.3, label=label)
            axis.plot(rows["time"][5::20], rows["predicted"][5::20], ".", ms=3.5, color=colour)
    for _, rows in table[table["gamma"] == gammas[-1]].groupby("index"):
        final = rows["limit"].max()
        axis.plot([0, 1 / (2 * final)], [0, 0], "--", color=COLOURS["black"], lw=1.0, zorder=4)
        axis.plot(
            [1 / (2 * final)] * 2 + [table["time"].max()], [0, final, final], "--", color=COLOURS["black"], lw=1.0
        )
        axis.plot(1 / (2 * final), final / (1 + 2 * final), "o", mfc="none", color=COLOURS["vermilion"], zorder=5)
    axis.plot([], [], "--", color=COLOURS["black"], lw=1.0, label=r"limit $\gamma \to 0$")
    axis.plot([], [], "o", mfc="none", color=COLOURS["vermilion"], label="limit at the jump")
    axis.plot([], [], ".", color=COLOURS["grey"], label="closed form")
    axis.set(
        xlabel=r"$t \,/\, \ln(1/\gamma)$", ylabel=r"singular values $\sigma_i(\beta)$", xlim=(0, table["time"].max())
    )
    figure.legend(loc="outside right center")
    return figure
