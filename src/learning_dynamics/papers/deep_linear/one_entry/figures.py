"""One linear measurement of a matrix: the second singular value against the first."""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, shared_legend
from learning_dynamics.tidy import Table, by_draw, settings_of


def one_entry(aligned: Table, generic: Table, entry: Table) -> Drawn:
    r"""One linear measurement of a matrix: the second singular value against the first, by depth.

    Top: a measurement aligned with a $2 \times 2$ matrix, from a multiple of the identity; dots: gradient flow of the
    layers; lines: the closed forms, linear at depth 1, a power at depth 2, below an asymptote (dotted) from depth 3 on.
    Axes are linear. Bottom: $3 \times 3$ matrices from Gaussian starts, one line for each of {draws} draws, axes
    logarithmic; solid: a measurement with singular values {values}; dashed, grey: one observed entry, where the second
    one levels off at every depth. Along the dotted lines the exponent is that of the depth: one, the ratio of the
    measurement's singular values, zero.
    """
    depths = sorted(aligned["depth"].unique())
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    settings = settings_of(aligned)
    start, ratio = settings["start"], settings["ratio"]
    for depth in depths:
        place, colour = min(depth, 3) - 1, DEPTH_COLOURS[int(depth)]
        larger, smaller = (by_draw(aligned, "sigma", depth=depth, index=index)[0] for index in (1, 2))
        top = axes[0, place]
        line = np.linspace(start, np.nanmax(larger), 400)
        top.plot(
            line, theory.smaller_singular_value(line, start, ratio, int(depth)), color=colour, label=f"depth {depth}"
        )
        at = np.unique(np.searchsorted(larger, np.linspace(start, np.nanmax(larger), 14)).clip(max=len(larger) - 1))
        top.plot(larger[at], smaller[at], "o", color=colour, ms=3.5)
        if depth >= 3:
            limit = theory.limiting_singular_value(start, ratio, int(depth))
            top.axhline(limit, color=colour, ls=":", lw=1)
            top.annotate(
                "asymptote",
                (line[-1], limit),
                ha="right",
                va="bottom",
                fontsize=7,
                color=colour,
                xytext=(0, 1),
                textcoords="offset points",
            )
        bottom = axes[1, place]
        for table, style in (
            (entry, {"color": COLOURS["grey"], "ls": DASHED, "label": "one observed entry"}),
            (generic, {"color": colour, "label": f"any measurement, depth {depth}"}),
        ):
            for pair in zip(*(by_draw(table, "sigma", depth=depth, index=index) for index in (1, 2)), strict=True):
                bottom.plot(*pair, lw=1, alpha=0.8, **style)
        bottom.set(xscale="log", yscale="log")
    first, second = settings_of(generic)["measurement"][:2]
    for place, (depth, exponent) in enumerate(((1, 1.0), (2, second / first), (3, 0.0))):
        sigma_1, sigma_2 = (by_draw(generic, "sigma", depth=depth, index=index) for index in (1, 2))
        line = np.geomspace(np.sqrt(sigma_1[0, 0] * sigma_1[0, -1]), sigma_1[0, -1], 2)
        axes[1, place].plot(
            line,
            3 * sigma_2[:, -1].max() * (line / line[-1]) ** exponent,
            color=COLOURS["orange"],
            ls=":",
            lw=1.8,
            label="the exponent that is predicted",
        )
    for place, title in enumerate(("depth 1: linear", "depth 2: a power", "depths 3, 4: asymptotes")):
        axes[0, place].set(title=title, ylim=(0, None))
        axes[0, place].legend(fontsize=7, loc="lower right")
        axes[0, place].set_xlabel(r"larger singular value $\sigma_1$")
        axes[1, place].set_xlabel(r"larger singular value $\sigma_1$")
    for axis in axes[:, 1:].flat:
        axis.set_ylabel(r"$\sigma_2$")
    axes[0, 0].set_ylabel("aligned measurement\n" + r"$\sigma_2$")
    axes[1, 0].set_ylabel("Gaussian starts\n" + r"$\sigma_2$")
    shared_legend(figure, axes[1], fontsize=7)
    alt = "Six panels: closed forms and flows for aligned measurements above, paths from Gaussian starts below."
    values = ", ".join(f"{value:g}" for value in settings_of(generic)["measurement"])
    return Drawn(figure, facts={"draws": int(generic["seed"].nunique()), "values": values}, alt=alt)
