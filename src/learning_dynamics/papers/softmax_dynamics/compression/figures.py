"""The search for the third phase, as a map with intervals.

A map is the table of a run over variants of training, class sizes, dimensions, scales and draws; `seed` numbers the
draws. `measure` names a rank, `threshold` is the least fall that counts, and `within` is the quantity of the fall, at
any time or in a window of learning. V is the number of classes, d that of dimensions.
"""

from typing import Any, Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics.cases import CASES, Within, map_draws
from learning_dynamics.papers.softmax_dynamics.draws import share_of
from learning_dynamics.papers.softmax_dynamics.panels import (
    GUIDE,
    QUARTILES,
    bars,
    in_per_cent,
    share_bar,
    share_map,
    span,
)
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, shared_legend
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, settings_of

# by the names of the cases in `cases.CASES`
CASE_COLOURS = {"treated": "blue", "equal": "orange", "wide": "green"}


def compression_map(
    skews: Table,
    classes: Table,
    *,
    measure: Literal["rankme_centred", "rankme"],
    threshold: Positive,
    within: Within,
) -> Plot:
    r"""A search for compression: share of seeds whose rank, after a rise, falls while the rarest classes are learned.

    Training is full-batch gradient descent. The rank is over all examples, and a fall counts if it is {threshold:g} or
    more while the rarest classes are learned. No claim is judged by this search. Rows are class sizes; of equal classes
    all are rarest. Columns are initial scales and dimensions $d$. (a) has four classes, {seeds} seeds a cell. (b) has
    $V$ classes, {seeds_of_more_classes} seeds a cell. Cells give the share in per cent with its 95 % Wilson interval.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.8), width_ratios=[3.4, 1.0])
    for axis, table, title in ((left, skews, "four classes"), (right, classes, "more classes")):
        _draw_map(axis, _draws_in_map(table, within, measure, threshold))
        axis.set_title(title)
    letters((left, right))
    figure.supxlabel("initial scale and dimension", fontsize=9.5)
    share_bar(figure, [left, right], "share of seeds that compress", aspect=20, pad=0.01)
    left.set_ylabel("class sizes")
    facts = {
        "threshold": threshold,
        "seeds": settings_of(skews)["seeds"],
        "seeds_of_more_classes": settings_of(classes)["seeds"],
    }
    return Plot(figure, facts, "Shares of seeds that compress, by class sizes, dimension and scale.")


def compression_by_training(
    variants: Table,
    *,
    measure: Literal["rankme_centred", "rankme"],
    threshold: Positive,
    within: Within,
) -> Plot:
    r"""The search for compression continued: training changed in one respect at a time.

    Falls count as in the first part of the search. The first of {trainings} rows is plain gradient descent; the others
    change one thing, with {seeds} seeds at each of {scales} initial scales. Inputs are orthonormal, but in the last
    rows correlated by the given number, between all examples (shared) or within classes (by class). Blue is the paper's
    case, with skew and bottleneck; orange has no skew, green no bottleneck. (a) shows the share of seeds that compress,
    with 95 % intervals. (b) shows the deepest fall of the seeds that compress, median and middle half; a case without
    such seeds has no marker. (c) shows the rank's net change while the rarest classes are learned, of all seeds, median
    and middle half. Dashed lines are one half in (a) and no change in (c).
    """
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 4.8), sharey=True, width_ratios=[1.5, 1.0, 1.0])
    share_axis, depth_axis, net_axis = panels
    # pairs of what is changed and to what, each once, in the order of the table: the rows of the panels
    trainings = list(dict.fromkeys(zip(variants["variant"], variants["amount"], strict=True)))
    for shift, case in zip((-0.22, 0.0, 0.22), CASES, strict=True):
        depths = map_draws(variants, within, measure, threshold, case=case)
        net_changes = map_draws(variants, falls.NET, measure, 0.0, case=case)
        style: dict[str, Any] = {"fmt": "o", "ms": 3, "lw": 1, "color": COLOURS[CASE_COLOURS[case]]}
        for place, (variant, amount) in enumerate(trainings):
            depth, net = (
                table[(table["variant"] == variant) & (table["amount"] == amount)]["value"]
                for table in (depths, net_changes)
            )
            has_fallen = depth >= threshold  # False for a training that diverged, whose depth is nan
            # the legend has each case once
            label = CASES[case].format(least=variants["dimension"].min()) if place == 0 else None
            for axis, interval in (
                (share_axis, span(share_of(has_fallen))),
                (depth_axis, depth[has_fallen].quantile(QUARTILES)),
                (net_axis, net.quantile(QUARTILES)),
            ):
                bars(axis, [place + shift], [interval], horizontal=True, label=label, **style)
    share_axis.set_yticks(range(len(trainings)), [f"{name} {amount:g}" for name, amount in trainings], fontsize=8)
    share_axis.invert_yaxis()
    share_axis.axvline(0.5, **GUIDE)
    share_axis.set(xlim=(-0.02, None), xlabel="share of seeds that compress", title="seeds that compress")
    in_per_cent(share_axis.xaxis)
    shared_legend(figure, [share_axis], handletextpad=0.1)
    depth_axis.set(xlabel="deepest fall of the rank", xlim=(0, None), title="deepest fall")
    net_axis.axvline(0.0, **GUIDE)
    net_axis.set(xlabel="net change of the rank", title="net change")
    letters(panels)
    facts = {
        "trainings": len(trainings),
        "seeds": settings_of(variants)["seeds"],
        "scales": variants["scale"].nunique(),
    }
    return Plot(
        figure, facts, "Shares of seeds that compress, and changes of the rank, for {trainings} ways of training."
    )


def _draws_in_map(table: Table, within: str, measure: str, threshold: float) -> pd.DataFrame:
    """Return the draws of a map, a row each.

    Added columns: fallen, whether the draw's fall is `threshold` or more; and row and column, labels that give its
    place in the map: the row names class sizes, the column scale and dimension.
    """
    rows = map_draws(table, within, measure, threshold)
    column = [
        f"{scale:g}\n$d = {dimension}$" for dimension, scale in zip(rows["dimension"], rows["scale"], strict=True)
    ]
    return rows.assign(fallen=rows["value"] >= threshold, row=rows["counts"].map(_sizes_label), column=column)


def _draw_map(axis: Axes, draws: pd.DataFrame) -> None:
    """Draw a map of shares with their intervals: rows are class sizes, columns dimensions and scales."""
    # `share_map` takes mappings from values to labels; here the values are labels, each once, in the order of the map
    rows = {label: label for label in draws["row"]}
    columns = {label: label for label in draws.sort_values(["dimension", "scale"])["column"]}
    share_map(axis, draws, "fallen", rows=rows, columns=columns, by=("row", "column"))
    axis.tick_params("y", labelsize=8)


def _sizes_label(counts: str) -> str:
    """Return the label of class sizes: the sizes, or for more than four their number, the largest and the smallest."""
    sizes = counts.split("-")
    if len(sizes) <= 4:
        return " ".join(sizes)
    are_equal = len(set(sizes)) == 1
    range_of_sizes = f"all {sizes[0]}" if are_equal else f"{sizes[0]} … {sizes[-1]}"
    return f"$V = {len(sizes)}$\n{range_of_sizes}"


def adamw(decays: Table, *, threshold: Positive) -> Plot:
    r"""Under AdamW: share of seeds whose rank falls while the rarest classes are learned, against the weight decay.

    Training is Adam at rate {rate:g} with decoupled decay, in full batches. RankMe, centred, is over all examples in
    (a) and over the means of classes in (b). Skewed classes have sizes {sizes}. Bars are 95 % Wilson intervals, {seeds}
    seeds a point. A fall counts if it follows a rise since the warm-up's trough, and if its part while the rarest
    classes are learned is {threshold:g} or more.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.9), sharey=True)
    titles = {"rankme_centred": "over all examples", "class_rankme_centred": "over class means"}
    for axis, (measure, title) in zip(axes, titles.items(), strict=True):
        rows = map_draws(decays, falls.FALL_RARE, measure, threshold)
        for (dimension, skewed), cell in rows.groupby(["dimension", "skewed"]):
            fallen_by_decay = (cell["value"] >= threshold).groupby(cell["amount"])
            colour = COLOURS[{2: "blue", 3: "orange"}.get(dimension, "green")]
            spans = [span(share_of(fallen)) for _, fallen in fallen_by_decay]
            label = f"{'skewed' if skewed else 'equal'}, $d = {dimension}$"
            line, face = ("o-", colour) if skewed else ("o--", "none")
            bars(axis, list(fallen_by_decay.groups), spans, fmt=line, ms=4, lw=1.0, color=colour, mfc=face, label=label)
        axis.set(xlabel="weight decay", title=title, ylim=(-0.03, 1.03))
    letters(axes)
    axes[0].set_ylabel("share of seeds that fall")
    in_per_cent(axes[0].yaxis)
    axes[1].legend(loc="upper left", fontsize=8)
    settings = settings_of(decays)
    skewed_sizes = next(sizes for sizes in settings["counts"] if len(set(sizes)) > 1)
    facts = {
        "sizes": ", ".join(map(str, skewed_sizes)),
        "seeds": settings["seeds"],
        "rate": settings["learning_rate"],
        "threshold": threshold,
    }
    alt = "Shares of seeds that fall, against the decay, over examples and over class means."
    return Plot(figure, facts, alt)
