"""Coefficients under gradient descent, and how close they get to their limits (section 6; Theorem 5)."""

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from learning_dynamics.papers.tensor_networks.descent import quantities
from learning_dynamics.papers.tensor_networks.distances import spread
from learning_dynamics.papers.tensor_networks.drawing import NETWORKS, SHOWN, handle, network_handles
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, panels, plain_number
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, by_draw, select, settings_of

MINIMA = COLOURS["grey"]
STYLES = [(0, ()), (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5))]  # one for each start
# markers, and their sizes in points
SHAPES = {"fully_connected": ("s", 6.0), "diagonal": ("D", 5.5), "convolutional": ("o", 7.0)}
DASHED = (0, (4, 3))


def fig1(regression: Table, *, scales: list[Positive]) -> Plot:
    r"""Coefficients of three architectures under gradient descent on one data point, from the same starts.

    Two-layer fully connected, diagonal and convolutional networks fit one point, (a) from a small initial scale
    $\alpha$ and (b) from a large one. Thin lines show their coefficients $\beta_1$, $\beta_2$ under gradient descent
    from {starts} starts $\alpha^2 \bar z_j$ (black dots, which coincide in (a)), with one line style each. The broad
    grey line shows the global minima, and open symbols the limits that Theorem 5 predicts. Stars mark the minima of
    least norm: $\ell_2$, $\ell_1$ and DFT-domain $\ell_1$, in the order and colours of the architectures. From the
    small scale all limits are within {largest_distance_to_star:.2g} of their star, and those of one architecture within
    {largest_spread_at_small_scale:.2g} of each other. From the large scale the start decides: each architecture has two
    limits at least {least_spread_at_large_scale:.2g} apart. One start in (b) hides its short paths. Descent ends where
    Theorem 5 predicts, as in the paper's Figure 1.
    """
    figure, axes = panels(1, len(scales), height=4.35)
    for axis, scale in zip(axes[0], scales, strict=True):
        _regression_panel(axis, regression, scale)
    letters(axes.flat)
    legend_below(figure, _handles(regression, classification=False), 4)

    def limits(network: str, scale: float) -> np.ndarray:
        """Return the limits of descent from all starts, shape (starts, 2)."""
        return by_draw(regression, quantities.LIMIT, network=network, scale=scale)

    smallest, largest = scales[0], scales[-1]
    distances_from_star = [
        np.linalg.norm(limits(network, smallest) - _reference(regression, network), axis=-1) for network in SHOWN
    ]
    return Plot(
        figure,
        {
            "largest_distance_to_star": float(np.max(distances_from_star)),
            "largest_spread_at_small_scale": max(spread(limits(network, smallest)) for network in SHOWN),
            "least_spread_at_large_scale": min(spread(limits(network, largest)) for network in SHOWN),
            "starts": regression["direction"].max() + 1,
        },
        alt="Panels in the plane of two coefficients. At small scale trajectories of a network end at one point, at "
        "large scale apart from each other.",
    )


def fig3(regression: Table, classification: Table, *, scale: Positive) -> Plot:
    r"""Coefficients under gradient descent: regression at another scale, and classification at three.

    The networks of figure 1 start from the same coefficients at more initial scales $\alpha$. (a) They fit the point of
    figure 1. (b) to (d) They classify separable points with the exponential loss, for {steps:,} steps. Filled symbols
    show the ends. Lines with short dashes are the max-margin directions in each architecture's norm. Losses end between
    {least_loss:.2g} and {largest_loss:.2g}. The ends are still {least_angle:.2g} to {largest_angle:.2g} degrees from
    the max-margin directions. The larger the scale, the more their directions depend on the start. The paper's Figure 3
    has the same panels; its text says that coefficients depend on the initialisation, but not at which scale.
    """
    scales = np.unique(select(classification, quantities.LIMIT)["scale"])
    n_panels = 1 + len(scales)
    figure, axes = plt.subplots(math.ceil(n_panels / 2), 2, figsize=(WIDTH, 7.0))
    first, *others = axes.ravel()
    _regression_panel(first, regression, scale)
    for axis, classification_scale in zip(others, scales, strict=False):
        _classification_panel(axis, classification, classification_scale)
    for axis in others[len(scales) :]:
        axis.set_axis_off()
    letters((first, *others))
    legend_below(figure, _handles(regression, classification=True), 4)
    end = Draws(classification).at_end()
    losses, angles = end[quantities.LOSS], end[quantities.ANGLE]
    return Plot(
        figure,
        {
            "steps": int(settings_of(classification)["steps"]),
            "least_loss": losses.min(),
            "largest_loss": losses.max(),
            "least_angle": angles.min(),
            "largest_angle": angles.max(),
        },
        alt="Four panels in the plane of coefficients; trajectories of classification grow outwards beside the rays of "
        "their max-margin directions, closest where the initial scale is small.",
    )


