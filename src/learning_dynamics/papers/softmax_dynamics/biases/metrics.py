"""When each class is learned.

The series `probabilities`, (members, times, V), has for each class the probability that its row of features gives its
own label. Classes are in the order of the constant `counts`, (members, V), the class sizes; `dimension` and `scale` are
(members,). Members come cell by cell; a cell is one combination of these constants, and its members are draws. The
trajectory's times are in units of log(1 / scale), and so differ between members as flow times.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics import cells, falls, starts
from learning_dynamics.papers.softmax_dynamics.grids import LEARNING_TIME
from learning_dynamics.tidy import QUANTITY, Column, columns
from learning_dynamics.trajectories import Trajectory


@columns(
    cells.COUNTS,
    cells.DIMENSION,
    cells.SCALE,
    Column("seed", "int", "ensemble member within its cell, the same start at each scale", draw=True),
    QUANTITY,
    Column("index", "int", "1, 2, ...: classes by size, largest first"),
    Column("value", "float", "flow time; empty for a class never learned, and for a failed flow", nullable=True),
)
def escapes(trajectory: Trajectory) -> pd.DataFrame:
    """Measure when each class escapes uniform predictions, which is when it is learned.

    Quantities
    ----------
    learning_time
        By class, the flow time at which the probability of its own label passes one half for good, interpolated
        linearly between records; nan for a class that is never learned, and for a failed flow.
    """
    # the probability of one half is `falls.LEARNED`; double precision, as single would round the times
    probabilities = trajectory.series["probabilities"].astype(float)
    relative_times = falls.learned_at(trajectory.time, probabilities)  # in units of log(1 / scale); infinite if never
    flow_times = relative_times * np.log(1 / trajectory.constants["scale"])[:, None]
    learning_times = np.where(np.isfinite(flow_times), flow_times, np.nan)
    not_finite = starts.undecided(probabilities)
    return cells.member_rows(trajectory, {LEARNING_TIME: learning_times}, failed=not_finite)
