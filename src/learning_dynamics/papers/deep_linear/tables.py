"""Columns that the tables of several topics have, and rows of completed matrices by draw."""

import numpy as np

from learning_dynamics.tidy import Column, Quantity, Table, select

DEPTH = Column("depth", "int", "number of layers", draw=True)
DRAW = Column("draw", "int", "draw of the matrix, its observed entries and the initialisation", draw=True)
SCALE = Column("scale", "float", "initialisation scale s: layers' entries have deviation s^(1/N) n^(-1/2)", draw=True)
OBSERVED = Column("observed", "int", "number of observed entries", draw=True)
CONVERGED = Column("converged", "bool", "whether the training loss reached the one asked for")


def network_values(table: Table, quantity: Quantity, scale: float) -> np.ndarray:
    """Return a quantity of completed matrices by draw, at one scale and the smallest learning rate.

    Draws that did not reach the training loss are nan: they decide nothing.
    """
    rows = select(table, quantity, scale=scale)
    rows = select(rows, learning_rate=rows["learning_rate"].min()).sort_values("draw")
    return np.where(rows["converged"], rows["value"], np.nan)


def minimiser_values(table: Table, quantity: Quantity) -> np.ndarray:
    """Return a quantity of nuclear-norm minimisers by draw."""
    return select(table, quantity).sort_values("draw")["value"].to_numpy()
