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
    """Descent on the mean of |x.w - y|^p at each depth and learning rate, by two rules.

    The rule network is descent on the layers, whose product is w. The rule end_to_end is slide 24's update of w itself,
    which balanced layers make to first order in the step. A descent reaches the tolerance when its loss exceeds the
    least one by at most `tolerance` of it.

    Returns
    -------
    Trajectory
        Time counts steps. Series loss, shape (members, 1 + max_steps), at the member's learning rate that reaches the
        tolerance in the fewest steps. Members are all combinations of depth, rule and start; starts vary fastest.
        Depth 1 has the rule network alone. Constants:

        - iterations, shape (members, rates): steps to the tolerance at each learning rate, -1 where it was not reached
        - learning_rate, (rates,): the learning rates, ascending
        - least_loss, and features, the number of columns of the data: one number each
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
    # at depth 1 both rules are gradient descent on w: one of them is enough
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
            # the place of the rate that needs the fewest iterations, the smallest of several; a rate that does not
            # arrive counts as slower than any other
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
    """The end-to-end update of slide 24 on two orthogonal samples, for every exponent, stiffness, depth and start.

    The samples are kappa e_1 and e_2, where kappa is the `stiffness`; their labels are one. The loss is the mean of
    |x.w - 1|^p, with the `exponent` p. At depth 1 the update is gradient descent. A start has the norm `start` / kappa.
    Learning rates are in equal ratios, `ratio`, from `highest_rate` down to `lowest_rate` / kappa^2. `steps_at_limit`
    tries them from the largest down, until it has found the largest that is stable; `below` and `slack` say what is
    stable. A descent has arrived when its loss is at most `tolerance` times the loss at zero weights.

    Returns
    -------
    Trajectory
        Series of shape (members, 1):

        - steps: those to the tolerance at the largest stable learning rate; -1 where there is none
        - rate: the largest stable learning rate; 0 where there is none
        - fewest: the fewest steps to the tolerance over all learning rates that were tried; -1 where none arrived

        Constants exponent, stiffness, depth and start, the number of the start, of shape (members,). Members are all
        combinations of exponent, stiffness, depth and start; starts vary fastest.
    """
    # imported here, since this module compiles with numba, which planning does not need
    from learning_dynamics.papers.deep_linear.acceleration.steps_at_limit import steps_at_limit

    directions = np.array([rng.standard_normal(2) for rng in generators(seed, "deep_linear.two_samples", seeds)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)

    # the results of one member, given what tells it from the others
    def count_steps(exponent: float, kappa: float, depth: int, number: int) -> dict[str, Any]:
        # learning rates, ascending, from the highest one down as many as are not below the lowest
        lowest = lowest_rate / kappa**2
        grid = highest_rate / ratio ** np.arange(int(np.log(highest_rate / lowest) / np.log(ratio)) + 1)[::-1]
        first = start / kappa * directions[number]
        # at zero weights the loss is one, so that `target`, a loss, is the tolerance
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
