"""Newton's law of cooling."""

import numpy as np
from learning_dynamics.papers.toy.pace import Pace

from learning_dynamics.settings import Positive
from learning_dynamics.trajectories import Trajectory


def cooling(*, rate: Positive = 0.5, pace: Pace) -> Trajectory:
    """x decays at `rate`, with the largest relative error that is allowed: a factor 1 + rtol."""
    time = np.linspace(0.0, pace.horizon, pace.points)
    return Trajectory(time, {"x": np.exp(-rate * time)[None] * (1 + pace.rtol)})
