"""Matrix completion by deep networks, and by minimising the nuclear norm."""

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.matrix_factorisation import Optimiser, Precision
from learning_dynamics.papers.deep_linear.completed_matrices import complete
from learning_dynamics.papers.deep_linear.recorded import AT_THE_END
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def completion(
    data: Arrays,
    *,
    depth: Count,
    scales: list[Positive],
    learning_rates: list[Positive],
    optimiser: Optimiser,
    stop: Positive,
    max_steps: Count,
    precision: Precision,
    device: Literal["cpu", "cuda"] = "cpu",
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers, for every draw, scale and learning rate.

    Entries of each layer have standard deviation scale^(1/N) n^(-1/2). A draw starts from the same Gaussian layers, up
    to that factor, at every scale and learning rate; a deeper network has the layers of a shallower one and more.

    Parameters
    ----------
    data : dict
        truth and mask, shape (draws, n, n).

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n). Constants by draw: truth, mask; by member: draw, scale,
        learning_rate, loss, steps. Members are all combinations of scale, learning rate and draw, draws varying
        fastest.
    """
    draws = np.arange(len(data["truth"]))
    scale, rate, draw = (grid.ravel() for grid in np.meshgrid(scales, learning_rates, draws, indexing="ij"))
    return complete(
        {"truth": data["truth"], "mask": data["mask"]},
        data["mask"][draw],
        {"draw": draw, "scale": scale, "learning_rate": rate},
        rate,
        depth=depth,
        seed=seed,
        label="deep_linear.completion",
        stop=stop,
        max_steps=max_steps,
        optimiser=optimiser,
        precision=precision,
        device=device,
    )


def nuclear_norm(data: Arrays) -> Trajectory:
    """The matrices of least nuclear norm, for comparison, as the data set already has them.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (draws, 1, n, n); constants truth, mask, shape (draws, n, n), gap and draw, shape
        (draws,).
    """
    return Trajectory(
        AT_THE_END,
        {"end_to_end": data["minimiser"][:, None]},
        {name: data[name] for name in ("truth", "mask", "gap")} | {"draw": np.arange(len(data["truth"]))},
    )
