"""Descent on regressions at several depths (acceleration by depth)."""

import itertools
from typing import Any

import numpy as np

from learning_dynamics.papers.deep_linear import lp_regression, recorded
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble


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

    A rate reaches the tolerance when the loss exceeds the least one by at most `tolerance` of it.

    Returns
    -------
    Trajectory
        Series loss, shape (members, 1 + max_steps), at the rate that reaches the tolerance first. Members are depths
        and rules, starts varying fastest. Constants:

        - iterations, shape (members, rates): steps to the tolerance, -1 where it was not reached
        - learning_rate, (rates,): the grid
        - least_loss and features, the number of columns of the data
        - depth, rule, and member, the number of the start: (members,)
    """
    X, Y = data["X"], data["Y"][:, 0]
    least_loss = lp_regression.least_loss(X, Y, exponent)
    grid = np.geomspace(lowest_rate, highest_rate, rates)
    directions = np.array(
        [rng.standard_normal(X.shape[1]) for rng in generators(seed, "deep_linear.lp_descent", seeds)]
    )
    starts = start * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    members = []
    # at depth 1 both rules are gradient descent
    cells = [(depth, rule) for depth in depths for rule in ("network", "end_to_end") if depth > 1 or rule == "network"]
    for depth, rule in progress(cells, f"l_{exponent:g} regression"):
        run = lp_regression.descend(
            np.repeat(starts, rates, axis=0),
            X,
            Y,
            exponent=exponent,
            depth=depth,
            rule=rule,  # type: ignore[arg-type]
            learning_rate=np.tile(grid, seeds),
            target=least_loss * (1 + tolerance),
            max_steps=max_steps,
        )
        # rates vary fastest in the run: `starts` is repeated and `grid` tiled
        by_rate = zip(run.losses.reshape(seeds, rates, -1), run.iterations.reshape(seeds, rates), strict=True)
        for member, (losses, iterations) in enumerate(by_rate):
            # the rate that needs the fewest iterations; one that does not arrive counts as slower than any
            best = np.where(iterations < 0, max_steps + 1, iterations).argmin()
            members.append(
                {
                    "loss": losses[best],
                    "iterations": iterations,
                    "depth": depth,
                    "rule": rule,
                    "member": member,
                }
            )
    common = {"learning_rate": grid, "least_loss": least_loss, "features": X.shape[1]}
    return recorded.trajectory(np.arange(max_steps + 1.0), members, "loss", **common)


def two_samples(
    *,
    exponents: list[Positive],
    depths: list[Count],
    stiffness: list[Positive],
    start: Positive,
    lowest_rate: Positive,
    highest_rate: Positive,
    ratio: Positive,
    below: Count,
    slack: Positive,
    tolerance: Positive,
    max_steps: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """The end-to-end update on two orthogonal samples with labels one, for every exponent, stiffness, depth and start.

    The samples are e_2 and kappa e_1, where kappa is the `stiffness`. A start has norm `start` / kappa; learning rates
    are tried from `highest_rate` down to `lowest_rate` / kappa^2, each `ratio` times smaller, as `steps_at_limit` says.
    At depth 1 the update is gradient descent.

    Returns
    -------
    Trajectory
        Series of shape (members, 1), for steps until the loss has fallen to `tolerance` of what it was at zero:

        - steps, at the largest stable rate; -1 where there is none
        - rate, the largest stable one; 0 where there is none
        - fewest, over all rates that were tried; -1 where none arrived

        Constants by member: exponent, stiffness, depth, start (its number).
    """
    # compiled by numba: not for planning
    from learning_dynamics.papers.deep_linear.acceleration.steps_at_limit import steps_at_limit

    directions = np.array([rng.standard_normal(2) for rng in generators(seed, "deep_linear.two_samples", seeds)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)

    def count_steps(exponent: float, kappa: float, depth: int, number: int) -> dict[str, Any]:
        # rates in equal ratios, ascending, as many as fit between the lowest and the highest
        lowest = lowest_rate / kappa**2
        grid = highest_rate / ratio ** np.arange(int(np.log(highest_rate / lowest) / np.log(ratio)) + 1)[::-1]
        first = start / kappa * directions[number]
        # at zero the loss is one
        steps, rate, fewest = steps_at_limit(
            first,
            grid,
            stiffness=kappa,
            exponent=exponent,
            depth=depth,
            target=tolerance,
            cap=max_steps,
            below=below,
            slack=slack,
        )
        counts = {"steps": [steps], "rate": [rate], "fewest": [fewest]}
        return counts | {"exponent": exponent, "stiffness": kappa, "depth": depth, "start": number}

    members = list(itertools.product(exponents, stiffness, depths, range(seeds)))
    return ensemble(count_steps, members, recorded.AT_THE_END, "steps", "rate", "fewest", label="two samples")
