"""Balanced starts and early flows over class sizes, for the growth of singular values (Theorem B.3)."""

import itertools
from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def initial_states(
    *, classes: list[Count], largest: list[Count], dimension: Count, scales: list[Positive], seeds: Count, seed: Seed
) -> Trajectory:
    """Balanced initial states over numbers of classes, sizes of the largest class, and scales.

    Every other class has one example. Arrays are padded with zeros to the largest shapes.

    Returns
    -------
    Trajectory
        Series f and W at time 0; constants classes, largest, scale of each member.
    """
    cells = list(itertools.product(classes, largest, scales))
    drawn = []
    for count, size, scale in cells:
        rngs = generators(seed, f"softmax_dynamics.initial_states.{count}.{size}.{scale}", seeds)
        members = [model.balanced(rng, size + count - 1, dimension, count, scale) for rng in rngs]
        drawn.append([np.stack(factors)[:, None] for factors in zip(*members, strict=True)])
    f, W = map(starts.padded, zip(*drawn, strict=True))
    constants = starts.constants_of(("classes", "largest", "scale"), cells, seeds)
    return Trajectory(np.zeros(1), {"f": f, "W": W}, constants)


def early_growth(
    *,
    classes: list[Count],
    largest: list[Count],
    dimension: Count,
    scale: Positive,
    seeds: Count,
    growth: Positive,
    points: Count,
    rtol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from a tiny balanced start, while predictions stay uniform.

    Every class but the largest has one example. A run lasts `growth` units of 1 / sqrt(largest class
    size), the unit of the trajectory's time. Arrays are padded with zeros.

    Returns
    -------
    Trajectory
        Series f and W; constants classes, largest of each member.
    """
    times = np.linspace(0.0, growth, points)

    def flow(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
        labels, initial = starts.cell_states(seed, counts, dimension, "balanced", scale, seeds)
        flow_times, tolerances = times / np.sqrt(counts[0]), Tolerances(rtol, rtol * scale)
        states = toy_flow.flow(labels, initial, dimension, "cross_entropy", flow_times, tolerances)
        return model.unpack(states, sum(counts), dimension, len(counts))

    return _by_size(flow, classes, largest, times, seeds)


def repeated_contexts(
    *,
    classes: list[Count],
    largest: list[Count],
    dimension: Count,
    scale: Positive,
    seeds: Count,
    growth: Positive,
    points: Count,
    rtol: Positive,
    seed: Seed,
) -> Trajectory:
    """As `early_growth`, where all examples of a class are one context: they share one row of f.

    The gradient by that row is the sum over its examples, N A W^T in place of A W^T. A run lasts `growth` units of
    1 / N, the unit of the trajectory's time.

    Returns
    -------
    Trajectory
        Series f, one row for each class, and W; constants classes, largest of each member.
    """
    times = np.linspace(0.0, growth, points)

    def flow(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
        _, initial = starts.cell_states(seed, [1] * len(counts), dimension, "balanced", scale, seeds)
        tolerances = Tolerances(rtol, rtol * scale)
        return toy_flow.class_flow(counts, initial, dimension, times / counts[0], tolerances, shared=True)

    return _by_size(flow, classes, largest, times, seeds)


def _by_size(
    flow: Callable[[list[int]], tuple[np.ndarray, np.ndarray]],
    classes: list[int],
    largest: list[int],
    times: np.ndarray,
    seeds: int,
) -> Trajectory:
    """Return f and W, given class sizes, over numbers of classes and sizes of the largest; the others have one."""
    cells = list(itertools.product(classes, largest))
    flows = [flow([size] + [1] * (count - 1)) for count, size in progress(cells, "cells")]
    f, W = map(starts.padded, zip(*flows, strict=True))
    constants = starts.constants_of(("classes", "largest"), cells, seeds)
    return Trajectory(times, {"f": f, "W": W}, constants, undecided=starts.undecided(f))
