"""What is simulated: free features and a linear classifier, by gradient flow and by gradient descent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from learning_dynamics.dynamics import ensemble
from learning_dynamics.models import softmax_classifier as model
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Trajectory


def flow(
    *,
    counts: list[Count],
    dimension: Count,
    loss: Literal["cross_entropy", "squared"],
    init: Literal["balanced", "gaussian"],
    scale: Positive,
    seeds: Count,
    start: Positive,
    horizon: Positive,
    points: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from one class skew and one scale (eq. 12 with learning rate one).

    Recorded at 0 and at `points` times from `start` to `horizon`, spaced evenly in the logarithm.

    Returns
    -------
    Trajectory
        Series f (members, times, examples, d) and W (members, times, d, classes); constant labels.
    """
    times = _log_times(start, horizon, points)
    labels, initial = _cell(seed, counts, dimension, init, scale, seeds)
    states = ensemble.flow(model.vector_field(labels, dimension, loss), initial, times, rtol=rtol, atol=atol)
    return Trajectory(times, _factors(states, labels, dimension), {"labels": labels})


def descent(
    *,
    counts: list[Count],
    dimension: Count,
    loss: Literal["cross_entropy", "squared"],
    init: Literal["balanced", "gaussian"],
    scale: Positive,
    seeds: Count,
    learning_rates: list[Positive],
    coarse_steps: Count,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent from the same initial states with several learning rates.

    The largest rate takes `coarse_steps` steps; the others run to the same time, which is the learning
    rate times the number of steps.

    Returns
    -------
    Trajectory
        As in `flow`, members rate by rate; constant learning_rate, shape (members,).
    """
    labels, initial = _cell(seed, counts, dimension, init, scale, seeds)
    field = model.vector_field(labels, dimension, loss)
    largest = max(learning_rates)
    coarse = np.unique(np.round(np.linspace(0, coarse_steps, points)).astype(int))
    states = [
        ensemble.descent(field, initial, rate, np.round(coarse * (largest / rate)).astype(int))
        for rate in progress(learning_rates, "learning rates")
    ]
    series = _factors(np.concatenate(states), labels, dimension)
    constants = {"labels": labels, "learning_rate": np.repeat(np.array(learning_rates), seeds)}
    return Trajectory(largest * coarse, series, constants)


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
    times = _log_times(start, horizon, points)
    labels, initial, constants = _grid(seed, counts, dimension, inits, scales, seeds)
    states = ensemble.flow(model.vector_field(labels, dimension, loss), initial, times, rtol=rtol, atol=atol)
    return Trajectory(times, {"f": _factors(states, labels, dimension)["f"]}, constants)


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
    return Trajectory(learning_rate * record_at, {"f": _factors(states, labels, dimension)["f"]}, constants)


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
        labels, initial = _cell(seed, counts, dimension, "balanced", scale, seeds)
        field = model.vector_field(labels, dimension, "cross_entropy")
        states = ensemble.flow(field, initial, times / np.sqrt(size), rtol=rtol, atol=rtol * scale)
        factors = _factors(states, labels, dimension)
        members = slice(cell * seeds, (cell + 1) * seeds)
        f[members, :, : sum(counts)], W[members, :, :, :count] = factors["f"], factors["W"]
    constants = {
        name: np.repeat(np.array([cell[index] for cell in cells]), seeds)
        for index, name in enumerate(("classes", "largest"))
    }
    return Trajectory(times, {"f": f, "W": W}, constants)


def matrix_curves(
    *, rows: Count, columns: Count, seeds: Count, points: Count, step: Positive, seed: Seed
) -> Trajectory:
    """Smooth random curves of matrices, M(t) = M_0 + M_1 sin t + M_2 cos 2t, Gaussian coefficients.

    Returns
    -------
    Trajectory
        Series M, its derivative dM, and nearby: M at t + step * (-2, -1, 1, 2), shape
        (members, times, 4, rows, columns).
    """
    times = np.linspace(0.0, 2 * np.pi, points)
    coefficients = np.stack(
        [rng.standard_normal((3, rows, columns)) for rng in generators(seed, "matrix_curves", seeds)]
    )

    def curve(waves: Sequence[np.ndarray]) -> np.ndarray:
        return np.einsum("k...,mkrc->m...rc", np.stack(waves), coefficients)

    def at(t: np.ndarray) -> np.ndarray:
        return curve([np.ones_like(t), np.sin(t), np.cos(2 * t)])

    nearby = times[:, None] + step * np.array([-2, -1, 1, 2])
    derivative = curve([np.zeros_like(times), np.cos(times), -2 * np.sin(2 * times)])
    return Trajectory(times, {"M": at(times), "dM": derivative, "nearby": at(nearby)})


def _log_times(start: float, horizon: float, points: int) -> np.ndarray:
    return np.r_[0.0, np.geomspace(start, horizon, points)]


def _cell(
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


def _grid(
    seed: int,
    counts: Sequence[Sequence[int]],
    dimension: int,
    inits: Iterable[str],
    scales: Iterable[float],
    seeds: int,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    cells = list(itertools.product(counts, inits, scales))
    made = [_cell(seed, sizes, dimension, init, scale, seeds) for sizes, init, scale in cells]
    constants = {
        "counts": np.repeat(np.array([sizes for sizes, _, _ in cells]), seeds, axis=0),
        "init": np.repeat(np.array([init for _, init, _ in cells]), seeds),
        "scale": np.repeat(np.array([scale for _, _, scale in cells]), seeds),
    }
    return np.concatenate([labels for labels, _ in made]), np.concatenate([states for _, states in made]), constants


def _factors(states: np.ndarray, labels: np.ndarray, dimension: int) -> dict[str, np.ndarray]:
    _, examples, classes = labels.shape
    f, W = model.unpack(states, examples, dimension, classes)
    return {"f": f, "W": W}
