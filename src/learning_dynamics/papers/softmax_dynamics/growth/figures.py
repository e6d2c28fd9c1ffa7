"""Growth rates of singular values, against the values themselves and against the size of the largest class.

sigma_i is the i-th singular value of the features f, the largest first; along a flow from balanced starts its rate is
-g_i sigma_i (Theorem B.3; `theory.gains` returns g_i). A is the derivative of the loss by the logits. V is the number
of classes, and N the size of the largest class; every other class has one example. `simple_gap` is the smallest gap of
a spectrum, relative to its largest singular value, at which it counts as simple.
"""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.evidence import Estimate, slope
from learning_dynamics.papers.softmax_dynamics.flow_errors import at_each_time, difference_error
from learning_dynamics.papers.softmax_dynamics.invariants import quantities
from learning_dynamics.papers.softmax_dynamics.panels import DASHED, DOTTED, EXPECTED, GUIDE
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, select


def growth(flow: Table, starts: Table, *, members: Count, simple_gap: Positive) -> Plot:
    r"""How fast singular values change, against how large they are.

    (a) compares the rate of a singular value $\sigma_i$ of $f$ along gradient flow with $-g_i \sigma_i$ (Theorem B.3),
    where $g_i = u_i^T A v_i$ with singular vectors $u_i$ of $f$ and $v_i$ of $W$. The gap is the smallest distance of a
    singular value, of $f$ or $W$, to its nearest neighbour or to zero; with two singular values it is at most half of
    $\sigma_1$. The dashed line is the rounding error of a rate measured by differences. Left of the dotted line
    singular values count as equal. (b) shows rates at random balanced starts of one scale $s$ (the smallest are cut
    off). Singular values differ there by chance. Numbers are slopes; the black line's is fitted, with the 95 % interval
    {slope_lower:.2f} to {slope_upper:.2f}. (c) shows rates along the flow of the first {lines} seeds. Lines bend away
    from slope one because $g_i$ changes. They plunge at the left, where a singular value stops shrinking and starts to
    grow, and at the right, once classes are learned.
    """
    # the setting `members` is how many seeds, at most, are drawn as lines in (c)
    lines = min(members, flow["seed"].nunique())
    figure, (error_axis, start_axis, flow_axis) = plt.subplots(1, 3, figsize=(WIDTH, 2.8))
    _error_panel(error_axis, flow, simple_gap)
    fit = _start_panel(start_axis, starts)
    _flow_panel(flow_axis, flow, lines)
    for axis in (error_axis, start_axis, flow_axis):
        axis.set(xscale="log", yscale="log")
    for axis, title in ((error_axis, "Theorem B.3"), (start_axis, "random starts"), (flow_axis, "along the flow")):
        axis.set_title(title)
    letters((error_axis, start_axis, flow_axis))
    facts = {"slope_lower": fit.lower, "slope_upper": fit.upper, "lines": lines}
    alt = "Errors of the predicted product against the gap; rates against singular values at starts and along flows."
    return Plot(figure, facts, alt)


def _error_panel(axis: Axes, flow: Table, simple_gap: float) -> None:
    """Plot errors of the predicted rates of the two singular values along flows, relative to |df/dt|, over the gap.

    A point is one singular value of one seed at one time.
    """
    gap, speed = at_each_time(flow, quantities.GAP), at_each_time(flow, quantities.FEATURES.speed)
    # the two singular values of a seed and time follow each other, so that neither colour covers the other
    rates = select(flow, quantities.FEATURES.rate).sort_values(["seed", "time", "index"]).set_index(["seed", "time"])
    error = (rates["value"] - rates["predicted"]).abs() / speed[rates.index]
    colours = dict(zip((1, 2), sequence(2), strict=True))
    point_colours = [colours[index] for index in rates["index"]]
    # the axis is logarithmic: an error of zero is drawn at 1e-17
    axis.scatter(gap[rates.index], error.clip(lower=1e-17), s=2, lw=0, c=point_colours, rasterized=True)
    gaps = np.geomspace(0.5 * simple_gap, 1.0, 50)
    axis.plot(gaps, difference_error(gaps), **EXPECTED)
    axis.axvline(simple_gap, color=COLOURS["grey"], lw=0.9, ls=":")
    axis.set(xlabel=r"gap / $\sigma_1$", ylabel=r"error of $-g_i \sigma_i$ / $|\dot f|$", xlim=(0.5 * simple_gap, 1.2))
    handles = [
        Line2D([], [], ls="", marker="o", ms=4, color=colour, label=rf"$\sigma_{index}$")
        for index, colour in colours.items()
    ]
    axis.legend(handles=handles, loc="upper right", handletextpad=0.0)


