"""How far rounding takes the layers from the matrices that commute with the sensors."""

import numpy as np

from learning_dynamics.papers.tensor_networks.drawing import DOTTED, handle
from learning_dynamics.papers.tensor_networks.matrix_sensing import quantities
from learning_dynamics.plotting import COLOURS, Plot, legend_below, letters, panels
from learning_dynamics.tidy import Table, select, settings_of

FORMAT_COLOURS = {"single": COLOURS["orange"], "double": COLOURS["blue"], "extended": COLOURS["green"]}
SIGNIFICAND_BITS = {"single": 24, "double": 53, "extended": 64}


def instability(rounding: Table) -> Plot:
    r"""Deep matrix sensing in a generic basis: the part of the layers that does not commute with the sensors.

    Lines show the layers' largest entry off the diagonal in the sensors' eigenbasis, relative to the initial scale
    $\alpha$, along gradient flow with $L =$ {depth} layers. In exact arithmetic the entry is zero. Time $t$ is in units
    of $\alpha^{2 - L}$. Each of {draws} draws is followed in several floating-point formats, in which the sensors are
    formed too; dotted lines show their unit roundoff. The entry grows while the flow leaves the saddle at zero. (a)
    From the larger scale it stays small. (b) From the small scale it may reach the size of the solution in any format,
    later in a finer one. Other lines level off earlier or stay near the roundoff.
    """
    scales = np.unique(rounding["scale"])[::-1]
    formats = [name for name in FORMAT_COLOURS if name in set(rounding["precision"])]
    figure, axes = panels(1, len(scales), height=3.0, sharey=True)
    for axis, scale in zip(axes[0], scales, strict=True):
        for name in formats:
            colour, unit_roundoff = FORMAT_COLOURS[name], 2.0 ** -SIGNIFICAND_BITS[name]
            rows = select(rounding[rounding["time"] > 0], quantities.OFF_DIAGONAL, scale=scale, precision=name)
            for _, line in rows.groupby("seed"):  # a line for each draw
                axis.semilogy(line["time"], line["value"] / scale, color=colour, lw=1.0)
            axis.axhline(unit_roundoff, color=colour, ls=DOTTED, lw=0.9)
        axis.set(title=rf"$\alpha = {scale:g}$", xlabel=r"$t\, \alpha^{L - 2}$")
    axes[0, 0].set(ylabel=r"largest off-diagonal entry / $\alpha$", yticks=10.0 ** np.arange(-20, 4, 4))
    letters(axes.flat)
    handles = [handle(f"{name} precision", FORMAT_COLOURS[name]) for name in formats]
    legend_below(figure, [*handles, handle("unit roundoff", ls=DOTTED, lw=0.9)], 4)
    return Plot(
        figure,
        {"draws": rounding["seed"].nunique(), "depth": settings_of(rounding)["depth"]},
        alt="Two panels of curves on a logarithmic axis that start near the unit roundoff of three formats; from the "
        "smaller scale many rise, in parallel, by many orders of magnitude.",
    )
