"""The network's flow beside the smaller systems that should be equivalent to it (Lemmas 3.1 and 3.3, Theorem 3.2)."""

from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, LogSpan, integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.reductions import models as reductions
from learning_dynamics.papers.spectral_bias.two_layer_flow import NetworkFlow, failed, follow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def reduced_flow(
    data: Arrays,
    *,
    gammas: list[Scale],
    width: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """The network's flow beside the smaller systems that the theory puts in its place, each integrated alone.

    From the orthogonal initialisation at each of `gammas`: the network (W1, W2) of full width (eq. 2.4); the
    projected pair (Z1, Z2) (Lemma 3.1); the Riccati equation of alpha (Lemma 3.3); and for one output the
    mirror flow of the predictor (Theorem 3.2 (b)).

    Returns
    -------
    Trajectory
        Members are the data's members, once for each scale, each with a P of its own. Series W1, W2, the network's
        layers in the basis that the rows of P are, and outside, the norm of what the layers have outside its span,
        the larger of the two; Z1, Z2, alpha, and for one output mirror, the predictor of the mirror flow; constants
        X, Y, and gamma, shape (members,), and steps, those of all these integrations together.
    """
    X, Y = np.concatenate([data["X"]] * len(gammas)), np.concatenate([data["Y"]] * len(gammas))
    gamma = np.repeat(gammas, len(data["X"]))
    members, inputs, outputs = len(X), X.shape[-1], Y.shape[-1]
    times = integration.times
    rngs = generators(seed, "two_layer.initialisation", len(data["X"])) * len(gammas)
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    by_member, steps = [], []

    def network(x: np.ndarray, y: np.ndarray, first: np.ndarray) -> NetworkFlow:
        return follow(x, y, first, np.zeros((first.shape[1], outputs)), times, integration)

    def reduction(field: Callable, size: int) -> Flow:
        try:
            return integrate(field, np.zeros(size), times, rtol=integration.rtol, atol=integration.atol, land=True)
        except DivergenceError:
            return failed(len(times), size)

    for x, y, g, rows in progress(list(zip(X, Y, gamma, P, strict=True)), "flow and its reductions"):
        wide, pair = network(x, y, np.sqrt(2 * g) * rows), network(x, y, np.sqrt(2 * g) * np.eye(inputs))
        riccati = reduction(reductions.riccati_field(x, y, g), inputs * outputs)
        W1, W2 = wide.W1 @ rows.T, rows @ wide.W2
        parts = wide.W1 - W1 @ rows, wide.W2 - rows.T @ W2
        outside = np.maximum(*(np.linalg.norm(part, axis=(1, 2)) for part in parts))
        states = {"W1": W1, "W2": W2, "outside": outside, "Z1": pair.W1, "Z2": pair.W2}
        states["alpha"] = riccati.states.reshape(-1, inputs, outputs)
        steps.append(wide.steps + pair.steps + riccati.steps)
        if outputs == 1:
            mirror = reduction(reductions.mirror_field(x, y[:, 0], g), inputs)
            states["mirror"] = reductions.predictor_from_mirror(mirror.states, g)[..., None]
            steps[-1] += mirror.steps
        by_member.append(states)
    series = {name: np.stack([states[name] for states in by_member]) for name in by_member[0]}
    undecided = ~np.all([np.isfinite(states).reshape(members, -1).all(axis=1) for states in series.values()], axis=0)
    constants = {"X": X, "Y": Y, "gamma": gamma, "steps": np.array(steps)}
    return Trajectory(times, series, constants, undecided=undecided)
