"""How singular values of the predictor are learnt in time rescaled by ln(1/gamma), with their limits as gamma vanishes.

Shapes: `W1` and `W2` (gammas, times, k, k), square, for k singular values of the teacher; `teacher` (k,), these
singular values in any order; `gamma` and `steps`, how many the integrator took, (gammas,). Members are scales, and
seeds number them. Times are flow time divided by ln(1 / gamma), the same for all scales.
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
    """Measure the learning of singular values, at each scale; a seed is the number of a scale.

    The column `time` is rescaled: flow time over ln(1/gamma).

    Quantities
    ----------
    sigma_beta
        Singular values of beta = W1 W2, predicted by Theorem C.12. The column `limit` has their limit as gamma
        vanishes, at the same rescaled time.
    """
    # teacher: the singular values of beta_*, the largest first, as those of beta are
    gamma, teacher = trajectory.constants["gamma"], np.sort(trajectory.constants["teacher"])[::-1]
    # with the axes (scale, time, index): shapes (gammas, 1, 1) and (1, times, 1)
    scale, rescaled_time = gamma[:, None, None], trajectory.time[None, :, None]
    measured = of_finite_draws(
        lambda series: {SIGMA_BETA: singular_values(series["W1"] @ series["W2"])}, trajectory.series
    )
    sigma = measured[SIGMA_BETA]
    measured[SIGMA_BETA] = (sigma, theory.learning_curve(teacher, scale, rescaled_time * np.log(1 / scale)))
    axes = {"seed": np.arange(len(gamma)), "time": trajectory.time}
    table = rows(measured, axes, gamma=gamma, steps=trajectory.constants["steps"])
    # .ravel() relies on the order of rows: with a single quantity it is that of sigma's axes, (scale, time, index)
    limit = np.broadcast_to(theory.jump(teacher, rescaled_time), sigma.shape)
    return table.assign(limit=limit.ravel())
