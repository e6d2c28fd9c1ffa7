"""Depth and the speed of descent on regressions."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.acceleration import quantities
from learning_dynamics.papers.deep_linear.acceleration.stiffness import (
    logarithm_at_depth_two,
    power_of_stiffness,
    powers_of_stiffness,
)
from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, handle, median_with_draws
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, direct_labels, legend_below, letters
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, select, settings_of

APART = 0.25  # of a power: dots further from their line can be told from it


def acceleration(l4: Table, l2: Table, *, start: Natural) -> Plot:
    r"""Depth and the speed of gradient descent on a regression, for the $\ell_4$ and the $\ell_2$ loss.

    (a), (c) The relative excess over the least loss against iterations, from one of several starts. Each line has the
    best learning rate of its network. Solid: descent on the layers. Dashed: the end-to-end update rule. Dotted: the
    tolerance, {tolerance:g}. (b), (d) Iterations to the tolerance against the learning rate, for descent on the layers.
    Dots: medians over starts, where more than half reach it. Circles: the best rates. With the $\ell_4$ loss depth 1
    needs {l4_1:.0f} iterations and depth 2 {l4_2:.0f}; with the $\ell_2$ loss they need {l2_1:.0f} and {l2_2:.0f}. The
    best rates are near the edge of stability, where a loss need not fall at every step.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.2), sharex="col")
    facts: dict[str, float] = {}
    for (excess_axis, iterations_axis), table in zip(axes, (l4, l2), strict=True):
        settings = settings_of(table)
        power = f"{settings['exponent']:g}"
        facts["tolerance"] = settings["tolerance"]  # both losses have one
        for (depth, rule), rows in select(table, "excess", seed=start).groupby(["depth", "rule"]):
            # up to the tolerance, where the run stops
            curve = rows[(rows["value"] > settings["tolerance"]) & (rows["value"] > 0)]
            line = "-" if rule == "network" else DASHED
            excess_axis.plot(curve["iteration"], curve["value"], color=DEPTH_COLOURS[depth], ls=line, lw=1.3)
        excess_axis.axhline(settings["tolerance"], color=COLOURS["grey"], ls=":")
        for depth, runs in select(table, quantities.ITERATIONS, rule="network").groupby("depth"):
            # a start that never gets there counts as infinitely long
            middle = runs.fillna({"value": np.inf}).groupby("learning_rate")["value"].median()
            middle = middle[np.isfinite(middle)]
            iterations_axis.plot(middle.index, middle, ".-", color=DEPTH_COLOURS[depth], ms=4, lw=1.1)
            iterations_axis.plot(middle.idxmin(), middle.min(), "o", color=DEPTH_COLOURS[depth], mfc="none", ms=8)
            facts[f"l{power}_{depth}"] = middle.min()
        excess_axis.set(yscale="log", ylabel="relative excess")
        iterations_axis.set(xscale="log", ylim=(0, None), ylabel="iterations to the tolerance")
        excess_axis.set_title(rf"$\ell_{power}$ loss")
        iterations_axis.set_title(rf"$\ell_{power}$ loss")
    axes[1, 0].set_xlabel("iterations")
    axes[1, 1].set_xlabel("learning rate")
    letters(axes.flat)
    others = [
        handle("end-to-end update", line=DASHED),
        handle("tolerance", "grey", ":"),
        handle("best rate", line="", marker="o", mfc="none", ms=7),
    ]
    legend_below(figure, [*depth_handles(sorted(l4["depth"].unique())), *others])
    alt = "Loss curves and iterations by learning rate; with fourth powers deeper networks need fewer iterations."
    return Plot(figure, facts=facts, alt=alt)


def two_samples(samples: Table, deeper: Sequence[Table]) -> Plot:
    r"""Two orthogonal samples, one $\kappa$ times as long as the other: steps against $\kappa$.

    (a) Steps until the loss has fallen to {tolerance:g} of the loss at zero weights, at the largest stable learning
    rate. Solid: the end-to-end update at depth 2, with the exponent p of the loss beside each line. Dashed: gradient
    descent (depth 1), for the same exponents. Dots: starts. Lines: their medians. (b) The power of $\kappa$ with which
    steps grow, against p. Dots: each start at depths 2, 3 and 4, where $\kappa$ is large. Lines:
    $1 - 2/N + 2/\min(N, p-1)$. Black bars: the prediction at depth 2 with the factor $\log \kappa$, which adds up to
    {extra:.2g} at these $\kappa$. Of {dots} dots {outliers} are further than {apart:g} from their prediction; the claim
    compares medians. Dashed: the power of gradient descent. For powers below it the gain by depth grows with $\kappa$
    without bound.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    steps = select(samples, quantities.STEPS)
    for exponent in sorted(steps["exponent"].unique()):
        for depth, line in ((1, DASHED), (2, "-")):
            rows = select(steps, exponent=exponent, depth=depth).dropna(subset="value")
            label = f"p = {exponent:g}" if depth == 2 else None
            median_with_draws(left, rows, "stiffness", DEPTH_COLOURS[depth], line, label)
    left.set(xscale="log", yscale="log", xlabel=r"$\kappa$, ratio of the lengths", ylabel="steps")
    direct_labels(left)
    extra, measured = 0.0, pd.concat(deeper)
    depths = sorted(measured["depth"].unique())
    p = np.linspace(measured["exponent"].min(), measured["exponent"].max(), 200)
    for depth in depths:
        right.plot(p, [power_of_stiffness(exponent, depth) for exponent in p], color=DEPTH_COLOURS[depth])
    distances: list[float] = []
    for table in deeper:
        for depth in table["depth"].unique():
            logarithm = logarithm_at_depth_two(depth, table["stiffness"].min(), table["stiffness"].max())
            extra = max(extra, logarithm)
            for exponent, powers in powers_of_stiffness(table, depth).items():
                place, predicted = exponent + 0.06 * (depth - 3), power_of_stiffness(exponent, depth) + logarithm
                right.plot(np.full(len(powers), place), powers, ".", color=DEPTH_COLOURS[depth], ms=4, mew=0)
                if logarithm:
                    right.plot(place, predicted, "_", color=COLOURS["black"], ms=9, mew=1.6)
                distances.extend(abs(powers - predicted))
    right.axhline(2, color=DEPTH_COLOURS[1], ls=DASHED)
    right.set(xlabel="exponent p", ylabel=r"power of $\kappa$", title="powers")
    left.set_title("steps")
    letters((left, right))
    bar = handle("depth 2, with its logarithm", line="", marker="_", ms=9, mew=1.6)
    legend_below(figure, [handle("depth 1", DEPTH_COLOURS[1], DASHED), *depth_handles(depths), bar])
    alt = "Steps against kappa by exponent and depth; measured powers of kappa lie on the predicted curves."
    facts = {
        "tolerance": settings_of(samples)["tolerance"],
        "extra": extra,
        "dots": int(np.isfinite(distances).sum()),
        "outliers": int((np.array(distances) > APART).sum()),
        "apart": APART,
    }
    return Plot(figure, facts=facts, alt=alt)
