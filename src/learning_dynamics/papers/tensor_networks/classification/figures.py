"""Classifiers on their way to the max-margin direction, in logarithmic time."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.drawing import NETWORKS, SHOWN, handle, median_and_range, network_handles
from learning_dynamics.papers.tensor_networks.log_time_checks import largest_lag
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, panels
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

PALE = "#BBBBBB"  # of gaps in a norm that is not the network's own
MARKED_LOG_TIME = 60 * np.log(10)  # log t of t = 10^60; chosen: later than any training


def log_time(settling: Table, descent: Table, two: Table, *, slack: Positive) -> Plot:
    r"""How slowly classifiers forget where they started.

    Two-layer networks classify separable points by gradient flow over the time $t$. (a) to (c) Lines show the angle
    between the classifier and its max-margin direction on the points of figure 3, one for each start. Fully connected
    lines in (a) coincide. Circles mark where {steps:,} steps of gradient descent end, dotted lines the power of $\log
    t$ that theory gives. At $t = 10^{60}$ (grey line) angles are still up to {largest_angle_at_grey_line:.2g} degrees.
    Lines with a sharp dip cross the max-margin direction. (d) to (f) Each random draw has a line, up to $\log\log t =$
    {last_log_log_time:.0f}; the axis is linear in $\log\log t$ up to $\exp e^{10}$, then logarithmic. Coloured lines
    show the relative gap of the margin in the norm of the architecture, grey lines in (e) and (f) that in the $\ell_2$
    norm. Claims are judged by the black dotted bound. Beyond a $\log t$ of about {sharpness:.0e} double precision
    cannot hold the exponential, and the exponent is capped. Flows then follow their limiting flow, and most gaps level
    off; a few leave the panel. The slowest draws are those whose inactive singular values nearly tie with the active
    ones.
    """
    scales = np.unique(settling["scale"])
    figure = plt.figure(figsize=(WIDTH, 6.0))
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 1.05], squeeze=False)[:, 0]
    upper_axes = upper.subplots(1, len(scales), sharey=True, squeeze=False)[0]
    for axis, scale in zip(upper_axes, scales, strict=True):
        for network in SHOWN:
            _draw_angles(axis, settling, descent, scale=scale, network=network)
        axis.axvline(MARKED_LOG_TIME, color=COLOURS["grey"], lw=0.8, zorder=0)
        style = {"transform": axis.get_xaxis_transform(), "fontsize": 8, "color": COLOURS["grey"]}
        axis.text(MARKED_LOG_TIME * 1.15, 0.03, r"$t = 10^{60}$", **style)
        axis.set(title=rf"$\alpha = {scale:g}$", xlabel=r"$\log(1 + t)$")
    upper_axes[0].set_ylabel("angle to max margin (degrees)")
    lower_axes = lower.subplots(1, len(SHOWN), sharey=True, sharex=True)
    for axis, network in zip(lower_axes, SHOWN, strict=True):
        if network != "fully_connected":  # l2 is its own norm, and this gap the one that is drawn next
            _draw_gaps(axis, two, quantities.GAP["l2"], network=network, colour=PALE)
        _draw_gaps(axis, two, quantities.GAP_OWN, network=network, colour=NETWORKS[network][0])
        axis.axhline(largest_lag(Draws(two), slack), ls=":", color=COLOURS["black"], lw=1.0)
        _show_log_log_time(axis, two)
        axis.set(ylim=(1e-7, 2), title=f"random data,\n{NETWORKS[network][1]}", xlabel="time $t$")
    lower_axes[0].set_ylabel("relative gap of the margin")
    letters([*upper_axes, *lower_axes])
    handles = [
        *network_handles(SHOWN),
        handle("gradient descent", ls="", marker="o", ms=4, mfc="none"),
        handle("(a) to (c) predicted power", ls=":", lw=1.2),
        handle("(d) to (f) bound", COLOURS["black"], ls=":", lw=1.0),
        handle(r"gap of the $\ell_2$ margin", PALE, lw=0.9),
    ]
    legend_below(lower, handles, 4)
    return Plot(
        figure,
        {
            "largest_angle_at_grey_line": _largest_angle_at(settling, MARKED_LOG_TIME),
            "steps": int(settings_of(descent)["steps"]),
            "last_log_log_time": float(two["log_log_time"].max()),
            "sharpness": float(settings_of(two)["integration"]["sharpness"]),
        },
        alt="Top: angles that fall along lines in double logarithmic axes. Bottom: gaps of margins that fall below "
        "a bound on every draw, while those of the wrong norm stay.",
    )


def _draw_angles(axis: Axes, settling: Table, descent: Table, *, scale: float, network: str) -> None:
    """Draw angles to the max margin against log(1 + t): flows, where descent ends, and the predicted power."""
    colour = NETWORKS[network][0]
    where = {"scale": scale, "network": network}
    for _, of_start in select(settling, quantities.ANGLE, **where).groupby("direction"):
        log_time = np.expm1(of_start["log_log_time"].to_numpy())  # log(1 + t)
        late = log_time >= 1
        axis.loglog(log_time[late], of_start["value"][late], color=colour, lw=1.0)

    steps = descent["time"].max()  # descent counts its steps as time
    end_of_descent = np.log1p(steps * settings_of(descent)["step"])
    angles_of_descent = select(descent, quantities.ANGLE, time=steps, **where)["value"]
    x = np.full(len(angles_of_descent), end_of_descent)
    axis.loglog(x, angles_of_descent, "o", ms=4, mfc="none", mec=colour, zorder=4)

    # the predicted power, four times above the ends of the flows, over the last three decades of log t
    last_log_log_time = settling["log_log_time"].max()
    last = float(np.expm1(last_log_log_time))
    powers = select(settling, quantities.ANGLE_POWER, log_log_time=last_log_log_time, **where)["predicted"]
    angles = select(settling, quantities.ANGLE, log_log_time=last_log_log_time, **where)["value"]
    guide_at = np.array([last / 1e3, last])
    guide = 4 * angles.max() * (guide_at / last) ** -powers.median()
    axis.loglog(guide_at, guide, ":", color=colour, lw=1.2)


def _largest_angle_at(settling: Table, log_time: float) -> float:
    """Return the largest angle of any flow at a log(1 + t), interpolated between recorded times."""
    angles = select(settling, quantities.ANGLE, network=SHOWN)
    largest = 0.0
    for _, of_start in angles.groupby(["network", "scale", "direction"]):
        recorded_log_times = np.expm1(of_start["log_log_time"])
        largest = max(largest, float(np.interp(log_time, recorded_log_times, of_start["value"])))
    return largest


def _draw_gaps(axis: Axes, two: Table, quantity: Quantity, *, network: str, colour: str) -> None:
    """Draw a gap of the margin against log log t, a line for each draw, from the panel's lower end on."""
    for _, draw in select(two, quantity, network=network).groupby("seed"):
        axis.semilogy(draw["log_log_time"], np.maximum(draw["value"], 1e-7), color=colour, lw=0.9)


