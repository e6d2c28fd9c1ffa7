"""The state after each step, or after every few."""

import numpy as np
import pandas as pd
from learning_dynamics.papers.toy.growth import theory

from learning_dynamics.settings import Count
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def growth(trajectory: Trajectory, *, every: Count = 1) -> pd.DataFrame:
    """Measure growth at each of `every` steps.

    Quantities
    ----------
    x
        The state, predicted to grow by a factor 1 + rate a step.
    """
    x, time = trajectory.series["x"][:, ::every], trajectory.time[::every]
    predicted = theory.state(time, trajectory.settings["rate"], x[:, 0])
    return rows({"x": (x, predicted)}, {"seed": np.arange(len(x)), "time": time})
