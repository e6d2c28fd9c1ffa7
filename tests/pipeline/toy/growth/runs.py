"""Growth step by step, slowly where a test asks for it."""

import os
import time
from pathlib import Path

import numpy as np

from learning_dynamics.errors import DivergenceError, UnfinishedError
from learning_dynamics.files import atomic_write
from learning_dynamics.progress import time_left
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectories import Trajectory


def growth(data: dict[str, np.ndarray], resume: Path | None = None, *, rate: Positive, steps: Count) -> Trajectory:
    """x grows by a factor 1 + rate a step; every state is saved in `resume`.

    Tests set environment variables: GROWTH_PAUSE is the seconds that a step takes, GROWTH_LOG a file to which each step
    adds a line with the rate and its number, and GROWTH_HOLD a file for whose deletion the run waits after three steps.
    """
    states = [data["x"]]
    pause, log = float(os.environ.get("GROWTH_PAUSE", "0")), os.environ.get("GROWTH_LOG")
    hold = os.environ.get("GROWTH_HOLD")
    if resume is not None and (resume / "states.npz").is_file():
        with np.load(resume / "states.npz") as kept:
            states = list(kept["states"])
    while len(states) <= steps:
        while hold and len(states) > 3 and Path(hold).exists():
            time.sleep(0.01)
        time.sleep(pause)
        states.append(states[-1] * (1 + rate))
        if not np.isfinite(states[-1]).all():
            raise DivergenceError(f"growth left the finite numbers at step {len(states) - 1}")
        if resume is not None:
            with atomic_write(resume / "states.npz") as partial, open(partial, "wb") as stream:
                np.savez(stream, states=np.array(states))
        if log:
            with open(log, "a", encoding="utf-8") as stream_of_steps:
                stream_of_steps.write(f"{rate} {len(states) - 1}\n")
        if len(states) <= steps and time_left() < pause:
            raise UnfinishedError(f"{len(states) - 1} of {steps} steps are taken")
    return Trajectory(np.arange(steps + 1.0), {"x": np.array(states).T})
