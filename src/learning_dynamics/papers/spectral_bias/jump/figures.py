"""The jump process, in which singular values are learnt one by one, and singular vectors that stand still or turn."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.panels import FLOOR, curve, guide, line_handle, marks_handle, power
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Quantity, Table, select, settings_of


def jump(jump: Table) -> Plot:
    r"""Singular values of the predictor are learned one by one, in jumps, as the scale vanishes.

    Gradient flow on whitened data learns the singular values of the predictor $\beta$ independently. Time is in units
    of $\ln(1/\gamma)$. Solid lines show the flow, in one colour for each scale $\gamma$. Dots of the same colours show
    the closed form of Theorem C.12. Dashes show the limit, in which each singular value jumps at
    $1/(2\sigma_i(\beta_*))$. Orange circles show the limit at the jump, $\sigma/(1 + 2\sigma)$ with
    $\sigma = \sigma_i(\beta_*)$. As the scale vanishes all curves pass through the circles.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 3.2))
    gammas = sorted(jump["gamma"].unique(), reverse=True)
    end = jump["time"].max()
    handles = []
    for gamma, colour in zip(gammas, sequence(len(gammas)), strict=True):
        handles.append(line_handle(rf"$\gamma = {power(gamma)}$", colour))
        for _, rows in jump[jump["gamma"] == gamma].groupby("index"):
            curve(axis, rows, colour, lw=1.3)
            curve(axis, rows[5::20], colour, ".", "predicted", ms=3.5)  # a dot at every twentieth time
    # the limits are the same for every scale: they are read off the rows of the smallest
    for index, rows in jump[jump["gamma"] == gammas[-1]].groupby("index"):
        sigma = rows["limit"].max()  # sigma_i(beta_*): the limit is less before the jump and at it
        jump_time = 1 / (2 * sigma)
        guide(axis, [0, jump_time, jump_time, end], [0, 0, sigma, sigma], zorder=4)
        axis.plot(jump_time, sigma / (1 + 2 * sigma), "o", mfc="none", color=COLOURS["vermilion"], zorder=5)
        axis.annotate(rf"$\sigma_{index}$", (end, sigma), (4, 0), textcoords="offset points", va="center")
    handles += [
        marks_handle("closed form", "grey"),
        line_handle(r"limit $\gamma \to 0$", "black", "--", 1.0),
        marks_handle("limit at the jump", "vermilion", "o", hollow=True),
    ]
    axis.set(
        xlabel=r"$t \,/\, \ln(1/\gamma)$", ylabel=r"singular values $\sigma_i(\beta)$", xlim=(0, end), ylim=(0, None)
    )
    figure.legend(handles=handles, loc="outside right center")
    return Plot(figure, alt="Curves that steepen into a staircase with one step for each singular value.")


def vectors(whitened: Table, gaussian: Table, *, member: Natural) -> Plot:
    r"""Singular vectors of the predictor do not move on whitened data, and turn on other data.

    Data are whitened (blue) or Gaussian (dark orange). Each norm is relative to those of the matrices that it is made
    of. (a) Solid lines show the part of $\beta$ off the diagonal in the singular basis of $\beta_*$, dashed lines that
    of $\alpha$. On whitened data this part stays at rounding. On Gaussian data it starts at order one, and falls as the
    flow nears its limit. (b) Lines show the asymmetry of three matrices on whitened data: $R^\top\alpha$ (C.17),
    $R\alpha^\top$ (C.18) and $Z_1^\top R Z_2^\top$ (C.22). By the proof of Theorem C.11 they are symmetric. (c) Lines
    show commutators of the Gram matrices of $\beta$ with those of the layers (solid) and with those of $\alpha$
    (dashed). On any data these are zero up to rounding. (d) The line shows the part of $\alpha$ outside the span of
    Gaussian data, where $d > n$. By Lemma C.3 this part is zero.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.4), sharex=True, sharey=True)
    (diagonal_axis, symmetry_axis), (commutator_axis, outside_axis) = axes

    def draw(
        axis: Axes, table: Table, quantity: Quantity, colour: str, style: str = "-", label: str | None = None
    ) -> None:
        """Draw a quantity along the flow of the draw that is shown, against time after time 0."""
        rows = select(table, quantity, seed=member, phase="flow").iloc[1:]
        curve(axis, rows, colour, style, floor=FLOOR, lw=1.2, label=label)

    for table, colour in ((whitened, "blue"), (gaussian, "vermilion")):
        draw(diagonal_axis, table, quantities.BETA_OFF_DIAGONAL, colour)
        draw(diagonal_axis, table, quantities.ALPHA_OFF_DIAGONAL, colour, "--")
        draw(commutator_axis, table, quantities.COMMUTATOR_WITH_LAYERS, colour)
        draw(commutator_axis, table, quantities.COMMUTATOR_WITH_ALPHA, colour, "--")
    draw(outside_axis, gaussian, quantities.ALPHA_OUTSIDE_DATA, "vermilion", "--")
    for quantity, equation, colour in (
        (quantities.R_T_ALPHA_ASYMMETRY, "(C.17)", "green"),
        (quantities.R_ALPHA_T_ASYMMETRY, "(C.18)", "purple"),
        (quantities.Z1_T_R_Z2_T_ASYMMETRY, "(C.22)", "orange"),
    ):
        draw(symmetry_axis, whitened, quantity, colour, label=equation)
    diagonal_axis.set_title("off-diagonal part")
    symmetry_axis.set_title("asymmetry")
    commutator_axis.set_title("commutators")
    outside_axis.set_title(r"$\alpha$ outside the data")
    for axis in axes.flat:
        axis.set(yscale="log", ylim=(FLOOR, 2), xlabel="time $t$", ylabel="relative norm")
        axis.set_xlim(0, whitened.loc[whitened["phase"] == "flow", "time"].max())
        axis.label_outer()
    symmetry_axis.legend(loc="upper right")
    letters(axes.flat)
    handles = [
        line_handle(rf"{name} data, $\gamma = {power(settings_of(table)['gamma'])}$", colour)
        for name, table, colour in (("whitened", whitened, "blue"), ("Gaussian", gaussian, "vermilion"))
    ]
    styles = [line_handle(r"$\beta$; (c) layers"), line_handle(r"$\alpha$", style="--")]
    legend_below(figure, [*handles, *styles])
    return Plot(
        figure, alt="On whitened data all measures lie at rounding; on Gaussian data the first falls from order one."
    )
