"""Maps of trainings: eight examples by learning rate and batch size; more classes by optimiser, decay and batch.

A table has rows by method, rate, decay, batch, number of steps, class sizes, dimension, scale and seed, the number of a
draw. V is the number of classes, d that of dimensions. A bottleneck is a number of dimensions below V - 1. A batch of 0
is all examples. `threshold` is the least change of the rank that counts as a fall or a rise.
"""

import string
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.cases import CASES, MEMBER_COLUMNS, case_draws
from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.falls import FALL_LEARNING
from learning_dynamics.papers.softmax_dynamics.panels import hatch_unlearned, share_bar, share_map, unlearned_handle
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.plotting import WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of

# names of class sizes proportional to 1/k^p, where k is the number of a class, for p = 0, 1 and 2
LAWS = ("equal", "$1/k$", "$1/k^2$")
# methods of training in the order of a map's rows; in our runs Adam is AdamW with a decay of zero
METHODS = ("SGD", "momentum", "Adam", "AdamW")


def eight_examples(trainings: Table, *, threshold: Positive) -> Plot:
    r"""Training sets of eight examples: share of seeds that learn and show all three phases.

    Training is gradient descent for {steps} steps from starts of scale {scale:g}; the gradient of a batch of $b$
    examples is multiplied by $8/b$. The rank is RankMe, centred, over all examples, at every step. The phases are a
    warm-up, a growth and a fall while the rarest classes are learned, in this order, each of {threshold:g} or more.
    Cells give the share in per cent of all {seeds} seeds, with its 95 % Wilson interval. In {narrow_panels} there are
    {fewest_dimensions} dimensions; class sizes are equal in {equal_panels}. In {wide_panels} classes have the skewed
    sizes, and features {most_dimensions} dimensions, in which four classes need no bottleneck. With equal sizes all
    classes count as the rarest. In hatched cells fewer than half of the seeds have learned. A seed has learned if every
    example ends with a probability above one half for its own class, and none of these probabilities has underflowed on
    the way.
    """
    _require_one(trainings, "method", "decay", "steps", "scale")
    # by case (treated, equal, wide), a row for each draw
    draws = {case: case_draws(trainings, case, "examples", threshold) for case in CASES}
    dimensions = trainings["dimension"]
    # of two dimensions the smaller is narrow; the larger must be wide wherever there are skewed classes
    if dimensions.nunique() != 2 or draws["wide"].empty != draws["treated"].empty:
        raise ProjectError(
            "a map of eight examples has two numbers of dimensions, the larger without a bottleneck, not "
            f"{', '.join(map(str, sorted(dimensions.unique())))}; give two as `dimensions` of the run"
        )
    if draws["treated"].empty or draws["equal"].empty:
        raise ProjectError(
            "a map of eight examples compares skewed class sizes with equal ones, not "
            f"{', '.join(trainings['counts'].unique())} alone; add the others to `counts` of the run"
        )
    skewed, equal = (
        sorted(draws[case]["counts"].unique(), key=sizes_of, reverse=True) for case in ("treated", "equal")
    )
    figure, axes = plt.subplots(
        2, len(skewed) + len(equal), figsize=(WIDTH, 4.6), sharex=True, sharey=True, squeeze=False
    )
    top, bottom = axes
    n_skewed = len(skewed)
    rows_of_panels = [  # axes, their case, and the class sizes of each
        (top[:n_skewed], "treated", skewed),
        (top[n_skewed:], "equal", equal),
        (bottom[:n_skewed], "wide", skewed),  # equal classes are shown with a bottleneck alone
    ]
    for panels, case, sizes in rows_of_panels:
        for axis, counts in zip(panels, sizes, strict=True):
            axis.set_title(counts.replace("-", " : "), fontsize=10)
            _draw_map(axis, draws[case][draws[case]["counts"] == counts])
    for axis, dimension in zip(axes[:, 0], (dimensions.min(), dimensions.max()), strict=True):
        axis.set_ylabel(f"$d = {dimension}$\nbatch")
    for axis in bottom[n_skewed:]:
        axis.set_axis_off()
    for axis in (*bottom[:n_skewed], *top[n_skewed:]):  # the lowest panel of each column
        axis.set_xlabel("learning rate")
        axis.tick_params(labelbottom=True)
    letters([*top, *bottom[:n_skewed]])
    share_bar(figure, axes, "share of seeds that learn and show three phases", aspect=40, pad=0.015)
    legend_below(figure, [unlearned_handle()])
    n_narrow = n_skewed + len(equal)
    facts = {
        "narrow_panels": _letters(0, n_narrow),
        "equal_panels": _letters(n_skewed, n_narrow),
        "wide_panels": _letters(n_narrow, n_narrow + n_skewed),
        "threshold": threshold,
        "fewest_dimensions": dimensions.min(),
        "most_dimensions": dimensions.max(),
        "seeds": settings_of(trainings)["seeds"],
        "steps": trainings["steps"].iloc[0],  # when trainings were measured
        "scale": trainings["scale"].iloc[0],
    }
    alt = "Shares of seeds by learning rate and batch for several class sizes, with a bottleneck and without."
    return Plot(figure, facts, alt)