def _regression_panel(axis: Axes, table: Table, scale: float) -> None:
    """Draw trajectories, starts, the line of global minima and the predicted limits for one scale."""
    _draw_trajectories(axis, table, scale)
    limits = _draw_limits(axis, table, scale, "predicted", mfc="none", mew=1.1)
    stars = [_reference(table, network) for network in SHOWN]
    for network, star in zip(SHOWN, stars, strict=True):
        axis.plot(*star, "*", ms=9, color=NETWORKS[network][0], mec="white", mew=0.6, zorder=7)
    minima = np.array([*limits, *stars])  # shape (points, 2)
    _fit(axis, minima, 0.2)  # before the endless line is drawn, which it could not fit
    # the global minima of one data point are a line: it is the first principal axis of those that are known
    middle = minima.mean(axis=0)
    direction = np.linalg.svd(minima - middle).Vh[0]
    axis.axline(middle, middle + direction, color=MINIMA, lw=3.0, alpha=0.45, zorder=1)
    axis.set_title(rf"regression, $\alpha = {scale:g}$")


def _classification_panel(axis: Axes, table: Table, scale: float) -> None:
    """Draw trajectories, starts, ends and the max-margin directions for one scale."""
    _draw_trajectories(axis, table, scale)
    ends = _draw_limits(axis, table, scale, "value", mec="white", mew=0.8)
    _fit(axis, np.array([*ends, [0.0, 0.0]]), 0.08)
    for network in SHOWN:
        axis.axline((0, 0), tuple(_reference(table, network)), color=NETWORKS[network][0], lw=0.9, ls=DASHED, zorder=1)
    axis.set_title(rf"classification, $\alpha = {scale:g}$")
    losses = Draws(table, scale=scale).at_end()[quantities.LOSS]
    text = f"losses {plain_number(losses.min(), digits=2)}\nto {plain_number(losses.max(), digits=2)}"
    axis.text(0.97, 0.04, text, transform=axis.transAxes, ha="right", va="bottom", fontsize=7.5, color=COLOURS["grey"])


def _reference(table: Table, network: str) -> np.ndarray:
    """Return the solution of least norm, or of largest margin, in the network's own norm, shape (2,)."""
    return by_draw(table, quantities.REFERENCE, network=network)[0]


def _draw_trajectories(axis: Axes, table: Table, scale: float) -> None:
    """Draw the path from every start of one scale, and the start."""
    coefficients = select(table, quantities.COEFFICIENT, scale=scale)
    for (network, direction), of_start in coefficients.groupby(["network", "direction"]):
        path = of_start["value"].to_numpy().reshape(-1, 2)  # (times, 2): rows list both coefficients at each time
        axis.plot(*path.T, color=NETWORKS[network][0], lw=1.1, ls=STYLES[direction % len(STYLES)], zorder=3)
        axis.plot(*path[0], "o", ms=4, color=COLOURS["black"], zorder=6)
    axis.set(xlabel=r"$\beta_1$", ylabel=r"$\beta_2$")


def _draw_limits(axis: Axes, table: Table, scale: float, column: str, **style: Any) -> list[np.ndarray]:
    """Draw and return the limits from one scale, measured or predicted: `column` is ``value`` or ``predicted``."""
    limits = []
    for (network, _), of_start in select(table, quantities.LIMIT, scale=scale).groupby(["network", "direction"]):
        limits.append(of_start[column].to_numpy())  # two rows, one for each coefficient
        shape, size = SHAPES[network]
        axis.plot(*limits[-1], shape, ms=size, color=NETWORKS[network][0], zorder=5, **style)
    return limits


