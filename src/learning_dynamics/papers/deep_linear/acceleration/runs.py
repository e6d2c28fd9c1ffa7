"""Descent on a regression at several depths (acceleration by depth)."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.deep_linear import lp_regression
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def lp_descent(
    data: Arrays,
    *,
    exponent: Positive,
    depths: list[Count],
    start: Positive,
    lowest_rate: Positive,
    highest_rate: Positive,
    rates: Count,
    tolerance: Positive,
    max_steps: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Descent on an l_p regression at each depth, by the layers and by the end-to-end update, over rates.

    Returns
    -------
    Trajectory
        Series loss, at the rate that reaches the tolerance first (relative excess over the least loss);
        constants iterations (by member and rate; -1 where it was not reached), learning_rate, least_loss and,
        by member, depth, end_to_end (whether by that update), start.
    """
    X, Y = data["X"], data["Y"][:, 0]
    least = lp_regression.optimum(X, Y, exponent)
    grid = np.geomspace(lowest_rate, highest_rate, rates)
    directions = np.array(
        [rng.standard_normal(X.shape[1]) for rng in generators(seed, "deep_linear.lp_descent", seeds)]
    )
    starts = start * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    losses, iterations, labels = [], [], []
    cells = [(depth, rule) for depth in depths for rule in ("network", "end_to_end") if depth > 1 or rule == "network"]
    for depth, rule in progress(cells, f"l_{exponent:g} regression"):
        found = lp_regression.descend(
            np.repeat(starts, rates, axis=0),
            X,
            Y,
            exponent=exponent,
            depth=depth,
            rule=rule,  # type: ignore[arg-type]
            learning_rate=np.tile(grid, seeds),
            target=least * (1 + tolerance),
            max_steps=max_steps,
        )
        reached = found.iterations.reshape(seeds, rates)
        best = np.where(reached < 0, max_steps + 1, reached).argmin(axis=1)
        losses.append(found.losses.reshape(seeds, rates, -1)[np.arange(seeds), best])
        iterations.append(reached)
        labels += [(depth, rule == "end_to_end", member) for member in range(seeds)]
    depth_of, by_end_to_end, member_of = np.array(labels).T
    return Trajectory(
        np.arange(max_steps + 1.0),
        {"loss": np.concatenate(losses)},
        {"iterations": np.concatenate(iterations), "learning_rate": grid, "least_loss": np.array(least),
         "depth": depth_of, "end_to_end": by_end_to_end, "member": member_of, "features": np.array(X.shape[1])},
    )  # fmt: skip