def _letters(first: int, end: int) -> str:
    """Return how a caption names the panels from number `first`, counted from 0, up to the one before `end`."""
    lettered = [f"({letter})" for letter in string.ascii_lowercase[first:end]]
    return f"{lettered[0]} to {lettered[-1]}" if len(lettered) > 2 else ", ".join(lettered)


def _draw_map(axis: Axes, draws: pd.DataFrame) -> None:
    """Draw the map of one panel: shares with intervals, batch sizes upwards, learning rates to the right."""
    # a batch of 0 is all examples, and so the largest
    batches = sorted(draws["batch"].unique(), key=lambda batch: batch or np.inf)
    rows = {batch: str(batch or "all") for batch in batches}
    columns = {rate: f"{rate:g}" for rate in sorted(draws["learning_rate"].unique())}
    by = ("batch", "learning_rate")
    # the column `shows`: whether the training has learned its examples and shows all three phases
    share_map(axis, draws, "shows", rows=rows, columns=columns, by=by, origin="lower")
    hatch_unlearned(axis, draws, rows=rows, columns=columns, by=by)


def optimisers(trainings: Sequence[Table], *, threshold: Positive) -> Plot:
    r"""More classes, by optimiser, decay and batch: share of seeds whose rank falls while all classes but the first are
    learned.

    Training is descent without and with momentum {momentum:g}, or AdamW with several decays, on all examples or on
    batches. The upper panels show RankMe, centred, over the means of classes, the lower ones over examples. A fall
    counts if it follows a rise since the warm-up's trough, and if its part while those classes are learned is
    {threshold:g} or more. A panel has $V$ classes. Its columns have $d$ dimensions, and sizes that are equal, or fall
    with a class's number $k$ as $1/k$ or $1/k^2$. Cells give the share in per cent of {seeds} seeds; white ones were
    not tried. In hatched cells fewer than half of the seeds have learned every example when training ends. Where a step
    takes all examples, a class has one row of features, as its examples agree.
    """
    for table in trainings:
        _require_one(table, "learning_rate", "steps", "scale")
    draws = pd.concat([_fall_rows(table, threshold) for table in trainings], ignore_index=True)
    # the map's rows in their order, whose names are their labels; batches of all examples, which are 0, come first
    names = draws.sort_values(["batch", "method", "decay"], key=_sort_key)["row"].unique()
    rows = dict(zip(names, names, strict=True))
    classes = sorted(draws["classes"].unique())
    # for each V the columns of its panel: a mapping from (law of sizes, dimension) to the column's label
    columns_of = {}
    for V, draws_of_V in draws.groupby("classes"):
        columns_with_draws, dimensions = set(draws_of_V["column"]), sorted(draws_of_V["dimension"].unique())
        columns_of[V] = {(law, d): str(d) for law in LAWS for d in dimensions if (law, d) in columns_with_draws}
    figure, axes = plt.subplots(
        2,
        len(classes),
        figsize=(WIDTH, 1.4 + 0.42 * len(rows)),
        sharex="col",
        sharey=True,
        squeeze=False,
        width_ratios=[len(columns_of[V]) for V in classes],
    )
    top, bottom = axes
    for panels, population in ((top, "classes"), (bottom, "examples")):
        for axis, V in zip(panels, classes, strict=True):
            draws_of_panel = draws[(draws["population"] == population) & (draws["classes"] == V)]
            columns, by = columns_of[V], ("row", "column")
            share_map(axis, draws_of_panel, "fallen", rows=rows, columns=columns, by=by, intervals=False)
            hatch_unlearned(axis, draws_of_panel, rows=rows, columns=columns, by=by)
            axis.tick_params("x", labelsize=7)
            axis.tick_params("y", labelsize=7.5)
        panels[0].set_ylabel(f"over {population}")
    for upper, lower, V in zip(top, bottom, classes, strict=True):
        upper.set_title(f"$V = {V}$", fontsize=10)
        _name_laws(lower, [law for law, _ in columns_of[V]])
    letters(axes.flat)
    share_bar(figure, axes, "share of seeds that fall", aspect=40, pad=0.015)
    legend_below(figure, [unlearned_handle()])
    seeds = sorted({settings_of(table)["seeds"] for table in trainings})
    facts = {
        "threshold": threshold,
        "momentum": settings_of(trainings[0])["momentum"],  # the same for all tables; SGD and AdamW do not use it
        "seeds": " or ".join(map(str, seeds)),
    }
    alt = "Shares of seeds whose rank falls, by optimiser, number of classes, law of sizes and dimensions."
    return Plot(figure, facts, alt)


