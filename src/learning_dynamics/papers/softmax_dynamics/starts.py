"""Starts of a cell's members, grids of cells, and the trajectory of all their members.

A cell is one combination of settings, such as class sizes, dimension and scale; a run over a grid has a cell for every
combination of the values that it lists. The members of a cell differ in their draw, and there are as many as the
setting `seeds`. Arrays of a grid have members along the first axis, cell by cell, so that draws vary fastest. f are
features, W is the classifier.
"""

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
    """Return one-hot labels, shape (seeds, examples, classes), and packed starts, shape (seeds, size), of a cell.

    The random numbers of a cell depend on its own settings and on `seed`, not on the other cells of the grid. `seeds`
    is the number of draws, and `seed` is the seed of the run.
    """
    draw = {"balanced": model.balanced, "gaussian": model.gaussian}[init]
    label = f"softmax_dynamics.{init}.{name_of(counts)}.{dimension}.{scale}"
    states = [
        model.pack(*draw(rng, sum(counts), dimension, len(counts), scale=scale))
        for rng in generators(seed, label, seeds)
    ]
    return np.repeat(model.one_hot(counts)[None], seeds, axis=0), np.stack(states)


def factors_of(states: np.ndarray, labels: np.ndarray, dimension: int) -> dict[str, np.ndarray]:
    """Return f and W of packed states by name, shapes (..., examples, d) and (..., d, classes).

    Parameters
    ----------
    states : ndarray, shape (..., size)
        As `models.pack` returns them, with size = examples * d + d * classes.
    labels : ndarray, shape (members, examples, classes)
        Only its shape is used: it has the numbers of examples and of classes.
    """
    _, examples, classes = labels.shape
    f, W = model.unpack(states, examples, dimension, classes)
    return {"f": f, "W": W}


def undecided(*series: np.ndarray) -> np.ndarray:
    """Return which members have entries that are not finite in any of the series, shape (members,).

    Parameters
    ----------
    *series : ndarray, shape (members, ...)
    """
    return np.any([~np.isfinite(states.reshape(len(states), -1)).all(axis=1) for states in series], axis=0)


def finite_factors(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return f, shape (members, times, examples, d), W, (members, times, d, V), and which members failed, (members,).

    Both factors are in double precision. A member has failed if it has entries that are not finite, or if the
    trajectory marks it as undecided. At all times it gets the factors of its start, since singular values need finite
    matrices: what is computed of it must be replaced by nan.
    """
    # the trajectory's series have the names f and W
    f, W = (trajectory.series[name].astype(float) for name in "fW")
    failed = undecided(f, W)
    if trajectory.undecided is not None:
        failed |= trajectory.undecided
    f, W = (np.where(failed[:, None, None, None], factor[:, :1], factor) for factor in (f, W))
    return f, W, failed


def padded(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the arrays of several cells as one array, members of one cell after those of another.

    Each of `parts` has the shape (members, ...), with equally many axes. Each axis after the first is padded with zeros
    at its end, to the longest that any part has there.
    """
    parts = list(parts)
    largest = np.max([part.shape[1:] for part in parts], axis=0)
    # (0, 0): nothing before or after the members; (0, pad): zeros after the entries of another axis
    return np.concatenate([np.pad(part, [(0, 0), *((0, pad) for pad in largest - part.shape[1:])]) for part in parts])


Cell = Mapping[str, Any]  # the settings of a cell of a grid, by name


def grid_cells(**values: Iterable[Any]) -> list[Cell]:
    """Return the cells of all combinations of the values of each name; the last name varies fastest.

    ``grid_cells(dimension=[2, 3], scale=[0.1])`` has the cells {dimension: 2, scale: 0.1} and {dimension: 3, scale:
    0.1}.
    """
    return [dict(zip(values, cell, strict=True)) for cell in itertools.product(*values.values())]


def constants_of(cells: Sequence[Cell], seeds: int) -> dict[str, np.ndarray]:
    """Return the settings by name, shape (cells * seeds, ...): those of a cell, repeated for each of its members."""
    return {name: np.repeat(np.array([cell[name] for cell in cells]), seeds, axis=0) for name in cells[0]}


def over_cells(
    follow: Callable[..., dict[str, np.ndarray]], cells: Sequence[Cell], *, seeds: int, times: np.ndarray
) -> Trajectory:
    """Return the trajectory of the members of all cells of a grid.

    Parameters
    ----------
    follow : callable
        Takes the settings of a cell by name; returns its series by name, shape (seeds, times, ...).

    Returns
    -------
    Trajectory
        Members come cell by cell, and series are padded with zeros to the largest shapes. A member is undecided if one
        of its entries is not finite. Constants are the settings of the cells, one for each member.
    """
    parts = [follow(**cell) for cell in progress(cells, "cells")]
    series = {name: padded(part[name] for part in parts) for name in parts[0]}
    return Trajectory(times, series, constants_of(cells, seeds), undecided=undecided(*series.values()))


def require_equal_numbers_of_classes(kind: str, counts: Sequence[Sequence[int]]) -> None:
    """Refuse lists of class sizes with different numbers of classes; `kind` is the run's name in the message."""
    if len({len(sizes) for sizes in counts}) > 1:
        raise ProjectError(f"{kind}: all entries of `counts` must have as many classes")