def _fit(axis: Axes, points: np.ndarray, margin: float) -> None:
    """Set the limits of both axes, of equal length, with room around the given points and all lines drawn so far."""
    everything = np.concatenate([*(line.get_xydata() for line in axis.lines), points])
    low, high = everything.min(axis=0), everything.max(axis=0)
    half = 0.5 * (1 + margin) * np.max(high - low)
    limits = np.stack([(low + high) / 2 - half, (low + high) / 2 + half], axis=1)
    axis.set(aspect="equal", xlim=limits[0], ylim=limits[1])


def _handles(table: Table, *, classification: bool) -> list[Line2D]:
    """Return the legend's entries; with `classification` those of panels that show it, too."""
    suffix = " (regression)" if classification else ""
    handles = [
        *network_handles(SHOWN),
        handle(r"start, $\alpha^2 \bar z_j$", COLOURS["black"], ls="", marker="o", ms=4),
        handle(f"limit by Theorem 5{suffix}", ls="", marker="o", ms=6.5, mfc="none"),
        handle("least norm", ls="", marker="*", ms=8),
        handle("global minima", MINIMA, lw=3.0, alpha=0.45),
    ]
    starts = np.unique(select(table, quantities.COEFFICIENT)["direction"])
    styles = [handle(f"start {start + 1}", lw=1.1, ls=STYLES[start % len(STYLES)]) for start in starts]
    if classification:
        handles.append(handle("max margin", lw=0.9, ls=DASHED))
        handles.append(handle("end (classification)", ls="", marker="o", ms=6.5, mec="white"))
    return [*handles, *styles]


def limit_accuracy(step_sizes: Table) -> Plot:
    r"""Distance between the limit of gradient descent and Theorem 5, against the step size.

    Networks fit the point of figure 1 with several step sizes $\eta$, from one initial scale $\alpha$ in each of (a) to
    (c). Open symbols show the largest distance from Theorem 5's limit over all starts, moved a little sideways so that
    none covers another. They fall in proportion to the step size (dotted): the error is of first order. In (a) fully
    connected networks err least, because their singular values are equal. Crosses are for step size zero, extrapolated
    from the two smallest, and are at most {largest_extrapolated_distance:.1e}. The grey line marks the step size of the
    paper's regression.
    """
    limits = select(step_sizes, quantities.LIMIT)
    distances = limits.assign(distance=(limits["value"] - limits["predicted"]).abs())
    # a row for each scale and network, and a column for each step size; the first is zero, the extrapolation
    errors = distances.groupby(["scale", "network", "step_size"])["distance"].max().unstack("step_size")
    scales, sizes = errors.index.unique("scale"), errors.columns.to_numpy()[1:]
    edge = sizes[0] / 6  # where step size zero is drawn, on a logarithmic axis
    figure, axes = panels(1, len(scales), height=2.9, sharey=True)
    for axis, scale in zip(axes[0], scales, strict=True):
        axis.axvline(1e-3, color=COLOURS["grey"], lw=0.8, zorder=0)
        # symbols are shifted sideways by network: to the left, not at all, to the right
        for shift, network in zip((-1, 0, 1), SHOWN, strict=True):
            colour, shape = NETWORKS[network][0], SHAPES[network][0]
            extrapolated, *others = errors.loc[scale, network]  # the largest distances, by step size
            axis.loglog(sizes * 1.12**shift, others, shape, color=colour, mfc="none", ms=5)
            axis.loglog(sizes, others[0] * sizes / sizes[0], ":", color=colour, lw=1.0)
            axis.loglog(edge * 1.3**shift, max(extrapolated, 1e-16), "x", color=colour, ms=5)
        axis.set(title=rf"$\alpha = {scale:g}$", xlabel=r"step size $\eta$")
        axis.set_xticks([edge, *sizes], ["0", *(rf"$10^{{{round(np.log10(size))}}}$" for size in sizes)])
        axis.minorticks_off()
    letters(axes.flat)
    axes[0, 0].set_ylabel("distance from Theorem 5")
    handles = []
    for network in SHOWN:
        colour, label = NETWORKS[network]
        handles.append(handle(label, colour, ls="", marker=SHAPES[network][0], ms=5, mfc="none"))
    handles += [
        handle(r"proportional to $\eta$", ls=":", lw=1.0),
        handle("extrapolated", ls="", marker="x", ms=5),
    ]
    legend_below(figure, handles, 5)
    return Plot(
        figure,
        {"largest_extrapolated_distance": float(errors[0.0].max())},
        alt="Three panels of points that fall along straight lines of slope one towards small step sizes.",
    )
