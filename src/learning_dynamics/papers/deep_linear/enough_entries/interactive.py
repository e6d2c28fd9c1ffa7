"""Completed matrices by depth, scale and the number of observed entries."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.drawing import DEPTH_COLOURS
from learning_dynamics.papers.deep_linear.quantities import ERROR, NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.tables import depth_of, less_true_norm
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import DASHES, INK, Interactive, choice, colours, powers, reading, slider
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, select

TICKS = [-20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100]  # of the nuclear norm less the true one
CONVEX = "least nuclear norm"


def enough_entries(deep: Sequence[Table], convex: Table, *, recovered: Fraction) -> Interactive:
    r"""Move the number of observed entries and choose the depth: deeper networks recover the matrix from fewer.

    Each dot is one of {draws} matrices, completed from the chosen number of its entries by a network or by the least
    nuclear norm (grey). The horizontal axis is the matrix's nuclear norm less the true one, the vertical axis the mean
    square error over all entries. Below the dashed line the matrix is recovered, to {recovered:g} of the mean square
    entry. On the vertical line the nuclear norm is the true one. Faint lines follow the medians as entries are added.
    Networks that did not reach their training loss are left out.
    """
    table = _completed_matrices(deep, convex)
    scales = sorted(table["scale"].unique(), reverse=True)
    counts = sorted(int(count) for count in table["observed"].unique())
    table["place"] = [counts.index(count) for count in table["observed"]]  # the slider's place at which a row is shown
    medians = table.groupby(["method", "scale", "observed"])[["excess_norm", "error"]].median().reset_index()
    colours_of_networks = {f"depth {depth_of(network)}": DEPTH_COLOURS[depth_of(network)] for network in deep}
    names = ["all", *colours_of_networks]
    x, y = _axes(table)
    colour = alt.Color(
        "method:N",
        scale=colours(colours_of_networks | {CONVEX: COLOURS["grey"]}),
        legend=alt.Legend(columns=2),
    )
    places = range(len(counts))
    entries = slider("entries", label="observed entries", values=places, start=len(counts) // 2)
    # the chart's title is the caption at the slider's place
    captions = [f"{count} entries observed" for count in counts]
    title = reading("entries", values=places, said=captions)
    networks = choice("networks", label="networks", options=names, labels=names, start="all")
    scale_labels = [f"{scale:g}" for scale in scales]
    scale = choice("scale", label="initial scale", options=scales, labels=scale_labels, start=scales[-1])
    # An expression of Vega, true of the rows that are shown: `datum` is a row, and `scale` and `networks` are what the
    # reader chose. Matrices of least nuclear norm are shown next to any network
    selection = f"datum.scale == scale && (networks == 'all' || datum.method == networks || datum.method == '{CONVEX}')"
    chart = alt.layer(
        # the threshold is a share of the mean square entry of the true matrix, which is one, and so an error itself
        alt.Chart(pd.DataFrame({"error": [recovered]}))
        .mark_rule(color=INK, strokeDash=DASHES, strokeWidth=1)
        .encode(y),
        alt.Chart(pd.DataFrame({"excess_norm": [0.0]})).mark_rule(color=INK, strokeWidth=0.6).encode(x),
        alt.Chart(medians.round(6))  # the page has the numbers as text: more digits would make it larger, not finer
        .transform_filter(selection)
        .mark_line(strokeWidth=1.2, opacity=0.55)
        .encode(x, y, colour, order="observed:Q"),
        alt.Chart(table)
        .transform_filter(f"{selection} && datum.place == entries")
        .mark_point(filled=True, size=50, opacity=0.8)
        .encode(x, y, colour),
    )
    return Interactive(
        chart.add_params(entries, networks, scale).properties(title=title),
        facts={"draws": convex["draw"].nunique(), "recovered": recovered},
        alt="Dots in a plane of error and nuclear norm. As entries are added they fall from large errors to small, "
        "those of deeper networks first, from nuclear norms above the true one.",
    )


def _axes(table: pd.DataFrame) -> tuple[alt.X, alt.Y]:
    """Return axes on which all matrices fit: nuclear norms less the true one, and errors."""
    # with room outside the outermost dots; how much is chosen
    norm_range = [float(table["excess_norm"].min()) - 2, float(table["excess_norm"].max()) + 8]
    x = alt.X(
        "excess_norm:Q",
        title="nuclear norm − truth's",
        axis=alt.Axis(values=TICKS),
        scale=alt.Scale(type="symlog", domain=norm_range, constant=1, nice=False),
    )
    low, high = np.log10(table["error"].min()), np.log10(table["error"].max())
    y = alt.Y(
        "error:Q",
        title="reconstruction error",
        axis=powers(int(np.ceil(low)), int(np.floor(high)), 2),
        scale=alt.Scale(type="log", domain=[10 ** (low - 0.2), 10 ** (high + 0.2)], nice=False),
    )
    return x, y


def _completed_matrices(deep: Sequence[Table], convex: Table) -> pd.DataFrame:
    """Return a row for each completed matrix, with the columns method, scale, observed, draw, error and excess_norm.

    `excess_norm` is the nuclear norm less the true one. The convex program has no scale: its matrices have a row at
    each scale of the networks.
    """
    tables = [
        _errors_and_norms(table[table["converged"]], ["scale", "observed", "draw"]).assign(
            method=f"depth {depth_of(table)}"
        )
        for table in deep
    ]
    minimisers = _errors_and_norms(convex, ["observed", "draw"]).assign(method=CONVEX)
    return pd.concat([*tables, *(minimisers.assign(scale=scale) for scale in tables[0]["scale"].unique())])


def _errors_and_norms(rows: Table, keys: list[str]) -> pd.DataFrame:
    """Return a row for each completed matrix: its keys, `error` and `excess_norm`, its norm less the true one."""
    chosen = select(less_true_norm(rows), [ERROR, NUCLEAR_NORM])
    wide = chosen.pivot_table(index=keys, columns="quantity", values="value").reset_index()
    # rounded: the page has the numbers as text
    return wide[keys].assign(error=wide[ERROR].round(7), excess_norm=wide[NUCLEAR_NORM].round(3))
