"""The table of a grid of flows, read as arrays over its members, and the moments at which each flow is measured.

A grid is one run, `phases.runs.flow_grid`. Its members are flows from every combination of class sizes, kind of start
(balanced or Gaussian), scale and draw. f has a row of features for each example, and the classifier W a column for each
class. The probability of a class is the mean, over the class's examples, of the probability that an example's own class
gets; under the squared loss, of the output. The rank is one of the effective ranks in `spectra.RANKS`.
"""

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
    # Each is a recorded time. `lower` and `upper` are settings of `phases.metrics.flow_grid`. A moment that is never
    # reached is the last record, `RARE_BEGIN` the record before the last. A class can fall back below one half, so that
    # the first record above it can be earlier than `LEARNING_TIME`.
    FIRST_LEARNED = 2  # a probability is above one half for the first time
    RARE_BEGIN = 3  # the record before the probability of one of the rarest classes is above `lower`
    RARE_LEARNED = 4  # the probabilities of all of the rarest classes are above `upper`
    END = 5


# Quantities of a grid; `falls` and `spectra` name others. `phases.metrics.toy` measures alignment and separation too,
# at each time; `biases.metrics.escapes` measures learning times.
LEARNING_TIME = "learning_time"  # by class: flow time at which its probability passes one half for good; nan if never
FINAL = "final"  # by class: its probability at the end
ALIGNMENT = "alignment"  # |cos| of the angle between the leading eigenvectors of f^T f and W W^T, at each moment
# Distance of the mean row of f in the largest class from the mean of all other rows, over the root mean square distance
# of a row from its own of the two means; at each moment. Infinite where rows agree with their means.
SEPARATION_F = "separation_f"
SEPARATION_W = "separation_w"  # that of the columns of W: of the largest class's column from all other columns
RANK = "rank"  # the rank, at each moment
REACHED = "reached"  # flow time of each moment
TAIL = "tail"  # change of the rank over the last half decade of time, from T / sqrt(10) to the last time T
SWING = "swing"  # changes of the rank at its first four swings (`falls.swings`); negative for a fall, 0 after the last

Window = tuple[Moment, Moment]  # from one moment to a later one
DURING_WARM_UP: Window = (Moment.START, Moment.FIRST_LEARNED)
BEFORE_RARE: Window = (Moment.FIRST_LEARNED, Moment.RARE_BEGIN)
WHILE_RARE: Window = (Moment.RARE_BEGIN, Moment.RARE_LEARNED)
FIRST_TO_RARE: Window = (Moment.FIRST_LEARNED, Moment.RARE_LEARNED)
AFTER_RARE: Window = (Moment.RARE_LEARNED, Moment.END)


class Grid:
    """The members of a grid, or those in which columns have the given values: ``Grid(table, skewed=True)``.

    Every array has members along its first axis, in the table's order; nan for a member whose flow failed. Of the
    arguments of its methods, `measure` names a rank: a name in `spectra.MEASURES`, or "" for a quantity of no rank.
    `threshold` is the least change of the rank that counts as a fall or a rise, one of those at which the grid was
    measured, or 0 for a quantity that depends on none.
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
        # the table has nan for both; `final` is nan only where the flow failed
        times, final = self.entries(LEARNING_TIME), self.entries(FINAL)
        return np.where(np.isnan(times) & ~np.isnan(final), np.inf, times)

    def courses(self, measure: str, threshold: float) -> pd.Series:
        """Return the course of each member's rank, missing if its flow failed.

        F is a fall and R a rise by the threshold or more, in their order, at most four: a rank that falls, rises and
        falls again is ``FRF``. The course of a rank that changes by less than the threshold is the empty text.
        """
        swings = self.entries(SWING, measure=measure, threshold=threshold)
        # `if swing` leaves out the zeros after the last swing. nan is no zero and would be an R; `mask` replaces the
        # courses of such members.
        courses = ["".join("F" if swing < 0 else "R" for swing in row if swing) for row in swings]
        return pd.Series(courses, dtype=object).mask(np.isnan(swings).any(axis=1))

    def keeps_growing(self, measure: str, threshold: float) -> np.ndarray:
        """Return which members' rank never falls by the threshold after a rise by the threshold, shape (members,).

        Falls and rises count from the warm-up's trough on, where the rank is lowest until the first class is learned:
        what rises and falls before belongs to the warm-up. A rank that never rises counts as one that does not fall.
        False for a member whose flow failed.
        """
        # `FALL` is the depth of the deepest such fall, 0 without one; nan compares as False
        return self.number(FALL, measure=measure, threshold=threshold) < threshold


# Cached, as claims read the same numbers of a table again for every rival and every variant of a setting. Cached arrays
# are read-only.


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
    # `tidy.rows` writes all entries of a member one after the other, in the order of their index, then the next
    # member's
    return rows["value"].to_numpy().reshape(-1, rows["index"].nunique())
