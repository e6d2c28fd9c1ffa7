"""The toy with one row of features for each class, which stands for all its examples, over skews and dimensions."""

from collections.abc import Callable, Sequence

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory, toy_flow
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def class_flows(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    loss: model.Loss,
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from Gaussian starts, the examples of a class taken together.

    Examples of a class have the same gradient while their logits agree. What is left of a small start is their mean,
    whose entries have standard deviation scale / sqrt(class size); the spread within classes is left out.

    Returns
    -------
    Trajectory
        Series f (members, times, classes, d) and W (members, times, d, classes), padded with zeros to the largest d;
        constants counts, dimension and scale of each member.
    """
    starts.require_equal_numbers_of_classes("class_flows", counts)

    def initial(dimension: int, sizes: list[int], scale: float) -> np.ndarray:
        label = f"softmax_dynamics.classes.{name_of(sizes)}.{dimension}.{scale}"
        roots, classes, states = np.sqrt(np.array(sizes))[:, None], len(sizes), []
        for rng in generators(seed, label, seeds):
            rows, W = model.gaussian(rng, classes, dimension, classes, scale=scale)
            states.append(model.pack(rows / roots, W))
        return np.stack(states)

    cells = starts.grid_cells(dimension=dimensions, counts=counts, scale=scales)
    return _flows(initial, cells, loss=loss, seeds=seeds, integration=integration)


def growing_directions(
    *, counts: list[list[Count]], dimensions: list[Count], scales: list[Positive], integration: LogSpan
) -> Trajectory:
    """The same flows from a start without chance: each feature axis holds one of the directions that grow.

    The loss is cross-entropy.
    From a small Gaussian start the k-th fastest direction of A at uniform predictions comes to fill a direction of
    features of its own. Here the k-th axis holds it from the beginning, its norm the scale, and nothing else.

    Returns
    -------
    Trajectory
        As of `class_flows`, a member for each of dimensions, counts and scales.
    """

    def initial(dimension: int, sizes: list[int], scale: float) -> np.ndarray:
        U, _, Vt = np.linalg.svd(theory.uniform_gain(sizes))
        rows = scale * U[:, :dimension] / np.sqrt(np.array(sizes))[:, None]
        return model.pack(rows, scale * Vt[:dimension])[None]

    cells = starts.grid_cells(dimension=dimensions, counts=counts, scale=scales)
    return _flows(initial, cells, loss="cross_entropy", seeds=1, integration=integration)


def _flows(
    initial: Callable[[int, list[int], float], np.ndarray],
    cells: Sequence[starts.Cell],
    *,
    loss: model.Loss,
    seeds: int,
    integration: LogSpan,
) -> Trajectory:
    """Return flows from packed starts, given dimension, class sizes and scale, in single precision."""

    def follow(dimension: int, counts: list[int], scale: float) -> dict[str, np.ndarray]:
        start = initial(dimension, counts, scale)
        f, W = toy_flow.class_flow(counts, start, dimension, loss=loss, times=integration.times, tolerances=integration)
        return {"f": f.astype(np.float32), "W": W.astype(np.float32)}

    return starts.over_cells(follow, cells, seeds=seeds, times=integration.times)
