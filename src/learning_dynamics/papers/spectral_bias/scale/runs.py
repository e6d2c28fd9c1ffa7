"""The same networks trained from many initial scales, down to vanishing ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.integration import followed
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def scaled_flow(
    data: Arrays,
    *,
    gammas: list[Positive],
    width: Count,
    loss_share: Fraction,
    points: Count,
    residual: Positive,
    patience: Positive,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from the orthogonal initialisation at each of `gammas`, recorded around a given loss and at its
    end.

    The flow is followed twice: to find by when the loss has fallen to `loss_share` of its first value, and again with
    `points` records over the last tenth of that time, on to a residual of `residual` times the labels, or `patience`.

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
    rngs = generators(seed, "two_layer.initialisation", draws) * len(gammas)
    starts = [two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs[:draws]] * len(gammas)
    W1, W2 = np.full((members, points, inputs, width), np.nan), np.full((members, points, width, outputs), np.nan)
    limit_W1, limit_W2 = np.full(W1[:, 0].shape, np.nan), np.full(W2[:, 0].shape, np.nan)
    reached, steps = np.full(members, np.nan), np.zeros(members, dtype=int)
    for member in progress(range(members), "vanishing scales"):
        field = two_layer.flow_field(X[member], Y[member], width)
        first = two_layer.pack(np.sqrt(2 * gamma[member]) * starts[member], np.zeros((width, outputs)))
        size = float(np.linalg.norm(Y[member]))

        def below(level: float, member: int = member) -> Callable[[np.ndarray], bool]:
            def condition(state: np.ndarray) -> bool:
                layers = two_layer.unpack(state, inputs, width, outputs)
                return bool(2 * two_layer.loss(*layers, X[member], Y[member]) <= level)

            return condition

        accuracy = {"rtol": rtol, "atol": atol, "last_time": patience}
        once = followed(field, first, np.zeros(1), until=below(loss_share * size**2), **accuracy)
        if not once.final_time < patience:
            continue
        times = np.r_[0.0, shares * once.final_time]
        again = followed(field, first, times, until=below((residual * size) ** 2), **accuracy)
        if again.final_time < patience:
            W1[member], W2[member] = two_layer.unpack(again.states[1:], inputs, width, outputs)
            limit_W1[member], limit_W2[member] = two_layer.unpack(again.final_state, inputs, width, outputs)
            reached[member], steps[member] = once.final_time, again.steps
    constants = {"X": X, "Y": Y, "gamma": gamma, "reached": reached, "steps": steps, "draw": np.arange(members) % draws}
    constants |= {"limit_W1": limit_W1, "limit_W2": limit_W2, "P": np.stack(starts)}
    return Trajectory(shares, {"W1": W1, "W2": W2}, constants, undecided=np.isnan(reached))
