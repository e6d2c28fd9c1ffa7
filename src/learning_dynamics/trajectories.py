"""Named arrays over time for an ensemble: what a run leaves behind."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass
class Trajectory:
    """What a run leaves behind: raw states, or of many the few numbers that are read of each; never metrics.

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
