"""Directions along discrete gradient descent, on whitened data and on others."""

import matplotlib.pyplot as plt

from learning_dynamics.papers.spectral_bias.descent import quantities
from learning_dynamics.papers.spectral_bias.panels import FLOOR, curve, line_handle, singular_values
from learning_dynamics.plotting import WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, select


def descent(whitened: Table, others: Table, *, member: Natural) -> Plot:
    r"""Discrete gradient descent of a square network with one output, from a small multiple of the identity.

    Data are whitened (blue) or ill-conditioned (orange). (a) Lines show the sine of the angle by which directions turn
    from that of $R(0)$. Solid lines are for the gradient $R$, until it has vanished, and dashed ones for the output
    weights $a$. Dotted ones compare the layer's change $W - W(0)$ with $R(0) R(0)^\top$. On whitened data no direction
    turns beyond rounding. The blue solid line rises because rounding grows relative to $R$ as $R$ vanishes. On
    ill-conditioned data all directions turn, that of $a$ the least. (b) Relative to its largest value the norm of $R$
    (solid) shrinks, and that of $a$ (dashed) grows. (c) Of the singular values of $W$ on whitened data only the first
    grows. The others stay on one line near zero.
    """
    figure, (sine_axis, norm_axis, values_axis) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for table, colour in ((whitened, "blue"), (others, "vermilion")):
        for quantity, style in (
            (quantities.GRADIENT_TURNING, "-"),
            (quantities.OUTPUT_TURNING, "--"),
            (quantities.LAYER_TURNING, ":"),
        ):
            rows = select(table, quantity, seed=member).iloc[1:]
            if quantity == quantities.GRADIENT_TURNING:
                rows = rows[rows["value"] > 0]  # the turning is recorded as zero once R has vanished
            curve(sine_axis, rows, colour, style, floor=FLOOR, lw=1.2)
        for quantity, style in ((quantities.GRADIENT_NORM, "-"), (quantities.OUTPUT_NORM, "--")):
            curve(norm_axis, select(table, quantity, seed=member), colour, style, lw=1.2)
    singular_values(values_axis, whitened, member)
    sine_axis.set(
        yscale="log", ylim=(FLOOR, 3), xlabel="step", ylabel="sine with the first direction", title="directions"
    )
    norm_axis.set(xlabel="step", ylabel="norm / its largest value", title="norms")
    values_axis.set(xlabel="step", ylabel=r"$\sigma_i(W)$", title="whitened data")
    letters((sine_axis, norm_axis, values_axis))
    for axis in (sine_axis, norm_axis):
        axis.set_xlim(0, whitened["time"].max())
    handles = [
        line_handle("whitened data", "blue"),
        line_handle("ill-conditioned data", "vermilion"),
        line_handle("$R$"),
        line_handle("$a$", style="--"),
        line_handle("$W - W(0)$", style=":"),
    ]
    legend_below(figure, handles)
    return Plot(figure, alt="On whitened data angles are rounding; on others that of R reaches order one.")
