"""The flows on the central path, their closed forms and limits, and a network in training."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from learning_dynamics.papers.neural_collapse.central_path import quantities, theory
from learning_dynamics.papers.neural_collapse.draws import SIZE_COLUMNS
from learning_dynamics.papers.neural_collapse.panels import DASHED, PLAIN, title_of
from learning_dynamics.papers.neural_collapse.training import quantities as training_quantities
from learning_dynamics.papers.neural_collapse.trainings import data_and_network
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Quantity, Table, select, settings_of

# by the value of the column ``flow``: colour and label of a flow, named by its map onto the tangent space
FLOWS = {
    quantities.ORTHOGONAL: ("blue", "orthogonal projection"),
    quantities.PRINTED: ("vermilion", "printed map"),
}
# of the axes of panels over flow time
OVER_TIME: dict[str, Any] = {"xscale": "log", "yscale": "log", "xlabel": "flow time $t$"}


def central_path(
    features: Table, flows: Table, descent: Table, training: Table, *, size: Natural, member: Natural
) -> Plot:
    r"""Renormalised gradient flow on the central path: two flows, and the closed form that each obeys.

    On the central path the classifier is always the least-squares one. Features $X$, renormalised to an identity
    covariance within classes, flow along it, and with them the SNR singular values $\omega_j$.

    (a) Coloured lines are $\omega_j$ over the flow time $t$, with orthogonally projected gradients (Riemannian gradient
    flow). Black dots are Proposition 2's closed form, and the grey line is its asymptote $(4t/N)^{1/4}$. (b) From the
    same start, lines follow the tangent map that the paper prints. White circles, of a shorter run, are the algorithm
    that it describes, gradient descent with renormalisation. Black dots solve $\dot\omega = \omega/(CN(C + \omega^2))$,
    and the grey line is their asymptote $(2t/(CN))^{1/2}$. The dotted line is Proposition 2's closed form for the
    largest $\omega_j$. (c) Marks are speeds $\dot\omega$ on fresh draws of several sizes, over the paper's formula
    (Lemma 5). Dashed lines are predictions: $1$ for the orthogonal projection, and $1 + \omega^2/C$ for the printed map
    and one step of the algorithm.

    (d) The spread $\omega_{\max}/\omega_{\min} - 1$ falls as $1/t$ (grey) under both flows, whose lines coincide. (e)
    Lines are the loss $\mathcal{L}$ under the flow of (a), and its parts by deviations within classes
    ($\mathcal{L}_{\mathrm{NC1}}$) and by class means ($\mathcal{L}_{\mathrm{NC2/3}}$). Black dots are Lemma 1's, from
    $\omega_j$. (f) Lines are the flows' distances from their limits, in the colours of (d). Solid lines, which
    coincide, are of $\mathrm{SNR}/\omega_{\max}$ from $\hat U_0\hat V_0^\top$ (eq. 10), the product of its singular
    vectors at $t = 0$. Dotted lines are of $X/\omega_{\max}$ from $N$ copies of each column of that limit, over $\sqrt
    N$ (eq. 11), and fall as $1/\omega$.

    (g) Lines are the SNR singular values of one network's last-layer features in training, with dots at the measured
    epochs. No closed form is claimed for a network, which is neither on the central path nor renormalised.
    """
    figure = plt.figure(figsize=(WIDTH, 6.8))
    grid = figure.add_gridspec(3, 3)
    axes = [figure.add_subplot(grid[place]) for place in np.ndindex(2, 3)]
    axes.append(figure.add_subplot(grid[2, :]))
    orthogonal_axis, printed_axis, speed_axis, spread_axis, loss_axis, limit_axis, training_axis = axes
    flow_rows, descent_rows = (drawn_member(table, size, member) for table in (flows, descent))
    orthogonal_rows = flow_rows[flow_rows["flow"] == quantities.ORTHOGONAL]
    printed_rows = flow_rows[flow_rows["flow"] == quantities.PRINTED]
    _omega_panel(orthogonal_axis, orthogonal_rows, None)
    _omega_panel(printed_axis, printed_rows, descent_rows)
    top = max(axis.get_ylim()[1] for axis in (orthogonal_axis, printed_axis))
    for axis in (orthogonal_axis, printed_axis):
        axis.set_ylim(0.5 * select(flow_rows, quantities.OMEGA)["value"].min(), top)
    _speed_panel(speed_axis, features)
    _spread_panel(spread_axis, flow_rows)
    _spectral_loss_panel(loss_axis, orthogonal_rows)
    _limit_panel(limit_axis, flow_rows)
    _training_spectrum_panel(training_axis, training)
    letters(axes)
    return Plot(figure, alt="Singular values grow along two flows, each on its own closed form, and become equal.")


def drawn_member(table: pd.DataFrame, size: int, member: int) -> pd.DataFrame:
    """Return the rows of one member of one size; `size` is its index in the setting ``sizes``, `member` the seed."""
    columns_of_size = dict(zip(SIZE_COLUMNS, settings_of(table)["sizes"][size], strict=True))
    return select(table, **columns_of_size, seed=member)


def _spectrum(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return for each singular value omega_j its rows after time 0, the largest omega_j first."""
    return [rows for _, rows in _after_start(table, quantities.OMEGA).groupby("index")]


