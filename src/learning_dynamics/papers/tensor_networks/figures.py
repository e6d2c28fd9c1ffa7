"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Positive

Tables = Mapping[str, pd.DataFrame]

# one colour for each architecture, in every figure
NETWORKS = {
    "fully_connected": (COLOURS["blue"], "fully connected"),
    "diagonal": (COLOURS["vermilion"], "diagonal"),
    "convolutional": (COLOURS["green"], "convolutional"),
}
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


def fig2(tables: Tables) -> Figure:
    """A linear tensor network of three layers contracts its data tensor one axis at a time.

    M(x) has lengths 5, 4 and 3; v₁ takes inner products along the first axis and leaves a matrix, v₂ along the
    next and leaves a vector, v₃ leaves the output. Colours are the entries of a random example, each array
    relative to its largest.
    """
    table = tables["contraction"]
    figure, axis = plt.subplots(figsize=(WIDTH, 2.6))
    arrays = {name: _array(rows) for name, rows in table.groupby("array")}
    depth = len(arrays) // 2
    left = 0.0
    for stage in range(depth + 1):
        tensor = arrays[f"tensor_{stage}"]
        # the axis that is contracted next runs down the page
        width = _draw_tensor(axis, tensor, left)
        shape = r" \times ".join(str(length) for length in tensor.shape if length > 1) or "1"
        name = r"$\mathsf{M}(x)$" if stage == 0 else (rf"$\mathsf{{H}}_{stage}$" if stage < depth else r"$f(x)$")
        axis.text(left + width / 2, 3.6, f"{name}\n" + rf"${shape}$", ha="center", va="bottom")
        left += width + 0.7
        if stage < depth:
            vector = arrays[f"vector_{stage + 1}"]
            axis.text(left - 0.35, 0, r"$\circ$", ha="center", va="center", fontsize=13)
            _draw_tensor(axis, vector, left)
            axis.text(left + 0.5, 3.6, rf"$v_{stage + 1}$" + f"\n${len(vector)}$", ha="center", va="bottom")
            axis.text(left + 1.75, 0, r"$\longrightarrow$", ha="center", va="center", fontsize=13)
            left += 2.6
    axis.set_xlim(-0.2, left)
    axis.set_ylim(-3.4, 5.2)
    axis.set_aspect("equal")
    axis.set_axis_off()
    scale = ScalarMappable(Normalize(-1, 1), "RdBu_r")
    figure.colorbar(scale, ax=axis, shrink=0.75, pad=0.01, ticks=[-1, 0, 1], label="entry / largest")
    return figure


def _array(rows: pd.DataFrame) -> np.ndarray:
    shape = tuple(int(rows[f"axis_{number}"].max()) + 1 for number in (1, 2, 3))
    array = np.zeros(shape)
    array[rows["axis_1"], rows["axis_2"], rows["axis_3"]] = rows["value"]
    return np.squeeze(array)


def _draw_tensor(axis: Axes, tensor: np.ndarray, left: float) -> float:
    """Draw an array of order three or less, slices along its last axis one behind the other; return its width."""
    cube = np.asarray(tensor).reshape(*tensor.shape, *([1] * (3 - tensor.ndim)))
    rows, columns, slices = cube.shape
    shift = 0.55
    largest = np.abs(cube).max()
    norm, colours = Normalize(-largest, largest), mpl.colormaps["RdBu_r"]
    for k in reversed(range(slices)):
        for i in range(rows):
            for j in range(columns):
                corner = (left + j + shift * k, rows / 2 - i - 1 + shift * (k - (slices - 1) / 2))
                axis.add_patch(Rectangle(corner, 1, 1, fc=colours(norm(cube[i, j, k])), ec="white", lw=0.8))
    return columns + shift * (slices - 1)


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


