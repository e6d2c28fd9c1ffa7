"""The toy trained by every combination of optimiser, learning rate, weight decay and batch, over skews and scales."""

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

    Weight decay is added to the gradient, under AdamW taken off the parameters. `momentum` is heavy-ball momentum; the
    rate is multiplied by one minus it, which keeps the effective rate. A batch of 0 is all examples; another minibatch
    is drawn at each step, and its gradient scaled to that of all. Inputs are orthonormal. The start of a member is the
    same under all optimisers.

    With ``rows: classes`` a row of features stands for all examples of its class, which start together and in full
    batches stay so. Under descent the row is the mean of examples that start apart, whose spread does not grow, and its
    entries start with standard deviation scale / sqrt(class size). Adam moves parameters by as much however small their
    gradient is: spread does not vanish in this way, and rows start at the scale.

    Returns
    -------
    Trajectory
        Time counts steps. Series examples and classes (members, records, d): eigenvalues of the features' covariance
        about their mean, a class counting as often as it has examples or once, padded with zeros to the largest d;
        probabilities (of its own class, mean over each class), shape (members, records, classes); loss (mean of the
        examples' and the largest), shape (members, records, 2). Constants method, learning_rate, decay, batch, counts,
        shape (members, classes), dimension and scale of each member.

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
        # the optimiser is no part of it: starts are the same under all
        label = f"softmax_dynamics.map.{name_of(counts)}.{dimension}.{scale}" + (".classes" if reduced else "")
        series: dict[str, list[np.ndarray]] = {"examples": [], "classes": [], "probabilities": [], "loss": []}
        for rng in generators(seed, label, seeds):
            theta, W = models.gaussian(rng, rows_of_classes.sum(), dimension, classes, scale=scale)
            minibatch_seed = int(rng.integers(2**31))
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
    """Return the optimiser of a loss that is the sum over examples divided by `share`, in terms of that of the sum.

    Descent takes a step that is `share` times smaller. Adam takes the same, as it divides gradients by their size. A
    decay in the gradient is not divided with the loss, so that beside the sum it is `share` times larger.
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
    """Return eigenvalues of the features' covariance about their mean, over examples and over class means.

    The shape of each is (records, d); nan where a covariance is not finite.
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
