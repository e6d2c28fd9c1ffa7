"""The toy trained by every combination of optimiser, rate, weight decay and batch, over class sizes and scales.

Features f have a row of length d for each example, or for each class, and the classifier W a column for each class. A
cell is one combination of the settings that are lists; its members are draws, as many as the setting `seeds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models, starts
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Natural, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Trajectory

if TYPE_CHECKING:
    from learning_dynamics.papers.softmax_dynamics.optimisers import Course, Optimiser

ADAPTIVE = ("Adam", "AdamW")


def combinations(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    methods: list[Literal["SGD", "momentum", "Adam", "AdamW"]],
    learning_rates: list[Positive],
    momentum: Fraction,
    decays: list[NonNegative],
    batches: list[Natural],
    loss: Literal["sum", "mean"],
    rows: Literal["examples", "classes"],
    steps: Count,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Train on the cross-entropy, its sum or mean over examples, from Gaussian starts, by all combinations of settings.

    Weight decay is added to the gradient; under AdamW it is taken off the parameters instead. `momentum` is heavy-ball
    momentum, for the method of that name alone. Its rate is multiplied by one minus the momentum, which keeps the
    effective rate. A batch is the number of examples in a minibatch, and 0 is all of them. Each step draws its
    minibatch, and the minibatch's gradient is scaled to that of all examples. Inputs are orthonormal. A draw has the
    same start under all optimisers.

    With ``rows: classes`` a row of features stands for all examples of its class, which start together and in full
    batches stay so. Under descent the row stands for the mean of examples that start apart, since their spread does not
    grow; its entries start with standard deviation scale / sqrt(class size). Adam moves parameters by as much however
    small their gradient is, so that spread can matter: here examples start together, and rows have the scale itself.

    Returns
    -------
    Trajectory
        Times are numbers of steps. Members come cell by cell, draws fastest. Series:

        - examples and classes, (members, records, d): eigenvalues of the features' covariance about their mean, over
          all examples and over class means, padded with zeros to the largest d
        - probabilities, (members, records, classes): for each class the mean, over its examples, of the probability
          that an example's own class gets
        - loss, (members, records, 2): the mean and the largest of the examples' cross-entropies

        Constants are counts, the class sizes, (members, classes), and method, learning_rate, decay, batch, dimension
        and scale, (members,).

    Raises
    ------
    ProjectError
        If entries of `counts` have different numbers of classes, or a minibatch is to draw from rows of classes.
    """
    from learning_dynamics.papers.softmax_dynamics import optimisers

    starts.require_equal_numbers_of_classes("combinations", counts)
    if rows == "classes" and any(batches):
        raise ProjectError("combinations: `rows: classes` takes full batches alone; give `batches: [0]`")
    records = optimisers.recorded_steps(steps, points)
    reduced = rows == "classes"

    def follow(
        *, method: str, learning_rate: float, decay: float, batch: int, counts: list[int], dimension: int, scale: float
    ) -> dict[str, np.ndarray]:
        n, classes = np.array(counts), len(counts)
        optimiser = _optimiser(
            method,
            learning_rate,
            decay=decay,
            batch=batch,
            momentum=momentum if method == "momentum" else 0.0,
            share=int(n.sum()) if loss == "mean" else 1,
        )
        rows_of_classes, copies = (np.ones_like(n), n) if reduced else (n, None)
        # the label of the random numbers leaves out the optimiser: starts are the same under all
        label = f"softmax_dynamics.map.{name_of(counts)}.{dimension}.{scale}" + (".classes" if reduced else "")
        series: dict[str, list[np.ndarray]] = {"examples": [], "classes": [], "probabilities": [], "loss": []}
        for rng in generators(seed, label, seeds):
            theta, W = models.gaussian(rng, rows_of_classes.sum(), dimension, classes, scale=scale)
            minibatch_seed = int(rng.integers(2**31))
            # the start of a mean of n examples
            if reduced and method not in ADAPTIVE:
                theta /= np.sqrt(n)[:, None]
            course = optimisers.train(
                rows_of_classes, theta, W, optimiser, records=records, minibatch_seed=minibatch_seed, copies=copies
            )
            over_examples, over_classes = _spectra(course, n)
            series["examples"].append(over_examples)
            series["classes"].append(over_classes)
            series["probabilities"].append(course.probabilities)
            series["loss"].append(np.stack([course.loss, course.largest_loss], axis=-1))
        return {name: np.stack(states) for name, states in series.items()}

    cells = starts.grid_cells(
        method=methods,
        learning_rate=learning_rates,
        decay=decays,
        batch=batches,
        counts=counts,
        dimension=dimensions,
        scale=scales,
    )
    return starts.over_cells(follow, cells, seeds=seeds, times=records.astype(float))


def _optimiser(method: str, rate: float, *, decay: float, batch: int, momentum: float, share: int) -> Optimiser:
    """Return the optimiser that does to the sum over examples what the given one does to the sum divided by `share`.

    `share` is the number of examples if the loss is their mean, and one if it is their sum. Descent on the sum takes
    the same steps with a rate `share` times smaller; Adam keeps its rate, as it divides gradients by their size. A
    decay that is added to the gradient is not divided with the loss: added to the gradient of the sum it is `share`
    times larger.
    """
    from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser

    adaptive, decoupled = method in ADAPTIVE, method == "AdamW"
    return Optimiser(
        rate * (1 - momentum) / (1 if adaptive else share),
        momentum=momentum,
        weight_decay=decay * (1 if decoupled else share),
        batch=batch,
        adam=adaptive,
        decoupled=decoupled,
    )


def _spectra(course: Course, sizes: np.ndarray) -> list[np.ndarray]:
    """Return eigenvalues of the features' covariance about their mean: over examples, then over class means.

    Each is (records, d), and nan where a covariance is not finite. `sizes` are the class sizes, (classes,).
    """
    examples, classes = sizes.sum(), len(sizes)
    eigenvalues = []
    with np.errstate(over="ignore", invalid="ignore"):  # of a training that diverges
        means, total = course.sums / sizes[:, None], course.sums.sum(axis=1)
        centre = means.mean(axis=1)
        covariances = (
            course.gram / examples - total[:, :, None] * total[:, None, :] / examples**2,
            np.swapaxes(means, 1, 2) @ means / classes - centre[:, :, None] * centre[:, None, :],
        )
    for covariance in covariances:
        finite = np.isfinite(covariance).all(axis=(1, 2), keepdims=True)
        values = np.linalg.eigvalsh(np.where(finite, covariance, 0.0))
        eigenvalues.append(np.where(finite[..., 0], np.clip(values, 0.0, None), np.nan))
    return eigenvalues