def _start_panel(axis: Axes, starts: Table) -> Estimate:
    """Plot rates at random starts over singular values, and lines of three slopes: 0, 2 and the fitted one.

    Both are in units of the starts' scale. Return the fitted slope.
    """
    sigma, rate = (starts["sigma"] / starts["scale"]).to_numpy(), (starts["rate"].abs() / starts["scale"]).to_numpy()
    fit = slope(np.log(sigma), np.log(rate))
    # points are drawn for the first rows only; the slope is fitted to all
    axis.plot(sigma[:3000], rate[:3000], ".", ms=1.2, color=COLOURS["sky"], rasterized=True)
    # all three lines go through the geometric means of singular values and of rates
    mean_sigma, mean_rate = np.exp(np.log(sigma).mean()), np.exp(np.log(rate).mean())
    sigma_range = np.array([sigma.min(), sigma.max()])
    for exponent, style in ((0.0, GUIDE), (2.0, GUIDE), (fit.value, EXPECTED | {"ls": "-"})):
        heights = mean_rate * (sigma_range / mean_sigma) ** exponent
        axis.plot(sigma_range, heights, **style)
        # left of the line's left end, where there are no points
        place = (0.9 * sigma_range[0], heights[0])
        axis.text(*place, f"{exponent:.2g}", ha="right", va="center", fontsize=8, color=style["color"])
    axis.set_xlim(left=0.4 * sigma_range[0])
    axis.set(xlabel=r"$\sigma_i / s$ at the start", ylabel=r"$|\dot\sigma_i| / s$ at the start")
    axis.set_ylim(np.quantile(rate, 0.005), 2 * rate.max())
    return fit


def _flow_panel(axis: Axes, flow: Table, lines: int) -> None:
    """Plot rates along flows over singular values, a line for each of the first `lines` seeds, and a slope of one."""
    sigma, rates = select(flow, quantities.SIGMA), select(flow, quantities.FEATURES.rate)
    for index, colour in zip((1, 2), sequence(2), strict=True):
        for seed in range(lines):
            sigma_of_seed, rate_of_seed = (select(table, index=index, seed=seed)["value"] for table in (sigma, rates))
            label = rf"$\sigma_{index}$" if seed == 0 else None  # the legend has each singular value once
            axis.plot(sigma_of_seed, rate_of_seed.abs(), color=colour, lw=0.6, alpha=0.6, label=label, zorder=3 - index)
    sigma_range = np.array([sigma["value"].min(), sigma["value"].max()])
    axis.plot(sigma_range, sigma_range, zorder=3, label="slope 1", **EXPECTED)
    axis.set(xlabel=r"$\sigma_i$", ylabel=r"$|\dot\sigma_i|$", xlim=(0.7 * sigma_range[0], 1.5 * sigma_range[1]))
    axis.set_ylim(bottom=np.quantile(rates["value"].abs(), 0.002))  # a few rates are nearly zero
    axis.legend(loc="lower center", handlelength=1.2, labelspacing=0.2)


def dominant_class(starts: Table, early: Table, repeated: Table, *, classes: Count) -> Plot:
    r"""Growth rates at uniform predictions, against the size of the largest class and the number of classes.

    (a) shows relative growth rates $|\dot\sigma_i| / \sigma_i$ at random balanced starts with {classes} classes,
    against the size $N$ of the largest class. Small dots are single rates (the smallest are cut off). Their root mean
    square grows as $N$ to the power {power:.2f}; lines show powers one half and one. (b) shows the growth rate of
    $\sigma_1$ after a tiny start has aligned with the fastest direction (errata 1). With orthonormal inputs it grows as
    $\sqrt{N}$ (filled, solid). With one repeated context, whose $N$ examples share a row of $f$, it grows as $N$ (open,
    dashed). Solid lines are $\|A\|$, the spectral norm; dashed ones that of $A$ with each row times its class's size.
    (c) Circles are the relative error of dropping terms in $1/V$ from $g_i$ in $\dot\sigma_i = -g_i \sigma_i$ (eq. 21).
    Triangles are the same with the double sum replaced by the product of two sums. Squares are the largest relative
    shortfall of $\|A\|$ below $\sqrt{N}$, over all $N$.
    """
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.9))
    random_axis, aligned_axis, error_axis = axes
    class_count = min(classes, starts["classes"].max())
    power = _random_panel(random_axis, starts, class_count)
    _aligned_panel(aligned_axis, early, repeated)
    _dropped_terms_panel(error_axis, starts)
    for axis, table in ((random_axis, starts), (aligned_axis, early)):
        sizes = np.unique(table["largest"])
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.minorticks_off()
        axis.set_xlabel("largest class size $N$")
    spacing = {"handlelength": 1.4, "labelspacing": 0.2, "columnspacing": 0.8, "handletextpad": 0.4}
    for axis, corner, columns in (
        (random_axis, "upper left", 2),
        (aligned_axis, "upper left", 1),
        (error_axis, "upper right", 1),
    ):
        axis.legend(loc=corner, ncols=columns, fontsize=7.5, **spacing)
    letters((random_axis, aligned_axis, error_axis))
    alt = "Growth rates at random and at aligned starts against N, and errors of dropped terms against V."
    return Plot(figure, {"classes": class_count, "power": power}, alt)


