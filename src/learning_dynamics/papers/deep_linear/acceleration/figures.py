"""Depth and the speed of descent on regressions."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

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

# chosen: a dot whose power of kappa differs from the predicted one by more than this is seen to be off its line
APART = 0.25
# what a caption adds to the median iterations of networks under the l4 loss, if all deeper ones need fewer than depth 1
FASTER = ": deeper networks are faster than depth 1, as slide 24 says"
NOT_FASTER = "; on slide 24 deeper networks are faster than depth 1, here not all are"  # otherwise


def acceleration(l4: Table, l2: Table, *, start: Natural) -> Plot:
    r"""Depth and the speed of gradient descent on a regression, for the $\ell_4$ and the $\ell_2$ loss.

    Panels (a) and (c) show the relative excess over the least loss against iterations, from one start, at each
    network's best learning rate for that start. Solid curves are descent on the layers, dashed ones the end-to-end
    update of their product. The dotted line is the tolerance, {tolerance:g}. Panels (b) and (d) show iterations to the
    tolerance against the learning rate, for descent on the layers. Dots are medians over {starts} starts, where more
    than half arrive; circles mark the best rates. With the $\ell_4$ loss depths 1, 2 and 3 need {l4_1:.0f}, {l4_2:.0f}
    and {l4_3:.0f} iterations in the median at the circled rates{faster}. With the $\ell_2$ loss they need {l2_1:.0f},
    {l2_2:.0f} and {l2_3:.0f}. The best rates are near the edge of stability, where a loss need not fall at every step.
    Lines have a gap where half of the starts or more do not arrive.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharex="col")
    facts: dict[str, float] = {}
    for (excess_axis, iterations_axis), table in zip(axes, (l4, l2), strict=True):
        settings = settings_of(table)
        power = f"{settings['exponent']:g}"
        facts["tolerance"] = settings["tolerance"]  # both losses have one
        # "network" is descent on the layers; the other rule is the end-to-end update
        for (depth, rule), rows in select(table, "excess", seed=start).groupby(["depth", "rule"]):
            # up to the tolerance, where descent ends: later rows repeat its last loss
            curve = rows[rows["value"] > settings["tolerance"]]
            line = "-" if rule == "network" else DASHED
            excess_axis.plot(curve["iteration"], curve["value"], color=DEPTH_COLOURS[depth], ls=line, lw=1.3)
        excess_axis.axhline(settings["tolerance"], color=COLOURS["grey"], ls=":")
        for depth, runs in select(table, quantities.ITERATIONS, rule="network").groupby("depth"):
            # a start that never reaches the tolerance counts as infinitely long
            middle = runs.fillna({"value": np.inf}).groupby("learning_rate")["value"].median()
            # nan where it is infinite, so that the line has a gap there
            middle = middle.where(np.isfinite(middle))
            iterations_axis.plot(middle.index, middle, ".-", color=DEPTH_COLOURS[depth], ms=4, lw=1.1)
            iterations_axis.plot(middle.idxmin(), middle.min(), "o", color=DEPTH_COLOURS[depth], mfc="none", ms=8)
            facts[f"l{power}_{depth}"] = middle.min()
        excess_axis.set(yscale="log", xlabel="iterations", ylabel="relative excess")
        iterations_axis.set(xscale="log", ylim=(0, None), xlabel="learning rate", ylabel="iterations to the tolerance")
        excess_axis.set_title(rf"$\ell_{power}$ loss, one start")
        iterations_axis.set_title(rf"$\ell_{power}$ loss, median")
        for axis in (excess_axis, iterations_axis):
            axis.tick_params(labelbottom=True)
    letters(axes.flat)
    deeper_is_faster = all(facts[f"l4_{depth}"] < facts["l4_1"] for depth in l4["depth"].unique() if depth > 1)
    other_facts = {"faster": FASTER if deeper_is_faster else NOT_FASTER, "starts": l4["seed"].nunique()}
    others = [
        handle("end-to-end update", line=DASHED),
        handle("tolerance", "grey", ":"),
        handle("best rate", line="", marker="o", mfc="none", ms=7),
    ]
    legend_below(figure, [*depth_handles(sorted(l4["depth"].unique())), *others])
    alt = "Loss curves, and iterations by learning rate, for two losses and three depths."
    return Plot(figure, facts=facts | other_facts, alt=alt)


