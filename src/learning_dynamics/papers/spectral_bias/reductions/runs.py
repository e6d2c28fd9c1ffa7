"""The network's flow, and the smaller systems that should be equivalent to it (Lemmas 3.1 and 3.3, Theorem 3.2).

Members are all pairs of a scale and a draw of the data, each with a P of its own; draws vary fastest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, LogSpan, integrate
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.reductions import models as reductions
from learning_dynamics.papers.spectral_bias.two_layer_flow import NetworkFlow, follow
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble


def reduced_flow(data: Arrays, *, gammas: list[Scale], width: Count, integration: LogSpan, seed: Seed) -> Trajectory:
    """The network's flow, and the smaller systems that theory puts in its place, each integrated by itself.

    From the orthogonal initialisation at each of `gammas`, these are followed: the network (W1, W2) of full width (eq.
    2.4); the pair (Z1, Z2) that should be its projection (Lemma 3.1); the Riccati equation of alpha (Lemma 3.3); and
    for one output the mirror flow of the predictor (Theorem 3.2 (b)).

    Returns
    -------
    Trajectory
        Series of the network: W1, shape (members, times, inputs, inputs), and W2, shape (members, times, inputs,
        outputs), which are W1 P^T and P W2, its layers in the basis of the rows of P; and outside, shape (members,
        times), the larger of the norms that both layers have outside the span of these rows. Series of the smaller
        systems: Z1 and Z2, of the same shapes as W1 and W2; alpha, shape (members, times, inputs, outputs); and for one
        output mirror, the predictor of the mirror flow, shape (members, times, inputs, 1). Constants X and Y, with
        members first; gamma, shape (members,); and steps, shape (members,), those of all integrations together.
    """
    draws, (inputs, outputs) = len(data["X"]), (data["X"].shape[-1], data["Y"].shape[-1])
    times = integration.times

    # both the network and the pair are networks in the sense of eq. 2.4: the pair is one of width `inputs`
    def network(x: np.ndarray, y: np.ndarray, first: np.ndarray) -> NetworkFlow:
        return follow(x, y, first, np.zeros((first.shape[1], outputs)), times=times, tolerances=integration)

    def reduction(field: Callable, size: int) -> Flow:
        return integrate(field, np.zeros(size), times, rtol=integration.rtol, atol=integration.atol, land=True)

    def flows(x: np.ndarray, y: np.ndarray, gamma: float, rng: np.random.Generator) -> dict[str, Any]:
        P = two_layer.orthonormal_rows(rng, inputs, width)
        wide, pair = network(x, y, np.sqrt(2 * gamma) * P), network(x, y, np.sqrt(2 * gamma) * np.eye(inputs))
        riccati = reduction(reductions.riccati_field(x, y, gamma), inputs * outputs)
        # the layers in the span of the rows of P, and what they have outside of it
        W1, W2 = wide.W1 @ P.T, P @ wide.W2
        parts = wide.W1 - W1 @ P, wide.W2 - P.T @ W2
        outside = np.maximum(*(np.linalg.norm(part, axis=(1, 2)) for part in parts))
        kept = {"W1": W1, "W2": W2, "outside": outside, "Z1": pair.W1, "Z2": pair.W2}
        kept |= {"alpha": riccati.states.reshape(-1, inputs, outputs)}
        steps = wide.steps + pair.steps + riccati.steps
        if outputs == 1:
            mirror = reduction(reductions.mirror_field(x, y[:, 0], gamma), inputs)
            kept["mirror"] = reductions.predictor_from_mirror(mirror.states, gamma)[..., None]
            steps += mirror.steps
        return kept | {"steps": steps}

    X, Y = (np.concatenate([data[name]] * len(gammas)) for name in ("X", "Y"))
    gamma = np.repeat(gammas, draws)
    # a list of generators, repeated for each scale. They go on from one scale to the next, so that a draw has another P
    # at each
    rngs = generators(seed, "two_layer.initialisation", draws) * len(gammas)
    series = ("W1", "W2", "outside", "Z1", "Z2", "alpha", *(["mirror"] if outputs == 1 else []))
    label = "flow and its reductions"
    return ensemble(
        flows, list(zip(X, Y, gamma, rngs, strict=True)), times, *series, label=label, X=X, Y=Y, gamma=gamma
    )
