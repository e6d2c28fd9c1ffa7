"""The toy model over a grid of class skews, initialisations and scales."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from learning_dynamics.dynamics import ensemble
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.cells import cell_states, factors_of, log_times
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Trajectory


def flow_grid(
    *,
    counts: list[list[Count]],
    dimension: Count,
    loss: Literal["cross_entropy", "squared"],
    inits: list[Literal["balanced", "gaussian"]],
    scales: list[Positive],
    seeds: Count,
    start: Positive,
    horizon: Positive,
    points: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow over a grid of class skews, initialisations and scales, in one batch.

    Returns
    -------
    Trajectory
        Series f, members cell by cell; constants counts, init and scale of each member.
    """
    times = log_times(start, horizon, points)
    labels, initial, constants = _grid(seed, counts, dimension, inits, scales, seeds)
    states = ensemble.flow(model.vector_field(labels, dimension, loss), initial, times, rtol=rtol, atol=atol)
    return Trajectory(times, {"f": factors_of(states, labels, dimension)["f"]}, constants)


def descent_grid(
    *,
    counts: list[list[Count]],
    dimension: Count,
    loss: Literal["cross_entropy", "squared"],
    inits: list[Literal["balanced", "gaussian"]],
    scales: list[Positive],
    seeds: Count,
    learning_rate: Positive,
    steps: Count,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent over the same grid as `flow_grid`, from the same initial states.

    Returns
    -------
    Trajectory
        As in `flow_grid`; time is the learning rate times the number of steps.
    """
    labels, initial, constants = _grid(seed, counts, dimension, inits, scales, seeds)
    record_at = np.unique(np.r_[0, np.round(np.geomspace(1, steps, points)).astype(int)])
    states = ensemble.descent(model.vector_field(labels, dimension, loss), initial, learning_rate, record_at)
    return Trajectory(learning_rate * record_at, {"f": factors_of(states, labels, dimension)["f"]}, constants)


def _grid(
    seed: int,
    counts: Sequence[Sequence[int]],
    dimension: int,
    inits: Iterable[str],
    scales: Iterable[float],
    seeds: int,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    cells = list(itertools.product(counts, inits, scales))
    made = [cell_states(seed, sizes, dimension, init, scale, seeds) for sizes, init, scale in cells]
    constants = {
        "counts": np.repeat(np.array([sizes for sizes, _, _ in cells]), seeds, axis=0),
        "init": np.repeat(np.array([init for _, init, _ in cells]), seeds),
        "scale": np.repeat(np.array([scale for _, _, scale in cells]), seeds),
    }
    return np.concatenate([labels for labels, _ in made]), np.concatenate([states for _, states in made]), constants
