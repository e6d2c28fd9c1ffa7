"""Balanced starts and early flows over class sizes, for the growth of singular values (Theorem B.3)."""

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow
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
        Series f and W at time 0, shape (members, 1, examples, d) and (members, 1, d, V); constants classes, largest,
        scale of each member.
    """

    def draw(classes: int, largest: int, scale: float) -> dict[str, np.ndarray]:
        label = f"softmax_dynamics.initial_states.{classes}.{largest}.{scale}"
        examples = largest + classes - 1
        # from pairs (f, W), one for each seed, to all f and all W
        f, W = zip(
            *(model.balanced(rng, examples, dimension, classes, scale=scale) for rng in generators(seed, label, seeds)),
            strict=True,
        )
        return {"f": np.stack(f)[:, None], "W": np.stack(W)[:, None]}

    cells = starts.grid_cells(classes=classes, largest=largest, scale=scales)
    return starts.over_cells(draw, cells, seeds=seeds, times=np.zeros(1))


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
        Series f and W, shape (members, times, examples, d) and (members, times, d, V); constants classes, largest of
        each member.
    """
    times = np.linspace(0.0, growth, points)

    def follow(classes: int, largest: int) -> dict[str, np.ndarray]:
        sizes = [largest] + [1] * (classes - 1)
        labels, initial = starts.cell_states(sizes, dimension, init="balanced", scale=scale, seeds=seeds, seed=seed)
        states = toy_flow.flow(
            labels,
            initial,
            dimension,
            loss="cross_entropy",
            times=times / np.sqrt(largest),
            tolerances=Tolerances(rtol, rtol * scale),  # entries start in proportion to the scale
        )
        return starts.factors_of(states, labels, dimension)

    cells = starts.grid_cells(classes=classes, largest=largest)
    return starts.over_cells(follow, cells, seeds=seeds, times=times)


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
        Series f, one row for each class, shape (members, times, V, d), and W, shape (members, times, d, V); constants
        classes, largest of each member.
    """
    times = np.linspace(0.0, growth, points)

    def follow(classes: int, largest: int) -> dict[str, np.ndarray]:
        sizes, one_row_a_class = [largest] + [1] * (classes - 1), [1] * classes
        _, initial = starts.cell_states(
            one_row_a_class, dimension, init="balanced", scale=scale, seeds=seeds, seed=seed
        )
        f, W = toy_flow.class_flow(
            sizes,
            initial,
            dimension,
            times=times / largest,
            tolerances=Tolerances(rtol, rtol * scale),  # entries start in proportion to the scale
            shared=True,
        )
        return {"f": f, "W": W}

    cells = starts.grid_cells(classes=classes, largest=largest)
    return starts.over_cells(follow, cells, seeds=seeds, times=times)