def _after_start(table: pd.DataFrame, quantity: Quantity, **where: str) -> pd.DataFrame:
    """Return the rows of a quantity after time 0, which a logarithmic axis does not show."""
    rows = select(table, quantity, **where)
    return rows[rows["time"] > 0]


def _dots(axis: Axes, time: np.ndarray, values: np.ndarray) -> None:
    """Draw a prediction as black dots at every sixth time, so that the measured line below them stays visible."""
    axis.plot(time[::6], values[::6], ".", color=COLOURS["black"], ms=3.2, zorder=4)


def _omega_panel(axis: Axes, flow: pd.DataFrame, descent: pd.DataFrame | None) -> None:
    """Draw one flow's singular values, the closed form that it obeys, and the asymptote of this closed form.

    Without `descent` the closed form is the paper's (Proposition 2). With `descent` it is the algorithm's, descent is
    drawn at its smallest step, and the paper's closed form is drawn for the largest singular value alone.
    """
    lines = _spectrum(flow)
    starts = select(flow, quantities.OMEGA, time=0).set_index("index")["value"]
    colours = sequence(len(lines))
    classes, examples = (int(flow[name].iloc[0]) for name in ("classes", "examples"))
    for index, (line, colour) in enumerate(zip(lines, colours, strict=True), start=1):
        times, start = line["time"].to_numpy(), np.array(starts[index])
        paper = theory.snr_closed_form(start, times, classes, examples)
        algorithm = theory.algorithm_closed_form(start, times, classes, examples)
        axis.plot(times, line["value"], color=colour, lw=2.2)
        _dots(axis, times, paper if descent is None else algorithm)
        if descent is not None and index == 1:  # several dotted lines would fill each other's gaps
            axis.plot(times, paper, color=COLOURS["black"], ls=(0, (1, 2)), lw=1.6)
    time = lines[0]["time"].to_numpy()
    if descent is None:
        asymptote, label, title = theory.snr_asymptote(time, examples), r"$(4t/N)^{1/4}$", "orthogonal projection"
        sizes = f"$C = {classes}$, $N = {examples}$, $P = {flow['features'].iloc[0]}$"
        axis.text(0.97, 0.04, sizes, transform=axis.transAxes, ha="right", fontsize=8.5)
    else:
        asymptote, label = theory.algorithm_asymptote(time, classes, examples), r"$(2t/(CN))^{1/2}$"
        title = "printed map, algorithm"
        smallest_step = descent[descent["step"] == descent["step"].min()]
        for line, colour in zip(_spectrum(smallest_step), colours, strict=True):
            axis.plot(line["time"], line["value"], "o", ms=3.0, mfc="white", mec=colour, mew=0.8, markevery=3, zorder=5)
    axis.plot(time, asymptote, color=COLOURS["grey"], lw=0.9, zorder=1)
    axis.annotate(
        label,
        (time[-1], asymptote[-1]),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=COLOURS["grey"],
        fontsize=8.5,
    )
    axis.set(**OVER_TIME, ylabel=r"SNR singular values $\omega_j$", title=title)


def _speed_panel(axis: Axes, features: pd.DataFrame) -> None:
    """Draw measured speeds, divided by the paper's formula for them, against 1 + omega^2 / C."""
    keys = ["classes", "examples", "features", "seed", "index"]  # columns that identify one omega_j of one draw
    omega = select(features, quantities.OMEGA).set_index(keys)["value"]
    factors = 1 + omega**2 / omega.index.get_level_values("classes").to_numpy()
    # mark, colour and size
    marks = {
        quantities.ORTHOGONAL: ("o", "blue", 3.0),
        quantities.PRINTED: ("s", "vermilion", 3.4),
        quantities.DESCENT: ("x", "black", 2.6),
    }
    for flow, (mark, colour, size) in marks.items():
        rows = select(features, quantities.SPEED, flow=flow).set_index(keys)
        classes, examples = (rows.index.get_level_values(key).to_numpy() for key in ("classes", "examples"))
        ratio = rows["value"] / theory.snr_velocity(omega.loc[rows.index].to_numpy(), classes, examples)
        _, label = FLOWS.get(flow, (colour, "algorithm, one step"))
        axis.plot(
            factors.loc[rows.index], ratio, mark, ms=size, color=COLOURS[colour], mfc="none", mew=0.6, label=label
        )
    # Predictions are straight lines: the factor 1 + omega^2 / C itself, and one. They are drawn between the smallest
    # factor, that of omega = 0, and the largest
    ends = np.array([1.0, factors.max()])
    for predicted in (ends, np.ones(2)):
        axis.plot(ends, predicted, color=COLOURS["black"], ls=DASHED, lw=1.0, zorder=4)
    axis.set(xlabel=r"$1 + \omega^2/C$", ylabel=r"measured $\dot\omega$ / Lemma 5", ylim=(0, 1.7 * factors.max()))
    axis.set_title("speeds on fresh draws")
    axis.legend(loc="upper left", handletextpad=0.1, borderaxespad=0.1, labelspacing=0.25)


