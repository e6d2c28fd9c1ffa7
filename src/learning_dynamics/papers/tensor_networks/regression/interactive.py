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
TINTS = [COLOURS[name] for name in ("blue", "vermilion", "green", "purple", "orange")]


def depth(flow: Table, descent: Table) -> Interactive:
    r"""Move the initial scale $\alpha$ and choose the depth: from the least $\ell_2$ norm to the least $\ell_1$ norm.

    Diagonal networks on figure 1's point, in the plane of their two coefficients. All start at zero, with layers of
    size $\alpha$ before the last, and go to the line of global minima. Curves: the path of gradient flow in closed form
    (Lemma 5.1). Circles: where gradient flow ended. Crosses: where gradient descent ended. Both are shown at the
    {scales} scales for which they were followed, within {error:.1g} of the ends of the curves.
    """
    l1_point = by_draw(flow, quantities.PLAIN_L1, column="predicted")[0]
    l2_point = by_draw(flow, quantities.PLAIN_L2, column="predicted")[0]
    point = l2_point / (l2_point @ l2_point)  # the data point over its label
    grid = np.sort(select(flow, quantities.MINIMISER_CURVE)["scale"].unique())
    exponents = np.log10(grid).round(3)
    names = {int(layers): f"{italic('L')} = {layers}" for layers in sorted(flow["depth"].unique())}
    paths, gaps = [], []
    for layers, name in names.items():
        for scale, exponent in zip(grid, exponents, strict=True):
            x, y = _path(point, scale, layers).T.round(4).tolist()
            paths.append({"exponent": exponent, "depth": name, "x": x, "y": y})
        for table in (flow, descent):
            for scale, rows in select(table, quantities.COEFFICIENT, seed=0, depth=layers).groupby("scale"):
                gaps.append(np.abs(_path(point, float(scale), layers)[-1] - rows["value"]).max())
    marks = pd.concat([_ends(table, method, names) for table, method in ((flow, "flow"), (descent, "descent"))])
    # the line of global minima, drawn beyond the two solutions of least norm
    along = (l2_point - l1_point) / np.linalg.norm(l2_point - l1_point)
    minima = [_place(l1_point - 0.06 * along), _place(l2_point + 0.15 * along)]
    stars = [_place(end) | {"name": f"least {norm} norm"} for end, norm in ((l1_point, "ℓ₁"), (l2_point, "ℓ₂"))]
    corners = np.array([[0.0, 0.0], *(list(end.values()) for end in minima)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.06 * (high - low)
    axes = [
        axis(
            f"{field}:Q",
            title=f"{italic('β')}{subscript}",
            scale=alt.Scale(domain=domain, nice=False),
            axis=alt.Axis(tickCount=5),
        )
        for axis, field, subscript, domain in zip(
            (alt.X, alt.Y), "xy", "₁₂", np.stack([low - margin, high + margin], axis=1).tolist(), strict=True
        )
    ]
    colour = alt.Color("depth:N", scale=colours(dict(zip(names.values(), TINTS, strict=False))))
    alpha = slider("alpha", f"initial scale {italic('α')}", exponents.tolist(), -0.5)
    options = ["all", *names.values()]
    shown_layers = choice("layers", "depth", options, options, "all")
    labels = [f"{italic('α')} = {scale:.2g}" for scale in grid]
    run_filter = "abs(datum.exponent - alpha) < 1e-3 && (layers == 'all' || datum.depth == layers)"
    star, run_ends = _chart(stars), alt.Chart(marks).transform_filter(run_filter)
    path = (
        _chart(paths)
        .transform_filter(run_filter)
        .transform_flatten(["x", "y"])
        .transform_window(step="row_number()", groupby=["depth"])
        .mark_line(strokeWidth=2.2)
        .encode(*axes, colour, order="step:Q")
    )
    chart = alt.layer(
        _chart(minima).mark_line(color=COLOURS["orange"], strokeWidth=5, opacity=0.45).encode(*axes),
        star.mark_point(color=INK, shape="diamond", size=70, filled=True).encode(*axes),
        star.mark_text(align="left", dx=6, dy=-12).encode(*axes, text="name:N"),
        _chart([{"x": 0, "y": 0}]).mark_point(color=INK, filled=True, size=40).encode(*axes),
        path,
        run_ends.transform_filter("datum.by == 'flow'").mark_point(size=90, strokeWidth=1.6).encode(*axes, colour),
        run_ends.transform_filter("datum.by == 'descent'")
        .mark_point(size=45, shape="cross", filled=True)
        .encode(*axes, colour),
    )
    return Interactive(
        chart.add_params(alpha, shown_layers).properties(title=reading("alpha", exponents, labels)),
        facts={"scales": select(flow, quantities.COEFFICIENT)["scale"].nunique(), "error": max(gaps)},
        alt="Paths from the origin of a plane to a straight line of global minima. At a large initial scale they go "
        "straight to the point of least l2 norm, at a small one they bend towards that of least l1 norm, deeper "
        "networks more sharply.",
    )


def _path(point: np.ndarray, scale: float, depth: int) -> np.ndarray:
    """Return the coefficients along the flow on one data point of label one, shape (POINTS, 2), to where it is fitted.

    Coefficient i is ``scale**L h_L(scale**(L-2) s x_i)`` of a time s that all share (Lemma 5.1); the one of the
    largest ``|x_i|`` grows first and is stepped through.
    """
    largest = int(np.argmax(np.abs(point)))
    values = np.linspace(0, 1 / point[largest], 20 * POINTS)
    outer, inner = scale**depth, scale ** (depth - 2)
    time = norm_like.depth_h_inverse(values / outer, depth) / (inner * point[largest])
    path = outer * norm_like.depth_h(inner * time[:, None] * point, depth)
    path[:, largest] = values
    outputs = path @ point
    positions = np.interp(np.linspace(0, 1, POINTS), outputs, np.arange(len(values)))
    return np.stack([np.interp(positions, np.arange(len(values)), coefficient) for coefficient in path.T], axis=1)


def _ends(table: Table, by: str, names: dict[int, str]) -> pd.DataFrame:
    """Return where a table's runs ended, at the slider's nearest scale, two decades in 41 steps."""
    rows = select(table, quantities.COEFFICIENT, seed=0)
    wide = rows.pivot_table(index=["depth", "scale"], columns="index", values="value").reset_index()
    return pd.DataFrame(
        {
            "by": by,
            "depth": [names[int(depth)] for depth in wide["depth"]],
            "exponent": (np.log10(wide["scale"]) / 0.05).round() * 0.05,
            "x": wide[1].round(5),
            "y": wide[2].round(5),
        }
    )


def _place(point: np.ndarray) -> dict[str, Any]:
    """Return a point of the plane as fields of a chart."""
    return dict(zip("xy", point.tolist(), strict=True))


def _chart(records: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=records))
