"""Gradient flow from ever smaller starts, to see when each class is learned."""

from dataclasses import replace

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory, toy_flow
from learning_dynamics.papers.softmax_dynamics.sizes import name_of
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def escapes(
    *,
    counts: list[list[Count]],
    dimensions: list[Count],
    scales: list[Positive],
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow under cross-entropy from Gaussian starts of several scales, with one row of features for a class.

    It shows when classes escape uniform predictions. The row stands for the mean of all examples of its class, as in
    the runs `population.class_flows`. At different scales a draw has starts that are multiples of one another, so that
    its times differ only because of the scale. The absolute tolerance is atol times the scale, as the entries of a
    start are proportional to it. A cell is one combination of class sizes, dimension and scale; its members are draws,
    as many as the setting `seeds`.

    Returns
    -------
    Trajectory
        Times are in units of log(1 / scale), so that scales must be below one. Series probabilities, (members, times,
        classes): the probability of its own label that each class's row gives. Constants counts, the class sizes,
        (members, classes), dimension and scale, (members,). Members come cell by cell, so that draws vary fastest.
    """
    starts.require_equal_numbers_of_classes("escapes", counts)
    if max(scales) >= 1:
        raise ProjectError("escapes: scales must lie below one, as time is counted in units of log(1 / scale)")
    times = integration.times

    def follow(counts: list[int], dimension: int, scale: float) -> dict[str, np.ndarray]:
        # the label of the random numbers leaves out the scale: a draw's starts are multiples of one another
        label = f"softmax_dynamics.escapes.{name_of(counts)}.{dimension}"
        initial = np.stack([turned_start(rng, counts, dimension, scale) for rng in generators(seed, label, seeds)])
        f, W = toy_flow.class_flow(
            counts,
            initial,
            dimension,
            times=np.log(1 / scale) * times,
            tolerances=replace(integration, atol=integration.atol * scale),
        )
        # single precision halves the file, which is read for the times at which probabilities pass one half
        return {"probabilities": np.diagonal(model.softmax(f @ W), axis1=-2, axis2=-1).astype(np.float32)}

    cells = starts.grid_cells(counts=counts, dimension=dimensions, scale=scales)
    return starts.over_cells(follow, cells, seeds=seeds, times=times)


def turned_start(rng: np.random.Generator, counts: list[int], dimension: int, scale: float) -> np.ndarray:
    """Return a packed Gaussian start, f and W, in coordinates of feature space in which rounding does no harm.

    While everything is small, predictions are uniform and the flow is linear. Let A be the residual of eq. 12 (Li et
    al. 2025), predictions minus one-hot labels, with a row for each class. Multiply row k of f, and of -A, by
    sqrt(n_k), where n_k is the size of class k, and call the results F and G. `theory.uniform_gain` returns G, whose
    singular value decomposition is U S V^T. By eq. 12 dF/dt = G W^T and dW^T/dt = G^T F. Row i of U^T F + V^T W^T, the
    i-th amplitude, is a vector of feature space; it grows as exp(S_i t), the first amplitude fastest.

    An orthogonal change of coordinates, f Q and Q^T W, does not change the logits, and the flow of the changed start is
    the changed flow. This function takes Q from a QR factorisation: its first i columns span the first i amplitudes.
    The first amplitude then has one coordinate to itself. When it has grown, the others are still tiny; in coordinates
    of their own they are not added to larger numbers and lost to rounding.
    """
    # the mean of n Gaussian rows has a standard deviation of scale / sqrt(n)
    rows, classifier = model.gaussian(rng, len(counts), dimension, len(counts), scale=scale)
    rows = rows / np.sqrt(np.array(counts))[:, None]
    U, _, Vt = np.linalg.svd(theory.uniform_gain(counts))
    growing = min(dimension, len(counts) - 1)  # the last singular value of G is zero: each of its rows sums to zero
    amplitudes = U.T[:growing] @ (np.sqrt(np.array(counts))[:, None] * rows) + Vt[:growing] @ classifier.T
    # `turn` is Q; the columns of the transpose are the amplitudes
    turn = np.linalg.qr(amplitudes.T, mode="complete")[0]
    return model.pack(rows @ turn, turn.T @ classifier)
