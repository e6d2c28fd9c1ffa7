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

from learning_dynamics.evidence import Estimate, slope
from learning_dynamics.papers.softmax_dynamics.flow_errors import at_each_time, difference_error
from learning_dynamics.papers.softmax_dynamics.invariants import quantities
from learning_dynamics.papers.softmax_dynamics.panels import DASHED, DOTTED, EXPECTED, GUIDE
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, select


def growth(flow: Table, starts: Table, *, members: Count, simple_gap: Positive) -> Plot:
    r"""How fast singular values change, against how large they are.

    (a) compares the rate of a singular value $\sigma_i$ of $f$ along gradient flow with $-g_i \sigma_i$ (Theorem B.3).
    The difference, relative to $|\dot f|$, is drawn against the relative gap of the spectrum. The gap, which counts
    that to zero, is at most one half. The dashed line is the rounding error of a rate measured by differences. Left of
    the dotted line the spectrum does not count as simple. (b) shows rates at random balanced starts of one scale, where
    singular values differ by chance. The black line has the fitted slope, {slope:.2f} (95 % interval {slope_lower:.2f}
    to {slope_upper:.2f}), the grey ones slopes 0 and 2. (c) shows rates along the flow against the singular value
    itself, a line for each of the first seeds. The dashed line has slope one; paths bend away from it because $g_i$
    changes. The rate is zero where a shrinking singular value turns to growth, and falls towards zero once classes are
    learned.
    """
    # the setting `members` is how many seeds are drawn as lines in (c)
    lines = members
    figure, (error_axis, start_axis, flow_axis) = plt.subplots(1, 3, figsize=(WIDTH, 2.8))
    _error_panel(error_axis, flow, simple_gap)
    fit = _start_panel(start_axis, starts)
    _flow_panel(flow_axis, flow, lines)
    for axis in (error_axis, start_axis, flow_axis):
        axis.set(xscale="log", yscale="log")
    for axis, title in ((error_axis, "Theorem B.3"), (start_axis, "random starts"), (flow_axis, "along the flow")):
        axis.set_title(title)
    letters((error_axis, start_axis, flow_axis))
    facts = {"slope": fit.value, "slope_lower": fit.lower, "slope_upper": fit.upper}
    alt = "Errors of the predicted product against the gap; rates against singular values at starts and along flows."
    return Plot(figure, facts, alt)


def _error_panel(axis: Axes, flow: Table, simple_gap: float) -> None:
    """Plot errors of the predicted rates of the two singular values along flows, relative to |df/dt|, over the gap.

    A point is one seed at one time.
    """
    rates = select(flow, quantities.FEATURES.rate)
    gap, speed = at_each_time(flow, quantities.GAP), at_each_time(flow, quantities.FEATURES.speed)
    for index, colour in zip((1, 2), sequence(2), strict=True):
        rows = rates[rates["index"] == index].set_index(["seed", "time"])
        error = ((rows["value"] - rows["predicted"]).abs() / speed).clip(lower=1e-17)  # the axis is logarithmic
        axis.plot(gap, error, ".", ms=1.5, color=colour, label=rf"$\sigma_{index}$", rasterized=True)
    gaps = np.geomspace(0.5 * simple_gap, 1.0, 50)
    axis.plot(gaps, difference_error(gaps), **EXPECTED)
    axis.axvline(simple_gap, color=COLOURS["grey"], lw=0.9, ls=":")
    axis.set(xlabel="relative gap of singular values", ylabel=r"error of $-g_i \sigma_i$", xlim=(0.5 * simple_gap, 1.2))
    axis.legend(loc="lower left", markerscale=5, handletextpad=0.0)


