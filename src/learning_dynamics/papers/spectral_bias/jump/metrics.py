"""How singular values are learnt in time rescaled by ln(1/gamma), with their limits."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.draws import STEPS
from learning_dynamics.papers.spectral_bias.layers import GAMMA, MAY_BE_OPEN, of_finite_draws
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, Column, columns, joined, rows
from learning_dynamics.trajectories import Trajectory

LIMIT = Column("limit", "float", "as gamma vanishes")


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, LIMIT, STEPS)
def jump_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the learning of singular values in time rescaled by ln(1/gamma); seeds number the scales.

    Quantities
    ----------
    sigma_beta
        Singular values of beta; predicted by Theorem C.12, with their limit as gamma vanishes in the column `limit`.
    """
    gamma, teacher = trajectory.constants["gamma"], np.sort(trajectory.constants["teacher"])[::-1]
    scale, time = gamma[:, None, None], trajectory.time[None, :, None]
    curve = theory.learning_curve(teacher, scale, time * np.log(1 / scale))

    def measure(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"sigma_beta": singular_values(arrays["W1"] @ arrays["W2"])}

    sigma = of_finite_draws(measure, trajectory.series, "W1", "W2")["sigma_beta"]
    labels = {"gamma": gamma, "steps": trajectory.constants["steps"]}
    table = rows({"sigma_beta": (sigma, curve)}, {"seed": np.arange(len(gamma)), "time": trajectory.time}, **labels)
    table = table.assign(limit=np.broadcast_to(theory.jump(teacher, time), sigma.shape).ravel())
    return joined(jump_flow.columns, table)
