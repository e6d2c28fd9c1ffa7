"""Depth and the speed of descent on regressions."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, median_with_draws
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Natural, Positive
from learning_dynamics.tidy import Table, select, settings_of


def acceleration(fourth: Table, second: Table, *, start: Natural) -> Drawn:
    r"""Depth and the speed of gradient descent on a regression, for the $\ell_4$ and the $\ell_2$ loss.

    Left: relative excess over the least loss against iterations, each at its best learning rate; solid: descent on the
    layers; dashed: the end-to-end update rule; one start of several. Right: iterations to the tolerance against the
    learning rate, for descent on the layers, median over starts where more than half get there; circles mark the best
    rate of the median. With the $\ell_4$ loss depth 1 needs {l4_1:.0f} iterations, depth 2 {l4_2:.0f}; with $\ell_2$
    they need {l2_1:.0f} and {l2_2:.0f}. The best rates lie near the edge of stability, where a loss need not fall at
    every step.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.2), sharex="col")
    facts: dict[str, float] = {}
    for (curves, rates), table in zip(axes, (fourth, second), strict=True):
        settings = settings_of(table)
        power = f"{settings['exponent']:g}"
        for (depth, rule), each in select(table, "excess", seed=start).groupby(["depth", "rule"]):
            # up to where it is reached; the run stops there
            shown = each[(each["value"] > settings["tolerance"]) & (each["value"] > 0)]
            curves.plot(shown["iteration"], shown["value"], color=DEPTH_COLOURS[int(depth)],
                        ls="-" if rule == "network" else DASHED, lw=1.3)  # fmt: skip
        curves.axhline(settings["tolerance"], color=COLOURS["grey"], ls=":")
        for depth, each in select(table, "iterations", rule="network").groupby("depth"):
            # a start that never gets there counts as infinitely long
            middle = each.fillna({"value": np.inf}).groupby("learning_rate")["value"].median()
            middle = middle[np.isfinite(middle)]
            rates.plot(middle.index, middle, ".-", color=DEPTH_COLOURS[int(depth)], ms=4, lw=1.1)
            rates.plot(middle.idxmin(), middle.min(), "o", color=DEPTH_COLOURS[int(depth)], mfc="none", ms=8)
            facts[f"l{power}_{depth}"] = float(middle.min())
        curves.set(yscale="log", ylabel=rf"$\ell_{power}$ loss: relative excess")
        rates.set(xscale="log", yscale="log", ylabel="iterations to the tolerance")
        for axis in (rates.xaxis, rates.yaxis):
            axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
    axes[1, 0].set_xlabel("iterations")
    axes[1, 1].set_xlabel("learning rate")
    handles = [
        *depth_handles(sorted(fourth["depth"].unique())),
        Line2D([], [], color=COLOURS["black"], ls=DASHED, label="end-to-end update"),
        Line2D([], [], color=COLOURS["grey"], ls=":", label="tolerance"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    alt = "Loss curves and iterations by learning rate; with fourth powers deeper networks need fewer iterations."
    return Drawn(figure, facts=facts, alt=alt)


def two_samples(samples: Table, *, exponent: Positive) -> Drawn:
    r"""Two orthogonal samples, one $\kappa$ times as long as the other: iterations against $\kappa$, by depth.

    Left: iterations until the loss with p = {exponent:g} has fallen to {tolerance:g} of that at zero, of the end-to-end
    update at each depth at its best learning rate; depth 1 is gradient descent. Right: how many times fewer depth 2
    takes than depth 1, by exponent p of the loss; dashed: proportional to $\kappa$. Dots: starts, of which some happen
    to land near the minimum in one long step; lines: medians.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    # a start that no rate brings there has no best one
    cells = ["exponent", "depth", "seed", "stiffness"]
    best = select(samples, "iterations").groupby(cells)["value"].min().reset_index()
    depths = sorted(best["depth"].unique())
    for depth in depths:
        median_with_draws(left, select(best, exponent=exponent, depth=depth), "stiffness", DEPTH_COLOURS[int(depth)])
    exponents = sorted(best["exponent"].unique())
    steps = best.pivot_table(index=["exponent", "seed", "stiffness"], columns="depth", values="value")
    speedups = (steps[1] / steps[2]).rename("value").reset_index()
    colours = sequence(len(exponents) + 1)[::-1][1:]
    for power, colour in zip(exponents, colours, strict=True):
        median_with_draws(right, select(speedups, exponent=power), "stiffness", colour)
    kappa = np.sort(best["stiffness"].unique())
    first = speedups[speedups["stiffness"] == kappa[0]].groupby("exponent")["value"].median().max()
    guide = 2 * first * kappa / kappa[0]
    right.plot(kappa, guide, color=COLOURS["grey"], ls=DASHED)
    left.set(ylabel="iterations")
    right.set(ylabel="speed-up at depth 2")
    for axis in (left, right):
        axis.set(xscale="log", yscale="log", xlabel=r"$\kappa$")
        axis.set_xticks(kappa, [f"{value:g}" for value in kappa])
        axis.xaxis.set_minor_formatter(NullFormatter())
    handles = [
        *depth_handles(depths),
        *(Line2D([], [], color=colour, label=f"p = {power:g}")
          for power, colour in zip(exponents, colours, strict=True)),
        Line2D([], [], color=COLOURS["grey"], ls=DASHED, label=r"$\propto \kappa$"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    facts = {"exponent": exponent, "tolerance": settings_of(samples)["tolerance"]}
    alt = "Iterations grow with the square of kappa at depth 1, slower at depths 2 and 3; speed-ups grow for p above 2."
    return Drawn(figure, facts=facts, alt=alt)