def _start_panel(axis: Axes, starts: Table) -> Estimate:
    """Plot rates at random starts over singular values, and lines of three slopes: 0, 2 and the fitted one.

    Return the fitted slope.
    """
    sigma, rate = starts["sigma"].to_numpy(), starts["rate"].abs().to_numpy()
    fit = slope(np.log(sigma), np.log(rate))
    # points are drawn for the first rows only; the slope is fitted to all
    axis.plot(sigma[:3000], rate[:3000], ".", ms=1.2, color=COLOURS["sky"], rasterized=True)
    # all three lines go through the geometric means of singular values and of rates
    mean_sigma, mean_rate = np.exp(np.log(sigma).mean()), np.exp(np.log(rate).mean())
    sigma_range = np.array([sigma.min(), sigma.max()])
    for exponent, style in ((0.0, GUIDE), (2.0, GUIDE), (fit.value, EXPECTED | {"ls": "-"})):
        axis.plot(sigma_range, mean_rate * (sigma_range / mean_sigma) ** exponent, **style)
    axis.set(xlabel=r"$\sigma_i$ at the start", ylabel=r"$|\dot\sigma_i|$ at the start")
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
    against the size $N$ of the largest class. Small dots are single rates, the smallest below the panel; large dots are
    their root mean square. Lines show growth as $\sqrt{N}$ and as $N$ from the first large dot. (b) shows the growth
    rate of $\sigma_1$ after a tiny start has aligned with the fastest direction. By errata 1 it grows as $\sqrt{N}$ for
    orthonormal inputs (filled, solid), and as $N$ where the $N$ examples repeat one context and share its row of $f$
    (open, dashed). Lines are the spectral norm of $A$, the loss's gradient by the logits; in the second case its rows
    are multiplied by their class's size. (c) Circles are the relative error of dropping terms in $1/V$ from $g_i$ in
    $\dot\sigma_i = -g_i \sigma_i$ (eq. 21). Triangles are the same with the two sums of eq. 21 taken apart. Squares are
    how far the spectral norm of $A$ is below $\sqrt{N}$, at the $N$ where it is furthest below. The dashed line is $1 /
    \sqrt{V}$.
    """
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.9))
    random_axis, aligned_axis, error_axis = axes
    class_count = min(classes, starts["classes"].max())
    _random_panel(random_axis, starts, class_count)
    _aligned_panel(aligned_axis, early, repeated)
    _dropped_terms_panel(error_axis, starts)
    for axis in (random_axis, aligned_axis):
        axis.set_xscale("log", base=2)
        axis.set_xlabel("largest class size $N$")
    spacing = {"handlelength": 1.4, "labelspacing": 0.2, "columnspacing": 0.8, "handletextpad": 0.4}
    for axis, corner, columns in (
        (random_axis, "upper left", 3),
        (aligned_axis, "upper left", 1),
        (error_axis, "upper right", 1),
    ):
        axis.legend(loc=corner, ncols=columns, fontsize=7.5, **spacing)
    letters((random_axis, aligned_axis, error_axis))
    alt = "Growth rates at random and at aligned starts against N, and errors of dropped terms against V."
    return Plot(figure, {"classes": class_count}, alt)


def _random_panel(axis: Axes, starts: Table, class_count: int) -> None:
    """Plot relative growth rates at random starts, for one number of classes, over the size of the largest class."""
    chosen = starts[starts["classes"] == class_count]
    rate = chosen["rate"].abs() / chosen["sigma"]
    axis.plot(chosen["largest"], rate, ".", ms=2.0, color=COLOURS["sky"])
    root_mean_square = np.sqrt((rate**2).groupby(chosen["largest"]).mean())
    sizes, first = root_mean_square.index.to_numpy(dtype=float), root_mean_square.iloc[0]
    axis.plot(sizes, root_mean_square, "o", ms=4, color=COLOURS["blue"], label="starts")
    axis.plot(sizes, first * sizes / sizes[0], color=COLOURS["vermilion"], ls=DASHED, label="$N$")
    axis.plot(sizes, first * np.sqrt(sizes / sizes[0]), color=COLOURS["black"], ls=DOTTED, label=r"$\sqrt{N}$")
    axis.set(yscale="log", ylabel=r"$|\dot\sigma_i| / \sigma_i$", title=f"random start,\n$V = {class_count}$")
    axis.set_ylim(np.quantile(rate, 0.05), 6 * first * sizes[-1] / sizes[0])


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
        # the name is next to the middle one of the last curve's markers
        size = medians.index[len(medians) // 2]
        axis.annotate(name, (size, medians["growth"][size]), (6, -14), textcoords="offset points", fontsize=8)
    axis.set_yscale("log", base=2)
    axis.set(ylabel=r"$\dot\sigma_1 / \sigma_1$", title="aligned start")


def _dropped_terms_panel(axis: Axes, starts: Table) -> None:
    """Plot errors of g_i without terms in 1/V, and how far the norm of A is below sqrt(N), over V.

    The error of an approximation is the root of the sum of its squared errors over starts and i, over that of g_i.
    """
    gains = np.sqrt((starts["gain"] ** 2).groupby(starts["classes"]).sum())
    for column, line, colour, label in (
        ("gain_many_classes", "o-", "blue", "$g_i$, eq. 21"),
        ("gain_separate", "^-", "sky", "sums apart"),
    ):
        errors = np.sqrt(((starts[column] - starts["gain"]) ** 2).groupby(starts["classes"]).sum())
        axis.plot(gains.index, errors / gains, line, ms=4, lw=1.0, label=label, color=COLOURS[colour])
    # of all N at a V, the largest shortfall of the norm of A, relative to sqrt(N)
    shortfall = 1 - (starts["fastest"] / np.sqrt(starts["largest"])).groupby(starts["classes"]).min()
    axis.plot(
        shortfall.index, shortfall, "s-", ms=4, lw=1.0, color=COLOURS["orange"], label=r"$\|A\|$ below $\sqrt{N}$"
    )
    axis.plot(gains.index, 1 / np.sqrt(gains.index), lw=0.8, label=r"$1/\sqrt{V}$", color=COLOURS["black"], ls=DASHED)
    axis.set(xscale="log", yscale="log", xlabel="number of classes $V$", ylabel="relative error")
    axis.set(title="terms in $1/V$\ndropped", ylim=(None, 2e3))