def alignment(two: Table, three: Table, *, slack: Positive) -> Plot:
    r"""All parameters together on their way to infinity, from random layers.

    Networks classify separable points by gradient flow, (a) to (c) with two layers and (d) to (f) with three. Lines are
    medians of {draws} draws, bands show all draws, and claims are judged by the dotted bound. The axis of time $t$ is
    linear in $\log\log t$ up to $\exp e^{10}$, then logarithmic. (a), (d) One minus the cosine between the parameters
    $\Theta$ and the negative gradient of the loss falls, as in (14). (b), (e) The largest distance from $1 / L$ of the
    share that one of the $L$ layers $v_l$ has in $\|\Theta\|^2$ falls. (c), (f) In fully connected networks the
    coefficients $\beta$ turn to the loss's negative gradient by $\beta$, $-X^T r$, as in (15) and (19). Curves in (a)
    and (d) rest or rise where draws pass from one singular vector to another, slowly if the two singular values are
    near. Vertical axes end at the integrator's tolerance, in (c) and (f) at a hundred times that.
    """
    labels = {
        quantities.MISALIGNMENT: r"$1 - \cos(\Theta, -\nabla \mathcal{L})$",
        quantities.LAYER_SHARE_ERROR: r"$|\, \|v_l\|^2 / \|\Theta\|^2 - 1 / L\,|$",
        quantities.DISTANCE_FROM_PUSH: r"$\beta$ from $-X^T r$",
    }
    figure, axes = panels(2, len(labels), height=2.4, sharex=True, sharey="col")
    networks = [name for name in NETWORKS if name in set(two["network"])]
    bound = largest_lag(Draws([two, three]), slack)
    for row, table, title in ((axes[0], two, "two layers"), (axes[1], three, "three layers")):
        rtol = settings_of(table)["integration"]["rtol"]
        for axis, (quantity, label) in zip(row, labels.items(), strict=True):
            axis.set_yscale("log")
            floor = 100 * rtol if quantity == quantities.DISTANCE_FROM_PUSH else rtol
            for network, rows in select(table, quantity).groupby("network"):
                log_log_times, curves = _on_one_grid(rows, floor)
                median_and_range(axis, log_log_times, curves, NETWORKS[network][0])
            axis.axhline(bound, ls=":", color=COLOURS["black"], lw=1.0)
            _show_log_log_time(axis, table)
            axis.set(ylabel=label, title=title)
            axis.set_ylim(bottom=1.2 * floor)
    for axis in axes[-1]:
        axis.set_xlabel("time $t$")
    letters(axes.flat)
    legend_below(figure, [*network_handles(networks), handle("bound", COLOURS["black"], ls=":", lw=1.0)], 4)
    return Plot(
        figure,
        {"draws": two["seed"].nunique()},
        alt="Six panels of curves on logarithmic axes that all fall below a dotted bound.",
    )


def _show_log_log_time(axis: Axes, table: Table) -> None:
    r"""Make an axis of $\log(1 + \log(1 + t))$, linear up to 10 and logarithmic beyond, with labels of the time t."""
    axis.set_xscale("symlog", linthresh=10)
    powers = [10**power for power in range(1, 4) if 10**power <= table["log_log_time"].max()]
    # the label at 100 would touch those at 10 and 1000
    labels = ["" if power == 100 else rf"$\exp e^{{{power}}}$" for power in powers]
    axis.set_xticks([0, *powers], ["0", *labels])


def _on_one_grid(rows: Table, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the log log t at which any draw is recorded, and a quantity interpolated to them, shape (draws, times).

    It is interpolated in its logarithm; values below `floor` are set to `floor` first.
    """
    times = np.unique(rows["log_log_time"])
    curves = [
        np.interp(times, draw["log_log_time"], np.log(np.maximum(draw["value"], floor)))
        for _, draw in rows.groupby("seed")
    ]
    return times, np.exp(curves)
