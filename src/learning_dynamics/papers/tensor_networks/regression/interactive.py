"""Where a diagonal network goes, by its start and its depth."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks import norm_like
from learning_dynamics.papers.tensor_networks.regression import quantities
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import INK, Interactive, choice, colours, italic, reading, slider
from learning_dynamics.tidy import Table, by_draw, select

POINTS = 41  # of a path
# The slider's step in log10(alpha). It is that between the scales of `MINIMISER_CURVE`, of which `metrics.PLOTTED`
# span three decades.
STEP = 0.05
TINTS = [COLOURS[name] for name in ("blue", "vermilion", "green", "purple", "orange")]


def depth(flow: Table, descent: Table) -> Interactive:
    r"""Move the initial scale $\alpha$ and choose the depth: from the least $\ell_2$ norm to the least $\ell_1$ norm.

    Diagonal networks fit figure 1's point, in the plane of their two coefficients. All start at zero, with layers of
    size $\alpha$ before the last, and go to the orange line of global minima. Diamonds mark the solutions of least
    norm. Curves show the path of gradient flow in closed form (Lemma 5.1). Circles show where gradient flow ended, and
    crosses where gradient descent ended. Both are shown at {scales} scales, within {error:.1g} of the ends of the
    curves.
    """
    l1_point = by_draw(flow, quantities.PLAIN_L1, column="predicted")[0]
    l2_point = by_draw(flow, quantities.PLAIN_L2, column="predicted")[0]
    # x / y of the data point (x, y): the interpolator of least l2 norm is y x / |x|^2
    point = l2_point / (l2_point @ l2_point)
    grid = np.sort(select(flow, quantities.MINIMISER_CURVE)["scale"].unique())
    exponents = np.log10(grid).round(3)
    names = {int(layers): f"{italic('L')} = {layers}" for layers in sorted(flow["depth"].unique())}
    paths = []
    for layers, name in names.items():
        for scale, exponent in zip(grid, exponents, strict=True):
            x, y = flow_path(point, scale, layers).T.round(4).tolist()
            paths.append({"exponent": exponent, "depth": name, "x": x, "y": y})
    ends = pd.concat([_ends(flow, "flow", names), _ends(descent, "descent", names)])
    alpha = slider("alpha", f"initial scale {italic('α')}", exponents.tolist(), -0.5)
    options = ["all", *names.values()]
    shown_layers = choice("layers", "depth", options, options, "all")
    labels = [f"{italic('α')} = {scale:.2g}" for scale in grid]
    chart = _plane(paths, ends, l1_point, l2_point)
    errors = [*_distances_from_path(flow, point), *_distances_from_path(descent, point)]
    return Interactive(
        chart.add_params(alpha, shown_layers).properties(title=reading("alpha", exponents, labels)),
        facts={"scales": select(flow, quantities.COEFFICIENT)["scale"].nunique(), "error": max(errors)},
        alt="Paths from the origin of a plane to a straight line of global minima. At a large initial scale they go "
        "straight to the point of least l2 norm, at a small one they bend towards that of least l1 norm, deeper "
        "networks more sharply.",
    )


def _plane(
    paths: list[dict[str, Any]], ends: pd.DataFrame, l1_point: np.ndarray, l2_point: np.ndarray
) -> alt.LayerChart | alt.FacetChart:
    """Return the plane of coefficients: paths and ends of the chosen runs, the global minima, and those of least norm.

    Parameters
    ----------
    paths : list of dict
        One for each scale and depth: the slider's exponent, the depth's name, and the lists x and y of coordinates.
    ends : DataFrame
        As `_ends` returns them.
    l1_point, l2_point : ndarray, shape (2,)
        The solutions of least norm.
    """
    # the line of global minima, drawn beyond the two solutions of least norm by lengths that are chosen
    along = (l2_point - l1_point) / np.linalg.norm(l2_point - l1_point)
    first, last = l1_point - 0.06 * along, l2_point + 0.15 * along
    minima = [_place(first), _place(last)]
    diamonds = [_place(l1_point) | {"name": "least ℓ₁ norm"}, _place(l2_point) | {"name": "least ℓ₂ norm"}]

    corners = np.array([[0.0, 0.0], first, last])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.06 * (high - low)
    x_domain, y_domain = np.stack([low - margin, high + margin], axis=1).tolist()
    axes = [_coordinate(alt.X, "x", "₁", x_domain), _coordinate(alt.Y, "y", "₂", y_domain)]

    depths = list(dict.fromkeys(path["depth"] for path in paths))  # in their order
    colour = alt.Color("depth:N", scale=colours(dict(zip(depths, TINTS, strict=False))))
    is_chosen = "abs(datum.exponent - alpha) < 1e-3 && (layers == 'all' || datum.depth == layers)"
    path = (
        _chart(paths)
        .transform_filter(is_chosen)
        .transform_flatten(["x", "y"])
        .transform_window(step="row_number()", groupby=["depth"])
        .mark_line(strokeWidth=2.2)
        .encode(*axes, colour, order="step:Q")
    )
    diamond, chosen_ends = _chart(diamonds), alt.Chart(ends).transform_filter(is_chosen)
    return alt.layer(
        _chart(minima).mark_line(color=COLOURS["orange"], strokeWidth=5, opacity=0.45).encode(*axes),
        diamond.mark_point(color=INK, shape="diamond", size=70, filled=True).encode(*axes),
        diamond.mark_text(align="left", dx=6, dy=-12).encode(*axes, text="name:N"),
        _chart([{"x": 0, "y": 0}]).mark_point(color=INK, filled=True, size=40).encode(*axes),  # where all paths start
        path,
        chosen_ends.transform_filter("datum.by == 'flow'").mark_point(size=90, strokeWidth=1.6).encode(*axes, colour),
        chosen_ends.transform_filter("datum.by == 'descent'")
        .mark_point(size=45, shape="cross", filled=True)
        .encode(*axes, colour),
    )


def flow_path(point: np.ndarray, scale: float, depth: int) -> np.ndarray:
    """Return the coefficients along the flow on the data point `point`, of label one, to where it is fitted.

    Coefficient i is ``scale**L h_L(scale**(L-2) s x_i)`` at a time s that all coefficients share (Lemma 5.1). All
    layers start at `scale`, but the last at zero. The shape is (POINTS, 2).
    """
    # The coefficient of the largest |x_i| grows fastest. The path is found at values of it, up to where it would fit
    # alone. No other term of the output, beta_i x_i, is negative, so that the output has come to the label there.
    largest = int(np.argmax(np.abs(point)))
    grown = np.linspace(0, 1 / point[largest], 20 * POINTS)
    outer, inner = scale**depth, scale ** (depth - 2)
    time = norm_like.depth_h_inverse(grown / outer, depth) / (inner * point[largest])
    path = outer * norm_like.depth_h(inner * time[:, None] * point, depth)
    path[:, largest] = grown
    # POINTS places on this path, at outputs ``path @ point`` that are equally far apart, from zero to the label
    steps = np.arange(len(grown))
    places = np.interp(np.linspace(0, 1, POINTS), path @ point, steps)
    return np.stack([np.interp(places, steps, coefficient) for coefficient in path.T], axis=1)


def _distances_from_path(table: Table, point: np.ndarray) -> list[float]:
    """Return how far each run of the first data set ended from the end of its path, the larger of both coordinates."""
    distances = []
    # each group has two rows, beta_1 and beta_2, in the order in which tables list entries
    for (layers, scale), rows in select(table, quantities.COEFFICIENT, seed=0).groupby(["depth", "scale"]):
        distances.append(np.abs(flow_path(point, float(scale), int(layers))[-1] - rows["value"]).max())
    return distances


def _ends(table: Table, method: str, names: dict[int, str]) -> pd.DataFrame:
    """Return where the runs of a table ended, a row each, with the depth's name and the slider's nearest exponent."""
    rows = select(table, quantities.COEFFICIENT, seed=0)
    wide = rows.pivot_table(index=["depth", "scale"], columns="index", values="value").reset_index()
    # columns 1 and 2 of `wide` are the coefficients, by their index
    return pd.DataFrame(
        {
            "by": method,
            "depth": [names[int(depth)] for depth in wide["depth"]],
            "exponent": (np.log10(wide["scale"]) / STEP).round() * STEP,
            "x": wide[1].round(5),
            "y": wide[2].round(5),
        }
    )


def _coordinate(channel: type[alt.X] | type[alt.Y], field: str, subscript: str, domain: list[float]) -> alt.X | alt.Y:
    """Return the axis of one coefficient."""
    return channel(
        f"{field}:Q",
        title=f"{italic('β')}{subscript}",
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(tickCount=5),
    )


def _place(point: np.ndarray) -> dict[str, Any]:
    """Return a point of the plane as fields of a chart."""
    x, y = point.tolist()
    return {"x": x, "y": y}


def _chart(records: list[dict[str, Any]]) -> alt.Chart:
    """Return a chart, without marks, of some records."""
    return alt.Chart(alt.InlineData(values=records))
