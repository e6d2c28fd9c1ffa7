"""One linear measurement of a matrix: the second singular value against the first."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.papers.deep_linear.tables import sigmas
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, shared_legend
from learning_dynamics.tidy import Table, settings_of


def one_entry(aligned: Table, generic: Table, entry: Table) -> Plot:
    r"""One linear measurement of a matrix: the second singular value against the first, by depth.

    In (a) to (c) $2 \times 2$ matrices start from a multiple of the identity, with which the measurement is aligned.
    Dots are gradient flow, lines the closed forms: linear at depth 1, a power at depth 2, and, from depth 3 on, below
    an asymptote (dotted). In (d) to (f) $3 \times 3$ matrices have Gaussian starts, one line for each of {draws} draws.
    Solid lines have a measurement of rank three, with singular values {values}. Orange dotted lines show the predicted
    exponent: one at depth 1, the ratio of the measurement's first two singular values at depth 2, zero from depth 3 on.
    Grey dashed lines have one observed entry. The slides state the curves of (a) to (c) for one observed entry, where
    in fact the second singular value levels off at every depth.
    """
    depths = sorted(aligned["depth"].unique())
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    measurement = settings_of(generic)["measurement"]
    for depth in depths:
        top, bottom = axes[:, min(depth, 3) - 1]  # depths 3 and 4 share a column
        _aligned_path(top, aligned, depth)
        _paths(bottom, entry, depth, color=COLOURS["grey"], ls=DASHED, label="one observed entry")
        _paths(
            bottom,
            generic,
            depth,
            color=DEPTH_COLOURS[depth],
            label=f"measurement of rank {len(measurement)}, depth {depth}",
        )
        bottom.set(xscale="log", yscale="log")
    predicted_exponents = {1: 1.0, 2: measurement[1] / measurement[0], 3: 0.0}  # by depth
    for axis, (depth, exponent) in zip(axes[1], predicted_exponents.items(), strict=True):
        _predicted_power(axis, generic, depth, exponent)
    titles = {"depth 1": "linear", "depth 2": "a power", "depths 3, 4": "bounded"}
    for (top, bottom), (depths_of_column, shape) in zip(axes.T, titles.items(), strict=True):
        top.set(title=f"{depths_of_column}: {shape}", ylim=(0, None))
        bottom.set_title(depths_of_column)
    for axis in axes[0]:
        axis.legend(fontsize=7, loc="lower right")
    for axis in axes.flat:
        axis.set(xlabel=r"larger singular value $\sigma_1$", ylabel=r"$\sigma_2$")
    axes[0, 0].set_ylabel("aligned measurement\n" + r"$\sigma_2$")
    axes[1, 0].set_ylabel("Gaussian starts\n" + r"$\sigma_2$")
    letters(axes.flat)
    shared_legend(figure, axes[1], fontsize=7)
    alt = "Six panels: closed forms and flows for aligned measurements above, paths from Gaussian starts below."
    facts = {"draws": generic["seed"].nunique(), "values": ", ".join(f"{value:g}" for value in measurement)}
    return Plot(figure, facts=facts, alt=alt)


def _aligned_path(axis: Axes, aligned: Table, depth: int) -> None:
    """Draw sigma_2 against sigma_1 for the aligned measurement: dots of the flow, the closed form and its asymptote."""
    start, ratio = settings_of(aligned)["start"], settings_of(aligned)["ratio"]
    colour = DEPTH_COLOURS[depth]
    sigma_1, sigma_2 = (of_draws[0] for of_draws in sigmas(aligned, 1, 2, depth=depth))  # one start; shape (times,)
    line = np.linspace(start, np.nanmax(sigma_1), 400)
    axis.plot(line, theory.smaller_singular_value(line, start, ratio, depth), color=colour, label=f"depth {depth}")
    # dots at the first recorded times at which sigma_1 has reached evenly spaced values
    times = np.searchsorted(sigma_1, np.linspace(start, np.nanmax(sigma_1), 14))
    times = np.unique(times.clip(max=len(sigma_1) - 1))
    axis.plot(sigma_1[times], sigma_2[times], "o", color=colour, ms=3.5)
    if depth >= 3:
        axis.axhline(theory.limiting_singular_value(start, ratio, depth), color=colour, ls=":", lw=1)


def _paths(axis: Axes, table: Table, depth: int, **style: Any) -> None:
    """Draw sigma_2 against sigma_1, the two largest singular values, as a line for each draw."""
    for sigma_1, sigma_2 in zip(*sigmas(table, 1, 2, depth=depth), strict=True):
        axis.plot(sigma_1, sigma_2, lw=1, alpha=0.8, **style)


def _predicted_power(axis: Axes, generic: Table, depth: int, exponent: float) -> None:
    """Draw a power law of sigma_1, above the ends of all paths, with the predicted exponent.

    It begins where sigma_1 is the geometric mean of its first and its last value on the first draw's path, and ends at
    this last value.
    """
    sigma_1, sigma_2 = sigmas(generic, 1, 2, depth=depth)  # shape (draws, times) each
    first, last = sigma_1[0, 0], sigma_1[0, -1]
    line = np.geomspace(np.sqrt(first * last), last, 2)
    # three times the highest end: above all paths, chosen
    power_law = 3 * sigma_2[:, -1].max() * (line / line[-1]) ** exponent
    label = "predicted exponent"
    axis.plot(line, power_law, color=COLOURS["orange"], ls=":", lw=1.8, label=label)
