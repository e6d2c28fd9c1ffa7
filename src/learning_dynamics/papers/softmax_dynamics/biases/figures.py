"""Biases, alignment and separation over time and by initial scale; times of learning from ever smaller starts.

f are the features, a row for each example, and W is the classifier, a column for each class. sigma_1 and sigma_2 are
the two largest singular values of f. A class is learned when its probability, the mean over its examples, passes one
half for good. A grid is a run whose members are flows from every combination of class sizes, kind of start, scale and
draw; in a run of one combination a seed is one draw. A is the derivative of the loss by the logits.
"""

from collections.abc import Callable, Sequence
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.evidence import Estimate, mean, median
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import (
    first_two,
    narrowest,
    pairs_in_order,
    share_of,
    slopes_by_scale,
    times_by_scale,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.grids import (
    AFTER_RARE,
    ALIGNMENT,
    DURING_WARM_UP,
    LEARNING_TIME,
    SEPARATION_F,
    SEPARATION_W,
    WHILE_RARE,
    Grid,
    Moment,
)
from learning_dynamics.papers.softmax_dynamics.panels import (
    EXPECTED,
    GUIDE,
    bars,
    class_colours,
    in_per_cent,
    learned_times,
    line,
    logarithmic_time,
    quartiles,
    span,
)
from learning_dynamics.papers.softmax_dynamics.phases.quantities import PROBABILITY, RATE, SIGMA
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, select, settings_of


def biases(skewed: Table) -> Plot:
    r"""What is learned when, and in which directions: medians over {draws} seeds, and bands of the middle half.

    Gradient flow trains skewed classes ({sizes}) in two dimensions from Gaussian starts. (a) shows the probability of
    its own class, for the examples of each class. By primacy bias the frequent class comes first; curves of equal
    classes may coincide. (b) shows on the left axis the alignment of the leading eigenvectors of $f^T f$ and $W W^T$.
    The right axis is how far the most frequent class's features and weights are from the others', in units of the
    spread within both groups. (c) shows selection bias: the share of seeds in which the singular value $\sigma_1$ grows
    faster than $\sigma_2$, by rate (blue) and by relative rate (dark orange). The dashed line is one half. (d) shows
    the ratio and difference of the singular values. Dotted lines are median times at which the first class and the last
    are learned.
    """
    figure, ((probability_axis, alignment_axis), (share_axis, values_axis)) = plt.subplots(
        2, 2, figsize=(WIDTH, 5.0), sharex=True
    )
    counts = settings_of(skewed)["counts"]

    # (a) probabilities
    for index, (size, colour) in enumerate(zip(counts, class_colours(len(counts)), strict=True), start=1):
        line(probability_axis, select(skewed, PROBABILITY, index=index), colour, f"class {index} ({size})")
    probability_axis.set(ylabel="probability of its own class", ylim=(0, 1.05))

    # (b) alignment and separation
    line(alignment_axis, select(skewed, ALIGNMENT), COLOURS["black"], "alignment (left)")
    alignment_axis.set(ylabel=r"$|\cos|$ of leading eigenvectors", ylim=(0, 1.05))
    separation_axis = alignment_axis.twinx()  # the right axis
    separation_axis.spines["right"].set_visible(True)
    line(separation_axis, select(skewed, SEPARATION_F), COLOURS["blue"], "features apart")
    line(separation_axis, select(skewed, SEPARATION_W), COLOURS["orange"], "weights apart")
    separation_axis.set(yscale="log", ylabel="distance of classes / spread")
    lines = [*alignment_axis.lines, *separation_axis.lines]
    alignment_axis.legend(
        lines, [curve.get_label() for curve in lines], loc="upper right", bbox_to_anchor=(1.0, 0.94), fontsize=7.5
    )

    # (c) which singular value grows faster: tables with a row for each seed and time, and the columns 1 and 2 for
    # sigma_1 and sigma_2
    sigma, rate = first_two(skewed, SIGMA), first_two(skewed, RATE)
    for grows_faster, colour, label in (
        (rate[1] > rate[2], "blue", r"$\dot\sigma_1 > \dot\sigma_2$"),
        (rate[1] / sigma[1] > rate[2] / sigma[2], "vermilion", r"$\dot\sigma_1 / \sigma_1 > \dot\sigma_2 / \sigma_2$"),
    ):
        shares = grows_faster.groupby("time").mean()
        shares = shares[shares.index > 0]  # the axis is logarithmic
        share_axis.plot(shares.index, shares, color=COLOURS[colour], label=label)
    share_axis.axhline(0.5, **GUIDE)
    share_axis.set(ylabel="share of seeds", ylim=(-0.02, 1.05))
    in_per_cent(share_axis.yaxis)

    # (d) singular values
    for comparison, colour, label in (
        (sigma[1] / sigma[2], "vermilion", r"$\sigma_1 / \sigma_2$"),
        (sigma[1] - sigma[2], "blue", r"$\sigma_1 - \sigma_2$"),
    ):
        rows = comparison.rename("value").reset_index()  # with columns seed, time and value
        line(values_axis, rows, COLOURS[colour], label)
    values_axis.set(ylabel="singular values of $f$", yscale="log")

    # medians over seeds of when the first class and the last are learned
    times = np.array([learned_times(rows) for _, rows in skewed.groupby("seed")])  # shape (seeds, classes)
    first_learned, last_learned = np.median(times.min(axis=1)), np.median(times.max(axis=1))
    for axis in (probability_axis, alignment_axis, share_axis, values_axis):
        for time in (first_learned, last_learned):
            axis.axvline(time, color=COLOURS["grey"], lw=0.9, ls=":", zorder=0)
        logarithmic_time(axis, skewed)
    for axis in (share_axis, values_axis):
        axis.set_xlabel("gradient-flow time $t$")
    for axis, corner in ((probability_axis, "lower right"), (share_axis, "lower right"), (values_axis, "upper right")):
        axis.legend(loc=corner, fontsize=8, handlelength=1.4, labelspacing=0.2)
    for axis, title in (
        (probability_axis, "primacy"),
        (alignment_axis, "alignment and separation"),
        (share_axis, "selection"),
        (values_axis, "singular values"),
    ):
        axis.set_title(title)
    letters((probability_axis, alignment_axis, share_axis, values_axis))
    facts = {"sizes": ", ".join(map(str, counts)), "draws": skewed["seed"].nunique()}
    alt = "Curves over time of what is learned, of alignment, and of which singular value grows faster."
    return Plot(figure, facts, alt)


def by_scale(grid: Table, *, cosine: Fraction) -> Plot:
    r"""Biases, alignment and separation, by initial scale.

    Gradient flow trains classes of several skews in two dimensions under cross-entropy, from balanced and Gaussian
    starts, with {draws} draws of each scale. Bars are 95 % intervals. (a) shows the share of pairs of classes of
    different size that are learned in the order of size (mean over draws). The orange line is the share of draws in
    which the most frequent class comes first. (b) shows the share of Gaussian draws whose leading eigenvectors of $f^T
    f$ and $W W^T$ agree to $|\cos|$ {cosine:g} or more. They are compared at the start and when the first class is
    learned. (c) shows how far the most frequent class has moved apart from the others when the first class is learned,
    relative to the start (medians). A scale at which a class is often learned from the start shows little change in (b)
    and (c). (d) shows the share of draws in which $\sigma_1$ of all examples grows by more than $\sigma_2$, and in
    which their ratio falls. Circles are for the learning of the rarest classes, squares for afterwards. Dashed lines
    show pairs in a random order in (a), random directions in (b), no change in (c) and one half in (d).
    """
    skewed = Grid(grid, skewed=True)
    scale, sizes = skewed.scale, skewed.class_sizes
    scales = np.unique(scale)
    figure, ((order_axis, alignment_axis), (separation_axis, growth_axis)) = plt.subplots(
        2, 2, figsize=(WIDTH, 4.8), sharex=True
    )

    def plot_by_scale(
        axis: Axes,
        estimate: Callable[[np.ndarray], Estimate],
        numbers: np.ndarray,
        colour: str,
        label: str,
        marker: str = "o",
        shift: float = 1.0,
    ) -> None:
        """Plot an estimate at each scale from the numbers of the draws that start at it.

        `numbers` has the shape (members,). Draws with nan, as of a failed flow, are left out. Scales are multiplied by
        `shift`, which keeps the markers of several estimates apart.
        """
        spans = [span(estimate(numbers[(scale == one_scale) & ~np.isnan(numbers)])) for one_scale in scales]
        bars(axis, scales * shift, spans, fmt=f"{marker}-", ms=4, lw=1.1, color=COLOURS[colour], label=label)

    # (a) the order of learning
    times = skewed.learning_times()  # shape (draws, classes), the most frequent class first
    plot_by_scale(order_axis, mean, pairs_in_order(times, sizes), "blue", "pairs in order")
    # 1 or 0; nan if any of the times is. `unless_nan` takes them class by class.
    most_frequent_first = unless_nan(times[:, 0] < times[:, 1:].min(axis=1), *times.T)
    plot_by_scale(order_axis, share_of, most_frequent_first, "orange", "most frequent first", shift=1.1)
    order_axis.axhline(0.5, **GUIDE)
    order_axis.set(ylabel="share of pairs or draws", title="primacy bias")

    # (b) alignment
    is_gaussian = skewed.members["init"] == "gaussian"
    for moment, colour, label in (
        (Moment.START, "orange", "at the start"),
        (Moment.FIRST_LEARNED, "blue", "first class learned"),
    ):
        alignment = skewed.at(moment, ALIGNMENT)
        is_aligned = unless_nan(alignment >= cosine, alignment)
        # balanced starts are left out, as nan: they are aligned from the start
        plot_by_scale(alignment_axis, share_of, np.where(is_gaussian, is_aligned, np.nan), colour, label)
    # the angle between two random lines in the plane is uniform between 0 and a right angle: this is the share with
    # |cos| of `cosine` or more
    alignment_axis.axhline(np.arccos(cosine) / (np.pi / 2), **GUIDE)
    alignment_axis.set(ylabel="share of draws", title="alignment")

    # (c) separation
    for quantity, colour, label in ((SEPARATION_F, "blue", "features"), (SEPARATION_W, "orange", "weights")):
        before, after = (skewed.at(moment, quantity) for moment in DURING_WARM_UP)
        plot_by_scale(separation_axis, median, after / before, colour, label)
    separation_axis.axhline(1.0, **GUIDE)
    separation_axis.set(yscale="log", ylabel="separation / that at the start", title="the most frequent class apart")

    # (d) growth of singular values
    spectrum = SPECTRA["examples"]
    for window, marker, shift, labels in (
        (WHILE_RARE, "o", 1.0, (r"$\sigma_1$ grows more", "ratio falls")),
        (AFTER_RARE, "s", 1.15, ("", "")),  # the title says which marker is which
    ):
        growth_1, growth_2 = (skewed.change(window, sigma) for sigma in (spectrum.sigma_1, spectrum.sigma_2))
        ratio_before, ratio_after = (
            skewed.at(moment, spectrum.sigma_1) / skewed.at(moment, spectrum.sigma_2) for moment in window
        )
        grows_more = unless_nan(growth_1 > growth_2, growth_1, growth_2)
        ratio_falls = unless_nan(ratio_after < ratio_before, ratio_before, ratio_after)
        for holds, colour, label in zip((grows_more, ratio_falls), ("blue", "vermilion"), labels, strict=True):
            plot_by_scale(growth_axis, share_of, holds, colour, label, marker, shift)
    growth_axis.axhline(0.5, **GUIDE)
    growth_axis.set(ylabel="share of draws", title="as rare classes are learned ●, after ■")

    for axis in (order_axis, alignment_axis, growth_axis):
        axis.set_ylim(-0.03, 1.05)
        in_per_cent(axis.yaxis)
    for axis in (order_axis, alignment_axis, separation_axis, growth_axis):
        axis.set_xscale("log")
        axis.legend(loc="center left" if axis is alignment_axis else "best", fontsize=7.5, handlelength=1.2)
    letters((order_axis, alignment_axis, separation_axis, growth_axis))
    for axis in (separation_axis, growth_axis):
        axis.set_xlabel("initial scale")
    alt = (
        "Shares and factors with intervals against the initial scale: order of learning, alignment, separation, growth."
    )
    return Plot(figure, {"cosine": cosine, "draws": np.count_nonzero(scale == scales[0])}, alt)


def learning_times(flows: Sequence[Table]) -> Plot:
    r"""When each class is learned, from ever smaller starts.

    Gradient flow trains features from {seeds} Gaussian starts of each scale $s$. The examples of a class share one row
    of features; $A$ has a row for each example. (a) shows class sizes {sizes} in two dimensions. Markers and bars are
    the median and middle half of the time at which a class's probability passes one half. Solid lines have our rule's
    slopes, through the markers of the smallest start (rightmost). By the rule classes are learned in pairs, the two
    most frequent first. With $\lambda_k$ the $k$-th singular value of $A$ at uniform predictions, the first pair's
    slope is $1/\lambda_1$. The second's is $1/\lambda_1+(1-\lambda_2/\lambda_1)/\lambda'$, where $\lambda'$ is the
    largest singular value of $A$ without the first pair's rows. Dotted: the rival prediction, by which class $k$ has
    the slope $1/\lambda_k$ from the origin. With {class_count} classes there are {value_count} $\lambda_k$, and the two
    rarest share the last. (b) Each mark is the slope of one class between the two smallest starts (median over seeds
    and dimensions), against the rule's slope. Triangles are the third pair of {most_classes} classes; the rule is meant
    for two pairs. Crosses are the same slopes against the rival's.
    """
    figure, (time_axis, slope_axis) = plt.subplots(1, 2, figsize=(WIDTH, 3.1))
    # `flows` are a table of four classes, then one of six; panel (a) has the rows of the first with the fewest
    # dimensions
    narrow = narrowest(flows[0])
    all_counts = narrow["counts"].unique()
    counts = str(all_counts[len(all_counts) // 2])  # one of the class sizes is shown: the one in the middle of the list
    _time_panel(time_axis, narrow[narrow["counts"] == counts], sizes_of(counts))
    _slope_panel(slope_axis, slopes_by_scale(times_by_scale(flows)))
    time_axis.set_title("times")
    slope_axis.set_title("slopes")
    letters((time_axis, slope_axis))
    handles = [
        Line2D([], [], color=COLOURS["black"], lw=1.0, label="(a) rule's slope"),
        Line2D([], [], color=COLOURS["black"], lw=1.2, ls=(0, (1, 3)), label="(a) rival"),
        Line2D([], [], color=COLOURS["grey"], ls="", marker="x", ms=4, label="(b) against the rival's slope"),
        Line2D([], [], label="(b) equal slopes", **EXPECTED),
    ]
    legend_below(figure, handles, columns=4)
    class_count = len(sizes_of(counts))
    facts = {
        "seeds": settings_of(flows[0])["seeds"],
        "sizes": counts.replace("-", ", "),
        "class_count": class_count,
        "most_classes": max(len(sizes_of(str(counts))) for table in flows for counts in table["counts"].unique()),
        "value_count": class_count - 1,  # singular values that are not zero: each row of A sums to zero
    }
    alt = "Times of learning against ln(1/s), on lines of predicted slopes; slopes of two pairs on the diagonal."
    return Plot(figure, facts, alt)


def _time_panel(axis: Axes, table: Table, sizes: list[int]) -> None:
    """Plot when classes of the given sizes are learned, over log(1 / scale), and lines of predicted slopes."""
    domain = np.array([0.0, 1.08 * np.log(1 / table["scale"].min())])
    # predicted times in units of log(1 / scale): the slopes of flow times on log(1 / scale)
    predicted_slopes, slopes_one_by_one = theory.pair_times(sizes), theory.times_one_by_one(sizes)
    for k, (size, colour, marker) in enumerate(zip(sizes, class_colours(len(sizes)), cycle("os^D"))):
        times = select(table, LEARNING_TIME, index=k + 1).groupby("scale")["value"]
        quartiles_by_scale = quartiles(times)  # lower quartile, median and upper quartile, from the smallest scale on
        scales = np.array(list(times.groups))
        log_inverse_scales = np.log(1 / scales)
        # the two classes of a pair are learned together: the first has filled markers, the second larger open ones,
        # which leave it visible
        fill, size_of_marker = ("none", 6.5) if k % 2 else (colour, 3.5)
        bars(
            axis,
            log_inverse_scales,
            quartiles_by_scale,
            fmt=marker,
            ms=size_of_marker,
            lw=1,
            color=colour,
            zorder=3,
            mfc=fill,
            label=f"class {k + 1} ({size})",
        )
        # through the median at the smallest scale, whose quartiles come first
        line_at_domain = quartiles_by_scale[0, 1] + predicted_slopes[k] * (domain - log_inverse_scales[0])
        axis.plot(domain, line_at_domain, color=colour, lw=1.0)
        # of two classes that share a line, the dots of one are between those of the other
        axis.plot(domain, slopes_one_by_one[k] * domain, color=colour, lw=1.2, ls=(2 * (k % 2), (1, 3)))
    axis.set(xlabel=r"$\ln(1 / s)$", ylabel="time of learning", xlim=domain)
    axis.set_ylim(0, 1.15 * max(table["value"].max(), slopes_one_by_one.max() * domain[1]))
    axis.legend(loc="upper left", fontsize=8, handletextpad=0.2)


def _slope_panel(axis: Axes, slopes: pd.DataFrame) -> None:
    """Plot measured slopes of learning times on log(1 / scale) against two predictions.

    They are the rule of pairs and, as crosses, one singular value for each class. `slopes` is as `slopes_by_scale`
    returns it: a column for each class, and a row for each draw, indexed by counts, dimension and seed.
    """
    # label, marker and colour of each pair of classes
    pairs = (("first pair", "o", "black"), ("second pair", "s", "sky"), ("third pair", "^", "vermilion"))
    for counts, draws in slopes.groupby("counts"):
        sizes = sizes_of(str(counts))
        # Medians over dimensions and seeds, by class. `slopes` has as many columns as the table with the most classes:
        # those beyond the classes of these sizes are left out.
        measured, predicted = draws.median().to_numpy()[: len(sizes)], theory.pair_times(sizes)
        axis.plot(theory.times_one_by_one(sizes), measured, "x", ms=4, color=COLOURS["grey"])
        for start, (label, marker, colour) in zip(range(0, len(predicted), 2), pairs, strict=False):
            pair = slice(start, start + 2)
            axis.plot(predicted[pair], measured[pair], marker, ms=5, color=COLOURS[colour], mfc="none", label=label)
    highest = 1.1 * float(slopes.groupby("counts").median().max(axis=None))
    right = max(highest, 1.03 * axis.dataLim.xmax)  # crosses can be farther right than the highest slope
    axis.plot([0, right], [0, right], zorder=0, **EXPECTED)
    axis.set(xlabel="slope of the rule or the rival", ylabel="measured slope", xlim=(0, right), ylim=(0, highest))
    # every size of classes has plotted the pairs: the legend has each label once
    handles_by_label = {label: handle for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    axis.legend(handles_by_label.values(), handles_by_label.keys(), loc="upper left", fontsize=8, handletextpad=0.2)
