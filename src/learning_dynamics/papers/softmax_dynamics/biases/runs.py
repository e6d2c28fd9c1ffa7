"""Gradient flow from ever smaller starts, to see when each class is learned."""

from dataclasses import replace

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory, toy_flow
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def escapes(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow under cross-entropy from Gaussian starts of several scales, one row of features a class.

    The row of a class stands for all its examples, as in `population.class_flows`. A member's start is the same at
    all scales but for its size, so that a difference of its times is one of scales. The absolute
    tolerance is atol times the scale.

    Returns
    -------
    Trajectory
        Time in units of log(1 / scale). Series probabilities (members, times, classes), of its own class; constants
        counts, dimension and scale of each member.
    """
    starts.require_equal_numbers_of_classes("escapes", counts)
    if max(scales) >= 1:
        raise ProjectError("escapes: scales must lie below one, as time is counted in units of log(1 / scale)")
    times = integration.times

    def follow(counts: list[int], dimension: int, scale: float) -> dict[str, np.ndarray]:
        label = f"softmax_dynamics.escapes.{name_of(counts)}.{dimension}"
        initial = np.stack([_start(rng, counts, dimension, scale) for rng in generators(seed, label, seeds)])
        f, W = toy_flow.class_flow(
            counts,
            initial,
            dimension,
            times=np.log(1 / scale) * times,
            tolerances=replace(integration, atol=integration.atol * scale),
        )
        return {"probabilities": np.diagonal(model.softmax(f @ W), axis1=-2, axis2=-1).astype(np.float32)}

    cells = starts.grid_cells(counts=counts, dimension=dimensions, scale=scales)
    return starts.over_cells(follow, cells, seeds=seeds, times=times)


def _start(rng: np.random.Generator, sizes: list[int], dimension: int, scale: float) -> np.ndarray:
    """Return a packed start whose feature space is turned so that the fastest direction lies along its first axis.

    The flow commutes with turns of that space. So turned, what is still tiny beside a direction that has grown has
    entries of its own, and is not lost to the rounding of larger ones.
    """
    rows, classifier = model.gaussian(rng, len(sizes), dimension, len(sizes), scale=scale)
    rows = rows / np.sqrt(np.array(sizes))[:, None]
    U, _, Vt = np.linalg.svd(theory.uniform_gain(sizes))
    growing = min(dimension, len(sizes) - 1)
    amplitudes = U.T[:growing] @ (np.sqrt(np.array(sizes))[:, None] * rows) + Vt[:growing] @ classifier.T
    turn = np.linalg.qr(amplitudes.T, mode="complete")[0]
    return model.pack(rows @ turn, turn.T @ classifier)
