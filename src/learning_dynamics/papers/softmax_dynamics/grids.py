"""The table of a grid of flows, read as arrays over its members, and the moments at which each flow is measured."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.falls import FALL
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.tidy import Quantity, Table, cached_per_table, select


class Moment(IntEnum):
    """Moments of a flow at which a grid is measured, in their order; the number is the row's ``index``."""

    START = 1
    FIRST_LEARNED = 2  # the first class is learned: its mean probability passes one half
    RARE_BEGIN = 3  # just before the first of the rarest classes begins to be learned
    RARE_LEARNED = 4  # all of the rarest classes are learned
    END = 5


# Quantities of a grid; the docstring of `phases.metrics.flow_grid` says more, `falls` and `spectra` name others
LEARNING_TIME = "learning_time"  # when each class is learned
FINAL = "final"  # mean probability of its own class over each class's examples, at the end
ALIGNMENT = "alignment"  # |cos| of the leading eigenvectors of f^T f and W W^T, at each moment
SEPARATION_F = "separation_f"  # distance of the largest class's features from the others, in units of the spread
SEPARATION_W = "separation_w"  # the same of the classifier's columns
RANK = "rank"  # the effective rank, at each moment
REACHED = "reached"  # flow time of each moment
TAIL = "tail"  # change of the rank over the last half decade of time
SWING = "swing"  # the rank's falls and rises in their order

Window = tuple[Moment, Moment]  # from one moment to a later one
DURING_WARM_UP: Window = (Moment.START, Moment.FIRST_LEARNED)
BEFORE_RARE: Window = (Moment.FIRST_LEARNED, Moment.RARE_BEGIN)
WHILE_RARE: Window = (Moment.RARE_BEGIN, Moment.RARE_LEARNED)
FIRST_TO_RARE: Window = (Moment.FIRST_LEARNED, Moment.RARE_LEARNED)
AFTER_RARE: Window = (Moment.RARE_LEARNED, Moment.END)


class Grid:
    """The members of a grid, or those in which columns have the given values: ``Grid(table, skewed=True)``.

    Every array has members along its first axis, in the table's order; nan for a member whose flow failed.
    """

    def __init__(self, table: Table, **where: Any) -> None:
        self._table, self._where = table, where

    @property
    def members(self) -> pd.DataFrame:
        """Columns counts, init, scale and seed of each member."""
        return _members(self._table, **self._where).copy()

    @property
    def scale(self) -> np.ndarray:
        """The scale at which each member starts, shape (members,)."""
        return self.members["scale"].to_numpy()

    @property
    def class_sizes(self) -> np.ndarray:
        """Sizes of each member's classes, shape (members, classes)."""
        return np.array([sizes_of(counts) for counts in self.members["counts"]])

    def number(self, quantity: Quantity, *, measure: str = "", threshold: float = 0.0) -> np.ndarray:
        """Return a quantity that a member has once, shape (members,)."""
        return _values(self._table, quantity, index=0, measure=measure, threshold=threshold, **self._where)

    def entries(self, quantity: Quantity, *, measure: str = "", threshold: float = 0.0) -> np.ndarray:
        """Return a quantity that a member has by class, or by swing of the rank, shape (members, entries)."""
        return _entries(self._table, quantity, measure=measure, threshold=threshold, **self._where)

    def at(self, moment: Moment, quantity: Quantity, *, measure: str = "") -> np.ndarray:
        """Return a quantity at one of the moments, shape (members,)."""
        return _values(self._table, quantity, index=moment, measure=measure, threshold=0.0, **self._where)

    def change(self, window: Window, quantity: Quantity, *, measure: str = "") -> np.ndarray:
        """Return by how much a quantity grows from one moment to another, shape (members,)."""
        begin, end = (self.at(moment, quantity, measure=measure) for moment in window)
        return end - begin

    def learning_times(self) -> np.ndarray:
        """Return when each class is learned, shape (members, classes): infinite if never, nan if the flow failed."""
        times, final = self.entries(LEARNING_TIME), self.entries(FINAL)
        return np.where(np.isnan(times) & ~np.isnan(final), np.inf, times)

    def courses(self, measure: str, threshold: float) -> pd.Series:
        """Return the course of each member's rank, missing if its flow failed.

        F is a fall and R a rise by the threshold or more, in their order, at most four: a rank that falls, rises and
        falls again is ``FRF``.
        """
        swings = self.entries(SWING, measure=measure, threshold=threshold)
        courses = ["".join("F" if swing < 0 else "R" for swing in row if swing) for row in swings]
        return pd.Series(courses, dtype=object).mask(np.isnan(swings).any(axis=1))

    def keeps_growing(self, measure: str, threshold: float) -> np.ndarray:
        """Return which members' rank never falls after a rise, counted from the warm-up's trough; False for nan.

        A rise from a random start and a fall before the trough belong to the warm-up.
        """
        return self.number(FALL, measure=measure, threshold=threshold) < threshold


# cached, as claims read the same of a table again for every rival and every variant of a setting


@cached_per_table
def _members(table: Table, **where: Any) -> pd.DataFrame:
    columns = ["counts", "init", "scale", "seed"]
    return select(table, **where)[columns].drop_duplicates().reset_index(drop=True)


@cached_per_table
def _values(table: Table, quantity: Quantity, **where: Any) -> np.ndarray:
    return select(table, quantity, **where)["value"].to_numpy()


@cached_per_table
def _entries(table: Table, quantity: Quantity, **where: Any) -> np.ndarray:
    rows = select(table, quantity, **where)
    return rows["value"].to_numpy().reshape(-1, rows["index"].nunique())
