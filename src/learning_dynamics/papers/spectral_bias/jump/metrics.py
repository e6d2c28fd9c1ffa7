"""How singular values are learnt in time rescaled by ln(1/gamma), with their limits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.rows import GAMMA, INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, tidy
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, VALUE, PREDICTED, Column("limit", "float", "as gamma vanishes"))
def jump_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the learning of singular values in time rescaled by ln(1/gamma).

    ``sigma_beta``, singular values of beta, predicted by Theorem C.12, with their limit as gamma vanishes.
    """
    gamma, teacher = trajectory.constants["gamma"], np.sort(trajectory.constants["teacher"])[::-1]
    sigma = singular_values(trajectory.series["W1"] @ trajectory.series["W2"])
    scale, time = gamma[:, None, None], trajectory.time[None, :, None]
    curve = theory.learning_curve(teacher, scale, time * np.log(1 / scale))
    table = tidy({"sigma_beta": (sigma, curve)}, trajectory.time, gamma=gamma)
    return table.assign(limit=np.broadcast_to(theory.jump(teacher, time), sigma.shape).ravel())
