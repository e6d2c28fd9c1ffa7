"""Maps of the toy over skews, dimensions, scales and numbers of classes, and over one change of the training at a time."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectory import Trajectory

BASE = "gradient descent"


def descent_map(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    learning_rate: Positive,
    steps: Count,
    points: Count,
    learning_rates: list[Positive],
    momenta: list[Fraction],
    weight_decays: list[Positive],
    batches: list[Count],
    adam_rates: list[Positive],
    shared_inputs: list[Fraction],
    class_inputs: list[Fraction],
    seed: Seed,
) -> Trajectory:
    """Gradient descent from Gaussian starts over a grid, as it is and with one thing changed at a time.

    Full-batch gradient descent with `learning_rate` on orthonormal inputs is the base. Each of the lists that follow
    changes it in one respect: the rate, heavy-ball momentum (with the rate times one minus the momentum, the same
    effective rate), weight decay, minibatches of so many examples, Adam with so many rates, inputs that are
    correlated by so much between all examples, or within classes. A member starts where the base's does.

    Returns
    -------
    Trajectory
        Time counts steps. Series gram (f^T f), total (sum of f over examples), probabilities (of its own class,
        mean over each class), padded with zeros to the largest shapes; constants counts (padded with zeros),
        dimension, scale, variant and amount of each member.
    """
    from learning_dynamics.papers.softmax_dynamics.compression import models

    base = models.Optimiser(learning_rate)
    orthonormal = (0.0, 0.0)
    variants = [(BASE, learning_rate, base, orthonormal)]
    variants += [("learning rate", rate, models.Optimiser(rate), orthonormal) for rate in learning_rates]
    variants += [
        ("momentum", beta, models.Optimiser(learning_rate * (1 - beta), momentum=beta), orthonormal) for beta in momenta
    ]
    variants += [("weight decay", size, replace(base, weight_decay=size), orthonormal) for size in weight_decays]
    variants += [("minibatch", size, replace(base, batch=size), orthonormal) for size in batches]
    variants += [("Adam", rate, models.Optimiser(rate, adam=True), orthonormal) for rate in adam_rates]
    variants += [("inputs shared", share, base, (share, 0.0)) for share in shared_inputs]
    variants += [("inputs by class", share, base, (0.0, share)) for share in class_inputs]
    records = np.unique(np.r_[0, np.round(np.geomspace(1, steps, points)).astype(int)])
    cells = list(itertools.product(variants, counts, dimensions, scales))
    width, most = max(dimensions), max(map(len, counts))
    members = len(cells) * seeds
    series = {
        "gram": np.zeros((members, len(records), width, width)),
        "total": np.zeros((members, len(records), width)),
        "probabilities": np.zeros((members, len(records), most)),
    }
    for cell, ((_, _, optimiser, correlations), sizes, dimension, scale) in enumerate(progress(cells, "cells")):
        inputs = models.inputs_of(np.array(sizes), *correlations)
        label = f"softmax_dynamics.map.{'-'.join(map(str, sizes))}.{dimension}.{scale}"
        for member, rng in enumerate(generators(seed, label, seeds), start=cell * seeds):
            theta, W = toy.gaussian(rng, sum(sizes), dimension, len(sizes), scale)
            draws = int(rng.integers(2**31))
            gram, total, probabilities = models.train(inputs, np.array(sizes), theta, W, optimiser, records, draws)
            series["gram"][member, :, :dimension, :dimension] = gram
            series["total"][member, :, :dimension] = total
            series["probabilities"][member, :, : len(sizes)] = probabilities
    constants = {
        "counts": np.repeat(np.array([sizes + [0] * (most - len(sizes)) for _, sizes, _, _ in cells]), seeds, axis=0),
        "dimension": np.repeat(np.array([dimension for _, _, dimension, _ in cells]), seeds),
        "scale": np.repeat(np.array([scale for _, _, _, scale in cells]), seeds),
        "variant": np.repeat(np.array([variant[0] for variant, _, _, _ in cells]), seeds),
        "amount": np.repeat(np.array([float(variant[1]) for variant, _, _, _ in cells]), seeds),
    }
    finite = [np.isfinite(array).reshape(members, -1).all(axis=1) for array in series.values()]
    return Trajectory(records.astype(float), series, constants, undecided=~np.logical_and.reduce(finite))
