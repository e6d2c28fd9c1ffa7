"""The layers' product against its own dynamics, its preconditioner, and the drift from balance."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear import quantities as shared_quantities
from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, handle
from learning_dynamics.papers.deep_linear.end_to_end import quantities
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, select


def preconditioner(balanced: Table, gaussian: Table, descent: Table, starts: Table, *, member: Natural) -> Plot:
    r"""The end-to-end matrix obeys an equation of its own if the layers are balanced.

    (a) Lines are singular values of the product of balanced layers under gradient flow. Dots are those of the solution
    $W_e$ of the end-to-end equation. (b) Lines are the distance between the layers' product and $W_e$, the largest over
    {draws} draws. From balanced layers only the integrator's error remains. (c) Dots are the speed of a singular value
    $\sigma$, computed from the layers' velocities, over its speed at depth 1. Lines are $N \sigma^{2-2/N}$ at depth
    $N$. (d) and (e) show how far the matrices $W_{j+1}^\top W_{j+1} - W_j W_j^\top$ are from zero; each line is one
    draw. (d) The Frobenius norm of all of them together, for gradient descent at a fixed time, against the step $\eta$.
    (e) The largest of their norms at the end of a flow, divided by the layers' largest squared spectral norm, against
    the standard deviation of the starting entries.
    """
    figure = plt.figure(figsize=(WIDTH, 5.4))
    grid = figure.add_gridspec(2, 6)
    values_axis, distance_axis = (figure.add_subplot(grid[0, place]) for place in (slice(0, 3), slice(3, 6)))
    below = [figure.add_subplot(grid[1, place]) for place in (slice(0, 2), slice(2, 4), slice(4, 6))]
    factor_axis, drift_axis, imbalance_axis = below
    rows = select(balanced, depth=3, seed=member)  # dots are drawn at every third time, so that lines show
    count = select(rows, shared_quantities.SIGMA)["index"].max()
    for index, colour in enumerate(sequence(count), start=1):
        line = select(rows, shared_quantities.SIGMA, index=index)
        dots = select(rows, quantities.DIRECT, index=index).iloc[::3]
        values_axis.plot(line["time"], line["value"], color=colour, label=rf"$\sigma_{index}$")
        values_axis.plot(dots["time"], dots["value"], ".", color=colour, ms=5)
    values_axis.set(xlabel="gradient-flow time $t$", ylabel="singular values", title="depth 3, balanced")
    values_axis.legend(loc="center right", bbox_to_anchor=(1.0, 0.74))
    _distances(distance_axis, balanced, gaussian)
    _factors(factor_axis, balanced)
    _draws_with_slope(drift_axis, select(descent, quantities.DRIFT), "learning_rate", 1)
    imbalance = select(starts, quantities.IMBALANCE_AT_END)
    imbalance = imbalance[imbalance["scale"] > 0]  # the scale 0 means identity layers
    _draws_with_slope(imbalance_axis, imbalance, "scale", 2)
    drift_axis.set(xlabel=r"step $\eta$", ylabel="imbalance", title="descent")
    imbalance_axis.set(xlabel="deviation of entries", ylabel="imbalance / squared size", title="end of the flow")
    letters((values_axis, distance_axis, *below))
    alt = "Five panels: paths that coincide, tiny distances for balanced layers, speeds, orders of drift."
    return Plot(figure, facts={"draws": balanced["seed"].nunique()}, alt=alt)


def factors(factors: Table, *, member: Natural) -> Plot:
    r"""What depth does to the singular values of one matrix: small factors may grow with depth, and ratios always do.

    (a) Dots are the factor by which a singular value $\sigma$ moves faster through $N$ balanced layers than at depth 1,
    from the layers' velocities. Each colour is one singular value of one draw. Lines are $N \sigma^{2-2/N}$. Below the
    dashed line a singular value is slowed down. Crosses mark $N = 2 \ln(1/\sigma)$, from where on each further layer
    speeds the value up again. (b) Lines are the factor of each singular value over that of the next smaller one. They
    nearly coincide where neighbours have nearly the same ratio.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.0), sharex=True)
    rows = select(factors, seed=member)
    # singular values by index, the same at every depth; factors with a row for each depth, a column for each index
    sigmas = select(rows, shared_quantities.SIGMA, depth=rows["depth"].min()).set_index("index")["value"]
    measured = select(rows, quantities.FACTOR).pivot_table(index="depth", columns="index", values="value")
    layers = np.geomspace(1, measured.index.max(), 100)
    for index, colour in zip(sigmas.index, sequence(len(sigmas)), strict=True):
        sigma = sigmas[index]
        left.plot(layers, layers * sigma ** (2 - 2 / layers), color=colour, lw=1, label=rf"$\sigma = {sigma:.2g}$")
        left.plot(measured.index, measured[index], "o", color=colour, ms=4)
        turning = 2 * np.log(1 / sigma)  # the number of layers with the least factor
        if layers[0] < turning < layers[-1]:
            left.plot(turning, turning * sigma ** (2 - 2 / turning), "x", color=COLOURS["black"], ms=6, zorder=3)
        if index + 1 in sigmas.index:
            right.plot(measured.index, measured[index] / measured[index + 1], "o-", color=colour, ms=4, lw=1)
    left.axhline(1, color=COLOURS["black"], ls=DASHED, lw=0.8)
    left.set(yscale="log", xlabel="number of layers $N$", ylabel="factor of the rate")
    right.set(yscale="log", xlabel="number of layers $N$", ylabel="ratio to the next factor")
    left.set_title("factors")
    right.set_title("ratios of factors")
    letters((left, right))
    figure.legend(loc="outside lower center", ncols=len(sigmas), fontsize=7.5)
    alt = "Left: factors by depth, those of small singular values fall and rise again. Right: ratios that all grow."
    return Plot(figure, alt=alt)


