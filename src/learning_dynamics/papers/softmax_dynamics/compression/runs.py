"""Trainings over grids of class sizes, dimensions and scales: by descent, with one change at a time, and by AdamW.

f are the features, a row of length d for each example; the classifier has a column for each class. A variant is one way
to train. A cell is one combination of a variant, class sizes, dimension and scale; its members are draws, as many as
the setting `seeds`. A map is the run over all cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Trajectory

if TYPE_CHECKING:
    from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser

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
    seed: Seed,
) -> Trajectory:
    """Full-batch gradient descent on orthonormal inputs from Gaussian starts, over a grid.

    Returns
    -------
    Trajectory
        Times are numbers of steps. Members come cell by cell, variants slowest and draws fastest. Series, padded with
        zeros to the largest numbers of classes and dimensions:

        - gram, (members, records, d, d): f^T f
        - sums, (members, records, classes, d): the sum of the rows of f over each class's examples
        - probabilities, (members, records, classes): for each class the mean, over its examples, of the probability
          that an example's own class gets

        Constants are counts, the class sizes, (members, classes), padded with zeros, and variant, amount, dimension and
        scale, (members,): the variant's name, and the value of what it changes.
    """
    from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser  # compiled by numba: not for planning

    variants = [Variant(BASE, learning_rate, Optimiser(learning_rate))]
    cells = starts.grid_cells(counts=_padded(counts), dimension=dimensions, scale=scales)
    return _train_all(variants, cells, seeds=seeds, steps=steps, points=points, seed=seed)


def variants_map(
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
    """Gradient descent as in `descent_map`: unchanged, and with one thing changed at a time.

    Each list gives the values of one change. `momenta` are of heavy-ball momentum, with the rate multiplied by one
    minus the momentum, which keeps the effective rate. `batches` are sizes of minibatches. `adam_rates` replaces
    descent by Adam at these rates. `shared_inputs` and `class_inputs` are correlations of inputs, between all examples
    and within classes. Under every variant a draw has the start that it has under plain gradient descent.

    Returns
    -------
    Trajectory
        As in `descent_map`.
    """
    from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser  # compiled by numba: not for planning

    base = Optimiser(learning_rate)
    variants = [
        Variant(BASE, learning_rate, base),
        *(Variant("learning rate", rate, Optimiser(rate)) for rate in learning_rates),
        *(Variant("momentum", beta, Optimiser(learning_rate * (1 - beta), momentum=beta)) for beta in momenta),
        *(Variant("weight decay", size, base._replace(weight_decay=size)) for size in weight_decays),
        *(Variant("minibatch", size, base._replace(batch=size)) for size in batches),
        *(Variant("Adam", rate, Optimiser(rate, adam=True)) for rate in adam_rates),
        *(Variant("inputs shared", share, base, shared=share) for share in shared_inputs),
        *(Variant("inputs by class", share, base, by_class=share) for share in class_inputs),
    ]
    cells = starts.grid_cells(counts=_padded(counts), dimension=dimensions, scale=scales)
    return _train_all(variants, cells, seeds=seeds, steps=steps, points=points, seed=seed)


def adamw_map(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    learning_rate: Positive,
    decays: list[NonNegative],
    steps: Count,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Adam with decoupled weight decay (AdamW), full batches, orthonormal inputs, over a grid and several decays.

    Returns
    -------
    Trajectory
        Series and constants as in `descent_map`. The variant is AdamW, and the amount its decay.
    """
    from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser  # compiled by numba: not for planning

    variants = [
        Variant("AdamW", decay, Optimiser(learning_rate, weight_decay=decay, adam=True, decoupled=True))
        for decay in decays
    ]
    cells = starts.grid_cells(counts=_padded(counts), dimension=dimensions, scale=scales)
    return _train_all(variants, cells, seeds=seeds, steps=steps, points=points, seed=seed)


@dataclass(frozen=True)
class Variant:
    """One way to train."""

    name: str  # what it changes in plain gradient descent
    amount: float  # the value of what it changes; of plain gradient descent its learning rate
    optimiser: Optimiser
    shared: float = 0.0  # inner product of the inputs of any two examples
    by_class: float = 0.0  # what two examples of one class have in addition to `shared`


def _padded(counts: Sequence[list[int]]) -> list[list[int]]:
    """Return class sizes padded with zeros to the most classes."""
    most = max(map(len, counts))
    return [sizes + [0] * (most - len(sizes)) for sizes in counts]


def _train_all(
    variants: Sequence[Variant], cells: Sequence[starts.Cell], *, seeds: int, steps: int, points: int, seed: int
) -> Trajectory:
    """Return the trainings of every variant in every cell; series and constants are those of `descent_map`."""
    from learning_dynamics.papers.softmax_dynamics import optimisers  # compiled by numba: not for planning

    records = optimisers.recorded_steps(steps, points)
    # the constants of a trajectory are texts and numbers: a cell has its variant's name and amount, not the variant
    by_name_and_amount = {(variant.name, float(variant.amount)): variant for variant in variants}

    def follow(
        *, variant: str, amount: float, counts: list[int], dimension: int, scale: float
    ) -> dict[str, np.ndarray]:
        chosen = by_name_and_amount[variant, amount]
        sizes = np.array([size for size in counts if size])  # without the zeros that pad `counts`
        inputs = optimisers.inputs_of(sizes, chosen.shared, chosen.by_class)
        courses = []
        for rng in generators(seed, f"softmax_dynamics.map.{name_of(sizes)}.{dimension}.{scale}", seeds):
            theta, W = model.gaussian(rng, sizes.sum(), dimension, len(sizes), scale=scale)
            minibatch_seed = int(rng.integers(2**31))
            course = optimisers.train(
                sizes, theta, W, chosen.optimiser, records=records, minibatch_seed=minibatch_seed, inputs=inputs
            )
            courses.append(course)
        return {
            "gram": np.stack([course.gram for course in courses]),
            "sums": np.stack([course.sums for course in courses]),
            "probabilities": np.stack([course.probabilities for course in courses]),
        }

    # every cell of the grid under each variant; the names are the parameters of `follow`
    cells_of_variants = [
        {"variant": name, "amount": amount, **cell} for name, amount in by_name_and_amount for cell in cells
    ]
    return starts.over_cells(follow, cells_of_variants, seeds=seeds, times=records.astype(float))