def _random_panel(axis: Axes, starts: Table, class_count: int) -> float:
    """Plot relative growth rates at random starts, for one number of classes, over the size of the largest class.

    Return the power of the size as which their root mean square grows.
    """
    chosen = starts[starts["classes"] == class_count]
    rate = chosen["rate"].abs() / chosen["sigma"]
    axis.plot(chosen["largest"], rate, ".", ms=2.0, color=COLOURS["sky"], label="one rate")
    root_mean_square = np.sqrt((rate**2).groupby(chosen["largest"]).mean())
    sizes, first = root_mean_square.index.to_numpy(dtype=float), root_mean_square.iloc[0]
    axis.plot(sizes, root_mean_square, "o", ms=4, color=COLOURS["blue"], label="root mean square")
    axis.plot(sizes, first * sizes / sizes[0], color=COLOURS["vermilion"], ls=DASHED, label="$N$")
    axis.plot(sizes, first * np.sqrt(sizes / sizes[0]), color=COLOURS["black"], ls=DOTTED, label=r"$\sqrt{N}$")
    axis.set(yscale="log", ylabel=r"$|\dot\sigma_i| / \sigma_i$", title=f"random, $V = {class_count}$")
    axis.set_ylim(np.quantile(rate, 0.05), 6 * first * sizes[-1] / sizes[0])
    return slope(np.log(sizes), np.log(root_mean_square.to_numpy())).value


def _aligned_panel(axis: Axes, early: Table, repeated: Table) -> None:
    """Plot growth rates of aligned features over the size of the largest class, and what bounds them.

    The column ``fastest`` is the spectral norm of A, or of A with its rows multiplied by their class's size.
    """
    for table, name, line, is_filled in ((early, "orthonormal", "-", True), (repeated, "one context", "--", False)):
        end = table[table["time"] == table["time"].max()]
        for count, colour in zip(sorted(end["classes"].unique()), cycle((COLOURS["green"], COLOURS["purple"]))):
            medians = end[end["classes"] == count].groupby("largest")[["growth", "fastest"]].median()
            axis.plot(medians.index, medians["fastest"], color=colour, lw=1.0, ls=line)
            fill = colour if is_filled else "none"
            label = rf"$V = {count}$" if is_filled else None  # the legend has each colour once
            axis.plot(medians.index, medians["growth"], "o", ms=4.5, color=colour, mfc=fill, label=label)
        # the legend has each kind of start once, in grey
        grey = COLOURS["grey"]
        axis.plot([], [], "o", ls=line, lw=1.0, ms=4.5, color=grey, mfc=grey if is_filled else "none", label=name)
    axis.set_yscale("log", base=2)
    axis.set(ylabel=r"$\dot\sigma_1 / \sigma_1$", title="aligned")


def _dropped_terms_panel(axis: Axes, starts: Table) -> None:
    """Plot errors of g_i without terms in 1/V, and how far the norm of A is below sqrt(N), over V.

    The error of an approximation is the root of the sum of its squared errors over starts and i, over that of g_i.
    """
    gains = np.sqrt((starts["gain"] ** 2).groupby(starts["classes"]).sum())
    for column, line, colour, label in (
        ("gain_many_classes", "o-", "blue", "$g_i$, eq. 21"),
        ("gain_separate", "^-", "sky", "product of sums"),
    ):
        errors = np.sqrt(((starts[column] - starts["gain"]) ** 2).groupby(starts["classes"]).sum())
        axis.plot(gains.index, errors / gains, line, ms=4, lw=1.0, label=label, color=COLOURS[colour])
    # of all N at a V, the largest shortfall of the norm of A, relative to sqrt(N)
    shortfall = 1 - (starts["fastest"] / np.sqrt(starts["largest"])).groupby(starts["classes"]).min()
    axis.plot(
        shortfall.index, shortfall, "s-", ms=4, lw=1.0, color=COLOURS["orange"], label=r"$\|A\|$ below $\sqrt{N}$"
    )
    axis.plot(gains.index, 1 / np.sqrt(gains.index), lw=0.8, label=r"$1/\sqrt{V}$", color=COLOURS["black"], ls=DASHED)
    axis.set(xscale="log", yscale="log", xlabel="number of classes $V$")
    axis.set(ylabel="relative error or shortfall", title="terms in $1/V$", ylim=(None, 2e3))