def _distances(axis: Axes, balanced: Table, gaussian: Table) -> None:
    """Draw the distance of the layers' product from the end-to-end dynamics' solution, the largest over draws."""
    for table, line in ((balanced, "-"), (gaussian, DASHED)):
        for depth, rows in select(table, quantities.DIFFERENCE).groupby("depth"):
            largest = rows.groupby("time")["value"].max()
            largest = largest[largest > 0]  # at the start it is zero
            axis.plot(largest.index, largest, color=DEPTH_COLOURS[depth], ls=line, lw=1.1)
    axis.set(
        yscale="log",
        xlabel="gradient-flow time $t$",
        ylabel=r"$\|W_N \cdots W_1 - W_e\|_F$",
        title="layers and equation",
        ylim=(1e-17, 30),
    )
    styles = [handle("balanced layers"), handle("Gaussian layers", line=DASHED)]
    handles = [*depth_handles(sorted(balanced["depth"].unique())), *styles]
    axis.legend(handles=handles, loc="center left", bbox_to_anchor=(0.0, 0.64), ncols=2)


def _factors(axis: Axes, balanced: Table) -> None:
    """Draw how much faster than at depth 1 singular values move, and N sigma^(2 - 2/N) (slide 33), against sigma."""
    depths = sorted(balanced["depth"].unique())
    for depth in depths:
        # every fifth row: a dot for each would hide the lines
        sigma, factor = (
            select(balanced, name, depth=depth)["value"][::5]
            for name in (shared_quantities.SIGMA, quantities.RATE_FACTOR)
        )
        axis.plot(sigma, factor, ".", color=DEPTH_COLOURS[depth], ms=4, alpha=0.6)
    sigmas = np.geomspace(1e-3, select(balanced, shared_quantities.SIGMA)["value"].max(), 200)
    depths = [1, *depths]
    for depth in depths:
        axis.plot(sigmas, depth * sigmas ** (2 - 2 / depth), color=DEPTH_COLOURS[depth], lw=1)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"singular value $\sigma$",
        ylabel="speed over that at depth 1",
        title="factor of the rate",
        xlim=(1e-3, None),
        ylim=(1e-5, None),
    )
    axis.legend(handles=depth_handles(depths))


def _draws_with_slope(axis: Axes, rows: Table, by: str, slope: int) -> None:
    """Draw values against the column `by`, a line for each draw, and the power law of exponent `slope` through medians.

    The power law goes through the median over draws at the largest value of `by`.
    """
    for _, draw in rows.sort_values(by).groupby("seed"):
        axis.plot(draw[by], draw["value"], ".-", color=COLOURS["grey"], lw=0.8)
    medians = rows.groupby(by)["value"].median()
    power_law = medians.iloc[-1] * (medians.index / medians.index[-1]) ** slope
    axis.plot(medians.index, power_law, color=COLOURS["black"], ls=DASHED, lw=1.1, label=f"slope {slope}")
    axis.set(xscale="log", yscale="log")
    axis.legend(loc="upper left")
