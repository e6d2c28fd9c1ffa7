"""Completed matrices: errors, nuclear norms and effective ranks against the initialisation scale.

Both figures take networks' tables, `few` and `many`, which are completions from few and from many entries. `minimiser`
has the matrices of least nuclear norm from the entries of `few`, `minimiser_many` those from the entries of `many`.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import quantities
from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, handle, median_with_draws
from learning_dynamics.papers.deep_linear.tables import depth_of, less_true_norm, observed_entries, unfinished
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.tidy import Table, select

LINES_BY_RATE = ("-", DASHED)  # how medians are drawn: for the smaller learning rate, and for the larger one
MINIMISER = "minimiser of the nuclear norm"


def completion(few: Sequence[Table], many: Sequence[Table], minimiser: Table, minimiser_many: Table) -> Plot:
    r"""Matrix completion by deep linear networks: reconstruction error against initialisation scale.

    Gradient descent completes a low-rank matrix, from {few} entries in (a) to (c) and from {many} in (d) to (f). The
    error is the mean square over all entries. Rows differ in their vertical axes, columns in depth; shorter lines have
    fewer scales. Dots are {draws} draws. Lines are medians, solid for the smaller learning rate, dashed for the larger
    where there are two. Grey dotted lines are the minimiser of the nuclear norm (median). Descent stops at a training
    loss; runs that did not reach it are not drawn ({lost} of {runs}).
    """
    figure, axes = plt.subplots(2, len(few), figsize=(WIDTH, 4.6), sharex=True, sharey="row", squeeze=False)
    for axes_of_row, tables, minimiser_table in zip(axes, (few, many), (minimiser, minimiser_many), strict=True):
        minimiser_median = select(minimiser_table, quantities.ERROR)["value"].median()
        for axis, table in zip(axes_of_row, tables, strict=True):
            axis.axhline(minimiser_median, color=COLOURS["grey"], ls=":")
            _draw_errors(axis, table)
            title = f"{observed_entries(minimiser_table)} entries, depth {depth_of(table)}"
            axis.set(xscale="log", yscale="log", title=title)
        axes_of_row[0].set_ylabel("reconstruction error")
    plt.setp(axes[-1], xlabel="initialisation scale $s$")
    letters(axes.flat)
    solid, dashed = LINES_BY_RATE
    by_rate = [handle("smaller learning rate", line=solid), handle("larger one", line=dashed)]
    legend_below(figure, [*by_rate, handle(MINIMISER, "grey", ":")])
    facts = {
        "few": observed_entries(minimiser),
        "many": observed_entries(minimiser_many),
        "draws": minimiser["draw"].nunique(),
    }
    return Plot(
        figure,
        facts=facts | unfinished(*few, *many),  # the facts `lost` and `runs`
        alt="Reconstruction errors against initialisation scale, by depth and entries.",
    )


def _draw_errors(axis: Axes, table: Table) -> None:
    """Draw the errors of one depth against the scale, a line for each learning rate, of runs that converged."""
    errors, depth = select(table, quantities.ERROR), depth_of(table)
    rates = sorted(errors["learning_rate"].unique())
    if len(rates) > len(LINES_BY_RATE):
        raise ProjectError(f"depth {depth} has {len(rates)} learning rates; the figure has two lines")
    for rate, line in zip(rates, LINES_BY_RATE[: len(rates)], strict=True):  # some depths have one rate alone
        converged = errors[errors["converged"] & (errors["learning_rate"] == rate)]
        median_with_draws(axis, converged, "scale", DEPTH_COLOURS[depth], line)


PANEL_LABELS = {
    quantities.ERROR: "reconstruction error",
    quantities.NUCLEAR_NORM: "nuclear norm − target's",
    quantities.EFFECTIVE_RANK: "effective rank",
}


def norms(few: Sequence[Table], many: Sequence[Table], minimiser: Table, minimiser_many: Table) -> Plot:
    r"""Which quantity completed matrices minimise: reconstruction error, nuclear norm and effective rank against scale.

    Gradient descent completes a low-rank matrix, the target, from {few} entries in (a) to (c) and from {many} in (d) to
    (f). Lines are medians over {draws} draws (dots), one for each depth, at the smaller learning rate. Panels (a) and
    (d) show the error, a mean square, (b) and (e) the nuclear norm minus that of the target. The effective rank in (c)
    and (f) is the exponential of the entropy of the singular values' shares. Grey dotted lines are the minimiser of the
    nuclear norm, black dashed ones the target; both are medians over draws too. Runs that did not reach their training
    loss are left out.
    """
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.7), sharex=True)
    for axes_of_row, runs, minimiser_run in zip(axes, (few, many), (minimiser, minimiser_many), strict=True):
        minimiser_table, tables = less_true_norm(minimiser_run), [less_true_norm(run) for run in runs]
        true_rank = select(minimiser_table, quantities.TRUE_EFFECTIVE_RANK)["value"].median()
        true_values = {quantities.NUCLEAR_NORM: 0.0, quantities.EFFECTIVE_RANK: true_rank}
        for axis, (quantity, label) in zip(axes_of_row, PANEL_LABELS.items(), strict=True):
            for table in tables:
                rows = select(table, quantity)
                rows = rows[rows["converged"] & (rows["learning_rate"] == rows["learning_rate"].min())]
                if len(rows):
                    median_with_draws(axis, rows, "scale", DEPTH_COLOURS[depth_of(table)])
            minimiser_median = select(minimiser_table, quantity)["value"].median()
            axis.axhline(minimiser_median, color=COLOURS["grey"], ls=":")
            if quantity in true_values:
                axis.axhline(true_values[quantity], color=COLOURS["black"], ls=DASHED, lw=1)
            axis.set(xscale="log", yscale="log" if quantity == quantities.ERROR else "linear", ylabel=label)
            axis.set_title(f"{observed_entries(minimiser_table)} entries")
    plt.setp(axes[-1], xlabel="initialisation scale $s$")
    letters(axes.flat)
    others = [handle(MINIMISER, "grey", ":"), handle("target", line=DASHED, lw=1)]
    columns = len(few) if len(few) > 3 else None  # with more than three depths the legend does not fit into one row
    legend_below(figure, [*depth_handles(map(depth_of, few)), *others], columns)
    facts = {
        "few": observed_entries(minimiser),
        "many": observed_entries(minimiser_many),
        "draws": minimiser["draw"].nunique(),
    }
    return Plot(
        figure,
        facts=facts,
        alt="Error, nuclear norm and effective rank against scale, by depth.",
    )
