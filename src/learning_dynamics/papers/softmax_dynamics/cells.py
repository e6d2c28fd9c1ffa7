"""Columns for the cell of a grid that a row belongs to, the member of the cell, its population and threshold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.starts import name_of
from learning_dynamics.tidy import Column, rows

COUNTS = Column("counts", "str", "class sizes, largest first, joined by dashes", draw=True)
CLASSES = Column("classes", "int", "number of classes V", draw=True)
SKEWED = Column("skewed", "bool", "whether class sizes differ")
DIMENSION = Column("dimension", "int", "feature dimensions d", draw=True)
SCALE = Column("scale", "float", "standard deviation of the initial parameters", draw=True)
FEATURES_SCALE = Column("scale", "float", "standard deviation of the initial features", draw=True)
MEMBER = Column("seed", "int", "ensemble member within its cell", draw=True)
POPULATION = Column(
    "population", "str", "examples: a class counts as often as it has examples; classes: once; empty: neither"
)
THRESHOLD = Column("threshold", "float", "smallest change that counts as a fall or a rise; 0 for what needs none")


def class_sizes(counts: np.ndarray) -> dict[str, Any]:
    """Return the columns `counts` and `skewed` of members by their class sizes, shape (members, classes)."""
    smallest = np.where(counts > 0, counts, counts.max()).min(axis=1)
    return {"counts": np.array(list(map(name_of, counts.tolist()))), "skewed": counts.max(axis=1) > smallest}


def member_rows(measured: Mapping[str, np.ndarray], failed: np.ndarray, seeds: int, **labels: Any) -> pd.DataFrame:
    """Return the rows of members that stand cell by cell, so many `seeds` in each; nan where a member failed."""
    masked = {
        name: np.where(failed.reshape(-1, *[1] * (value.ndim - 1)), np.nan, value) for name, value in measured.items()
    }
    return rows(masked, {"seed": np.arange(len(failed)) % seeds}, **labels)
