"""Singular values on their way in matrix completion."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.deep_linear import descent, networks
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectory import Arrays, Trajectory


def singular_value_paths(
    data: Arrays,
    *,
    depth: Count,
    scale: Positive,
    learning_rate: Positive,
    iterations: Count,
    points: Count,
    draws: Count,
) -> Trajectory:
    """Plain gradient descent from scaled identity layers, whose product is scale times the identity.

    Returns
    -------
    Trajectory
        Series end_to_end at `points` steps, evenly spaced; constants truth, mask (by draw).
    """
    truth, mask = data["truth"][:draws], data["mask"][:draws]
    weight = 2 * mask / mask.sum(axis=(-2, -1), keepdims=True)
    identity = np.broadcast_to(np.eye(truth.shape[-1]), truth.shape)
    steps = np.linspace(0, iterations, points).round().astype(int)
    start = [scale ** (1 / depth) * identity] * depth
    kept = descent.descend(start, lambda W: weight * (W - truth), learning_rate, steps)
    paths = np.stack([networks.product(layers) for layers in kept], axis=1)
    return Trajectory(steps * learning_rate, {"end_to_end": paths}, {"truth": truth, "mask": mask})
