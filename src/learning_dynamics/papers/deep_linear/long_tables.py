"""Columns that tables have in common, and tables with one row for each value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from learning_dynamics.tables import Column

QUANTITY = Column("quantity", "str", "what the value is; see the metrics function")
VALUE = Column("value", "float", "measured", nullable=True)
PREDICTED = Column("predicted", "float", "what the theory gives for it, where it does", nullable=True)
DRAW = Column("draw", "int", "draw of the matrix, its observed entries and the initialisation")
SEED = Column("seed", "int", "ensemble member")
DEPTH = Column("depth", "int", "number of layers")
TIME = Column("time", "float", "gradient-flow time, or learning rate times iterations")
INDEX = Column("index", "int", "1, 2, ... in descending order for singular values; 0 for scalars")


def long_table(labels: Mapping[str, np.ndarray], measured: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return one row for each member and quantity."""
    parts = [pd.DataFrame({**labels, "quantity": name, "value": values}) for name, values in measured.items()]
    return pd.concat(parts, ignore_index=True)


def over_time(name: str, values: np.ndarray, times: np.ndarray) -> pd.DataFrame:
    """Return rows for an array of shape (members, times, count)."""
    members, points, count = values.shape
    member, time, index = np.meshgrid(np.arange(members), np.arange(points), np.arange(count), indexing="ij")
    return pd.DataFrame(
        {
            "member": member.ravel(),
            "time": times[time.ravel()].astype(float),
            "quantity": name,
            "index": index.ravel() + (name in ("sigma", "eigenvalue")),
            "value": values.ravel(),
        }
    )
