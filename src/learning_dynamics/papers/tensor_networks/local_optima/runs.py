"""The same starts at many scales, followed to a local optimum of the max-margin problem."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.local_optima.flow import limits_of_layers
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def from_scaled_starts(
    data: Arrays,
    *,
    depths: list[Count],
    scales: list[Positive],
    starts: Count,
    sharpness: Positive,
    reach: Positive,
    rtol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow diagonal networks of the exponential loss from Gaussian layers, the last one zero, at every scale.

    Returns
    -------
    Trajectory
        The scale is in place of time. For each depth a series ``limit_<depth>``, shape (data sets, scales, starts,
        inputs): the coefficients that `limits_of_layers` returns, nan where a flow does not come to classify all
        points. Constants ``layers_<depth>``, shape (data sets, starts, depth - 1, inputs): the starts at scale one,
        without the last layer; X, shape (data sets, samples, inputs), and y, shape (data sets, samples).

    Raises
    ------
    ProjectError
        If a depth is below three, where the max-margin problem is convex.
    """
    if min(depths) < 3:
        raise ProjectError("depths: from three layers on, below which there is one local optimum")
    X, y = data["X"], data["y"]
    # y_i x_i, once for each flow: along the first axis are data sets, scales and starts, the last varying fastest
    labelled_points = np.repeat(y[..., None] * X, len(scales) * starts, axis=0)
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for depth in progress(depths, "depth"):
        shape = (starts, depth - 1, X.shape[-1])
        rngs = generators(seed, f"initial_direction.diagonal_{depth}", len(X))
        layers = np.stack([rng.standard_normal(shape) for rng in rngs])
        # (data sets, scales, starts, depth - 1, inputs)
        scaled = layers[:, None] * np.reshape(scales, (1, -1, 1, 1, 1))
        with np.errstate(over="ignore"):
            squares = scaled.reshape(-1, *shape[1:]) ** 2
        # one after the other, as in `labelled_points`
        limits = limits_of_layers(labelled_points, squares, sharpness=sharpness, final_margin=reach, rtol=rtol)
        series[f"limit_{depth}"] = limits.reshape(len(X), len(scales), starts, -1)
        constants[f"layers_{depth}"] = layers
    return Trajectory(np.array(scales), series, constants)
