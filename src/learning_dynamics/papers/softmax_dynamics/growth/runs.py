"""Balanced starts and early flows over class sizes, for the growth of singular values (Theorem B.3)."""

import itertools

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def initial_states(
    *,
    classes: list[Count],
    largest: list[Count],
    dimension: Count,
    scales: list[Positive],
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Balanced initial states over numbers of classes, sizes of the largest class, and scales.

    Every other class has one example. Arrays are padded with zeros to the largest shapes.

    Returns
    -------
    Trajectory
        Series f and W at time 0; constants classes, largest, scale of each member.
    """
    cells = list(itertools.product(classes, largest, scales))
    f = np.zeros((len(cells) * seeds, 1, max(largest) + max(classes) - 1, dimension))
    W = np.zeros((len(cells) * seeds, 1, dimension, max(classes)))
    for cell, (count, size, scale) in enumerate(cells):
        rngs = generators(seed, f"softmax_dynamics.initial_states.{count}.{size}.{scale}", seeds)
        for member, rng in enumerate(rngs, start=cell * seeds):
            features, classifier = model.balanced(rng, size + count - 1, dimension, count, scale)
            f[member, 0, : size + count - 1], W[member, 0, :, :count] = features, classifier
    constants = {
        name: np.repeat(np.array([cell[index] for cell in cells]), seeds)
        for index, name in enumerate(("classes", "largest", "scale"))
    }
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
    cells = list(itertools.product(classes, largest))
    times = np.linspace(0.0, growth, points)
    f = np.zeros((len(cells) * seeds, points, max(largest) + max(classes) - 1, dimension))
    W = np.zeros((len(cells) * seeds, points, dimension, max(classes)))
    for cell, (count, size) in enumerate(progress(cells, "early growth")):
        counts = [size] + [1] * (count - 1)
        labels, initial = starts.cell_states(seed, counts, dimension, "balanced", scale, seeds)
        flow_times = times / np.sqrt(size)
        states = toy_flow.flow(labels, initial, dimension, "cross_entropy", flow_times, Tolerances(rtol, rtol * scale))
        factors = starts.factors_of(states, labels, dimension)
        members = slice(cell * seeds, (cell + 1) * seeds)
        f[members, :, : sum(counts)], W[members, :, :, :count] = factors["f"], factors["W"]
    constants = {
        name: np.repeat(np.array([cell[index] for cell in cells]), seeds)
        for index, name in enumerate(("classes", "largest"))
    }
    return Trajectory(times, {"f": f, "W": W}, constants, undecided=starts.undecided(f))


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
    cells = list(itertools.product(classes, largest))
    times = np.linspace(0.0, growth, points)
    f = np.zeros((len(cells) * seeds, points, max(classes), dimension))
    W = np.zeros((len(cells) * seeds, points, dimension, max(classes)))
    for cell, (count, size) in enumerate(progress(cells, "repeated contexts")):
        labels, initial = starts.cell_states(seed, [1] * count, dimension, "balanced", scale, seeds)
        repeats = np.tile(np.array([size] + [1] * (count - 1), dtype=float), (seeds, 1))
        states = toy_flow.flow(
            labels,
            initial,
            dimension,
            "cross_entropy",
            times / size,
            Tolerances(rtol, rtol * scale),
            copies=repeats,
            shared=True,
        )
        factors = starts.factors_of(states, labels, dimension)
        members = slice(cell * seeds, (cell + 1) * seeds)
        f[members, :, :count], W[members, :, :, :count] = factors["f"], factors["W"]
    constants = {
        name: np.repeat(np.array([cell[index] for cell in cells]), seeds)
        for index, name in enumerate(("classes", "largest"))
    }
    return Trajectory(times, {"f": f, "W": W}, constants)