def _name_laws(axis: Axes, law_of_column: Sequence[str]) -> None:
    """Write each law of sizes below the middle of its columns of a map.

    `law_of_column` has the law of each column, from the left.
    """
    for law in LAWS:
        places = [place for place, name in enumerate(law_of_column) if name == law]
        if places:
            axis.annotate(
                law,
                xy=(np.mean(places), 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -18),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
            )
    axis.set_xlabel("$d$, by law of sizes")
    axis.xaxis.labelpad = 24


def _require_one(table: Table, *columns: str) -> None:
    """Refuse trainings with several values in one of some columns that a map does not show: a cell would mix them."""
    for column in columns:
        values = table[column].unique()
        if len(values) > 1:
            raise ProjectError(
                f"a map of trainings has one `{column}`, not {', '.join(map(str, values))}; leave one in the run"
            )


def _sort_key(column: pd.Series) -> pd.Series:
    """Return what a column is sorted by: methods in the order of `METHODS`, other columns by their values."""
    return column.map(METHODS.index) if column.name == "method" else column


def _fall_rows(table: Table, threshold: float) -> pd.DataFrame:
    """Return the draws of a table, a row each, with whether the rank falls and whether all examples are learned.

    Added columns: fallen and learned, whether they do and are; classes, V, which together with population gives the
    panel; and row, the name of the training, and column, a pair of a law of sizes and a dimension, which give the place
    in the panel.
    """
    rows = select(table, FALL_LEARNING, threshold=threshold)
    has_learned = select(table, HAS_LEARNED).set_index(MEMBER_COLUMNS)["value"]
    # for each of `rows` the number of the same member: 1, or 0
    learned = has_learned.reindex(pd.MultiIndex.from_frame(rows[MEMBER_COLUMNS])).to_numpy() == 1
    sizes = rows["counts"].map(sizes_of)
    return rows.assign(
        fallen=rows["value"] >= threshold,
        learned=learned,
        classes=sizes.map(len),
        row=[
            _training_in_words(method, decay, batch)
            for method, decay, batch in rows[["method", "decay", "batch"]].itertuples(index=False)
        ],
        column=list(zip(sizes.map(_law), rows["dimension"], strict=True)),
    )


def _law(sizes: Sequence[int]) -> str:
    """Return the law of class sizes, one of `LAWS`."""
    # where sizes are proportional to 1/k^p, the first of V is V^p times the last
    power = round(np.log(sizes[0] / sizes[-1]) / np.log(len(sizes)))
    return LAWS[power]


def _training_in_words(method: str, decay: float, batch: int) -> str:
    """Return the name of a way to train, the label of a row of the map."""
    names = {"AdamW": f"AdamW, decay {decay:g}", "SGD": "descent"}
    examples = f"batch {batch}" if batch else "all"
    return f"{names.get(method, method)}, {examples}"
