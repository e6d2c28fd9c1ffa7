"""How rounding leaves the matrices that commute with the sensors."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.tidy import Table, select

FORMATS = {"single": COLOURS["orange"], "double": COLOURS["blue"], "extended": COLOURS["green"]}


def instability(rounding: Table) -> Drawn:
    r"""Deep matrix sensing in a generic basis: the part of the layers that does not commute with the sensors.

    Largest entry off the diagonal in the sensors' eigenbasis, relative to $\alpha$, against time in units of
    $\alpha^{2 - L}$; one line for each of {draws} draws, with {depth} layers. In exact arithmetic it is zero. Colours:
    floating-point formats, the sensors formed in each (dots: their unit roundoffs). Near the saddle at zero the part
    grows while the flow leaves it; from a small scale, in any format, it may reach the size of the solution.
    """
    scales = sorted(rounding["scale"].unique(), reverse=True)
    formats = [name for name in FORMATS if name in set(rounding["precision"])]
    figure, axes = plt.subplots(1, len(scales), figsize=(WIDTH, 3.0), sharey=True, squeeze=False)
    for axis, scale in zip(axes[0], scales, strict=True):
        for name in formats:
            rows = select(rounding[rounding["time"] > 0], "off_diagonal", scale=scale, precision=name)
            for _, line in rows.groupby("seed"):
                axis.semilogy(line["time"], line["value"] / scale, color=FORMATS[name], lw=1.0)
            roundoff = {"single": 2.0**-24, "double": 2.0**-53, "extended": 2.0**-64}[name]
            axis.axhline(roundoff, color=FORMATS[name], ls=(0, (1, 2)), lw=0.9)
        axis.set_title(rf"$\alpha = {scale:g}$")
        axis.set_xlabel(r"$t\, \alpha^{L - 2}$")
    axes[0, 0].set_ylabel(r"off the diagonal, relative to $\alpha$")
    axes[0, 0].set_yticks(10.0 ** np.arange(-20, 4, 4))
    handles = [Line2D([], [], color=FORMATS[name], label=f"{name} precision") for name in formats]
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=(0, (1, 2)), lw=0.9, label="unit roundoff"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return Drawn(
        figure,
        {"draws": rounding["seed"].nunique(), "depth": rounding.attrs["settings"]["depth"]},
        alt="Two panels of curves on a logarithmic axis that start near the unit roundoff of three formats; from the "
        "smaller scale they rise in parallel by many orders of magnitude.",
    )
