"""The temperature of a body that cools."""

import numpy as np
import pandas as pd
from learning_dynamics.papers.toy.pace import Accuracy

from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def cooling(trajectory: Trajectory, *, met: Accuracy) -> pd.DataFrame:
    """Measure ``x``, predicted by Newton's law, and whether its relative error is below ``met.rtol``, ``good``."""
    x, time = trajectory.series["x"], trajectory.time
    predicted = np.exp(-trajectory.settings["rate"] * time)
    good = (abs(x / predicted - 1) < met.rtol).astype(float)
    return rows({"x": (x, predicted), "good": good}, {"seed": np.arange(1), "time": time})
