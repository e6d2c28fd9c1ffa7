"""The arrays of a contraction, and what the flow of a network's layers conserves.

- `contraction`: each array is a series. Before its own axes it has two of length one, of members and times.
- `forward`: the series ``<network>_<activation>_<depth>`` (draws, 1, 2) have two outputs of each draw: by the data
  tensor, and layer by layer.
- `flow`: the series ``<network>_<depth>`` (data sets, times, parameters) have states, v_1, ..., v_L in one vector. `X`
  is (data sets, samples, inputs), `y` (data sets, samples). The matrices of fully connected networks are square, and
  column by column in a state. Times are flow time.
"""

import itertools

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.architectures import followed_networks
from learning_dynamics.papers.tensor_networks.network import quantities
from learning_dynamics.papers.tensor_networks.network.models import ACTIVATIONS
from learning_dynamics.papers.tensor_networks.tables import DEPTH, MEASURED, NETWORK
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.tidy import SEED, TIME, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    Column("array", "str", "tensor_0 = M(x), contracted to tensor_1, ..., tensor_L by vector_1 to vector_L"),
    Column("axis_1", "int", "index along the first axis, from 0"),
    Column("axis_2", "int", "along the second; 0 where there is none"),
    Column("axis_3", "int", "along the third; 0 where there is none"),
    Column("value", "float", "entry"),
)
def contraction(trajectory: Trajectory) -> Tables:
    """List the entries of a data tensor of order three or less, of the vectors, and of what each contraction leaves."""
    for name, series in trajectory.series.items():
        # `series` has two axes more than the array. Axes of length one are added behind the array's, up to three.
        array = series[0, 0].reshape(*series.shape[2:], *([1] * (5 - series.ndim)))
        first, second, third = (axis.ravel() for axis in np.indices(array.shape))
        yield pd.DataFrame({"array": name, "axis_1": first, "axis_2": second, "axis_3": third, "value": array.ravel()})


@columns(
    SEED,
    NETWORK,
    Column("activation", "str", "entry by entry, after each layer but the last", draw=True),
    DEPTH,
    *MEASURED,
)
def forward(trajectory: Trajectory) -> Tables:
    """Measure outputs of networks with any activation.

    Quantities
    ----------
    output
        Output of the tensor formulation (2), predicted by the layers' own formula, (3) to (5).
    activation_at_zero
        The activation at zero, the same for all draws.
    """
    settings = trajectory.settings
    cases = itertools.product(settings["networks"], settings["depths"], settings["activations"])
    for architecture, depth, activation in cases:
        tensor, layered = trajectory.series[f"{architecture}_{activation}_{depth}"][:, 0].T
        at_zero = np.full(len(tensor), float(ACTIVATIONS[activation](np.zeros(1))[0]))
        labels = {"network": architecture, "activation": activation, "depth": depth}
        yield rows(
            {quantities.OUTPUT: (tensor, layered), quantities.ACTIVATION_AT_ZERO: at_zero},
            {"seed": np.arange(trajectory.members)},
            **labels,
        )


@columns(SEED, NETWORK, DEPTH, TIME, *MEASURED)
def flow(trajectory: Trajectory) -> Tables:
    """Measure the invariants of the layers.

    Quantities
    ----------
    drift
        Largest change since the start, over all l and j, of a difference that is conserved. In orthogonally
        decomposable networks this is |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2 (21), in fully connected ones an entry of
        W_l^T W_l - W_(l+1) W_(l+1)^T (80, 81).
    other_drift
        The same for a difference that is not conserved: |(U_l^T v_l)_j| - |(U_L^T v_L)_j|, or an entry of
        W_l W_l^T - W_(l+1) W_(l+1)^T.
    largest_term
        Largest |(U_l^T v_l)_j|^2, or entry of W_l^T W_l, at each time: the size with which `drift` compares.
    loss
        Half the sum of squared residuals.
    """
    X, y = trajectory.constants["X"], trajectory.constants["y"]
    axes = {"seed": np.arange(len(X)), "time": trajectory.time}
    for network, states in followed_networks(trajectory):
        differences = _gram_differences if network.name == "fully_connected" else _square_differences
        invariants, comparisons, size = differences(network, states)
        misses = np.einsum("mni,mti->mtn", X, network.coefficients(states)) - y[:, None]
        measures = {
            quantities.DRIFT: np.abs(invariants - invariants[:, :1]).max(axis=-1),
            quantities.OTHER_DRIFT: np.abs(comparisons - comparisons[:, :1]).max(axis=-1),
            quantities.LARGEST_TERM: size,
            quantities.LOSS: 0.5 * np.sum(misses**2, axis=-1),
        }
        yield rows(measures, axes, network=network.name, depth=network.depth)


def _square_differences(network: TensorNetwork, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is conserved and a comparison, both of shape (..., entries), and the largest square, shape (...).

    Conserved are |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2 (21), the differences of each layer's squared singular
    coordinates from the last layer's. The comparison has the same differences without squares.
    """
    layers = network.layers(states)
    # |(U_l^T v_l)_j|^2, shape (..., L, m)
    squares = np.stack([np.abs(layer @ U) ** 2 for layer, U in zip(layers, network.U, strict=True)], axis=-2)
    last = squares[..., -1:, :]
    flat = (*squares.shape[:-2], -1)
    sizes = np.sqrt(squares) - np.sqrt(last)
    return (squares - last).reshape(flat), sizes.reshape(flat), squares.max(axis=(-2, -1))


def _gram_differences(network: TensorNetwork, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is conserved and a comparison, both of shape (..., entries), and the largest term, shape (...).

    Conserved are the entries of W_l^T W_l - W_(l+1) W_(l+1)^T (80, 81), with W_L = w_L as a column, for all l one after
    the other. The comparison has W_l W_l^T in place of W_l^T W_l; the term is an entry of W_l^T W_l.
    """
    *flat, last = network.layers(states)
    lead = states.shape[:-1]
    # A state has each matrix column by column: read row by row it is the transpose. All matrices are square, as wide as
    # the last layer is long.
    matrices = [layer.reshape(*lead, last.shape[-1], -1).mT for layer in flat] + [last[..., None]]
    invariants = [W.mT @ W - V @ V.mT for W, V in itertools.pairwise(matrices)]
    comparisons = [W @ W.mT - V @ V.mT for W, V in itertools.pairwise(matrices)]
    size = np.max([np.abs(W.mT @ W).max(axis=(-2, -1)) for W in matrices], axis=0)
    entries = (
        np.concatenate([difference.reshape(*lead, -1) for difference in differences], axis=-1)
        for differences in (invariants, comparisons)
    )
    return *entries, size