def two_samples(samples: Table, deeper: Sequence[Table]) -> Plot:
    r"""Two orthogonal samples, one $\kappa$ times as long as the other: steps against $\kappa$.

    (a) Lines show the steps in which linear networks fit the samples, to {tolerance:g} of the loss at zero weights, at
    the largest stable learning rate. Solid lines are the end-to-end update at depth 2, beside them the exponent $p$ of
    the loss. Dashed lines are gradient descent (depth 1), for the same $p$. Dots are {starts} starts, lines medians.
    (b) Dots are the power of $\kappa$ with which steps grow, for each start at depths 2, 3 and 4, where $\kappa$ is
    large. Lines are the prediction $1 - 2/N + 2/\min(N, p-1)$ at depth $N$. Black bars include the factor $\log \kappa$
    at depth 2, which adds up to {largest_logarithm:.2g} at these $\kappa$. Of {dots} dots {outliers} are further than
    {apart:g} from their prediction; the claim compares medians. The dashed line is gradient descent. For powers below
    this line the gain by depth grows with $\kappa$ without bound.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    _steps_panel(left, samples)
    facts = _powers_panel(right, deeper)
    letters((left, right))
    depths = sorted(pd.concat(deeper)["depth"].unique())
    bar = handle("depth 2, with its logarithm", line="", marker="_", ms=9, mew=1.6)
    legend_below(figure, [handle("depth 1", DEPTH_COLOURS[1], DASHED), *depth_handles(depths), bar])
    alt = "Steps against kappa by exponent and depth; most measured powers of kappa are near the predicted curves."
    facts |= {
        "tolerance": settings_of(samples)["tolerance"],
        "starts": samples["seed"].nunique(),
        "apart": APART,
    }
    return Plot(figure, facts=facts, alt=alt)


def _steps_panel(axis: Axes, samples: Table) -> None:
    """Draw steps to the tolerance against kappa, the column `stiffness`, at depths 1 and 2 and for each exponent p."""
    steps = select(samples, quantities.STEPS)
    for exponent in sorted(steps["exponent"].unique()):
        for depth, line in ((1, DASHED), (2, "-")):
            rows = select(steps, exponent=exponent, depth=depth).dropna(subset="value")
            label = f"$p = {exponent:g}$" if depth == 2 else None
            median_with_draws(axis, rows, "stiffness", DEPTH_COLOURS[depth], line, label)
    axis.set(xscale="log", yscale="log", xlabel=r"$\kappa$, ratio of the lengths", ylabel="steps", title="steps")
    direct_labels(axis)


def _powers_panel(axis: Axes, tables: Sequence[Table]) -> dict[str, float]:
    """Draw powers of kappa with which steps grow, measured and predicted, against the exponent p.

    Return the caption's facts about them: the largest addition of a logarithm, and how many dots there are in all and
    further than `APART` from their prediction.
    """
    measured = pd.concat(tables)
    p = np.linspace(measured["exponent"].min(), measured["exponent"].max(), 200)
    for depth in sorted(measured["depth"].unique()):
        axis.plot(p, [power_of_stiffness(exponent, depth) for exponent in p], color=DEPTH_COLOURS[depth])
    distances: list[float] = []  # of dots from their prediction; nan where a start has no stable rate
    largest_logarithm = 0.0  # the most that a factor log kappa adds to a predicted power
    for table in tables:
        for depth in table["depth"].unique():
            colour = DEPTH_COLOURS[depth]
            logarithm = logarithm_at_depth_two(depth, table["stiffness"].min(), table["stiffness"].max())
            largest_logarithm = max(largest_logarithm, logarithm)
            for exponent, powers in powers_of_stiffness(table, depth).items():
                predicted = power_of_stiffness(exponent, depth) + logarithm
                distances.extend(abs(powers - predicted))
                x = exponent + 0.06 * (depth - 3)  # the depths of one exponent are side by side
                axis.plot(np.full(len(powers), x), powers, ".", color=colour, ms=4, mew=0)
                if logarithm:
                    axis.plot(x, predicted, "_", color=COLOURS["black"], ms=9, mew=1.6)
    axis.axhline(2, color=DEPTH_COLOURS[1], ls=DASHED)
    axis.set(xlabel="exponent $p$", ylabel=r"power of $\kappa$", title="powers")
    return {
        "largest_logarithm": largest_logarithm,
        "dots": int(np.isfinite(distances).sum()),
        "outliers": int((np.array(distances) > APART).sum()),
    }
