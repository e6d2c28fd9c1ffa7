"""Coefficients under gradient descent, and how close they get to their limits (section 6; Theorem 5)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.papers.tensor_networks.drawing import NETWORKS, network_handles
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, plain_number
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, by_draw, select, settings_of

MINIMA = COLOURS["orange"]
STYLES = [(0, ()), (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5))]  # one for each start
SHAPES = {"fully_connected": ("s", 6.0), "diagonal": ("D", 5.5), "convolutional": ("o", 7.0)}
SHOWN = ["fully_connected", "diagonal", "convolutional"]


def fig1(regression: Table, *, scales: list[Positive]) -> Drawn:
    r"""Coefficients of three architectures under gradient descent on one data point, from the same starts.

    Every network starts at the same {starts} coefficients $\alpha^2 \bar z_j$ (black dots, one line style each). Lines:
    gradient descent. Open symbols{minima}: the limits that Theorem 5 predicts. Stars: the points of least $\ell_2$,
    $\ell_1$ and DFT-domain $\ell_1$ norm. From the small scale each architecture goes towards the point of least norm
    in its own norm (all limits are within {near:.2g} of it, and spread over at most {small:.2g}), from the large one
    the start decides (those of each architecture spread over at least {large:.2g}).
    """
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 4.5))
    for axis, scale in zip(np.atleast_1d(axes), scales, strict=True):
        _regression_panel(axis, regression, scale)
    figure.legend(handles=_handles(regression, classification=False), loc="outside lower center", ncols=4)
    spread = [[_spread(regression, network, scale) for network in SHOWN] for scale in scales]
    return Drawn(
        figure,
        {
            "near": max(_distance(regression, network, scales[0]) for network in SHOWN),
            "small": max(spread[0]),
            "large": min(spread[-1]),
            "starts": regression["direction"].max() + 1,
            "minima": " on the line of global minima" if _size(regression) == 2 else _projection_note(regression),
        },
        alt="Panels in the plane of two coefficients. At small scale trajectories of a network end at one point, at "
        "large scale apart from each other.",
    )


def fig3(regression: Table, classification: Table, *, scale: Positive) -> Drawn:
    r"""Coefficients under gradient descent: regression at another scale, and classification at three.

    First panel as in figure 1. Other panels: separable points under the exponential loss, from the same starts, for
    {steps:,} steps; filled symbols mark where they end; dashed rays are the max-margin directions of each
    architecture's norm{plane}. Losses at the end lie between {least:.2g} and {largest:.2g}. Angles that are left to
    the rays range from {nearest:.2g} to {farthest:.2g} degrees.
    """
    scales = sorted(select(classification, "limit")["scale"].unique())
    figure, axes = plt.subplots(-(-(1 + len(scales)) // 2), 2, figsize=(WIDTH, 7.0))
    panels = iter(axes.ravel())
    _regression_panel(next(panels), regression, scale)
    for classification_scale in scales:
        _classification_panel(next(panels), classification, classification_scale)
    for axis in panels:
        axis.set_axis_off()
    figure.legend(handles=_handles(regression, classification=True), loc="outside lower center", ncols=3)
    final_rows = classification[classification["time"] == classification["time"].max()]
    losses, angles = select(final_rows, "loss")["value"], select(final_rows, "angle")["value"]
    return Drawn(
        figure,
        {
            "steps": int(settings_of(classification)["steps"]),
            "least": losses.min(),
            "largest": losses.max(),
            "nearest": angles.min(),
            "farthest": angles.max(),
            "plane": "" if _size(classification) == 2 else _projection_note(classification),
        },
        alt="Four panels in the plane of coefficients; trajectories of classification grow outwards beside the rays of "
        "their max-margin directions, closest where the initial scale is small.",
    )


def _regression_panel(axis: Axes, table: Table, scale: float) -> None:
    """Draw trajectories, starts, the line of global minima and the predicted limits for one scale."""
    _draw_trajectories(axis, table, scale)
    limits = _first_two(select(table, "limit", scale=scale))
    ends = []
    for (network, _), run in limits.groupby(["network", "direction"]):
        point = run.sort_values("index")["predicted"].to_numpy()
        shape, size = SHAPES[network]
        axis.plot(*point, shape, ms=size, mfc="none", mec=NETWORKS[network][0], mew=1.1, zorder=5)
        ends.append(point)
    for network in SHOWN:
        reference = _first_two(select(table, "reference", network=network)).sort_values("index")["value"].to_numpy()
        ends.append(reference)
        axis.plot(*reference, "*", ms=9, color=NETWORKS[network][0], mec="white", mew=0.6, zorder=7)
    points = np.array(ends)
    box = _fit(axis, points, 0.2)
    if _size(table) == 2:  # through the interpolators of least norm runs the line of global minima of one data point
        direction = np.linalg.svd(points - points.mean(axis=0))[2][0]
        axis.axline(points.mean(axis=0), points.mean(axis=0) + direction, color=MINIMA, lw=3.0, alpha=0.45, zorder=1)
    axis.set_xlim(*box[0])
    axis.set_ylim(*box[1])
    axis.set_title(rf"regression, $\alpha = {scale:g}$")


def _classification_panel(axis: Axes, table: Table, scale: float) -> None:
    """Draw trajectories, starts, ends and the max-margin directions for one scale."""
    _draw_trajectories(axis, table, scale)
    ends = []
    for (network, _), run in _first_two(select(table, "limit", scale=scale)).groupby(["network", "direction"]):
        point = run.sort_values("index")["value"].to_numpy()
        shape, size = SHAPES[network]
        axis.plot(*point, shape, ms=size, color=NETWORKS[network][0], mec="white", mew=0.8, zorder=5)
        ends.append(point)
    box = _fit(axis, np.array([*ends, [0.0, 0.0]]), 0.08)
    for network in SHOWN:
        ray = _first_two(select(table, "reference", network=network)).sort_values("index")["value"].to_numpy()
        axis.axline((0, 0), tuple(ray), color=NETWORKS[network][0], lw=0.9, ls=(0, (4, 3)), zorder=1)
    axis.set_xlim(*box[0])
    axis.set_ylim(*box[1])
    final_rows = table[table["time"] == table["time"].max()]
    losses = select(final_rows, "loss", scale=scale)["value"]
    axis.set_title(rf"classification, $\alpha = {scale:g}$")
    text = f"losses {plain_number(losses.min(), digits=2)}\nto {plain_number(losses.max(), digits=2)}"
    axis.text(0.97, 0.04, text, transform=axis.transAxes, ha="right", va="bottom", fontsize=7.5, color=COLOURS["grey"])


def _size(table: Table) -> int:
    """Return how many coefficients there are; figures show the plane of the first two."""
    return int(select(table, "coefficient")["index"].max())


def _projection_note(table: Table) -> str:
    return f" (of {_size(table)} coefficients the first two are drawn)"


def _first_two(table: Table) -> Table:
    return table[table["index"] <= 2]


def _draw_trajectories(axis: Axes, table: Table, scale: float) -> None:
    rows = _first_two(select(table, "coefficient", scale=scale))
    for (network, direction), run in rows.groupby(["network", "direction"]):
        path = run.sort_values(["time", "index"])["value"].to_numpy().reshape(-1, 2)
        style = STYLES[direction % len(STYLES)]
        axis.plot(path[:, 0], path[:, 1], color=NETWORKS[network][0], lw=1.1, ls=style, zorder=3)
        axis.plot(*path[0], "o", ms=4, color=COLOURS["black"], zorder=6)
    axis.set_xlabel(r"$\beta_1$")
    axis.set_ylabel(r"$\beta_2$")


def _fit(axis: Axes, points: np.ndarray, margin: float) -> np.ndarray:
    """Return equal axes' limits with room around all lines and points, shape (2, 2)."""
    paths = [line.get_xydata() for line in axis.lines]
    everything = np.concatenate([*paths, points])
    low, high = everything.min(axis=0), everything.max(axis=0)
    half = 0.5 * (1 + margin) * np.max(high - low)
    axis.set_aspect("equal", adjustable="box")
    middle = (low + high) / 2
    return np.stack([middle - half, middle + half], axis=1)


