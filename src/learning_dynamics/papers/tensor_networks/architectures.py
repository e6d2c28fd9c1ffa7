"""Linear tensor networks by name, so that a configuration can list them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory

Common = Literal["fully_connected", "diagonal", "convolutional"]  # the networks of the paper's experiments


def networks_of(names: Sequence[str], depths: Sequence[int], inputs: int, seed: int) -> Iterator[TensorNetwork]:
    """Yield each architecture in each of the depths, depths varying fastest; `seed` draws those that are random."""
    for name in names:
        for depth in depths:
            yield network_of(name, inputs, depth, seed)


def followed_networks(trajectory: Trajectory) -> Iterator[tuple[TensorNetwork, np.ndarray]]:
    """Yield every network of a run's settings with its states, a series of the trajectory.

    The series is ``<network>_<depth>`` where the run has the setting `depths`. It is ``<network>`` where all networks
    have one depth: the setting `depth`, or two layers where there is no such setting.
    """
    settings, inputs = trajectory.settings, trajectory.constants["X"].shape[-1]
    depths = settings.get("depths", [settings.get("depth", 2)])
    for network in networks_of(settings["networks"], depths, inputs, settings["seed"]):
        name = f"{network.name}_{network.depth}" if "depths" in settings else network.name
        yield network, trajectory.series[name]


def network_of(name: str, inputs: int, depth: int, seed: int) -> TensorNetwork:
    """Return a network by name, for d inputs.

    - diagonal
    - convolutional: all filters have the full length d
    - short_filters: convolutional; the last filter has length d, all others length 2
    - filter_<k>: convolutional; the last filter has length d, all others length k
    - fully_connected: all widths are d
    - decomposable: orthogonally decomposable and real; a Gaussian matrix S makes d + 1 singular values of the input,
      and the singular vectors of every layer are random, in d + 3 dimensions
    - general: a Gaussian tensor without structure; layers have lengths d, d + 1, ...
    """
    rng = generators(seed, f"tensor_network.{name}.{depth}", 1)[0]
    if name == "diagonal":
        network = tensor_network.diagonal(inputs, depth)
    elif name == "fully_connected":
        network = tensor_network.fully_connected([inputs] * depth)
    elif name == "decomposable":
        values = inputs + 1
        vectors = [np.linalg.qr(rng.standard_normal((values + 2, values)))[0] for _ in range(depth)]
        network = tensor_network.decomposable(rng.standard_normal((values, inputs)), vectors)
    elif name == "general":
        network = TensorNetwork(rng.standard_normal((inputs, *range(inputs, inputs + depth))))
    else:
        lengths = {"convolutional": inputs, "short_filters": 2}
        length = lengths[name] if name in lengths else int(name.removeprefix("filter_"))
        network = tensor_network.convolutional(inputs, [length] * (depth - 1) + [inputs])
    return replace(network, name=name)
