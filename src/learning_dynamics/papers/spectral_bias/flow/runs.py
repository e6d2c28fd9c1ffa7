"""Gradient flow of a two-layer linear network to its limit, from orthogonal rows and from balanced layers."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.two_layer_flow import Layers, Limit, Start, to_the_limit
from learning_dynamics.settings import Count, Positive, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def linear_flow(data: Arrays, *, width: Count, gamma: Scale, integration: Limit, seed: Seed) -> Trajectory:
    """Gradient flow from W1(0) = sqrt(2 gamma) P with P P^T = I, and W2(0) = 0 (eq. 2.4, initialisation I_gamma).

    The end of the integration is kept as the limit.

    Parameters
    ----------
    data : dict
        X, shape (members, samples, inputs); Y, shape (members, samples, outputs).

    Returns
    -------
    Trajectory
        Series W1, shape (members, times, inputs, hidden), W2, shape (members, times, hidden, outputs); constants X, Y,
        P, shape (members, inputs, hidden), limit_W1, limit_W2, limit_time, steps, the integrator's. Layers and P are
        recorded in an orthonormal basis of the hidden directions that the flow cannot leave, inputs + outputs of them.
    """
    return to_the_limit(data, _orthogonal_start(data, width, np.array(gamma)), integration, seed)


def anisotropic_flow(
    data: Arrays,
    *,
    width: Count,
    gamma: Scale,
    spread: Positive,
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from orthogonal rows of unequal lengths and W2(0) = 0; see `linear_flow`.

    Half the squared lengths of the rows run from gamma / spread to gamma * spread, evenly in the logarithm, so that
    the imbalance is diagonal and no multiple of the identity (Lemma C.4).
    """
    scales = two_layer.unequal_scales(gamma, spread, data["X"].shape[-1])
    return to_the_limit(data, _orthogonal_start(data, width, scales[:, None]), integration, seed)


def balanced_flow(data: Arrays, *, width: Count, variance: Scale, integration: Limit, seed: Seed) -> Trajectory:
    """Gradient flow from balanced layers, W1^T W1 = W2 W2^T; see `linear_flow`.

    The layer with fewer outer units, inputs or outputs, starts Gaussian.
    """
    inputs, outputs = data["X"].shape[-1], data["Y"].shape[-1]
    smaller, larger = sorted((inputs, outputs))

    def start(rng: np.random.Generator) -> Layers:
        # with a Gaussian A and orthonormal rows V, A and A V are balanced: A V (A V)^T = A A^T
        narrow = two_layer.gaussian_layer(rng, width, smaller, variance)
        wide = narrow @ two_layer.orthonormal_rows(rng, smaller, larger)
        first, second = (wide, narrow) if outputs <= inputs else (narrow, wide)
        return first.T, second, np.zeros((inputs, width))

    return to_the_limit(data, start, integration, seed)


def _orthogonal_start(data: Arrays, width: int, scales: np.ndarray) -> Start:
    """Return a start of orthogonal rows, whose squared lengths are twice `scales`, shape () or (inputs, 1)."""
    inputs, outputs = data["X"].shape[-1], data["Y"].shape[-1]
    if inputs > width:
        raise ProjectError(f"width {width} is below the {inputs} inputs: rows of W1 cannot be orthonormal; widen it")

    def start(rng: np.random.Generator) -> Layers:
        P = two_layer.orthonormal_rows(rng, inputs, width)
        return np.sqrt(2 * scales) * P, np.zeros((width, outputs)), P

    return start
