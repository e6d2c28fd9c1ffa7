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

CHOICES = {
    quantities.OPTIMUM: ("-", "(c) greedy choice"),
    quantities.OPTIMUM_BY_WEIGHTED_L1: ("--", r"(c) least weighted $\ell_1$ norm"),
}


def global_optimum_share(starts: Table) -> Plot:
    r"""Which local optimum of the $\ell_{2/L}$ max-margin problem diagonal networks tend to, from starts of all scales.

    (a) The share of starts that come to the global optimum, of {count} starts on each of {draws} data sets. Starts that
    come to no optimum count as not there. Dotted: the share of the greedy choice, which the claim of this name
    describes, without any flow. (b) The same share less that at the smallest scale. Starts are the same at all scales,
    so that differences between data sets cancel. (c) The share of starts that come to the predicted optimum. Solid:
    predicted by the greedy choice. Dashed: by the least $\ell_1$ norm with the claim's $c_j$ as weights. Intervals are
    of means over data sets, by Student's t. Curves are shifted sideways a little to keep them apart.
    """
    scales, colours = np.unique(starts["scale"]), depth_colours(starts)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 3.0))
    for place, (depth, colour) in enumerate(colours.items()):
        at = scales * 1.1 ** (place - (len(colours) - 1) / 2)
        numbers = [by_draw(starts, quantities.OPTIMUM, depth=depth, scale=scale) for scale in scales]
        shares = [np.mean(optimum_numbers == quantities.GLOBAL, axis=1) for optimum_numbers in numbers]
        _draw_means(left, at, shares, colour)
        _draw_means(middle, at[1:], [share - shares[0] for share in shares[1:]], colour)
        for choice, (style, _) in CHOICES.items():
            predicted = by_draw(starts, choice, column="predicted", depth=depth, scale=scales[0])
            _draw_means(
                right, at, [np.mean(optimum_numbers == predicted, axis=1) for optimum_numbers in numbers], colour, style
            )
            if choice == quantities.OPTIMUM:
                left.axhline(float(np.mean(predicted == quantities.GLOBAL)), color=colour, ls=DOTTED, lw=0.9, zorder=0)
    middle.axhline(0.0, color=COLOURS["grey"], lw=0.8, zorder=0)
    for axis, title, label in (
        (left, "global optimum", "share of starts"),
        (middle, rf"gain over $\alpha = {scales[0]:g}$", "difference of shares"),
        (right, "predicted optimum", "share of starts"),
    ):
        axis.set(title=title, ylabel=label, xlabel=SCALE_LABEL, xscale="log", xlim=(scales[0] / 2, scales[-1] * 2))
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
    """Draw means over data sets against the scale, with their intervals."""
    means = [mean(values) for values in by_data_set]
    ends = np.array([[estimate.value - estimate.lower, estimate.upper - estimate.value] for estimate in means])
    values = [estimate.value for estimate in means]
    axis.errorbar(scales, values, yerr=ends.T, color=colour, ls=style, marker="o", ms=2.5, lw=1.1, elinewidth=0.9)
