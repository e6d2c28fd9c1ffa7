"""Limits of deep matrix sensing against the minimisers that are predicted (Corollary 7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks import theory
from learning_dynamics.papers.tensor_networks.distances import relative_distance
from learning_dynamics.papers.tensor_networks.quantities import VALUE, grid, joined, rows_of
from learning_dynamics.papers.tensor_networks.reference_solutions import minimum_matrix_norm
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    Column("seed", "int", "data set"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def matrix_sensing(trajectory: Trajectory) -> pd.DataFrame:
    """Measure limits of deep matrix sensing (Corollary 7).

    Quantities: ``error``, the relative distance of W_1 ... W_L from the minimiser of Q;
    ``nuclear_distance`` and ``frobenius_distance``, from the solutions of least norm.
    """
    constants, settings = trajectory.constants, trajectory.settings
    members = range(len(constants["A"]))
    least = {
        norm: [minimum_matrix_norm(constants["A"][member], constants["y"][member], norm) for member in members]
        for norm in ("nuclear", "frobenius")
    }
    tables = []
    for depth in settings["depths"]:
        sizes = settings | {"sets": len(members)}
        for position, member, scale in grid(sizes, "sets", "scales"):
            product = trajectory.series[f"product_{depth}"][position, 0]
            X, y, Q = (constants[name][member] for name in ("X", "y", "Q"))
            predicted = (Q * theory.norm_like_minimiser(X, y, np.ones(len(Q)), scale, depth)) @ Q.T
            keys = {"seed": member, "depth": depth, "scale": scale}
            tables.append(rows_of("error", [relative_distance(product, predicted)], **keys))
            tables += [
                rows_of(f"{norm}_distance", [relative_distance(product, solutions[member])], **keys)
                for norm, solutions in least.items()
            ]
    return joined(matrix_sensing, tables)