def _distance(table: Table, network: str, scale: float) -> float:
    """Return the largest distance of a network's limits from the point of least norm in its own norm."""
    limits = by_draw(table, "limit", network=network, scale=scale)
    reference = by_draw(table, "reference", network=network)
    return float(np.max(np.linalg.norm(limits - reference, axis=-1)))


def _spread(table: Table, network: str, scale: float) -> float:
    points = by_draw(table, "limit", network=network, scale=scale)
    return float(np.max(np.linalg.norm(points[:, None] - points[None], axis=-1)))


def _handles(regression: Table, *, classification: bool) -> list[Line2D]:
    handles = network_handles(SHOWN)
    grey, suffix = COLOURS["grey"], " (regression)" if classification else ""
    handles += [
        Line2D([], [], ls="", marker="o", ms=4, color=COLOURS["black"], label=r"start, $\alpha^2 \bar z_j$"),
        Line2D([], [], ls="", marker="o", ms=6.5, mfc="none", mec=grey, label=f"limit by Theorem 5{suffix}"),
        Line2D([], [], ls="", marker="*", ms=8, color=grey, label="least norm"),
    ]
    if _size(regression) == 2:
        handles.append(Line2D([], [], color=MINIMA, lw=3.0, alpha=0.45, label="global minima"))
    if classification:
        handles.append(Line2D([], [], color=grey, lw=0.9, ls=(0, (4, 3)), label="max margin"))
        handles.append(Line2D([], [], ls="", marker="o", ms=6.5, color=grey, mec="white", label="end (classification)"))
    return handles


