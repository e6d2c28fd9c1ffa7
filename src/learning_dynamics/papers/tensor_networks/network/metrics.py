"""The entries of contracted tensors, and what the flow of layers conserves (Figure 2; Appendix D and F)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.quantities import VALUE, joined, rows_of
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    Column("array", "str", "tensor_0, the data tensor, to tensor_L, the output; vector_1 to vector_L"),
    Column("axis_1", "int", "index along the first axis, from 0"),
    Column("axis_2", "int", "along the second; 0 where there is none"),
    Column("axis_3", "int", "along the third; 0 where there is none"),
    Column("value", "float", "entry"),
)
def contraction(trajectory: Trajectory) -> pd.DataFrame:
    """List the entries of a data tensor of order three or less, of the vectors, and of what each contraction leaves."""
    tables = []
    for name, series in trajectory.series.items():
        array = series[0, 0].reshape(*series.shape[2:], *([1] * (5 - series.ndim)))
        first, second, third = (axis.ravel() for axis in np.indices(array.shape))
        tables.append(
            pd.DataFrame({"array": name, "axis_1": first, "axis_2": second, "axis_3": third, "value": array.ravel()})
        )
    return joined(contraction, tables)


@columns(
    Column("seed", "int", "data set"),
    Column("network", "str", "architecture"),
    Column("depth", "int", "number of layers L"),
    Column("time", "float", "gradient-flow time"),
    *VALUE,
)
def flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the invariants of orthogonally decomposable networks.

    Quantities: ``drift``, the largest change of |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2 over l and j since the
    start; ``size``, the largest |(U_l^T v_l)_j|^2; ``loss``.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for architecture in settings["networks"]:
        for depth in settings["depths"]:
            network = network_of(architecture, X.shape[-1], depth, settings["seed"])
            for member in range(len(X)):
                states = trajectory.series[f"{architecture}_{depth}"][member]
                squares = _squares(network, states)
                change = np.abs((squares - squares[-1]) - (squares - squares[-1])[:, :1]).max(axis=(0, 2))
                keys = {"seed": member, "network": architecture, "depth": depth, "time": trajectory.time}
                outputs = network.coefficients(states) @ X[member].T
                tables += [
                    rows_of("drift", change, **keys),
                    rows_of("size", squares.max(axis=(0, 2)), **keys),
                    rows_of("loss", 0.5 * np.sum((outputs - y[member]) ** 2, axis=1), **keys),
                ]
    return joined(flow, tables)


def _squares(network: TensorNetwork, states: np.ndarray) -> np.ndarray:
    """Return |U_l^T v_l|**2, shape (depth, times, m)."""
    layers = network.layers(states)
    return np.stack([np.abs(layer @ vectors) ** 2 for layer, vectors in zip(layers, network.U, strict=True)])