def _spread_panel(axis: Axes, flows: pd.DataFrame) -> None:
    """Draw omega_max / omega_min - 1 along both flows, one wide and one thin so that both are seen; draw 1/t."""
    for width, (flow, (colour, label)) in zip((3.4, 1.2), FLOWS.items(), strict=True):
        rows = _after_start(flows, quantities.SINGULAR_VALUE_SPREAD, flow=flow)
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], lw=width, label=label)
    printed_map = _after_start(flows, quantities.SINGULAR_VALUE_SPREAD, flow=quantities.PRINTED)
    time, value = printed_map["time"].to_numpy(), printed_map["value"].to_numpy()
    tail = time[time > 1e-5 * time[-1]]
    guide = 5 * value[-1] * time[-1] / tail  # in proportion to 1/t, five times the last value
    axis.plot(tail, guide, color=COLOURS["grey"], lw=0.9)
    axis.annotate(
        "$1/t$",
        (tail[len(tail) // 2], guide[len(tail) // 2]),
        xytext=(3, 1),
        textcoords="offset points",
        ha="left",
        va="bottom",
        color=COLOURS["grey"],
    )
    axis.set(**OVER_TIME, ylabel=r"$\omega_{\max}/\omega_{\min} - 1$", title="approach to equality")
    axis.set_ylim(top=2e3 * select(flows, quantities.SINGULAR_VALUE_SPREAD)["value"].max())
    axis.legend(loc="upper right", borderaxespad=0.1, labelspacing=0.25, handlelength=1.2)


def _spectral_loss_panel(axis: Axes, flow: pd.DataFrame) -> None:
    """Draw the loss and its two parts along a flow, and what Lemma 1 computes from the singular values."""
    # colour, label, and Lemma 1's formula
    terms = {
        quantities.LOSS: ("grey", r"$\mathcal{L}$", theory.spectral_loss),
        quantities.LOSS_NC1: ("green", r"$\mathcal{L}_{\mathrm{NC1}}$", theory.spectral_variability_loss),
        quantities.LOSS_NC23: ("purple", r"$\mathcal{L}_{\mathrm{NC2/3}}$", theory.spectral_geometry_loss),
    }
    spectrum = np.stack([line["value"].to_numpy() for line in _spectrum(flow)], axis=-1)  # shape (times, C - 1)
    classes = int(flow["classes"].iloc[0])
    for quantity, (colour, label, formula) in terms.items():
        rows = _after_start(flow, quantity)
        width = 4.0 if quantity == quantities.LOSS else 2.0
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], label=label, lw=width)
        _dots(axis, rows["time"].to_numpy(), formula(spectrum, classes))
    axis.set(**OVER_TIME, ylabel="loss", title="loss and Lemma 1")
    axis.legend(loc="lower left", borderaxespad=0.1)


def _limit_panel(axis: Axes, flows: pd.DataFrame) -> None:
    """Draw the distances of eqs. 10 and 11 along both flows; of the first one flow is wide, so that both are seen."""
    # dashes and label
    distances = {
        quantities.SNR_LIMIT_DISTANCE: ("-", "eq. 10"),
        quantities.FEATURES_LIMIT_DISTANCE: ((0, (1, 1)), "eq. 11"),
    }
    for width, (flow, (colour, _)) in zip((3.0, 1.2), FLOWS.items(), strict=True):
        for quantity, (dashes, _) in distances.items():
            rows = _after_start(flows, quantity, flow=flow)
            line_width = width if quantity == quantities.SNR_LIMIT_DISTANCE else 1.6
            axis.plot(rows["time"], rows["value"], color=COLOURS[colour], ls=dashes, lw=line_width)
    axis.set(**OVER_TIME, ylabel="distance from the limit", title="limit of the features")
    handles = [Line2D([], [], color=COLOURS["black"], ls=dashes, label=label) for dashes, label in distances.values()]
    axis.legend(handles=handles, loc="lower left", borderaxespad=0.1)


def _training_spectrum_panel(axis: Axes, training: pd.DataFrame) -> None:
    """Draw the SNR singular values of a network's features over epochs, for the first seed."""
    lines = select(training, training_quantities.SNR, seed=training["seed"].min()).sort_values("epoch").groupby("index")
    for (_, line), colour in zip(lines, sequence(lines.ngroups), strict=True):
        axis.plot(line["epoch"], line["value"], "o-", color=colour, ms=2.5, lw=1.1)
    axis.set(xscale="log", yscale="log", xlabel="epoch", ylabel=r"SNR singular values $\omega_j$")
    axis.xaxis.set_major_formatter(PLAIN)
    axis.yaxis.set_major_formatter(PLAIN)
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_title(f"a network in training ({title_of(data_and_network(training))}, MSE)")
