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
    the runs `population.class_flows`. The starts of a draw at different scales are multiples of one another, so that
    its times differ for the scale alone. The absolute tolerance is atol times the scale, as entries start in proportion
    to it.

    Returns
    -------
    Trajectory
        Time in units of log(1 / scale), so that scales are below one. Series probabilities (members, times, classes):
        the probability that each class's row gives its own label. Constants counts (members, classes), dimension and
        scale (members,).
    """
    starts.require_equal_numbers_of_classes("escapes", counts)
    if max(scales) >= 1:
        raise ProjectError("escapes: scales must lie below one, as time is counted in units of log(1 / scale)")
    times = integration.times

    def follow(counts: list[int], dimension: int, scale: float) -> dict[str, np.ndarray]:
        # the scale is no part of it: starts at all scales are multiples of the same draws
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
    al. 2025), predictions minus one-hot labels, with a row for each class. Let F be f, and G be -A, each with its row k
    multiplied by sqrt(n_k), the root of the size of class k. `theory.uniform_gain` returns G, whose singular value
    decomposition is U S V^T. By eq. 12 F moves at G W^T and W^T at G^T F, so that row i of the growing amplitudes
    U^T F + V^T W^T grows as exp(S_i t), the first fastest.

    An orthogonal change of coordinates, f Q and Q^T W, leaves the logits and commutes with the flow. A QR
    factorisation gives the Q of this function, whose first i columns span the first i amplitudes. The first amplitude
    then has one coordinate to itself, and what is still tiny when it has grown is in the others, where it is not added
    to larger numbers and lost to rounding.
    """
    # the mean of n Gaussian rows has a standard deviation of scale / sqrt(n)
    rows, classifier = model.gaussian(rng, len(counts), dimension, len(counts), scale=scale)
    rows = rows / np.sqrt(np.array(counts))[:, None]
    U, _, Vt = np.linalg.svd(theory.uniform_gain(counts))
    growing = min(dimension, len(counts) - 1)  # the last singular value of G is zero: each of its rows sums to zero
    amplitudes = U.T[:growing] @ (np.sqrt(np.array(counts))[:, None] * rows) + Vt[:growing] @ classifier.T
    turn = np.linalg.qr(amplitudes.T, mode="complete")[0]
    return model.pack(rows @ turn, turn.T @ classifier)
