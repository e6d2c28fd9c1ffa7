"""How often starts come to the global optimum, and how often it was predicted where they come to."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.evidence import mean
from learning_dynamics.papers.tensor_networks.drawing import DOTTED, SCALE_LABEL, depth_colours, depth_handles, handle
from learning_dynamics.papers.tensor_networks.local_optima import quantities
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.tidy import Table, by_draw

# two predictions of the optimum that a start comes to: the line's style in (c), and its name in the legend
CHOICES = {
    quantities.OPTIMUM: ("-", "(c) greedy choice"),
    quantities.OPTIMUM_BY_WEIGHTED_L1: ("--", r"(c) least weighted $\ell_1$ norm"),
}


def global_optimum_share(starts: Table) -> Plot:
    r"""Which local optimum of the $\ell_{2/L}$ max-margin problem diagonal networks tend to, from starts of all scales.

    Diagonal networks of $L$ layers classify random points from {count} starts on each of {draws} data sets. (a) The
    share of starts that come to the global optimum, not to another or none, is highest at scales of order one; why is
    not known. Dotted lines, two of which nearly coincide, show the greedy choice's share, without any flow. This choice
    lets coordinates escape from zero one by one until all points are classified. (b) In the gain over the smallest
    scale, differences between data sets cancel, since all scales have the same starts. (c) Lines show the share of
    starts that come to the optimum predicted by the greedy choice (solid) or by a least $\ell_1$ norm (dashed). The
    weights of this norm are the thresholds of escape. Bars are 95 % intervals of means over data sets. Curves are
    shifted sideways.
    """
    scales, colours = np.unique(starts["scale"]), depth_colours(starts)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 3.0))
    for place, (depth, colour) in enumerate(colours.items()):
        shifted_scales = scales * 1.1 ** (place - (len(colours) - 1) / 2)
        # the number of each start's optimum at each scale, shape (data sets, starts); shares have shape (data sets,)
        reached = [by_draw(starts, quantities.OPTIMUM, depth=depth, scale=scale) for scale in scales]
        shares = [np.mean(optima == quantities.GLOBAL, axis=1) for optima in reached]
        _draw_means(left, shifted_scales, shares, colour)
        _draw_means(middle, shifted_scales[1:], [share - shares[0] for share in shares[1:]], colour)
        for choice, (style, _) in CHOICES.items():
            # predictions are the same at all scales: those at the first are read, shape (data sets, starts)
            predicted = by_draw(starts, choice, column="predicted", depth=depth, scale=scales[0])
            shares_as_predicted = [np.mean(optima == predicted, axis=1) for optima in reached]
            _draw_means(right, shifted_scales, shares_as_predicted, colour, style)
            if choice == quantities.OPTIMUM:
                left.axhline(float(np.mean(predicted == quantities.GLOBAL)), color=colour, ls=DOTTED, lw=0.9, zorder=0)
    middle.axhline(0.0, color=COLOURS["grey"], lw=0.8, zorder=0)
    left.set(title="global optimum", ylabel="share of starts")
    middle.set(title=rf"gain over $\alpha = {scales[0]:g}$", ylabel="difference of shares")
    right.set(title="predicted optimum", ylabel="share of starts")
    for axis in (left, middle, right):
        axis.set(xlabel=SCALE_LABEL, xscale="log", xlim=(scales[0] / 2, scales[-1] * 2))
    letters((left, middle, right))
    handles = [*depth_handles(colours), handle("(a) greedy choice", ls=DOTTED)]
    handles += [handle(label, ls=style) for style, label in CHOICES.values()]
    legend_below(figure, handles, 3)
    return Plot(
        figure,
        {"draws": starts["seed"].nunique(), "count": starts["start"].nunique()},
        alt="Left and middle: shares with intervals, highest at scales of order one for three layers and nearly flat "
        "for five. Right: solid curves that fall from one, and dashed ones that rise, as the initial scale grows.",
    )


def _draw_means(
    axis: Axes, scales: np.ndarray, by_data_set: Sequence[np.ndarray], colour: tuple, style: str = "-"
) -> None:
    """Draw means over data sets, with their intervals, against the scale.

    `by_data_set` has an array for each scale, shape (data sets,).
    """
    means = [mean(values) for values in by_data_set]
    values = [estimate.value for estimate in means]
    below = [estimate.value - estimate.lower for estimate in means]
    above = [estimate.upper - estimate.value for estimate in means]
    axis.errorbar(
        scales, values, yerr=(below, above), color=colour, ls=style, marker="o", ms=2.5, lw=1.1, elinewidth=0.9
    )
