"""Gradient flow of a two-layer linear network to its limit, from Gaussian layers (Figures 1a and 4)."""

import numpy as np

from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.two_layer_flow import Layers, Limit, to_the_limit
from learning_dynamics.settings import Count, NonNegative, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def gaussian_flow(
    data: Arrays,
    *,
    width: Count,
    variance: Scale,
    output_variance: NonNegative,
    integration: Limit,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from Gaussian W1(0) and W2(0) (appendix C.1); data and arrays as `flow.linear_flow`.

    Entries of W1 have the variance `variance`, those of W2 the variance `output_variance`, which may be zero. P, the
    orthonormal rows that other flows start along, is zero.
    """
    inputs, outputs = data["X"].shape[-1], data["Y"].shape[-1]

    def start(rng: np.random.Generator) -> Layers:
        W1 = two_layer.gaussian_layer(rng, inputs, width, variance)
        return W1, two_layer.gaussian_layer(rng, width, outputs, output_variance), np.zeros((inputs, width))

    return to_the_limit(data, start, integration, seed)
