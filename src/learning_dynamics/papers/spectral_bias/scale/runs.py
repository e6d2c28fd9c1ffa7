"""The same networks trained from many initial scales, down to vanishing ones."""

import functools

import numpy as np

from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.papers.spectral_bias.two_layer_flow import Arrival
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def scaled_flow(
    data: Arrays,
    *,
    gammas: list[Scale],
    width: Count,
    loss_share: Fraction,
    points: Count,
    integration: Arrival,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from the orthogonal initialisation at each of `gammas`, recorded around a given loss and at its
    end.

    The flow is followed twice: to find by when the loss has fallen to `loss_share` of its first value, and again with
    `points` records over the last tenth of that time, on to the end of the integration.

    Returns
    -------
    Trajectory
        Members are the data's members, once for each scale; times are shares of ``reached``. Series W1, W2; constants
        X, Y, P, gamma, reached, limit_W1, limit_W2, steps, draw (the data's member).
    """
    draws = len(data["X"])
    X, Y = np.concatenate([data["X"]] * len(gammas)), np.concatenate([data["Y"]] * len(gammas))
    gamma = np.repeat(gammas, draws)
    members, inputs, outputs = len(X), X.shape[-1], Y.shape[-1]
    shares = np.linspace(0.9, 1.0, points)
    rngs = generators(seed, "two_layer.initialisation", draws)
    starts = [two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs] * len(gammas)
    W1, W2 = np.full((members, points, inputs, width), np.nan), np.full((members, points, width, outputs), np.nan)
    limit_W1, limit_W2 = np.full(W1[:, 0].shape, np.nan), np.full(W2[:, 0].shape, np.nan)
    loss_times, steps = np.full(members, np.nan), np.zeros(members, dtype=int)
    for member in progress(range(members), "vanishing scales"):
        size = float(np.linalg.norm(Y[member]))
        follow = functools.partial(
            two_layer_flow.follow,
            X[member],
            Y[member],
            np.sqrt(2 * gamma[member]) * starts[member],
            np.zeros((width, outputs)),
            tolerances=integration,
            last_time=integration.patience,
        )
        first_pass = follow(np.zeros(1), residual=np.sqrt(loss_share) * size)
        if not first_pass.end_time < integration.patience:
            continue
        second_pass = follow(np.r_[0.0, shares * first_pass.end_time], residual=integration.residual * size)
        if second_pass.end_time < integration.patience:
            W1[member], W2[member] = second_pass.W1[1:], second_pass.W2[1:]
            limit_W1[member], limit_W2[member] = second_pass.end
            loss_times[member], steps[member] = first_pass.end_time, second_pass.steps
    data_sets = {"X": X, "Y": Y, "P": np.stack(starts), "gamma": gamma, "draw": np.arange(members) % draws}
    ends = {"reached": loss_times, "limit_W1": limit_W1, "limit_W2": limit_W2, "steps": steps}
    return Trajectory(shares, {"W1": W1, "W2": W2}, data_sets | ends, undecided=np.isnan(loss_times))
