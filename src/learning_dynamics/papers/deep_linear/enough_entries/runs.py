"""Completion from more and more entries, by networks and by the convex program."""

import numpy as np

from learning_dynamics.datasets.nuclear_norm import least_nuclear_norm
from learning_dynamics.dynamics.matrix_factorisation import Precision
from learning_dynamics.papers.deep_linear import recorded
from learning_dynamics.papers.deep_linear.completed_matrices import complete
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def networks(
    data: Arrays,
    *,
    depth: Count,
    scales: list[Positive],
    learning_rate: Positive,
    stop: Positive,
    max_steps: Count,
    precision: Precision,
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers by plain descent, for every draw, scale and set of entries.

    Parameters
    ----------
    data : dict
        truth, shape (draws, n, n), the matrices to complete; mask, of bool, shape (draws, sets, n, n), whether an entry
        is observed; observed, shape (sets,), how many are in each set.
    stop : float
        Descent ends where the loss, the mean square error over observed entries, is at most this.
    max_steps : int
        Descent ends after this many steps in any case.
    precision : str
        single or double, of the arithmetic.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n): the matrices at the end. Constants truth, mask and observed, as in
        `data`. Constants of shape (members,): draw and entry_set, a member's places along draws and sets; scale; loss
        at the end; steps, how many were taken. Members are all combinations of draw, set and scale; scales vary
        fastest.
    """
    draws, sets = map(np.arange, data["mask"].shape[:2])
    draw, entry_set, scale = (grid.ravel() for grid in np.meshgrid(draws, sets, scales, indexing="ij"))
    return complete(
        data,
        data["mask"][draw, entry_set],
        {"draw": draw, "entry_set": entry_set, "scale": scale},
        np.full(len(draw), learning_rate),
        depth=depth,
        seed=seed,
        label="deep_linear.enough_entries",
        stop=stop,
        max_steps=max_steps,
        precision=precision,
    )


def minimisers(data: Arrays, *, slack: Positive, accuracy: Positive, iterations: Count) -> Trajectory:
    """Matrices of least nuclear norm that fit observed entries to within `slack`, for every draw and set of entries.

    Parameters
    ----------
    data : dict
        As for `networks`.
    slack : float
        Largest difference from the truth on an observed entry.
    accuracy : float
        The solver stops at a proved gap of at most this.
    iterations : int
        The most iterations of the solver.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n): the matrices found. Constants truth, mask and observed, as in
        `data`. Constants of shape (members,): draw and entry_set, a member's places along draws and sets; gap, the
        proved bound on how far a matrix's nuclear norm is above the least one that fits, relative to itself. Members
        are all pairs of a draw and a set; sets vary fastest.
    """
    members = []
    for draw in progress(range(len(data["truth"])), "nuclear norm"):
        for entry_set, mask in enumerate(data["mask"][draw]):
            W, gap = least_nuclear_norm(data["truth"][draw], mask, slack, accuracy, iterations)
            members.append({"end_to_end": [W], "draw": draw, "entry_set": entry_set, "gap": gap})
    return recorded.trajectory(recorded.AT_THE_END, members, "end_to_end", **data)
