"""The toy with one row of features for each class, which stands for all its examples, over skews and dimensions."""

import itertools

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory, toy_flow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def class_flows(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow under cross-entropy from Gaussian starts, the examples of a class taken together.

    Examples of a class have the same gradient while their logits agree. What is left of a small start is their mean,
    whose entries have standard deviation scale / sqrt(class size); the spread within classes is left out.

    Returns
    -------
    Trajectory
        Series f (members, times, classes, d) and W (members, times, d, classes), padded with zeros to the largest d;
        constants counts, dimension and scale of each member.
    """
    if len({len(sizes) for sizes in counts}) > 1:
        raise ProjectError("class_flows: all entries of `counts` must have as many classes")
    times = integration.times
    cells = list(itertools.product(counts, scales))
    classes, width, members = len(counts[0]), max(dimensions), len(cells) * seeds
    sizes = np.repeat(np.array([class_sizes for class_sizes, _ in cells]), seeds, axis=0)
    scale = np.repeat(np.array([start_scale for _, start_scale in cells]), seeds)
    labels = np.repeat(np.eye(classes)[None], members, axis=0)
    f = np.zeros((len(dimensions) * members, len(times), classes, width), dtype=np.float32)
    W = np.zeros((len(dimensions) * members, len(times), width, classes), dtype=np.float32)
    undecided = []
    for index, dimension in enumerate(progress(dimensions, "dimensions")):
        initial = [
            model.pack(rows / np.sqrt(np.array(class_sizes))[:, None], classifier)
            for class_sizes, start_scale in cells
            for rows, classifier in (
                model.gaussian(rng, classes, dimension, classes, start_scale)
                for rng in generators(
                    seed, f"softmax_dynamics.classes.{'-'.join(map(str, class_sizes))}.{dimension}.{start_scale}", seeds
                )
            )
        ]
        states = toy_flow.flow(
            labels,
            np.stack(initial),
            dimension,
            "cross_entropy",
            times,
            integration,
            copies=sizes.astype(float),
        )
        chosen = slice(index * members, (index + 1) * members)
        factors = starts.factors_of(states, labels, dimension)
        f[chosen, ..., :dimension], W[chosen, :, :dimension] = factors["f"], factors["W"]
        undecided.append(starts.undecided(states))
    constants = {
        "counts": np.tile(sizes, (len(dimensions), 1)),
        "dimension": np.repeat(np.array(dimensions), members),
        "scale": np.tile(scale, len(dimensions)),
    }
    return Trajectory(times, {"f": f, "W": W}, constants, undecided=np.concatenate(undecided))


def growing_directions(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    integration: LogSpan,
) -> Trajectory:
    """The same flows from a start without chance: each feature axis holds one of the directions that grow.

    From a small Gaussian start the k-th fastest direction of A at uniform predictions comes to fill a direction of
    features of its own. Here the k-th axis holds it from the beginning, its norm the scale, and nothing else.

    Returns
    -------
    Trajectory
        As of `class_flows`, a member for each of dimensions, counts and scales.
    """
    times = integration.times
    cells = list(itertools.product(dimensions, counts, scales))
    classes, width = len(counts[0]), max(dimensions)
    f = np.zeros((len(cells), len(times), classes, width), dtype=np.float32)
    W = np.zeros((len(cells), len(times), width, classes), dtype=np.float32)
    failed = []
    labels = np.eye(classes)[None]
    for index, (dimension, sizes, scale) in enumerate(progress(cells, "cells")):
        weights = np.array(sizes, dtype=float)
        U, _, Vt = np.linalg.svd(theory.uniform_gain(sizes))
        rows = scale * U[:, :dimension] / np.sqrt(weights)[:, None]
        initial = model.pack(rows, scale * Vt[:dimension])[None]
        states = toy_flow.flow(labels, initial, dimension, "cross_entropy", times, integration, copies=weights[None])
        factors = starts.factors_of(states, labels, dimension)
        f[index, ..., :dimension], W[index, :, :dimension] = factors["f"][0], factors["W"][0]
        failed.append(bool(starts.undecided(states)[0]))
    constants = {
        "counts": np.array([sizes for _, sizes, _ in cells]),
        "dimension": np.array([dimension for dimension, _, _ in cells]),
        "scale": np.array([scale for _, _, scale in cells]),
    }
    return Trajectory(times, {"f": f, "W": W}, constants, undecided=np.array(failed))
