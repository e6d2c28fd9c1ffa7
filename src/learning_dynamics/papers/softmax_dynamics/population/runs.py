"""Gradient flow with one row of features for each class, over class sizes, dimensions and scales.

f has a row of length d for each class, and the classifier W a column. A cell is one combination of dimension, class
sizes and scale; its members are draws. Members come cell by cell, so that draws vary fastest.
"""

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
    """Gradient flow from Gaussian starts, with one row of features for all examples of a class.

    Examples of a class have the same gradient while their logits agree, so that from small starts their mean grows and
    their spread does not. The row is this mean, whose entries start with standard deviation scale / sqrt(class size).

    Returns
    -------
    Trajectory
        Series f (members, times, classes, d) and W (members, times, d, classes), padded with zeros to the largest d.
        Constants are counts, the class sizes, (members, classes), and dimension and scale, (members,).
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
    """Gradient flow of cross-entropy as in `class_flows`, from a start without chance.

    A is the derivative of the loss by the logits at uniform predictions (eq. 12). From a small Gaussian start the
    component of the features along the k-th left singular vector of A comes to have a direction of feature space to
    itself. Here each axis k of feature space has this component alone from the start on, with the scale as its norm.

    Returns
    -------
    Trajectory
        Series and constants as in `class_flows`, with one member for each combination of dimension, class sizes and
        scale.
    """

    def initial(dimension: int, sizes: list[int], scale: float) -> np.ndarray:
        U, _, Vt = np.linalg.svd(theory.uniform_gain(sizes))
        # The rows of `uniform_gain`, and of U, stand for all n examples of a class together: the features of one
        # example are the row of U over sqrt(n). `Vt[:dimension]` are the rows of W, one for each dimension.
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
    """Return the flows of all cells in single precision.

    `initial` takes a cell's dimension, class sizes and scale and returns its packed starts, shape (seeds, size).
    """

    def follow(dimension: int, counts: list[int], scale: float) -> dict[str, np.ndarray]:
        start = initial(dimension, counts, scale)
        f, W = toy_flow.class_flow(counts, start, dimension, loss=loss, times=integration.times, tolerances=integration)
        return {"f": f.astype(np.float32), "W": W.astype(np.float32)}

    return starts.over_cells(follow, cells, seeds=seeds, times=integration.times)
