"""The network's flow beside the smaller systems that should be equivalent to it (Lemmas 3.1 and 3.3, Theorem 3.2)."""

from collections.abc import Callable

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan, integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.papers.spectral_bias.reductions import models as reductions
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
        Members are the data's members, once for each scale. Series W1, W2, the network's layers in the basis that
        the rows of P are, and outside, the norm of what the layers have outside its span, the larger of the two; Z1,
        Z2, alpha, and for one output mirror, the predictor of the mirror flow; constants X, Y, and gamma, shape
        (members,), and steps, those of all these integrations together.
    """
    X, Y = np.concatenate([data["X"]] * len(gammas)), np.concatenate([data["Y"]] * len(gammas))
    gamma = np.repeat(gammas, len(data["X"]))
    members, inputs, outputs = len(X), X.shape[-1], Y.shape[-1]
    times = integration.times
    rngs = generators(seed, "two_layer.initialisation", len(data["X"])) * len(gammas)
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    series = {
        "W1": np.empty((members, len(times), inputs, inputs)),
        "W2": np.empty((members, len(times), inputs, outputs)),
        "outside": np.empty((members, len(times))),
        "Z1": np.empty((members, len(times), inputs, inputs)),
        "Z2": np.empty((members, len(times), inputs, outputs)),
        "alpha": np.empty((members, len(times), inputs, outputs)),
    }
    if outputs == 1:
        series["mirror"] = np.empty((members, len(times), inputs, outputs))
    steps = np.zeros(members, dtype=int)
    for member in progress(range(members), "flow and its reductions"):
        x, y, g = X[member], Y[member], gamma[member]

        def network(first: np.ndarray, member: int = member) -> tuple[np.ndarray, np.ndarray]:
            second = np.zeros((first.shape[1], outputs))
            flow = two_layer_flow.follow(X[member], Y[member], first, second, times, integration)
            steps[member] += flow.steps
            return flow.W1, flow.W2

        def reduction(field: Callable, size: int, member: int = member) -> np.ndarray:
            try:
                flow = integrate(field, np.zeros(size), times, rtol=integration.rtol, atol=integration.atol, land=True)
            except DivergenceError:
                return np.full((len(times), size), np.nan)
            steps[member] += flow.steps
            return flow.states

        W1, W2 = network(np.sqrt(2 * g) * P[member])
        series["W1"][member], series["W2"][member] = W1 @ P[member].T, P[member] @ W2
        series["outside"][member] = np.maximum(
            np.linalg.norm(W1 - series["W1"][member] @ P[member], axis=(1, 2)),
            np.linalg.norm(W2 - P[member].T @ series["W2"][member], axis=(1, 2)),
        )
        series["Z1"][member], series["Z2"][member] = network(np.sqrt(2 * g) * np.eye(inputs))
        alpha = reduction(reductions.riccati_field(x, y, g), inputs * outputs)
        series["alpha"][member] = alpha.reshape(-1, inputs, outputs)
        if outputs == 1:
            mirror = reduction(reductions.mirror_field(x, y[:, 0], g), inputs)
            series["mirror"][member] = reductions.predictor_from_mirror(mirror, g)[..., None]
    undecided = ~np.all([np.isfinite(states).reshape(members, -1).all(axis=1) for states in series.values()], axis=0)
    return Trajectory(times, series, {"X": X, "Y": Y, "gamma": gamma, "steps": steps}, undecided=undecided)
