"""The arrays of a contraction, and what the flow of a network's layers conserves.

- `contraction`: each array is a series, with axes of length one, of members and times, before its own.
- `forward`: ``<network>_<activation>_<depth>`` (draws, 1, 2) are outputs: by the data tensor, and layer by layer.
- `flow`: ``<network>_<depth>`` (data sets, times, parameters) has states, v_1, ..., v_L in one vector. `X` (data sets,
  samples, inputs), `y` (data sets, samples). Matrices of fully connected networks are square, and column by column in a
  state. Times are flow time.
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
        # `series` has two axes more than the array; axes of length one are added, up to three
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
        The activation at zero.
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
        Largest change since the start of what is conserved: |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2 over l and j in
        orthogonally decomposable networks, the entries of W_l^T W_l - W_(l+1) W_(l+1)^T in fully connected ones.
    other_drift
        Largest change since the start of what is not conserved: |(U_l^T v_l)_j| - |(U_L^T v_L)_j|, or the entries of
        W_l W_l^T - W_(l+1) W_(l+1)^T.
    largest_term
        Largest term: |(U_l^T v_l)_j|^2, or an entry of W_l^T W_l.
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
    """Return differences of squared singular coordinates (21) and of sizes, (..., entries), and the largest square.

    They are those of each layer from the last: |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2, and the same without squares.
    """
    layers = network.layers(states)
    # shape (..., L, m)
    squares = np.stack([np.abs(layer @ U) ** 2 for layer, U in zip(layers, network.U, strict=True)], axis=-2)
    last = squares[..., -1:, :]
    flat = (*squares.shape[:-2], -1)
    sizes = np.sqrt(squares) - np.sqrt(last)
    return (squares - last).reshape(flat), sizes.reshape(flat), squares.max(axis=(-2, -1))


def _gram_differences(network: TensorNetwork, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return entries of W_l^T W_l - W_(l+1) W_(l+1)^T (80, 81), those with W_l W_l^T instead, and the largest term.

    W_L is w_L as a column. Shapes are (..., entries) for both, all layers one after the other, and (...).
    """
    *flat, last = network.layers(states)
    lead = states.shape[:-1]
    # columns come first in a state: read as rows, each matrix is its transpose
    matrices = [layer.reshape(*lead, last.shape[-1], -1).mT for layer in flat] + [last[..., None]]
    invariants = [W.mT @ W - V @ V.mT for W, V in itertools.pairwise(matrices)]
    comparisons = [W @ W.mT - V @ V.mT for W, V in itertools.pairwise(matrices)]
    size = np.max([np.abs(W.mT @ W).max(axis=(-2, -1)) for W in matrices], axis=0)
    entries = (
        np.concatenate([difference.reshape(*lead, -1) for difference in differences], axis=-1)
        for differences in (invariants, comparisons)
    )
    return *entries, size