def limit_accuracy(steps: Table) -> Drawn:
    r"""Distance between the limit of gradient descent and Theorem 5, against the step size.

    Largest of the starts, by architecture and scale. Dotted: in proportion to the step size, the order at which
    descent differs from the flow that the theorem speaks of. Crosses at the left edge: the line through the limits at
    the two smallest steps, at step size zero, at most {zero:.1e}. Grey: the step size of the paper's figures.
    """
    value = select(steps, "limit")
    error = (value["value"] - value["predicted"]).abs()
    rows = value.assign(error=error).groupby(["scale", "network", "step"])["error"].max().reset_index()
    scales = sorted(rows["scale"].unique())
    sizes = np.array(sorted(rows["step"].unique()))[1:]
    edge = sizes[0] / 6
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 2.9), sharey=True, squeeze=False)
    for axis, scale in zip(axes[0], scales, strict=True):
        axis.axvline(1e-3, color=COLOURS["grey"], lw=0.8, zorder=0)
        for place, network in enumerate(SHOWN):
            run = rows[(rows["scale"] == scale) & (rows["network"] == network)].sort_values("step")
            colour = NETWORKS[network][0]
            errors, zero = run["error"].to_numpy()[1:], run["error"].to_numpy()[0]
            axis.loglog(sizes * 1.12 ** (place - 1), errors, SHAPES[network][0], color=colour, mfc="none", ms=5)
            axis.loglog(sizes, errors[0] * sizes / sizes[0], ":", color=colour, lw=1.0)
            axis.loglog(edge * 1.3 ** (place - 1), max(zero, 1e-16), "x", color=colour, ms=5)
        axis.set_title(rf"$\alpha = {scale:g}$")
        axis.set_xlabel(r"step size $\eta$")
        axis.set_xticks([edge, *sizes], ["0", *(rf"$10^{{{round(np.log10(size))}}}$" for size in sizes)])
        axis.minorticks_off()
    axes[0, 0].set_ylabel("distance from Theorem 5")
    handles = [
        Line2D(
            [], [], ls="", marker=SHAPES[name][0], ms=5, mfc="none", color=NETWORKS[name][0], label=NETWORKS[name][1]
        )
        for name in SHOWN
    ]
    grey = COLOURS["grey"]
    handles.append(Line2D([], [], ls=":", lw=1.0, color=grey, label=r"proportional to $\eta$"))
    handles.append(Line2D([], [], ls="", marker="x", ms=5, color=grey, label="extrapolated"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return Drawn(
        figure,
        {"zero": float(rows[rows["step"] == 0]["error"].max())},
        alt="Three panels of points that fall along straight lines of slope one towards small step sizes.",
    )
