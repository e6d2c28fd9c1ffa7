"""One linear measurement of a matrix: the second singular value against the first."""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.papers.deep_linear.tables import sigmas
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, shared_legend
from learning_dynamics.tidy import Table, settings_of


def one_entry(aligned: Table, generic: Table, entry: Table) -> Plot:
    r"""One linear measurement of a matrix: the second singular value against the first, by depth.

    (a) to (c) $2 \times 2$ matrices from a multiple of the identity. The measurement is aligned with them. Axes are
    linear. Dots: gradient flow of the layers. Lines: the closed forms, linear at depth 1, a power at depth 2, and, from
    depth 3 on, below an asymptote (dotted). (d) to (f) $3 \times 3$ matrices from Gaussian starts, one line for each of
    {draws} draws. Axes are logarithmic. Solid: a measurement with singular values {values}. Orange, dotted: the
    predicted exponent, which is one at depth 1, the ratio of the measurement's singular values at depth 2, and zero
    from depth 3 on. Grey, dashed: one observed entry. The slides state the curves of (a) to (c) for one observed entry,
    where in fact the second singular value levels off at every depth.
    """
    depths = sorted(aligned["depth"].unique())
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    settings = settings_of(aligned)
    start, ratio = settings["start"], settings["ratio"]
    for depth in depths:
        colour = DEPTH_COLOURS[depth]
        top, bottom = axes[:, min(depth, 3) - 1]
        larger, smaller = (values[0] for values in sigmas(aligned, 1, 2, depth=depth))
        line = np.linspace(start, np.nanmax(larger), 400)
        curve = theory.smaller_singular_value(line, start, ratio, depth)
        top.plot(line, curve, color=colour, label=f"depth {depth}")
        at = np.unique(np.searchsorted(larger, np.linspace(start, np.nanmax(larger), 14)).clip(max=len(larger) - 1))
        top.plot(larger[at], smaller[at], "o", color=colour, ms=3.5)
        if depth >= 3:
            top.axhline(theory.limiting_singular_value(start, ratio, depth), color=colour, ls=":", lw=1)
        for table, style in (
            (entry, {"color": COLOURS["grey"], "ls": DASHED, "label": "one observed entry"}),
            (generic, {"color": colour, "label": f"any measurement, depth {depth}"}),
        ):
            for pair in zip(*sigmas(table, 1, 2, depth=depth), strict=True):
                bottom.plot(*pair, lw=1, alpha=0.8, **style)
        bottom.set(xscale="log", yscale="log")
    measurement = settings_of(generic)["measurement"]
    titles = ("depth 1: linear", "depth 2: a power", "depths 3, 4: bounded")
    exponents = (1.0, measurement[1] / measurement[0], 0.0)
    for depth, (top, bottom), title, exponent in zip((1, 2, 3), axes.T, titles, exponents, strict=True):
        sigma_1, sigma_2 = sigmas(generic, 1, 2, depth=depth)
        line = np.geomspace(np.sqrt(sigma_1[0, 0] * sigma_1[0, -1]), sigma_1[0, -1], 2)
        bottom.plot(
            line,
            3 * sigma_2[:, -1].max() * (line / line[-1]) ** exponent,
            color=COLOURS["orange"],
            ls=":",
            lw=1.8,
            label="the exponent that is predicted",
        )
        top.set(title=title, ylim=(0, None))
        top.legend(fontsize=7, loc="lower right")
    for axis in axes.flat:
        axis.set(xlabel=r"larger singular value $\sigma_1$", ylabel=r"$\sigma_2$")
    axes[0, 0].set_ylabel("aligned measurement\n" + r"$\sigma_2$")
    axes[1, 0].set_ylabel("Gaussian starts\n" + r"$\sigma_2$")
    letters(axes.flat)
    shared_legend(figure, axes[1], fontsize=7)
    alt = "Six panels: closed forms and flows for aligned measurements above, paths from Gaussian starts below."
    facts = {"draws": generic["seed"].nunique(), "values": ", ".join(f"{value:g}" for value in measurement)}
    return Plot(figure, facts=facts, alt=alt)
