"""Where members start, and how members of several cells stand one below the other."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory


def cell_states(
    counts: Sequence[int], dimension: int, *, init: model.Init, scale: float, seeds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, shape (seeds, examples, classes), and packed initial states.

    A cell's draws depend on its own settings alone, not on the other cells of the grid.
    """
    draw = {"balanced": model.balanced, "gaussian": model.gaussian}[init]
    label = f"softmax_dynamics.{init}.{name_of(counts)}.{dimension}.{scale}"
    states = [
        model.pack(*draw(rng, sum(counts), dimension, len(counts), scale=scale))
        for rng in generators(seed, label, seeds)
    ]
    return np.repeat(model.one_hot(counts)[None], seeds, axis=0), np.stack(states)


def factors_of(states: np.ndarray, labels: np.ndarray, dimension: int) -> dict[str, np.ndarray]:
    """Return the series f and W of packed states."""
    _, examples, classes = labels.shape
    f, W = model.unpack(states, examples, dimension, classes)
    return {"f": f, "W": W}


def undecided(*series: np.ndarray) -> np.ndarray:
    """Return which members have states that are not finite, shape (members,)."""
    return np.any([~np.isfinite(states.reshape(len(states), -1)).all(axis=1) for states in series], axis=0)


def finite_factors(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return f and W in double precision, and which members failed: these keep their start, so that they factorise."""
    f, W = (trajectory.series[name].astype(float) for name in "fW")
    failed = undecided(f, W)
    if trajectory.undecided is not None:
        failed |= trajectory.undecided
    f, W = (np.where(failed[:, None, None, None], factor[:, :1], factor) for factor in (f, W))
    return f, W, failed


def padded(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the arrays of several cells, shape (members, ...) each, one below the other, padded with zeros."""
    parts = list(parts)
    largest = np.max([part.shape[1:] for part in parts], axis=0)
    return np.concatenate([np.pad(part, [(0, 0), *((0, pad) for pad in largest - part.shape[1:])]) for part in parts])


Cell = Mapping[str, Any]  # what tells a cell of a grid apart, by name


def grid_cells(**values: Iterable[Any]) -> list[Cell]:
    """Return the cells in which each name has each of its values; the last name changes fastest."""
    return [dict(zip(values, cell, strict=True)) for cell in itertools.product(*values.values())]


def constants_of(cells: Sequence[Cell], seeds: int) -> dict[str, np.ndarray]:
    """Return what tells cells apart, of each of their members, by name."""
    return {name: np.repeat(np.array([cell[name] for cell in cells]), seeds, axis=0) for name in cells[0]}


def over_cells(
    follow: Callable[..., dict[str, np.ndarray]], cells: Sequence[Cell], *, seeds: int, times: np.ndarray
) -> Trajectory:
    """Follow the members of one cell of a grid after the other, and stack them.

    Parameters
    ----------
    follow : callable
        Takes what tells a cell apart, by name; returns series of its members, (seeds, times, ...).

    Returns
    -------
    Trajectory
        Members cell by cell, padded with zeros to the largest shapes; undecided where a state is not finite. Constants
        are what tells cells apart.
    """
    parts = [follow(**cell) for cell in progress(cells, "cells")]
    series = {name: padded(part[name] for part in parts) for name in parts[0]}
    return Trajectory(times, series, constants_of(cells, seeds), undecided=undecided(*series.values()))


def require_equal_numbers_of_classes(kind: str, counts: Sequence[Sequence[int]]) -> None:
    """Refuse class sizes that arrays of one shape cannot hold."""
    if len({len(sizes) for sizes in counts}) > 1:
        raise ProjectError(f"{kind}: all entries of `counts` must have as many classes")
