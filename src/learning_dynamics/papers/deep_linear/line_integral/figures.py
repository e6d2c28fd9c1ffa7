"""Integrals of the preconditioned gradient along a closed curve."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables


def line_integral(tables: Tables) -> Figure:
    """Integrals of the preconditioned gradient along a closed curve: no function has it as its gradient.

    Around an annular sector, by depth, for a square loss; each over the integral of the absolute value. Crosses: the
    closed form for one output and whitened inputs. At depth 1 the field is the gradient itself. At depth 2 with one
    output and whitened inputs the integral vanishes too; from depth 3 on it never does.
    """
    (table,) = tables.values()
    wide = table.pivot_table(index=["case", "depth"], columns="quantity", values="value")
    wide["share"] = wide["integral"] / wide["scale"]
    share = wide["share"].reset_index().pivot_table(index="depth", columns="case", values="share")
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 2.9))
    shift = np.linspace(-0.2, 0.2, share.shape[1])
    colours = [COLOURS["orange"], COLOURS["blue"], COLOURS["green"]]
    for offset, colour, case in zip(shift, colours, share.columns, strict=False):
        axis.bar(share.index + offset, share[case], width=0.18, color=colour, label=case)
        exact = table[(table["case"] == case) & table["predicted"].notna()].set_index("depth")["predicted"]
        if len(exact):
            scale = wide.loc[case, "scale"].loc[exact.index]
            axis.plot(exact.index + offset, exact / scale, "x", color=COLOURS["black"], ms=5, label="closed form")
    axis.axhline(0, color=COLOURS["black"], lw=0.8)
    axis.set(xlabel="depth $N$", ylabel="closed-curve integral, relative", xticks=share.index)
    axis.legend(fontsize=7.5)
    return figure
