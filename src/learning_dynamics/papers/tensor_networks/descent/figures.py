"""Coefficients under gradient descent, and how close they get to their limits (Section 6; Theorem 5)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from learning_dynamics.papers.tensor_networks.architecture_styles import NETWORKS
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.settings import Positive
from learning_dynamics.tables import Tables

MINIMA = COLOURS["orange"]


def fig1(tables: Tables, *, scales: list[Positive]) -> Figure:
    """Coefficients of three architectures under gradient descent on one data point, from the same starts.

    Every network starts at the same four coefficients α² z̄_j (black dots). Lines: gradient descent. Open
    circles on the line of global minima: the limits that Theorem 5 predicts. From the small scale each
    architecture goes to the point of least norm in its own norm; from the large scale the start decides.
    """
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 3.6))
    for axis, scale in zip(np.atleast_1d(axes), scales, strict=True):
        _regression_panel(axis, tables["regression"], scale)
    figure.legend(handles=_trajectory_handles(rays=False), loc="outside lower center", ncols=3)
    return figure


def fig3(tables: Tables, *, regression_scale: Positive) -> Figure:
    """Coefficients under gradient descent: regression at another scale, and classification at three.

    First panel as in figure 1. Other panels: two separable points under the exponential loss, from the same
    starts, for two million steps; dashed rays are the max-margin directions of each architecture's norm. The
    trajectories have not reached them: at a loss near 1e-5 the classifier still shows where it started, more so
    from a large scale.
    """
    regression, classification = tables["regression"], tables["classification"]
    scales = classification.attrs["settings"]["scales"]
    columns = 2
    figure, axes = plt.subplots(-(-(1 + len(scales)) // columns), columns, figsize=(WIDTH, 6.6))
    panels = iter(axes.ravel())
    _regression_panel(next(panels), regression, regression_scale)
    for scale in scales:
        _classification_panel(next(panels), classification, scale)
    for axis in panels:
        axis.set_axis_off()
    figure.legend(handles=_trajectory_handles(rays=True), loc="outside lower center", ncols=4)
    return figure


def _regression_panel(axis: Axes, table: pd.DataFrame, scale: float) -> None:
    """Draw trajectories, starts, the line of global minima and the predicted limits for one scale."""
    limits = table[(table["quantity"] == "limit") & (table["scale"] == scale)]
    points = _plane(limits, "predicted")
    _trajectories(axis, table, scale)
    for (network, _), point in points.items():
        axis.plot(*point, "o", ms=6.5, mfc="none", mec=NETWORKS[network][0], mew=1.3, zorder=5)
    _fit(axis, 0.12)
    # the line through the limits is the line of global minima of one data point
    ends = np.array(list(points.values()))
    direction = np.linalg.svd(ends - ends.mean(axis=0))[2][0]
    axis.axline(ends.mean(axis=0), ends.mean(axis=0) + direction, color=MINIMA, lw=3.0, alpha=0.55, zorder=1)
    axis.set_title(rf"regression, $\alpha = {scale:g}$")


def _classification_panel(axis: Axes, table: pd.DataFrame, scale: float) -> None:
    """Draw trajectories, starts and the max-margin directions for one scale."""
    _trajectories(axis, table, scale)
    _fit(axis, 0.06)
    reach = 1.05 * np.hypot(*np.abs(np.array([axis.get_xlim(), axis.get_ylim()])).max(axis=1))
    references = table[table["quantity"] == "reference"]
    for network, rows in references.groupby("network"):
        ray = rows.sort_values("index")["value"].to_numpy()
        end = reach * ray / np.linalg.norm(ray)
        axis.plot([0, end[0]], [0, end[1]], color=NETWORKS[network][0], lw=1.0, ls=(0, (5, 3)), zorder=1)
    axis.set_title(rf"classification, $\alpha = {scale:g}$")


def _trajectories(axis: Axes, table: pd.DataFrame, scale: float) -> None:
    rows = table[(table["quantity"] == "coefficient") & (table["scale"] == scale)]
    for (network, _), run in rows.groupby(["network", "direction"]):
        path = run.pivot_table(index="time", columns="index", values="value").to_numpy()
        axis.plot(path[:, 0], path[:, 1], color=NETWORKS[network][0], lw=1.1, zorder=3)
        axis.plot(*path[0, :2], "o", ms=4, color=COLOURS["black"], zorder=6)
    axis.set_xlabel(r"$\beta_1$")
    axis.set_ylabel(r"$\beta_2$")


def _plane(rows: pd.DataFrame, column: str) -> dict[tuple[str, int], np.ndarray]:
    return {key: run.sort_values("index")[column].to_numpy()[:2] for key, run in rows.groupby(["network", "direction"])}


def _fit(axis: Axes, margin: float) -> None:
    """Give both axes the same scale and room around what is drawn, and keep it."""
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(margin)
    axis.autoscale_view()
    box = axis.dataLim
    half = 0.5 * (1 + 2 * margin) * max(box.width, box.height)
    axis.set_aspect("equal", adjustable="box")
    axis.set_xlim(0.5 * (box.x0 + box.x1) - half, 0.5 * (box.x0 + box.x1) + half)
    axis.set_ylim(0.5 * (box.y0 + box.y1) - half, 0.5 * (box.y0 + box.y1) + half)


def _trajectory_handles(*, rays: bool) -> list[Line2D]:
    handles = [Line2D([], [], color=colour, label=name) for colour, name in NETWORKS.values()]
    handles += [
        Line2D([], [], ls="", marker="o", ms=4, color=COLOURS["black"], label=r"start, $\alpha^2 \bar z_j$"),
        Line2D([], [], ls="", marker="o", ms=6.5, mfc="none", mec=COLOURS["grey"], label="limit by Theorem 5"),
        Line2D([], [], color=MINIMA, lw=3.0, alpha=0.55, label="global minima"),
    ]
    if rays:
        handles.append(Line2D([], [], color=COLOURS["grey"], lw=1.0, ls=(0, (5, 3)), label="max-margin direction"))
    return handles


def limit_accuracy(tables: Tables) -> Figure:
    """Distance between the limit of gradient descent and Theorem 5, against the step size.

    The largest of the four starts, for each architecture and scale. The dotted lines rise in proportion to the
    step size: Theorem 5 speaks of gradient flow, and gradient descent differs from it to first order. Grey: the
    step size of the paper's figures.
    """
    table = tables["step_sizes"]
    rows = table[(table["quantity"] == "error") & (table["step"] > 0)]
    scales = sorted(rows["scale"].unique())
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 2.7), sharey=True, squeeze=False)
    for axis, scale in zip(axes[0], scales, strict=True):
        axis.axvline(1e-3, color=COLOURS["grey"], lw=0.8, zorder=0)
        for network, run in rows[rows["scale"] == scale].groupby("network"):
            error = run.groupby("step")["value"].max()
            axis.loglog(error.index, error, "o", color=NETWORKS[network][0], ms=4.5)
            axis.loglog(
                error.index, error.iloc[0] * error.index / error.index[0], ":", color=NETWORKS[network][0], lw=1.0
            )
        axis.set_title(rf"$\alpha = {scale:g}$")
        axis.set_xlabel(r"step size $\eta$")
    axes[0, 0].set_ylabel("distance from Theorem 5")
    handles = [
        Line2D([], [], ls="", marker="o", ms=4.5, color=colour, label=name) for colour, name in NETWORKS.values()
    ]
    handles.append(Line2D([], [], ls=":", lw=1.0, color=COLOURS["grey"], label=r"proportional to $\eta$"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure
