"""Columns of tables for a grid's cells, their members, populations and thresholds, and the rows of members.

A grid is a run over cells. A cell is one combination of settings, such as class sizes, dimension and scale; its members
differ in their draw, and the column `seed` has the draw's number. A population is what a rank is taken over.
"""

from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.tidy import Column, rows
from learning_dynamics.trajectories import Arrays, Trajectory

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
# a quantity of trainings: 1 where every example (`training.metrics`), or every class in the mean over its examples
# (`compression.metrics`), is learned at the end, else 0
HAS_LEARNED = "learned"
THRESHOLD = Column("threshold", "float", "smallest change that counts as a fall or a rise; 0 for what needs none")


def class_sizes(counts: np.ndarray) -> dict[str, Any]:
    """Return the columns counts, skewed and classes, one entry for each member.

    Parameters
    ----------
    counts : ndarray of int, shape (members, classes)
        Class sizes; zeros only pad.
    """
    smallest = np.where(counts > 0, counts, counts.max()).min(axis=1)
    return {
        "counts": np.array(list(map(name_of, counts.tolist()))),
        "skewed": counts.max(axis=1) > smallest,
        "classes": (counts > 0).sum(axis=1),
    }


def member_rows(trajectory: Trajectory, measured: Arrays, *, failed: np.ndarray, **labels: Any) -> pd.DataFrame:
    """Return the rows of a grid's members, in the order of its cells; nan where a member failed.

    Parameters
    ----------
    trajectory : Trajectory
        Constants with one number or text for each member become columns: they say which cell it belongs to. `counts`,
        (members, V), becomes the columns of `class_sizes`; other constants, such as one-hot labels, become none.
    measured : mapping from quantity to array, shape (members, ...)
    failed : ndarray of bool, shape (members,)
    **labels
        Further columns of the table, or other values for the columns that the constants give, the same in all rows. The
        column threshold is 0 unless it is among these.
    """
    # `failed` gets the shape (members, 1, ...), with as many axes as the quantity has
    masked = {
        name: np.where(failed.reshape(-1, *[1] * (value.ndim - 1)), np.nan, value) for name, value in measured.items()
    }
    cells = {name: values for name, values in trajectory.constants.items() if values.ndim == 1}
    labels = cells | class_sizes(trajectory.constants["counts"]) | {"threshold": 0.0} | labels
    # Members come cell by cell, each cell with as many as the setting `seeds`, or one without this setting: the number
    # of a member modulo that is the number of its draw.
    return rows(masked, {"seed": np.arange(len(failed)) % trajectory.settings.get("seeds", 1)}, **labels)
