"""The hidden layer's singular values along the gradient flow, and what the proofs say of its way to the limit."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.spectral_bias.draws import relative_errors, steps_by_rtol
from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.panels import (
    DASHES,
    FLOOR,
    curve,
    guide,
    index_handles,
    level,
    line_handle,
    power,
    singular_values,
    spectra_against_limits,
)
from learning_dynamics.papers.spectral_bias.quantities import DISTANCE, LOSS, SIGMA_W1
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Draws, Table, select, settings_of


def fig1a(large: Table, small: Table, printed: Table, deviation: Table, *, member: Natural, top: Count) -> Plot:
    r"""The hidden layer's singular values under gradient flow, from orthogonal and Gaussian initialisations.

    Solid lines show the singular values of the hidden layer $W_1$. The first $k$, as many as outputs, are coloured.
    Black dashes show their limits by Corollary 3.1. Orange dashes show these limits for an orthogonal layer of equal
    mean square, since the corollary does not apply to Gaussian layers. (a) At large scale the layer keeps full rank.
    (b) At small scale only the first $k$ singular values grow. The others stay at $\sqrt{2\gamma}$, near zero. (a) and
    (b) agree with what the paper says of its Figure 1a. (c) This is the paper's Gaussian layer, which according to the
    paper ends near rank $k$. Ours keeps full rank, because a variance of $0.01$ is a large scale, $\gamma = 1$. Its
    singular values start apart, and most end off the dashes. (d) Our variant takes $0.01$ for the standard deviation.
    Only $k$ large singular values are left.
    """
    titles = (
        f"paper: orthogonal,\n$\\gamma = {power(settings_of(large)['gamma'])}$",
        f"paper: orthogonal,\n$\\gamma = {power(settings_of(small)['gamma'])}$",
        f"paper: Gaussian,\nvariance ${settings_of(printed)['variance']:g}$",
        f"ours: Gaussian,\nvariance ${power(settings_of(deviation)['variance'])}$",
    )
    dashes = [
        line_handle("Corollary 3.1", "black", DASHES, 1.0),
        line_handle("orthogonal, equal mean square", "vermilion", DASHES, 1.0),
    ]
    figure = spectra_against_limits(titles, (large, small, printed, deviation), member, top, height=2.6, entries=dashes)
    return Plot(
        figure,
        alt="Panels of singular values over time. At small scale a few, one for each output, rise from zero and the "
        "others stay there; at large scale, and from the Gaussian layer as printed, all stay far above zero.",
    )


def limits(large: Table, small: Table, unequal: Table, balanced: Table, *, member: Natural) -> Plot:
    r"""On the way to the limit: what converges, how fast, and from which starts.

    Gradient flow starts from an orthogonal $W_1$ at a large (blue) and a small scale $\gamma$ (orange), and from a
    $W_1$ with rows of unequal lengths (grey). (a) The loss, relative to its first value, goes to zero from each start.
    (b) The distance of the predictor from the interpolator of least norm $\beta_*$, as a share of $|\beta_*|$, goes to
    zero from the orthogonal layers. From rows of unequal lengths the predictor ends elsewhere. (c) Solid lines show the
    distance of the parameters from their limit, relative to the limit's size. Dashed lines show the bound on this
    distance that the residual gives (Theorem 3.1 (i)); at the small scale it is far above the distance. (d) Solid lines
    show the decay rate of $|R|^2$, with $R = X^\top(Y - X\beta)$, and dashed lines that of $|Y - X\beta|^2$; below zero
    the square grows. The unit is $\gamma$ times the smallest eigenvalue $\lambda_{\min}$ of $XX^\top$. The two grey
    levels are lower bounds on these rates: (C.13) at 2 for the solid curves, and the corrected bound at 4 for the
    dashed ones. $|R|^2$ breaks its bound; $|Y - X\beta|^2$ keeps its own. The axis is linear between $-10$ and $10$.
    Here the small scale shows the draw on which $|R|^2$ grows most; it grows for a while in {growing_draws} of {draws}
    draws. (e) Theory keeps each eigenvalue of the imbalance $Z_1^\top Z_1 - Z_2 Z_2^\top$ at $2\gamma$. Lines show the
    largest error as a share of $2\gamma$. It is the integrator's, and a larger share of a small $2\gamma$. (f) From
    balanced layers, whose imbalance is zero, the rank of $W_1$ never exceeds $k$. The first $k$ singular values fall
    before they rise.
    """
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    (loss_axis, predictor_axis, parameter_axis), (rate_axis, imbalance_axis, rank_axis) = axes
    for table, colour in ((large, "blue"), (small, "vermilion"), (unequal, "grey")):
        loss = select(table, LOSS, seed=member, phase="flow")
        curve(loss_axis, loss.assign(value=loss["value"] / loss["value"].iloc[0]), colour)
        curve(predictor_axis, select(table, DISTANCE, seed=member, phase="flow"), colour)
    for table, colour in ((large, "blue"), (small, "vermilion")):
        distance = select(table, quantities.PARAMETER_DISTANCE, seed=member, phase="flow")
        curve(parameter_axis, distance, colour)
        curve(parameter_axis, distance, colour, "--", column="predicted", lw=1.1)
    least_rates = Draws(small, phase="draw")[quantities.DECAY_RATE_OF_R]
    # the draw whose |R|^2 grows most; its place is its seed, as draws are in the order of seeds 0, 1, ...
    growing_most = int(np.nanargmin(least_rates))
    _draw_decay_rates(rate_axis, large, member, "blue")
    _draw_decay_rates(rate_axis, small, growing_most, "vermilion")
    for rate in (2, 4):
        level(rate_axis, rate, "grey")
    _draw_error_of_imbalance(imbalance_axis, large, member, "blue")
    _draw_error_of_imbalance(imbalance_axis, small, member, "vermilion")
    top = 5
    singular_values(rank_axis, balanced, member, top, phase="flow")
    loss_axis.set(title="loss", ylabel="loss / first loss", yscale="log", ylim=(1e-5, 3))
    predictor_axis.set(title="predictor", ylabel=r"distance from $\beta_*$", yscale="log", ylim=(1e-5, 3))
    parameter_axis.set(title="parameters", ylabel="distance from the limit", yscale="log", ylim=(1e-5, 1e4))
    parameter_axis.legend(handles=[line_handle("distance"), line_handle("bound", style="--")], loc="upper right")
    rate_axis.set(title="Lemma C.6", ylabel=r"decay rate / $\gamma\lambda_{\min}$")
    rate_axis.set_yscale("symlog", linthresh=10)
    squares = [line_handle("$|R|^2$"), line_handle(r"$|Y - X\beta|^2$", style="--")]
    rate_axis.legend(handles=squares, loc="lower right")
    imbalance_axis.set(title="imbalance, Lemma 3.2", ylabel=r"error / $2\gamma$", yscale="log", ylim=(1e-17, 1e-8))
    rank_axis.set(title="balanced layers", ylabel=r"$\sigma_i(W_1)$", ylim=(0, None))
    for axis in axes.flat:
        axis.set_xlabel("time $t$")
    for axis in (loss_axis, predictor_axis, parameter_axis, rate_axis, imbalance_axis):
        axis.set_xlim(0, large.loc[large["phase"] == "flow", "time"].max())
    letters(axes.flat)
    handles = [
        line_handle(rf"$\gamma = {power(settings_of(large)['gamma'])}$", "blue"),
        line_handle(rf"$\gamma = {power(settings_of(small)['gamma'])}$", "vermilion"),
        line_handle("rows of unequal lengths", "grey"),
    ]
    legend_below(figure, [*handles, *index_handles(top)])
    return Plot(
        figure,
        facts={"growing_draws": int((least_rates < 0).sum()), "draws": len(least_rates)},
        alt="Losses and distances fall exponentially; with unequal rows the distance from the minimum-norm predictor "
        "stays. The gradient's square grows for a while in {growing_draws} draws at small scale.",
    )


def _draw_decay_rates(axis: Axes, table: Table, seed: int, colour: str) -> None:
    """Draw one draw's decay rates of |R|^2 (solid) and of |Y - X beta|^2 (dashed) against time."""
    for quantity, style in ((quantities.DECAY_RATE_OF_R, "-"), (quantities.DECAY_RATE_OF_RESIDUAL, "--")):
        rows = select(table, quantity, seed=seed, phase="flow").dropna(subset="value")
        curve(axis, rows, colour, style, lw=1.3)


