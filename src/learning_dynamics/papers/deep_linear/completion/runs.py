"""Matrix completion by deep networks, and by minimising the nuclear norm."""

from typing import Literal

import numpy as np

from learning_dynamics.dynamics import matrix_factorisation
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


def completion(
    data: Arrays,
    *,
    depth: Count,
    scales: list[Positive],
    learning_rates: list[Positive],
    optimiser: Literal["gradient_descent", "group_rmsprop"],
    stop: Positive,
    max_steps: Count,
    precision: Literal["single", "double"],
    device: Literal["cpu", "cuda"] = "cpu",
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers, for every draw, scale and learning rate.

    Entries of each layer have standard deviation scale^(1/N) n^(-1/2); a draw starts in the same direction at
    every scale and learning rate, and its first layers are those of every other depth.

    Parameters
    ----------
    data : dict
        truth and mask, shape (draws, n, n).

    Returns
    -------
    Trajectory
        Series end_to_end; constants truth, mask (by draw); draw, scale, learning_rate, loss, steps (by member).
    """
    truth, mask = data["truth"], data["mask"]
    draws, size = truth.shape[:2]
    rngs = generators(seed, "deep_linear.completion", draws)
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in rngs])
    cells = [(d, s, r) for s in scales for r in learning_rates for d in range(draws)]
    draw = np.array([cell[0] for cell in cells])
    scale, rate = np.array([cell[1:] for cell in cells]).T
    deviation = (scale ** (1 / depth) / np.sqrt(size))[:, None, None]
    layers = [normal[draw, j] * deviation for j in range(depth)]
    final = matrix_factorisation.descend(
        layers,
        truth[draw],
        mask[draw],
        rate,
        stop=stop,
        max_steps=max_steps,
        optimiser=optimiser,
        precision=precision,
        device=device,
    )
    return Trajectory(
        AT_THE_END,
        {"end_to_end": final.end_to_end[:, None]},
        {
            "truth": truth,
            "mask": mask,
            "loss": final.loss,
            "steps": final.steps,
            "draw": draw,
            "scale": scale,
            "learning_rate": rate,
        },
        undecided=~np.isfinite(final.end_to_end).all(axis=(1, 2)),
    )


def nuclear_norm(data: Arrays) -> Trajectory:
    """The convex baseline, which the data set already holds."""
    return Trajectory(
        AT_THE_END,
        {"minimiser": data["minimiser"][:, None]},
        {"truth": data["truth"], "mask": data["mask"], "gap": data["gap"]},
    )
