"""Completion from more and more entries, by networks and by the convex program."""

from typing import Literal

import numpy as np

from learning_dynamics.datasets.nuclear_norm import least_nuclear_norm
from learning_dynamics.dynamics import matrix_factorisation
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


def networks(
    data: Arrays,
    *,
    depth: Count,
    scales: list[Positive],
    learning_rate: Positive,
    stop: Positive,
    max_steps: Count,
    precision: Literal["single", "double"],
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers by plain descent, for every draw, scale and set of entries.

    Parameters
    ----------
    data : dict
        truth, shape (draws, n, n); mask, shape (draws, counts, n, n); observed, shape (counts,).

    Returns
    -------
    Trajectory
        Series end_to_end; constants truth, mask, observed, and by member draw, count (its place), scale, loss.
    """
    truth, mask = data["truth"], data["mask"]
    (draws, counts), size = mask.shape[:2], truth.shape[-1]
    rngs = generators(seed, "deep_linear.enough_entries", draws)
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in rngs])
    draw, count, scale = (
        indices.ravel() for indices in np.meshgrid(np.arange(draws), np.arange(counts), scales, indexing="ij")
    )
    deviation = (scale ** (1 / depth) / np.sqrt(size))[:, None, None]
    final = matrix_factorisation.descend(
        [normal[draw, j] * deviation for j in range(depth)],
        truth[draw],
        mask[draw, count],
        np.full(len(draw), learning_rate),
        stop=stop,
        max_steps=max_steps,
        precision=precision,
    )
    return Trajectory(
        AT_THE_END,
        {"end_to_end": final.end_to_end[:, None]},
        {
            "truth": truth,
            "mask": mask,
            "observed": data["observed"],
            "draw": draw,
            "count": count,
            "scale": scale,
            "loss": final.loss,
        },
        undecided=~np.isfinite(final.end_to_end).all(axis=(1, 2)),
    )


def minimisers(data: Arrays, *, slack: Positive, accuracy: Positive, iterations: Count) -> Trajectory:
    """Matrices of least nuclear norm that fit observed entries to within `slack`, for every draw and set of entries.

    Parameters
    ----------
    data : dict
        As for `networks`.

    Returns
    -------
    Trajectory
        Series end_to_end; constants truth, mask, observed, and by member draw, count (its place), gap (proved).
    """
    truth, mask = data["truth"], data["mask"]
    draws, counts = mask.shape[:2]
    matrices, gaps = [], []
    for draw in progress(range(draws), "nuclear norm"):
        for count in range(counts):
            W, gap = least_nuclear_norm(truth[draw], mask[draw, count], slack, accuracy, iterations)
            matrices.append(W)
            gaps.append(gap)
    return Trajectory(
        AT_THE_END,
        {"end_to_end": np.array(matrices)[:, None]},
        {
            "truth": truth,
            "mask": mask,
            "observed": data["observed"],
            "draw": np.repeat(np.arange(draws), counts),
            "count": np.tile(np.arange(counts), draws),
            "gap": np.array(gaps),
        },
    )