def _draw_error_of_imbalance(axis: Axes, table: Table, seed: int, colour: str) -> None:
    """Draw one draw's largest error of an eigenvalue of the imbalance, relative to 2 gamma, against time."""
    rows = select(table, quantities.IMBALANCE, seed=seed, phase="flow")
    errors = (rows["value"] / (2 * settings_of(table)["gamma"]) - 1).abs()
    curve(axis, errors.groupby(rows["time"]).max().reset_index(), colour)


def spectrum_at_limit(large: Table, small: Table, square: Table, conditioned: Table) -> Plot:
    r"""The hidden layer's singular values at the end of the flow, on all draws, against Corollary 3.1.

    (a) Marks show singular values of all draws in four settings, measured against predicted. On the grey line the two
    are equal. The lowest squares are the values that stay at $\sqrt{2\gamma}$ at small scale. (b) Marks show the
    largest error of each draw, relative to $\sigma_1$, against its bound. The bound is what the remaining residual and
    the integrator leave open; below the grey line errors keep it.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    for table, name, colour, marker in (
        (large, "large scale", "blue", "o"),
        (small, "small scale", "vermilion", "s"),
        (square, "$n = d$", "green", "^"),
        (conditioned, "ill-conditioned", "purple", "D"),
    ):
        limit_rows = select(table, SIGMA_W1, phase="limit").dropna(subset="value")
        at_limit = Draws(table, phase="limit")
        measured, predicted = at_limit.with_prediction(SIGMA_W1)
        errors = relative_errors(measured, predicted)
        bounds = at_limit[quantities.SIGMA_W1_LEFT_OPEN] + steps_by_rtol(at_limit)
        style = {"ms": 3.5, "mfc": "none", "color": COLOURS[colour]}
        left.plot(limit_rows["predicted"], limit_rows["value"], marker, label=name, **style)
        right.plot(bounds, np.maximum(errors, FLOOR), marker, **style)
    left.set(xscale="log", yscale="log", xlabel=r"predicted $\sigma_i(W_1)$", ylabel=r"measured $\sigma_i(W_1)$")
    right.set(xscale="log", yscale="log", xlabel="bound on the error", ylabel="measured error")
    for axis in (left, right):
        low, high = axis.get_xlim()
        guide(axis, [low, high], [low, high], "grey", "-", zorder=0)
    left.set_title("singular values")
    right.set_title("errors")
    letters((left, right))
    figure.legend(loc="outside lower center", ncols=4)
    return Plot(figure, alt="Points on the diagonal; errors all below the line of what is left open.")
