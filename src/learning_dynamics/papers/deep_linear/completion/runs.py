"""Matrix completion by deep networks, and by minimising the nuclear norm.

A draw is a matrix to complete, the truth, with its observed entries and, for networks, the layers from which they
start. N is the number of layers; matrices are n by n.
"""

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
        truth and mask, shape (draws, n, n); mask says which entries are observed.
    optimiser : str
        gradient_descent; or group_rmsprop, whose step size is the learning rate over the root of the smoothed squared
        norm of the whole gradient.
    stop : float
        Descent ends where the loss, the mean square error over observed entries, is at most this.
    max_steps : int
        Descent ends after this many steps in any case.
    precision : str
        single or double, of the arithmetic.
    device : str
        Where descent is computed: cpu, or cuda for a graphics card.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n): the matrices at the end. Constants of shape (draws, n, n): truth,
        mask. Constants of shape (members,): draw, a member's place among the draws; scale; learning_rate; loss at the
        end; steps, how many were taken. Members are all combinations of scale, learning rate and draw; draws vary
        fastest.
    """
    draws = np.arange(len(data["truth"]))
    scale, rate, draw = (grid.ravel() for grid in np.meshgrid(scales, learning_rates, draws, indexing="ij"))
    # first what the run keeps by draw; then, by member, masks, labels and learning rates
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
        Series end_to_end, shape (draws, 1, n, n): the matrices that the solver found, of nearly least nuclear norm.
        Constants truth and mask, shape (draws, n, n), and of shape (draws,): `draw`, its number, and `gap`, the proved
        bound on how far the matrix's nuclear norm is above the least one, relative to itself.
    """
    return Trajectory(
        AT_THE_END,
        {"end_to_end": data["minimiser"][:, None]},
        {name: data[name] for name in ("truth", "mask", "gap")} | {"draw": np.arange(len(data["truth"]))},
    )
