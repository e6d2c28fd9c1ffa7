"""What a vanishing scale does to the time that training takes, and to the layers at its end."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.spectral_bias.panels import curve, guide, level, line_handle, marks_handle, power, seed_at
from learning_dynamics.papers.spectral_bias.quantities import DISTANCE_BOUND, LOSS, SIGMA_W1
from learning_dynamics.papers.spectral_bias.scale import quantities
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Draws, Table, select, settings_of


def rate(flows: Table, conditioned: Table, times: Table, *, member: Natural) -> Plot:
    r"""The loss with one output and its bound, and what a small scale costs in time.

    (a) Solid lines show the training loss on Gaussian data, in one colour for each scale $\gamma$. Dashed lines of the
    same colours show its bound $D_\psi(\beta_*, 0)/(\sqrt{2\gamma} t)$ by Lemma C.8, with the Bregman divergence
    $D_\psi$ of the mirror potential $\psi$. Each loss is below its own bound. (b) The data are ill-conditioned. (c)
    Dots show the measured times to {loss_share:.0%} of the first loss against the scale, on every draw. Blue lines show
    the predicted growth with $\ln(1/\gamma)$, of slope $1/(2|X^\top Y|)$, drawn through the smallest scale. Orange
    dashes show the time that the bound promises. It grows as $\gamma^{-1/2}$. From the largest scale to the smallest
    the measured time grows by a factor of {growth_of_time:.2g}, the promised one by {growth_of_promised_time:.1g}
    (medians).
    """
    figure, (gaussian_axis, conditioned_axis, time_axis) = plt.subplots(1, 3, figsize=(WIDTH, 2.8))
    gammas = sorted(flows["gamma"].unique(), reverse=True)
    colours = sequence(len(gammas))
    for axis, table, title in (
        (gaussian_axis, flows, "Gaussian data"),
        (conditioned_axis, conditioned, "ill-conditioned data"),
    ):
        for gamma, colour in zip(gammas, colours, strict=True):
            rows = select(table, LOSS, seed=seed_at(table, gamma, member))
            curve(axis, rows, colour, lw=1.4)
            curve(axis, rows, colour, "--", "predicted", lw=1.1)
        axis.set(
            xscale="log", yscale="log", xlabel="time $t$", ylabel=r"loss $L(\beta(t))$", ylim=(1e-6, 1e4), title=title
        )
    # entries of a draw are in the order of its rows, here of ascending scales
    draws = Draws(times.sort_values("gamma"))
    scales = draws.entries(quantities.TIME_TO_LOSS, column="gamma")  # ascending, shape (draws, scales)
    measured, bounds = draws.with_prediction(quantities.TIME_TO_LOSS)
    growth_rates = Draws(times).entries(quantities.FIRST_GRADIENT)[:, :1]  # |X^T Y|, the same at all scales: (draws, 1)
    predicted = measured[:, :1] + np.log(scales[:, :1] / scales) / (2 * growth_rates)
    lowest = 0.5 * np.nanmin(measured)  # the panel's lower edge, which predictions at large scales may pass
    for draw in range(len(scales)):
        time_axis.plot(scales[draw], measured[draw], ".", color=COLOURS["black"], ms=4)
        visible = predicted[draw] > lowest
        time_axis.plot(scales[draw, visible], predicted[draw, visible], color=COLOURS["blue"], lw=0.9)
        time_axis.plot(scales[draw], bounds[draw], "--", color=COLOURS["vermilion"], lw=0.9)
    loss_share = settings_of(times)["loss_share"]
    time_axis.set(
        xscale="log", yscale="log", xlabel=r"scale $\gamma$", ylabel=rf"time to ${power(loss_share)}$ of the loss"
    )
    time_axis.set_ylim(lowest, None)
    time_axis.set_title("time, all draws")
    letters((gaussian_axis, conditioned_axis, time_axis))
    handles = [
        line_handle(rf"$\gamma = {power(gamma)}$", colour) for gamma, colour in zip(gammas, colours, strict=True)
    ]
    handles += [
        line_handle("loss"),
        line_handle("its bound", style="--"),
        marks_handle("(c): measured"),
        line_handle("predicted", "blue"),
        line_handle("promised by the bound", "vermilion", "--"),
    ]
    legend_below(figure, handles, columns=4)
    facts = {
        "loss_share": loss_share,
        "growth_of_time": float(np.nanmedian(measured[:, 0] / measured[:, -1])),
        "growth_of_promised_time": float(np.nanmedian(bounds[:, 0] / bounds[:, -1])),
    }
    return Plot(figure, facts, alt="Losses below their bounds; times that hardly rise over many decades of the scale.")


def vanishing(vector: Table, scalar: Table) -> Plot:
    r"""The limit of a vanishing scale.

    (a) For {draws} draws dots show half the squared norm of the parameters $\theta$ at the end of gradient flow, minus
    the nuclear norm of $\beta_*$. This excess is of first order in the scale and below $d\gamma$ (dashes). At the
    smallest scale the remaining residual hides it, and no dot is drawn. (b) Potentials of the singular values of
    $\beta$ are divided by $\ln(1/\gamma) \|\beta\|_*$. Triangles show the hyperbolic entropy, which tends to 1
    (dashes), as the paper says. Dots show the potential that the dynamics have, half of the entropy. Crosses show the
    potential as printed in Theorem 3.2 (a) (errata 1). Dots and crosses tend to one half (solid line). All three
    converge logarithmically. (c) With one output, dots show $\sigma_2(W_1)^2/\sigma_1(W_1)^2$, a function of
    $\gamma/|\beta_*|$ alone (line). Triangles show the largest sine of the angle between a column of $W_1$ and $\beta$.
    This sine falls as $\gamma^{1/2}$ once $\gamma$ is below $|\beta_*|$ times that column's squared share of the first
    gradient.
    """
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.8))
    norm_axis, potential_axis, ratio_axis = axes
    _draw_excess_of_norm(norm_axis, Draws(vector))
    _draw_potentials(potential_axis, Draws(vector))
    _draw_one_output(ratio_axis, Draws(scalar))
    letters(axes)
    potential_axis.legend(loc="center")
    ratio_axis.legend(loc="lower right")
    return Plot(
        figure,
        facts={"draws": len(Draws(vector).entries(quantities.NUCLEAR_NORM))},
        alt="Excess norms just below a line of slope one; potentials that tend to one half or one; a crossover.",
    )


def _draw_excess_of_norm(axis: Axes, draws: Draws) -> None:
    """Draw half the squared norm of the parameters less the nuclear norm of beta_* against the scale."""
    gamma = draws.entries(quantities.HALF_SQUARE, column="gamma")  # shape (draws, scales)
    nuclear_norm = draws.entries(quantities.NUCLEAR_NORM)
    excess = draws.entries(quantities.HALF_SQUARE) - nuclear_norm
    inputs = draws.entries(SIGMA_W1, "gamma").shape[2]
    # an excess is drawn where it is above three times what the remaining residual leaves open; three is chosen
    is_resolved = excess > 3 * draws.entries(DISTANCE_BOUND) * nuclear_norm
    axis.plot(gamma[is_resolved], excess[is_resolved], ".", color=COLOURS["blue"], ms=4)
    scales = np.sort(gamma[0])  # those of the first draw, as of every other
    guide(axis, scales, inputs * scales)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"scale $\gamma$",
        ylabel=r"$\frac{1}{2}|\theta|^2 - \|\beta_*\|_*$",
        title="norm of the parameters",
    )


def _draw_potentials(axis: Axes, draws: Draws) -> None:
    """Draw potentials of beta over ln(1/gamma) times its nuclear norm.

    Scales are below 0.1: at 1 the logarithm is zero.
    """
    gamma = draws.entries(quantities.POTENTIAL, column="gamma")  # shape (draws, scales)
    is_small = gamma < 0.1
    unit = np.log(1 / gamma[is_small]) * draws.entries(quantities.NUCLEAR_NORM)[is_small]
    potential = draws.entries(quantities.POTENTIAL)[is_small]
    printed = draws.entries(quantities.PRINTED_POTENTIAL)[is_small]
    scales = gamma[is_small]
    axis.plot(scales, 2 * potential / unit, "^", color=COLOURS["green"], ms=3, mfc="none", label="hyperbolic entropy")
    axis.plot(scales, printed / unit, "x", color=COLOURS["vermilion"], ms=4, label="as printed")
    axis.plot(scales, potential / unit, ".", color=COLOURS["blue"], ms=4, label="of the dynamics")
    level(axis, 0.5)
    level(axis, 1.0, style="--")
    axis.set(
        xscale="log",
        xlabel=r"scale $\gamma$",
        ylabel=r"potential over $\ln(1/\gamma) \|\beta\|_*$",
        title="potentials",
    )


def _draw_one_output(axis: Axes, draws: Draws) -> None:
    """Draw the squared ratio of sigma_2 and sigma_1 of W1, and the largest sine, against gamma / |beta_*|."""
    gamma, beta_norm = draws.entries(quantities.BETA_NORM, column="gamma"), draws.entries(quantities.BETA_NORM)
    relative = gamma / beta_norm  # shape (draws, scales)
    sigma_1, sigma_2 = (draws.where(index=index).entries(SIGMA_W1) for index in (1, 2))
    ratios, sines = (sigma_2 / sigma_1) ** 2, draws.entries(quantities.LARGEST_SINE)
    x = relative.ravel()
    axis.plot(x, ratios.ravel(), ".", color=COLOURS["blue"], ms=4, label=r"$(\sigma_2/\sigma_1)^2$")
    # Corollary 3.1: sigma_2^2 = 2 gamma and sigma_1^2 = gamma + sqrt(gamma^2 + |beta_*|^2), with g = gamma / |beta_*|
    g = np.geomspace(relative.min(), relative.max(), 200)
    guide(axis, g, 2 * g / (g + np.hypot(g, 1)), style="-", zorder=0)
    axis.plot(x, sines.ravel(), "^", color=COLOURS["green"], ms=3, mfc="none", label="sine of the angle")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"$\gamma / |\beta_*|$",
        ylabel=r"$(\sigma_2/\sigma_1)^2$; sine of the angle",
        title="one output",
    )