def depth(tables: Tables) -> Figure:
    """Limits of diagonal networks of several depths, between the solutions of least ℓ1 and least ℓ2 norm.

    Left: the first coefficient at the limit against the initial scale. Lines: the minimiser of Q (Corollary 5);
    circles: gradient flow; crosses: gradient descent. The deeper the network, the sharper the change from one
    norm to the other. Right: relative distance from the minimiser of Q. That of the flow is the residual at
    which it was stopped, that of gradient descent is proportional to its step.
    """
    table = tables["depth"]
    depths = sorted(table["depth"].unique())
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.0))
    for number, colour in zip(depths, sequence(len(depths)), strict=True):
        rows = table[(table["depth"] == number) & (table["seed"] == 0)]
        first = rows[(rows["quantity"] == "coefficient") & (rows["index"] == 1)]
        flow, descent = (first[first["method"] == method].sort_values("scale") for method in ("flow", "descent"))
        left.semilogx(flow["scale"], flow["predicted"], color=colour, lw=1.3)
        left.semilogx(flow["scale"], flow["value"], "o", mfc="none", mec=colour, ms=6)
        left.semilogx(descent["scale"], descent["value"], "x", color=colour, ms=4)
        for method, marker in (("flow", "o"), ("descent", "x")):
            error = rows[(rows["quantity"] == "error") & (rows["method"] == method)].sort_values("scale")
            face = "none" if marker == "o" else colour
            right.loglog(error["scale"], error["value"], marker, ls="-", lw=0.7, color=colour, mfc=face, ms=4.5)
    ends = table[(table["quantity"] == "coefficient") & (table["index"] == 1) & (table["method"] == "flow")]
    for scale, place, label in (
        (ends["scale"].min(), "right", r"$\ell_1$"),
        (ends["scale"].max(), "left", r"$\ell_2$"),
    ):
        row = ends[(ends["scale"] == scale) & (ends["depth"] == depths[-1])].iloc[0]
        left.axhline(row["predicted"], color=COLOURS["grey"], lw=0.7, ls=(0, (1, 2)), zorder=0)
        edge = ends["scale"].max() if place == "right" else ends["scale"].min()
        left.annotate(f"least {label} norm", (edge, row["predicted"]), xytext=(0, 3 if place == "right" else -3),
                      textcoords="offset points", ha=place, va="bottom" if place == "right" else "top",
                      fontsize=8.5)  # fmt: skip
    left.set_ylabel(r"$\beta_1$ at the limit")
    right.set_ylabel(r"relative distance from $\mathrm{argmin}\,Q$")
    for axis in (left, right):
        axis.set_xlabel(r"initial scale $\alpha$")
    handles = [Line2D([], [], color=c, label=f"$L = {n}$") for n, c in zip(depths, sequence(len(depths)), strict=True)]
    handles += [
        Line2D([], [], ls="", marker="o", mfc="none", color=COLOURS["grey"], label="gradient flow"),
        Line2D([], [], ls="", marker="x", color=COLOURS["grey"], label="gradient descent"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def log_time(tables: Tables) -> Figure:
    """Angle between the classifier and its max-margin direction, followed to t = exp(10⁶).

    One line for each start, at the settings of figure 3. Circles: where two million steps of gradient descent
    end, log t = 7. Dotted: the power of log t that theory gives, 1/2 for fully connected and diagonal networks
    and 2/3 for convolutional ones on these data. At t = 10⁶⁰ some angles are still several degrees: the
    direction forgets its start only like a power of log t.
    """
    flow, descent = tables["settling"], tables["classification"]
    scales = sorted(flow["scale"].unique())
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 3.0), sharey=True, squeeze=False)
    last = descent[(descent["time"] == descent["time"].max()) & (descent["quantity"] == "angle")]
    end = np.log1p(last["time"].iloc[0] * descent.attrs["settings"]["step"])
    late = flow["tau"].max()
    for axis, scale in zip(axes[0], scales, strict=True):
        rows = flow[(flow["scale"] == scale) & (flow["quantity"] == "angle") & (flow["tau"] >= 1)]
        for (network, _), run in rows.groupby(["network", "direction"]):
            axis.loglog(run["tau"], run["value"], color=NETWORKS[network][0], lw=1.0)
        for network, points in last[last["scale"] == scale].groupby("network"):
            axis.loglog(
                np.full(len(points), end), points["value"], "o", ms=4, mfc="none", mec=NETWORKS[network][0], zorder=4
            )
        for network, (colour, _) in NETWORKS.items():
            found = flow[(flow["scale"] == scale) & (flow["network"] == network) & (flow["tau"] == late)]
            exponent = found[found["quantity"] == "exponent"]["predicted"].median()
            top = 4 * found[found["quantity"] == "angle"]["value"].max()
            taus = np.array([late / 1e3, late])
            axis.loglog(taus, top * (taus / late) ** -exponent, ":", color=colour, lw=1.2)
        axis.axvline(60 * np.log(10), color=COLOURS["grey"], lw=0.8, zorder=0)
        axis.text(
            60 * np.log(10) * 1.15,
            0.02,
            r"$t = 10^{60}$",
            transform=axis.get_xaxis_transform(),
            fontsize=8,
            color=COLOURS["grey"],
        )
        axis.set_title(rf"$\alpha = {scale:g}$")
        axis.set_xlabel(r"$\log(1 + t)$")
        axis.set_ylim(1e-6, 200)
    axes[0, 0].set_ylabel("angle to max margin (degrees)")
    handles = [Line2D([], [], color=colour, label=name) for colour, name in NETWORKS.values()]
    handles += [
        Line2D(
            [], [], ls="", marker="o", ms=4, mfc="none", color=COLOURS["grey"], label=r"$2 \cdot 10^6$ steps of descent"
        ),
        Line2D([], [], ls=":", lw=1.2, color=COLOURS["grey"], label="predicted power"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, columnspacing=1.2)
    return figure


def filters(tables: Tables) -> Figure:
    """Limit directions of two-layer convolutional networks with filters of several lengths, trained on one point.

    Each row is one data point times its label (grey, scaled to unit length), each column a filter length k₁. Dots: the
    direction of β at log t = 10⁶; lines: predicted, by Corollary 4 for lengths 1 and 2 and by
    Theorem 3 for others. Length 1 keeps the data point, length 2 passes low or high frequencies by
    the sign of its autocorrelation, full length leaves one frequency.
    """
    table = tables["filters"]
    lengths, members = sorted(table["length"].unique()), sorted(table["seed"].unique())
    figure, axes = plt.subplots(
        len(members), len(lengths), figsize=(WIDTH, 1.35 * len(members) + 0.7), sharex=True, sharey=True, squeeze=False
    )
    for row, member in enumerate(members):
        for column, length in enumerate(lengths):
            axis = axes[row, column]
            rows = table[(table["seed"] == member) & (table["length"] == length)]
            point = rows[rows["quantity"] == "point"].sort_values("index")
            axis.bar(point["index"], point["value"] / np.linalg.norm(point["value"]), color="#D9D9D9", width=0.75)
            found = rows[rows["quantity"] == "coefficient"].sort_values("index")
            axis.plot(found["index"], found["predicted"], color=COLOURS["black"], lw=1.0)
            axis.plot(found["index"], found["value"], "o", color=NETWORKS["convolutional"][0], ms=4)
            axis.axhline(0, color=COLOURS["grey"], lw=0.5)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if row == 0:
                axis.set_title(rf"$k_1 = {length}$")
            if row == len(members) - 1:
                axis.set_xlabel("entry")
    figure.supylabel(r"$\beta / \|\beta\|$", fontsize=9.5)
    handles = [
        Rectangle((0, 0), 1, 1, color="#D9D9D9", label=r"$y x / \|x\|$"),
        Line2D([], [], ls="", marker="o", ms=4, color=NETWORKS["convolutional"][0], label=r"flow at $\log t = 10^6$"),
        Line2D([], [], color=COLOURS["black"], lw=1.0, label="predicted limit"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure
