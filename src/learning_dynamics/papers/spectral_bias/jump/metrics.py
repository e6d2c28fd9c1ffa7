"""How singular values are learnt in time rescaled by ln(1/gamma), with their limits.

Shapes: `W1` and `W2` (gammas, times, k, k), square, for k singular values of the teacher; `teacher` (k,), in any order;
`gamma` and `steps`, the integrator's number of steps, (gammas,). Members are scales. Times are flow time divided by
ln(1 / gamma), the same for all.
"""

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.layers import GAMMA, MAY_BE_OPEN, STEPS, of_finite_draws
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, Column, columns, rows
from learning_dynamics.trajectories import Trajectory

LIMIT = Column("limit", "float", "as gamma vanishes")


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, LIMIT, STEPS)
def jump_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the learning of singular values; seeds number the scales.

    The column `time` is rescaled: flow time over ln(1/gamma).

    Quantities
    ----------
    sigma_beta
        Singular values of beta; predicted by Theorem C.12, with their limit as gamma vanishes in the column `limit`.
    """
    gamma, teacher = trajectory.constants["gamma"], np.sort(trajectory.constants["teacher"])[::-1]
    scale, rescaled_time = gamma[:, None, None], trajectory.time[None, :, None]  # flow time over ln(1/gamma)
    measured = of_finite_draws(
        lambda series: {SIGMA_BETA: singular_values(series["W1"] @ series["W2"])}, trajectory.series
    )
    sigma = measured[SIGMA_BETA]
    measured[SIGMA_BETA] = (sigma, theory.learning_curve(teacher, scale, rescaled_time * np.log(1 / scale)))
    axes = {"seed": np.arange(len(gamma)), "time": trajectory.time}
    table = rows(measured, axes, gamma=gamma, steps=trajectory.constants["steps"])
    # one quantity, so that rows stand in the order of sigma's axes: (scale, time, index)
    limit = np.broadcast_to(theory.jump(teacher, rescaled_time), sigma.shape)
    return table.assign(limit=limit.ravel())
