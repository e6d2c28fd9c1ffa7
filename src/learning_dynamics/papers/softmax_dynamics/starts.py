"""Where members start, when they are recorded, and gradient flow that outlives a member that fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.seeds import generators
from learning_dynamics.trajectory import Trajectory


def log_times(start: float, horizon: float, points: int) -> np.ndarray:
    """Return 0 and `points` times from `start` to `horizon`, spaced evenly in the logarithm."""
    return np.r_[0.0, np.geomspace(start, horizon, points)]


def cell_states(
    seed: int, counts: Sequence[int], dimension: int, init: str, scale: float, seeds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, shape (seeds, examples, classes), and packed initial states.

    A cell's draws depend on its own settings alone, not on the grid that it lies in.
    """
    draw = {"balanced": model.balanced, "gaussian": model.gaussian}[init]
    label = f"softmax_dynamics.{init}.{'-'.join(map(str, counts))}.{dimension}.{scale}"
    states = [
        model.pack(*draw(rng, sum(counts), dimension, len(counts), scale)) for rng in generators(seed, label, seeds)
    ]
    return np.repeat(model.one_hot(counts)[None], seeds, axis=0), np.stack(states)


def factors_of(states: np.ndarray, labels: np.ndarray, dimension: int) -> dict[str, np.ndarray]:
    """Return the series f and W that packed states hold."""
    _, examples, classes = labels.shape
    f, W = model.unpack(states, examples, dimension, classes)
    return {"f": f, "W": W}


def flow(
    labels: np.ndarray,
    initial: np.ndarray,
    dimension: int,
    loss: model.Loss,
    times: np.ndarray,
    *,
    rtol: float,
    atol: float,
    copies: np.ndarray | None = None,
) -> np.ndarray:
    """Return packed states along gradient flow, shape (members, times, size); nan for members that do not get through.

    A batch in which a member fails is halved until the member stands alone: its siblings' trajectories do not
    depend on the batch.
    """
    try:
        return ensemble.flow(model.vector_field(labels, dimension, loss, copies), initial, times, rtol=rtol, atol=atol)
    except DivergenceError:
        if len(initial) == 1:
            states = np.full((1, len(times), initial.shape[1]), np.nan)
            states[:, 0] = initial
            return states
        half = len(initial) // 2
        parts = [slice(None, half), slice(half, None)]
        return np.concatenate(
            [
                flow(
                    labels[part],
                    initial[part],
                    dimension,
                    loss,
                    times,
                    rtol=rtol,
                    atol=atol,
                    copies=None if copies is None else copies[part],
                )
                for part in parts
            ]
        )


def undecided(states: np.ndarray) -> np.ndarray:
    """Return which members have states that are not finite, shape (members,)."""
    return ~np.all(np.isfinite(states.reshape(len(states), -1)), axis=1)


def cell_flows(
    seed: int,
    counts: Sequence[int],
    dimension: int,
    loss: model.Loss,
    init: str,
    scale: float,
    seeds: int,
    times: np.ndarray,
    *,
    rtol: float,
    atol: float,
) -> Trajectory:
    """Return gradient flow of one cell's members: series f and W, constant labels."""
    labels, initial = cell_states(seed, counts, dimension, init, scale, seeds)
    states = flow(labels, initial, dimension, loss, times, rtol=rtol, atol=atol)
    return Trajectory(times, factors_of(states, labels, dimension), {"labels": labels}, undecided=undecided(states))
