"""Directions from which the layers of every network start."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.tensor_networks import initialisation
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators


def initial_directions(
    network: TensorNetwork, architecture: str, init: str, count: int, imbalance: float | None, seed: int
) -> np.ndarray:
    """Return directions of all layers, shape (count, parameters), alike for all architectures where they can be."""
    rngs = generators(seed, f"initial_direction.{init}", count)
    if init == "coefficients":
        return np.stack(
            [
                initialisation.factors(architecture, rng.standard_normal(network.inputs), imbalance or 1.0)
                for rng in rngs
            ]
        )
    return np.stack([initialisation.zero_last(network, rng) for rng in rngs])
