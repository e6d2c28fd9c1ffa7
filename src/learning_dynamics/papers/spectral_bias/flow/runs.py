"""Gradient flow of a two-layer linear network to its limit, from orthogonal rows and from balanced layers."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.two_layer_flow import Layers, Limit, Start, to_the_limit
from learning_dynamics.settings import Count, Positive, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def linear_flow(data: Arrays, *, width: Count, gamma: Scale, integration: Limit, seed: Seed) -> Trajectory:
    """Gradient flow from W1(0) = sqrt(2 gamma) P with P P^T = I, and W2(0) = 0 (eq. 2.4, initialisation I_gamma).

    The flow is recorded up to the integration's horizon and followed until the network fits the labels; where it fits,
    the layers are kept as the limit.

    Parameters
    ----------
    data : dict
        X, shape (draws, samples, inputs); Y, shape (draws, samples, outputs).

    Returns
    -------
    Trajectory
        Members are draws, each a data set with a P of its own. Series W1, shape (draws, times, inputs, hidden), and
        W2, shape (draws, times, hidden, outputs). Constants X, Y; P and limit_W1, shape (draws, inputs, hidden);
        limit_W2, shape (draws, hidden, outputs); limit_time, when the flow ended, and steps, how many the integrator
        took, shape (draws,). Layers and P are recorded in an orthonormal basis of the hidden directions that the flow
        cannot leave: hidden is their number, inputs + outputs, or the width if this is smaller.
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
    """Gradient flow from orthogonal rows of unequal lengths in W1(0), and W2(0) = 0; data and arrays as `linear_flow`.

    Half the squared lengths of the rows run from gamma / spread to gamma * spread, evenly in the logarithm. So the
    imbalance Z1^T Z1 - Z2 Z2^T, with Z1 = W1 P^T and Z2 = P W2, is diagonal and no multiple of the identity (Lemma
    C.4).
    """
    scales = two_layer.unequal_scales(gamma, spread, data["X"].shape[-1])
    return to_the_limit(data, _orthogonal_start(data, width, scales[:, None]), integration, seed)


def balanced_flow(data: Arrays, *, width: Count, variance: Scale, integration: Limit, seed: Seed) -> Trajectory:
    """Gradient flow from balanced layers, W1^T W1 = W2 W2^T; data and arrays as `linear_flow`, with zeros for P.

    The outer units of W1 are the inputs, those of W2 the outputs. The layer that has fewer starts with Gaussian entries
    of the given variance, and the other is made from it.
    """
    inputs, outputs = data["X"].shape[-1], data["Y"].shape[-1]
    smaller, larger = sorted((inputs, outputs))

    def start(rng: np.random.Generator) -> Layers:
        # a Gaussian A, shape (width, smaller), and A V with orthonormal rows V, shape (smaller, larger), are balanced:
        # A V (A V)^T = A A^T. They are `narrow` and `wide`; W1 is the transpose of one
        narrow = two_layer.gaussian_layer(rng, width, smaller, variance)
        wide = narrow @ two_layer.orthonormal_rows(rng, smaller, larger)
        first, second = (wide, narrow) if outputs <= inputs else (narrow, wide)
        return first.T, second, np.zeros((inputs, width))

    return to_the_limit(data, start, integration, seed)


def _orthogonal_start(data: Arrays, width: int, scales: np.ndarray) -> Start:
    """Return a start from orthogonal rows of W1, whose squared lengths are twice the `scales`, and W2 = 0.

    Scales are one number for all rows, shape (), or one for each, shape (inputs, 1).
    """
    inputs, outputs = data["X"].shape[-1], data["Y"].shape[-1]
    if inputs > width:
        raise ProjectError(f"width {width} is below the {inputs} inputs: rows of W1 cannot be orthonormal; widen it")

    def start(rng: np.random.Generator) -> Layers:
        P = two_layer.orthonormal_rows(rng, inputs, width)
        return np.sqrt(2 * scales) * P, np.zeros((width, outputs)), P

    return start
