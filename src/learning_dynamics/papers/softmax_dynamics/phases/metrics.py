"""Falls and rises of the effective rank over the grid."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.phases.detection import swings
from learning_dynamics.papers.softmax_dynamics.ranks import RANKS
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

THRESHOLDS = (0.02, 0.05, 0.1)
RANK_COLUMNS = (
    Column("counts", "str", "class sizes, largest first, joined by dashes"),
    Column("largest", "int", "size of the largest class"),
    Column("smallest", "int", "size of the smallest class"),
    Column("init", "str", "balanced or gaussian"),
    Column("scale", "float", "standard deviation of the initial features"),
    Column("seed", "int", "ensemble member within its cell"),
    Column("measure", "str", "rankme, rankme_centred or effective_rank"),
    Column("threshold", "float", "smallest change that counts as a fall or a rise"),
    Column("first", "float", "first swing: negative for a fall, positive for a rise, 0 for none"),
    Column("second", "float", "second swing"),
    Column("third", "float", "third swing"),
    Column("fourth", "float", "fourth swing"),
    Column("start", "float", "the measure at initialisation"),
    Column("lowest", "float", "its lowest recorded value"),
    Column("end", "float", "the measure at the last time"),
)


@columns(*RANK_COLUMNS)
def flow_grid(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the falls and rises of each member's effective rank: one row per member, measure, threshold."""
    constants = trajectory.constants
    counts = constants["counts"]
    members = {
        "counts": ["-".join(map(str, sizes)) for sizes in counts.tolist()],
        "largest": counts.max(axis=1),
        "smallest": counts.min(axis=1),
        "init": constants["init"].astype(str),
        "scale": constants["scale"],
        "seed": np.arange(len(counts)) % trajectory.settings["seeds"],
    }
    tables = []
    for name, measure in RANKS.items():
        series = measure(trajectory.series["f"])
        for threshold in THRESHOLDS:
            found = swings(series, threshold, 4)
            swing = dict(zip(("first", "second", "third", "fourth"), found.T, strict=True))
            ends = {"start": series[:, 0], "lowest": series.min(axis=1), "end": series[:, -1]}
            tables.append(pd.DataFrame({**members, "measure": name, "threshold": threshold, **swing, **ends}))
    return pd.concat(tables, ignore_index=True)


@columns(*RANK_COLUMNS)
def descent_grid(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the falls and rises as for gradient flow."""
    return flow_grid(trajectory)
