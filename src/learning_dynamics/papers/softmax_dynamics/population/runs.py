"""Gradient flow over class sizes, dimensions and scales, and what the rank over examples and over classes needs.

f has rows of length d, and the classifier W a column for each class. A cell is one combination of dimension, class
sizes and scale; its members are draws. Members come cell by cell, so that draws vary fastest. Both runs have these

Series, padded with zeros to the largest d
    - means (members, times, classes, d): the mean of f over the examples of each class
    - covariance (members, times, d, d): of f over all examples, over its trace
    - probabilities (members, times, classes): the mean over a class's examples of the probability of their own label;
      under the squared loss of the output
    - W (members, times, d, classes)
Constants
    counts, the class sizes, (members, classes), and dimension and scale, (members,).
"""

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory, toy_flow
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory

# The most rows of features that stand for a class; chosen. With 1000 and 3000 examples of one class and scales of 0.1
# and 0.01, in two and in four dimensions, 12 starts each, three phases show in the same draws as with a row for each
# example, but for one draw of 96, at about a fiftieth of the cost.
MOST_ROWS = 16


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
    """Gradient flow from Gaussian starts, as those of `phases.runs.flow_grid`: a row of features for each example.

    The examples of a class are drawn, but only `MOST_ROWS` rows are followed where there are more, each of which stands
    for equally many examples. Together they have the mean and the covariance of the class at the start.

    Returns
    -------
    Trajectory
        Series and constants are in the module's docstring.
    """
    starts.require_equal_numbers_of_classes("class_flows", counts)

    def follow(dimension: int, counts: list[int], scale: float) -> dict[str, np.ndarray]:
        _, states = starts.cell_states(counts, dimension, init="gaussian", scale=scale, seeds=seeds, seed=seed)
        f, W = model.unpack(states, sum(counts), dimension, len(counts))
        ends = np.cumsum(counts)[:-1]  # where each class but the last ends among the examples
        rows = [np.concatenate([_followed_rows(of_class) for of_class in np.split(member, ends)]) for member in f]
        labels = model.one_hot(np.minimum(counts, MOST_ROWS).tolist())
        copies = labels @ (counts / labels.sum(axis=0))  # how many examples each row stands for
        states = toy_flow.flow(
            np.tile(labels, (seeds, 1, 1)),
            model.pack(np.stack(rows), W),
            dimension,
            loss=loss,
            times=integration.times,
            tolerances=integration,
            copies=np.tile(copies, (seeds, 1)),
        )
        f, W = model.unpack(states, len(labels), dimension, len(counts))
        return _series(f, W, labels, copies, loss)

    cells = starts.grid_cells(dimension=dimensions, counts=counts, scale=scales)
    return starts.over_cells(follow, cells, seeds=seeds, times=integration.times)


def growing_directions(
    *, counts: list[list[Count]], dimensions: list[Count], scales: list[Positive], integration: LogSpan
) -> Trajectory:
    """Gradient flow of cross-entropy with one row of features for each class, from a start without chance.

    A is the derivative of the loss by the logits at uniform predictions (eq. 12). From a small Gaussian start the
    component of the features along the k-th left singular vector of A comes to have a direction of feature space to
    itself. Here each axis k of feature space has this component alone from the start on, with the scale as its norm.

    Returns
    -------
    Trajectory
        Series and constants are in the module's docstring, with one member for each combination of dimension, class
        sizes and scale.
    """

    def follow(dimension: int, counts: list[int], scale: float) -> dict[str, np.ndarray]:
        U, _, Vt = np.linalg.svd(theory.uniform_gain(counts))
        # The rows of `uniform_gain`, and of U, stand for all n examples of a class together: the features of one
        # example are the row of U over sqrt(n). `Vt[:dimension]` are the rows of W, one for each dimension.
        rows = scale * U[:, :dimension] / np.sqrt(np.array(counts))[:, None]
        start = model.pack(rows, scale * Vt[:dimension])[None]
        f, W = toy_flow.class_flow(counts, start, dimension, times=integration.times, tolerances=integration)
        return _series(f, W, np.eye(len(counts)), np.array(counts, dtype=float), "cross_entropy")

    cells = starts.grid_cells(dimension=dimensions, counts=counts, scale=scales)
    return starts.over_cells(follow, cells, seeds=1, times=integration.times)


def _followed_rows(examples: np.ndarray) -> np.ndarray:
    """Return the rows that stand for the examples of a class: themselves, or `MOST_ROWS` if there are more.

    In the latter case they are the first examples, moved by the affine map that gives them the mean and the covariance
    of all.

    Parameters
    ----------
    examples : ndarray, shape (examples, d)
        With d below `MOST_ROWS`, so that the first examples have a covariance of full rank.
    """
    if len(examples) <= MOST_ROWS:
        return examples
    mean = examples.mean(axis=0)
    first = examples[:MOST_ROWS] - examples[:MOST_ROWS].mean(axis=0)
    # each covariance is L L^T
    L_of_first, L_of_all = (np.linalg.cholesky(x.T @ x / len(x)) for x in (first, examples - mean))
    return mean + first @ np.linalg.inv(L_of_first).T @ L_of_all.T


def _series(
    f: np.ndarray, W: np.ndarray, labels: np.ndarray, copies: np.ndarray, loss: model.Loss
) -> dict[str, np.ndarray]:
    """Return the series of a cell in single precision.

    Parameters
    ----------
    f, W : ndarray, shapes (members, times, rows, d) and (members, times, d, classes)
    labels : ndarray, shape (rows, classes)
        One-hot.
    copies : ndarray, shape (rows,)
        The number of examples that each row stands for.
    """
    outputs = model.softmax(f @ W) if loss == "cross_entropy" else f @ W
    share_of_class = copies[:, None] * labels / (copies @ labels)  # of each row, shape (rows, classes)
    share = copies / copies.sum()
    centred = f - np.einsum("r,mtrd->mtd", share, f)[:, :, None]
    covariance = np.einsum("r,mtrd,mtre->mtde", share, centred, centred, optimize=True)
    series = {
        "means": np.einsum("rc,mtrd->mtcd", share_of_class, f),
        "covariance": covariance / np.trace(covariance, axis1=-2, axis2=-1)[..., None, None],
        "probabilities": np.einsum("rc,mtrc->mtc", share_of_class, outputs),
        "W": W,
    }
    return {name: values.astype(np.float32) for name, values in series.items()}
