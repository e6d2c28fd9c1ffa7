"""Trajectories from the results of a run's members, which a run collects in a list.

A member's results are a mapping from names to arrays, numbers or words, with the same names for every member.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from learning_dynamics.trajectories import Arrays, Trajectory

Members = Sequence[Mapping[str, Any]]

AT_THE_END = np.zeros(1)  # the times of runs that record the end alone: one, whose value 0 means nothing


def by_name(members: Members) -> Arrays:
    """Return one array for each name, shape (members, ...), with that result of all members."""
    return {name: np.array([member[name] for member in members]) for name in members[0]}


def trajectory(time: np.ndarray, members: Members, *series: str, **common: Any) -> Trajectory:
    """Return the trajectory of several members.

    The names in `series` say which results are series of the trajectory; each has shape (members, times, ...). All
    other results are its constants, of shape (members, ...), and so are `common`, which have one value for all members.
    Members with a series that is not finite are undecided.
    """
    constants = by_name(members)
    followed = {name: constants.pop(name) for name in series}
    finite = [np.isfinite(values).all(axis=tuple(range(1, values.ndim))) for values in followed.values()]
    of_all = {name: np.asarray(value) for name, value in common.items()}
    return Trajectory(time, followed, constants | of_all, undecided=~np.all(finite, axis=0))
