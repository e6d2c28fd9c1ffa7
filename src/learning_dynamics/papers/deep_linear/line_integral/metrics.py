"""Integrals of the preconditioned gradient along a closed curve.

W is the end-to-end matrix of N layers, G the loss's gradient at W, and P_W the preconditioner of slide 16: balanced
layers under gradient flow move W by -P_W vec(G). The curve is the boundary of an annular sector in the space of W.
Series, with the nodes of a quadrature along the curve instead of times:

- `velocity`, shape (members, nodes, 2 inputs): P_W vec(G), which is minus the velocity dW/dt
- `element`, shape (members, nodes, 2 inputs): the line element dW, times the quadrature weight of its node

Both have W's entries row by row, for two outputs; with one output the second half is zeros. Constants: `depth`, `case`
and `member`, the number of the draw, of shape (members,); `sector`, (members, 4): inner and outer radius, first and
last angle in radians.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.line_integral import theory
from learning_dynamics.papers.deep_linear.line_integral.quantities import INTEGRAL, WHITENED
from learning_dynamics.papers.deep_linear.tables import DEPTH
from learning_dynamics.tidy import PREDICTED, QUANTITY, SEED, VALUE, Column, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, Column("case", "str", "one or two outputs; which inputs", draw=True), SEED, QUANTITY, VALUE, PREDICTED)
def closed_curve(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the preconditioned gradient along a closed curve.

    Quantities
    ----------
    integral
        Integral of P_W vec(G) . dW along the curve, over the integral of the absolute value of that product. For one
        output and whitened inputs the first integral has a closed form: predicted is the closed form, over the measured
        integral of the absolute value.
    """
    constants, settings = trajectory.constants, trajectory.settings
    # P_W vec(G) . dW by node, shape (members, nodes): its sum over nodes is the integral
    integrand = np.sum(trajectory.series["velocity"] * trajectory.series["element"], axis=-1)
    absolute_integral = np.abs(integrand).sum(axis=1)
    # of every member; the closed form holds in one of the three cases, and is replaced by nan below in the others
    closed_form = np.array(
        [
            theory.sector_integral(int(N), settings["target"], sector)
            for N, sector in zip(constants["depth"], constants["sector"], strict=True)
        ]
    )
    predicted = np.where(constants["case"] == WHITENED, closed_form / absolute_integral, np.nan)
    return rows(
        {INTEGRAL: (integrand.sum(axis=1) / absolute_integral, predicted)},
        {"seed": constants["member"]},
        depth=constants["depth"],
        case=constants["case"],
    )
