"""Matrix completion by deep networks, and by minimising the nuclear norm."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics import matrix_factorisation
from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


def completion(
    data: Arrays,
    *,
    depths: list[Count],
    scales: list[list[Positive]],
    learning_rates: list[list[Positive]],
    optimiser: Literal["gradient_descent", "group_rmsprop"],
    stop: Positive,
    max_steps: Count,
    device: Literal["cpu", "cuda"] = "cpu",
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers, for every draw, depth, scale and learning rate.

    Entries of each layer have standard deviation scale^(1/N) n^(-1/2); a draw starts in the same direction at
    every scale and learning rate.

    Parameters
    ----------
    data : dict
        truth and mask, shape (draws, n, n).
    scales, learning_rates : list of list of float
        One list for each depth.

    Returns
    -------
    Trajectory
        Series end_to_end; constants truth, mask (by draw); depth, draw, scale, learning_rate, loss, steps (by
        member).
    """
    if not len(depths) == len(scales) == len(learning_rates):
        raise ProjectError(
            f"{len(depths)} depths need as many lists of scales ({len(scales)}) and of learning rates "
            f"({len(learning_rates)})"
        )
    truth, mask = data["truth"], data["mask"]
    draws, size = truth.shape[:2]
    rngs = generators(seed, "deep_linear.completion", draws)
    normal = np.array([rng.standard_normal((max(depths), size, size)) for rng in rngs])
    found: dict[str, list] = {name: [] for name in ("end_to_end", "loss", "steps", "draw", "scale", "rate", "depth")}
    for depth, some_scales, some_rates in zip(depths, scales, learning_rates, strict=True):
        cells = [(d, s, r) for s in some_scales for r in some_rates for d in range(draws)]
        draw = np.array([cell[0] for cell in cells])
        scale, rate = np.array([cell[1:] for cell in cells]).T
        deviation = (scale ** (1 / depth) / np.sqrt(size))[:, None, None]
        layers = [normal[draw, j] * deviation for j in range(depth)]
        ended = matrix_factorisation.descend(
            layers, truth[draw], mask[draw], rate, stop=stop, max_steps=max_steps, optimiser=optimiser, device=device
        )
        values = (ended.end_to_end, ended.loss, ended.steps, draw, scale, rate, np.full(len(draw), depth))
        for name, value in zip(found, values, strict=True):
            found[name].append(value)
    by_member = {name: np.concatenate(values) for name, values in found.items()}
    by_member["learning_rate"] = by_member.pop("rate")
    end_to_end = by_member.pop("end_to_end")[:, None]
    return Trajectory(AT_THE_END, {"end_to_end": end_to_end}, {"truth": truth, "mask": mask, **by_member})


def nuclear_norm(data: Arrays) -> Trajectory:
    """The convex baseline, which the data set already holds."""
    return Trajectory(
        AT_THE_END,
        {"minimiser": data["minimiser"][:, None]},
        {"truth": data["truth"], "mask": data["mask"], "gap": data["gap"]},
    )
