"""Linear tensor networks by name, so that a configuration can list them."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators

Common = Literal["fully_connected", "diagonal", "convolutional"]  # the networks of the paper's experiments


def network_of(architecture: str, inputs: int, depth: int, seed: int) -> TensorNetwork:
    """Return a network by name.

    diagonal, convolutional (full-length filters), fully_connected (all widths the inputs' dimension);
    short_filters, convolutional with filters of lengths 2, 2, ..., d; decomposable, real, with random singular
    vectors in two more dimensions than it has singular values, one more than it has inputs; general, a
    Gaussian tensor with lengths d, d + 1, ... and no structure.
    """
    if architecture == "diagonal":
        return tensor_network.diagonal(inputs, depth)
    if architecture == "convolutional":
        return tensor_network.convolutional(inputs, [inputs] * depth)
    if architecture == "short_filters":
        return tensor_network.convolutional(inputs, [2] * (depth - 1) + [inputs])
    if architecture == "fully_connected":
        return tensor_network.fully_connected([inputs] * depth)
    rng = generators(seed, f"tensor_network.{architecture}.{depth}", 1)[0]
    if architecture == "decomposable":
        values = inputs + 1
        vectors = [np.linalg.qr(rng.standard_normal((values + 2, values)))[0] for _ in range(depth)]
        return tensor_network.decomposable(rng.standard_normal((values, inputs)), vectors)
    if architecture == "general":
        return TensorNetwork(rng.standard_normal((inputs, *range(inputs, inputs + depth))))
    raise ValueError(f"no architecture {architecture!r}")


def two_layer_networks(
    names: Sequence[str], lengths: Sequence[int], inputs: int, seed: int
) -> dict[str, TensorNetwork]:
    """Return two-layer networks by name, and convolutional ones with filters of given lengths as ``filter_<k>``."""
    networks = {name: network_of(name, inputs, 2, seed) for name in names}
    return networks | {f"filter_{k}": tensor_network.convolutional(inputs, [k, inputs]) for k in lengths}
