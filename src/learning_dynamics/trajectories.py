"""Named arrays over time for an ensemble: what a run leaves behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.progress import progress

Arrays = dict[str, np.ndarray]


@dataclass
class Trajectory:
    """What a run leaves behind: raw states or, where they are many, the few numbers that metrics read of each.

    Attributes
    ----------
    time : ndarray, shape (times,)
        When the states were recorded; the unit is the run's own (flow time, steps, epochs).
    series : dict of ndarray, each of shape (members, times, ...)
        One state per ensemble member and recorded time.
    constants : dict of ndarray
        What does not change during the run (data, initialisation), or belongs to its end.
    settings : dict
        The run's settings, filled in by `pipeline.commands.run` or when the file is read.
    undecided : ndarray of bool, shape (members,), optional
        Members whose integration could not be carried to its end; from there on their states are nan, and claims
        count them as undecided.
    """

    time: np.ndarray
    series: Arrays
    constants: Arrays = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    undecided: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, array in self.series.items():
            if array.ndim < 2 or array.shape[1] != len(self.time):
                raise ValueError(f"series {name!r} has shape {array.shape}; expected (members, {len(self.time)}, ...)")

        if self.undecided is not None and self.series and np.shape(self.undecided) != (self.members,):
            raise ValueError(f"undecided has shape {np.shape(self.undecided)}; expected ({self.members},)")

    @property
    def members(self) -> int:
        """Number of ensemble members."""
        return len(next(iter(self.series.values())))


def ensemble(
    follow: Callable[..., Mapping[str, Any]],
    members: Sequence[Any],
    time: np.ndarray,
    *series: str,
    label: str,
    **constants: Any,
) -> Trajectory:
    """Follow one member after the other, and stack what is kept of each.

    Parameters
    ----------
    follow : callable
        Takes a member, the items of a tuple as arguments, and returns numbers and arrays by name. Where it raises a
        `DivergenceError`, or keeps numbers that are not finite in a series, or ``undecided``, the member is undecided.
    members : sequence
        What differs between members: scales, random generators, data sets; tuples where it is several things.
    time : ndarray, shape (times,)
    *series : str
        The names of what is kept of every time, shape (times, ...); what has other names is kept as constants.
    label : str
        Of the bar that shows how far the loop is.
    **constants
        What all members share.

    Raises
    ------
    DivergenceError
        If no member gets through.
    """
    kept: list[Mapping[str, Any]] = []
    failures: list[DivergenceError] = []
    for member in progress(members, label):
        try:
            kept.append(follow(*member) if isinstance(member, tuple) else follow(member))
        except DivergenceError as failure:
            kept.append({})
            failures.append(failure)
    if failures and not any(kept):
        raise failures[0]
    # of a member that did not get through every number is nan, of the shape that others have
    example = {name: np.asarray(value) for name, value in next(filter(None, kept)).items()}
    lost = {name: np.full_like(value, np.nan if value.dtype.kind == "f" else 0) for name, value in example.items()}
    arrays = {name: np.stack([(states or lost)[name] for states in kept]) for name in example}
    undecided = arrays.pop("undecided", np.zeros(len(kept), dtype=bool))
    for name in series:
        undecided = undecided | ~np.isfinite(arrays[name].reshape(len(kept), -1)).all(axis=1)
    followed = {name: arrays.pop(name) for name in series}
    return Trajectory(time, followed, constants | arrays, undecided=undecided)
