"""Gradient flow of each draw to its limit, nan where the integrator fails."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Positive
from learning_dynamics.trajectories import Arrays, Trajectory

# from a generator: W1(0), W2(0), and the rows P that W1 starts along (zeros where there are none)
Start = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Arrival(Tolerances):
    """An integration until the network fits.

    Parameters
    ----------
    residual : float
        The flow has arrived where the norm of X beta - Y is this part of that of Y.
    patience : float
        The time by which it must have.
    """

    residual: Positive
    patience: Positive


@dataclass(frozen=True)
class Limit(Span, Arrival):
    """An integration that is recorded up to a time and followed further, until the network fits."""


def to_the_limit(data: Arrays, start: Start, width: int, integration: Limit, seed: int) -> Trajectory:
    """Follow the gradient flow of each draw from the layers that `start` draws.

    Layers are followed in the basis of the hidden directions that the flow cannot leave, so that nothing
    leaks out of it.
    """
    X, Y = data["X"], data["Y"]
    members, _, inputs = X.shape
    outputs = Y.shape[-1]
    times, hidden = integration.times, min(width, inputs + outputs)
    W1, W2 = np.empty((members, len(times), inputs, hidden)), np.empty((members, len(times), hidden, outputs))
    limit_W1, limit_W2 = np.empty((members, inputs, hidden)), np.empty((members, hidden, outputs))
    limit_time, P = np.empty(members), np.zeros((members, inputs, hidden))
    steps = np.zeros(members, dtype=int)
    for member, rng in enumerate(progress(generators(seed, "two_layer.initialisation", members), "gradient flow")):
        W1_start, W2_start, rows = start(rng)
        Q = two_layer.hidden_basis(W1_start, W2_start)
        P[member] = rows @ Q
        flow = two_layer_flow.follow(
            X[member],
            Y[member],
            W1_start @ Q,
            Q.T @ W2_start,
            times,
            integration,
            residual=integration.residual * float(np.linalg.norm(Y[member])),
            last_time=integration.patience,
        )
        W1[member], W2[member] = flow.W1, flow.W2
        limit_W1[member], limit_W2[member] = flow.end
        limit_time[member], steps[member] = flow.end_time, flow.steps
    # a draw that did not arrive has no limit
    late = ~(limit_time < integration.patience)
    limit_W1[late], limit_W2[late] = np.nan, np.nan
    ends = {"limit_W1": limit_W1, "limit_W2": limit_W2, "limit_time": limit_time, "steps": steps}
    return Trajectory(times, {"W1": W1, "W2": W2}, {"X": X, "Y": Y, "P": P, **ends}, undecided=late)
