"""The toy's features as they move in their plane, and what RankMe makes of them.

The film shows one seed. At the recorded times after the start the coordinates of its features are (times, examples),
with examples sorted by class, and each of its two ranks is (times,).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from learning_dynamics.papers.softmax_dynamics.panels import by_index, class_colours, learned_times, logarithmic_time
from learning_dynamics.papers.softmax_dynamics.phases.figures import POPULATION_NAMES, typical_seed
from learning_dynamics.papers.softmax_dynamics.phases.quantities import FEATURE
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.motion import FRAMES, MOVING, Motion
from learning_dynamics.tidy import Table, settings_of


def figure4(strongly: Table) -> Motion:
    r"""In motion: the features of each class, and RankMe over classes and over all examples.

    The film shows the second setting above, in frames even in $\ln t$. On the left the rows of $f$ leave the origin,
    with their paths so far, in the colours above. On the right is RankMe, centred, until then. At a vertical line a
    class is learned.
    """
    rows = strongly[strongly["seed"] == typical_seed(strongly)]
    counts = settings_of(strongly)["counts"]
    labels = np.repeat(np.arange(len(counts)), counts)
    after_start = rows[rows["time"] > 0]
    x, y = (by_index(after_start, coordinate) for coordinate in FEATURE)
    # over examples, then over classes; a rank has one number at each time, which `by_index` gives the index 0
    ranks = [by_index(after_start, name)[0].to_numpy() for name in POPULATION_NAMES]
    rank_of_examples, rank_of_classes = ranks
    times, x, y = x.index, x.to_numpy(), y.to_numpy()
    figure, (features_axis, rank_axis) = plt.subplots(1, 2, figsize=(MOVING, 2.4), width_ratios=[1, 1.1])
    reach = 1.08 * float(np.abs([x, y]).max())
    features_axis.axhline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    features_axis.axvline(0, color=COLOURS["grey"], lw=0.5, zorder=0)
    features_axis.set(
        xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[], title="features $f$"
    )
    features_axis.spines[:].set_visible(False)
    colours = class_colours(len(counts))
    tints = [colours[label] for label in labels]
    paths = [features_axis.plot([], [], color=tint, lw=1.0, alpha=0.55)[0] for tint in tints]
    points = [features_axis.plot([], [], "o", color=tint, ms=5)[0] for tint in tints]
    handles = [
        Line2D([], [], ls="", marker="o", ms=4, color=tint, label=f"{size}")
        for tint, size in zip(colours, counts, strict=True)
    ]
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.02), "handletextpad": 0.0, "columnspacing": 0.8}
    features_axis.legend(
        handles=handles, ncols=len(counts), title="examples of each class", title_fontsize=8.5, **below
    )
    for time, tint in zip(learned_times(rows), colours, strict=True):
        if np.isfinite(time):
            rank_axis.axvline(time, color=tint, lw=1.0, zorder=0)
    # a rank's curve, and a dot at its end
    rank_colours = [COLOURS["black"], COLOURS["vermilion"]]
    curves = [rank_axis.plot([], [], color=colour)[0] for colour in rank_colours]
    dots = [rank_axis.plot([], [], "o", color=colour, ms=5, clip_on=False)[0] for colour in rank_colours]
    logarithmic_time(rank_axis, rows)
    # Each curve has its name at the right edge, since a legend would cover lines. The name over classes is as high as
    # that curve's peak, from which it falls; the name over examples is below that curve's end, by 12 points (chosen),
    # which clear the line.
    over_examples, over_classes = POPULATION_NAMES.values()
    right = rank_axis.get_xlim()[1]
    name_of_curve = {"textcoords": "offset points", "ha": "right", "va": "top", "fontsize": 8}
    rank_axis.annotate(over_examples, (right, rank_of_examples[-1]), (0, -12), color=rank_colours[0], **name_of_curve)
    rank_axis.annotate(over_classes, (right, rank_of_classes.max()), (0, 4), color=rank_colours[1], **name_of_curve)
    rank_axis.set(
        ylim=(0.98, settings_of(strongly)["dimension"] + 0.06), xlabel="gradient-flow time $t$", title="RankMe"
    )

    def draw(frame: int) -> None:
        """Show the flow up to the recorded time of a frame."""
        now = round(frame * (len(times) - 1) / (FRAMES - 1))
        for index, (path, point) in enumerate(zip(paths, points, strict=True)):
            path.set_data(x[: now + 1, index], y[: now + 1, index])
            point.set_data([x[now, index]], [y[now, index]])
        for curve, dot, rank in zip(curves, dots, ranks, strict=True):
            curve.set_data(times[: now + 1], rank[: now + 1])
            dot.set_data([times[now]], [rank[now]])

    return Motion(
        figure,
        draw,
        seconds=4.5,
        facts={
            "highest_over_classes": rank_of_classes.max(),
            "last_over_classes": rank_of_classes[-1],
            "last_over_examples": rank_of_examples[-1],
        },
        alt="Points leave the origin of a plane. RankMe over classes is at most {highest_over_classes:.2f} and ends at "
        "{last_over_classes:.2f}, that over examples ends at {last_over_examples:.2f}.",
    )
