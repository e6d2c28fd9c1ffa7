"""Integrals of the preconditioned gradient along a closed curve."""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear.line_integral.quantities import (
    CORRELATED,
    INTEGRAL,
    TWO_OUTPUTS,
    WHITENED,
)
from learning_dynamics.plotting import COLOURS, WIDTH, Plot
from learning_dynamics.tidy import Table, select

# from left to right, and down the legend
COLOUR_OF_CASE = {CORRELATED: COLOURS["orange"], WHITENED: COLOURS["blue"], TWO_OUTPUTS: COLOURS["green"]}


def line_integral(curve: Table) -> Plot:
    r"""Integrals along a closed curve: from depth 3 on the preconditioned gradient is no function's gradient.

    Balanced layers move their product $W$ by $-P_W \nabla\ell$: the preconditioner $P_W$ acts on the gradient
    $\nabla\ell$ of the loss. Dots are $\oint P_W \nabla\ell \cdot dW$ divided by $\oint |P_W \nabla\ell \cdot dW|$,
    around the boundary of an annular sector, for squared losses. Each dot has its own sector, direction of the loss's
    minimum and covariance of the inputs. Crosses have the closed form of the numerator, which we know for one output
    and whitened inputs. The integral of a gradient vanishes. At depth 1 $P_W \nabla\ell$ is the gradient itself. At
    depth 2 it is a gradient with one output and whitened inputs: the ratio's absolute value is {vanishing:.1e} at most.
    """
    table = select(curve, INTEGRAL)
    depths = sorted(table["depth"].unique())
    figure, axis = plt.subplots(figsize=(0.75 * WIDTH, 3.0))
    shifts = np.linspace(-0.22, 0.22, len(COLOUR_OF_CASE))  # the cases of a depth are side by side
    for (case, colour), shift in zip(COLOUR_OF_CASE.items(), shifts, strict=True):
        rows = select(table, case=case)
        x = np.searchsorted(depths, rows["depth"]) + shift  # depths are at 0, 1, ... and evenly spaced
        axis.plot(x, rows["value"], "o", color=colour, ms=4.5, mew=0, alpha=0.7, label=case)
        if rows["predicted"].notna().any():  # one case has a closed form
            axis.plot(x, rows["predicted"], "x", color=COLOURS["black"], ms=4, mew=0.8, label="closed form")
    axis.axhline(0, color=COLOURS["black"], lw=0.8)
    axis.set(xlabel="depth $N$", ylabel="integral along the curve,\nover that of absolute values")
    axis.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    axis.legend(fontsize=7.5, loc="best")
    vanishing = select(table, case=WHITENED, depth=2)["value"].abs().max()
    alt = "Dots of relative closed-curve integrals by depth: zero at depth 1, zero at depth 2 in one case, not beyond."
    return Plot(figure, facts={"vanishing": vanishing}, alt=alt)
