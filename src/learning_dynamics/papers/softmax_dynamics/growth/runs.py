"""Balanced starts and early flows over class sizes, for the growth of singular values (Theorem B.3).

f are the features, a row of length d for each example, and W is the classifier, a column for each of V classes; they
are balanced if f^T f = W W^T. A is the derivative of the loss by the logits f W. One class has N examples, the setting
`largest`, and every other class has one. A cell is one combination of V, N and, if it varies, the scale; its members
are draws, as many as the setting `seeds`. Members come cell by cell, so that draws vary fastest.
"""

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
    """Balanced starts for all combinations of a number of classes, a size of the largest class and a scale.

    Returns
    -------
    Trajectory
        Series f and W at time 0, shape (members, 1, examples, d) and (members, 1, d, V), padded with zeros to the
        largest numbers of examples and classes. Constants classes (V), largest (N) and scale, (members,).
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

    Times are recorded in units of 1 / sqrt(N), and a flow lasts `growth` of these units.

    Returns
    -------
    Trajectory
        Series f and W, shape (members, times, examples, d) and (members, times, d, V), padded with zeros to the largest
        numbers of examples and classes. Constants classes (V) and largest (N), (members,).
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
    """Gradient flow as in `early_growth`, where all examples of a class are one context: they share one row of f.

    The gradient by that row is the sum over its examples: for the largest class N times the row of A W^T. Times are
    recorded in units of 1 / N, and a flow lasts `growth` of these units.

    Returns
    -------
    Trajectory
        Series f, one row for each class, shape (members, times, V, d), and W, shape (members, times, d, V), padded with
        zeros to the largest number of classes. Constants classes (V) and largest (N), (members,).
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
