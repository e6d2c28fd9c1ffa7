"""Trajectories from the results of a run's members."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from learning_dynamics.trajectories import Arrays, Trajectory

Members = Sequence[Mapping[str, Any]]  # of each member its arrays, numbers and words, by name

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


def by_name(members: Members) -> Arrays:
    """Return one array for each name, shape (members, ...), with the results of all members."""
    return {name: np.array([member[name] for member in members]) for name in members[0]}


def trajectory(time: np.ndarray, members: Members, *series: str, **common: Any) -> Trajectory:
    """Return the trajectory of several members.

    The names in `series` say which results are its series; the other results, by member, and `common` are its
    constants. Members whose series are not finite are undecided.
    """
    constants = by_name(members)
    followed = {name: constants.pop(name) for name in series}
    finite = [np.isfinite(values).all(axis=tuple(range(1, values.ndim))) for values in followed.values()]
    of_all = {name: np.asarray(value) for name, value in common.items()}
    return Trajectory(time, followed, constants | of_all, undecided=~np.all(finite, axis=0))
