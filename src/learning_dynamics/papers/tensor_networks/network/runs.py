"""A tensor network that contracts its data tensor (figure 2), and the flow of its layers (appendices D, F and H).

Figures, appendices and equations are those of Yun et al. 2021.
"""

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span
from learning_dynamics.papers.tensor_networks.architectures import networks_of
from learning_dynamics.papers.tensor_networks.network.models import ACTIVATIONS, contracted, layer_by_layer
from learning_dynamics.papers.tensor_networks.squared_flow import flow_states
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Natural, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def contraction(*, lengths: list[Count], inputs: Count, member: Natural, seed: Seed) -> Trajectory:
    """Contract a random data tensor with random vectors, one axis after the other (figure 2): draw number `member`.

    Returns
    -------
    Trajectory
        There are one member and one time, the first two axes of every series. ``tensor_0`` is M(x), shape (1, 1, k_1,
        ..., k_L), where k_l are the `lengths`. ``tensor_l``, shape (1, 1, k_(l+1), ..., k_L), is what l contractions
        leave, and ``vector_l``, shape (1, 1, k_l), is v_l.
    """
    rng = generators(seed, "tensor_network.contraction", member + 1)[member]
    network = TensorNetwork(rng.standard_normal((inputs, *lengths)))
    tensor = network.data_tensor(rng.standard_normal(inputs))
    series = {"tensor_0": tensor}
    for stage, length in enumerate(lengths, start=1):
        vector = rng.standard_normal(length)
        tensor = np.tensordot(vector, tensor, axes=1)
        series |= {f"vector_{stage}": vector, f"tensor_{stage}": np.asarray(tensor)}
    return Trajectory(np.zeros(1), {name: array[None, None] for name, array in series.items()})


def forward(
    *,
    networks: list[Literal["diagonal", "convolutional", "short_filters", "fully_connected"]],
    activations: list[Literal["identity", "tanh", "relu", "sigmoid", "softplus"]],
    depths: list[Count],
    inputs: Count,
    draws: Count,
    seed: Seed,
) -> Trajectory:
    """Compute outputs with an activation in two ways: from the data tensor (eq. 2), and layer by layer (eqs. 3 to 5).

    `architectures.network_of` describes the networks. Its decomposable ones have no formula layer by layer.

    Returns
    -------
    Trajectory
        Members are draws of an input and of all layers, and there is one time. Series
        ``<network>_<activation>_<depth>``, shape (draws, 1, 2): the output from the data tensor, and the one layer by
        layer.
    """
    series: Arrays = {}
    for network in networks_of(networks, depths, inputs, seed):
        rngs = generators(seed, f"tensor_network.forward.{network.name}.{network.depth}", draws)
        # an input, and a state: all layers in one vector
        examples = [(rng.standard_normal(inputs), rng.standard_normal(sum(network.lengths))) for rng in rngs]
        for activation in activations:
            outputs = [
                (
                    contracted(network.data_tensor(x), network.layers(state), ACTIVATIONS[activation]),
                    layer_by_layer(network.name, x, network.layers(state), ACTIVATIONS[activation]),
                )
                for x, state in examples
            ]
            series[f"{network.name}_{activation}_{network.depth}"] = np.array(outputs)[:, None]
    return Trajectory(np.zeros(1), series)


def flow(
    data: Arrays,
    *,
    networks: list[Literal["diagonal", "convolutional", "decomposable", "fully_connected"]],
    depths: list[Count],
    scale: Positive,
    integration: Span,
    seed: Seed,
) -> Trajectory:
    """Follow gradient flow on the squared loss from Gaussian layers, whose entries have the standard deviation `scale`.

    Networks with equally many parameters start at the same numbers.

    Parameters
    ----------
    data : dict
        X, shape (data sets, samples, inputs), and y, shape (data sets, samples).

    Returns
    -------
    Trajectory
        For each network and depth a series ``<network>_<depth>``, shape (data sets, times, parameters), all layers of
        the network in one vector; constants X and y.
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    for network in networks_of(networks, depths, X.shape[-1], seed):
        # the label has no network and no depth in it, so that equally many parameters start at the same numbers
        rngs = generators(seed, "initial_direction.gaussian", len(X))
        starts = [scale * rng.standard_normal(sum(network.lengths)) for rng in rngs]
        members = zip(X, y, starts, strict=True)
        flows = [flow_states(network, *member, times=integration.times, integration=integration) for member in members]
        series[f"{network.name}_{network.depth}"] = np.stack(flows)
    return Trajectory(integration.times, series, {"X": X, "y": y})
