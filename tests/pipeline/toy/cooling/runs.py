"""Newton's law of cooling."""

import numpy as np
from learning_dynamics.papers.toy.pace import Pace

from learning_dynamics.settings import Positive
from learning_dynamics.trajectories import Trajectory


def cooling(*, rate: Positive = 0.5, pace: Pace) -> Trajectory:
    """x falls at `rate`, wrong by the error that is allowed."""
    time = np.linspace(0.0, pace.horizon, pace.points)
    return Trajectory(time, {"x": np.exp(-rate * time)[None] * (1 + pace.rtol)})
