"""Columns that the tables of several topics have; rows of completed matrices by draw.

Functions read tables of metrics. Arrays that they return have draws along the first axis, in ascending order: shape
(draws,), or (draws, times). N is the number of layers; matrices are n by n.
"""

from typing import Any

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import (
    ERROR,
    GAP,
    NUCLEAR_NORM,
    OBSERVED_ENTRIES,
    SIGMA,
    TRUE_NUCLEAR_NORM,
)
from learning_dynamics.tidy import Column, Quantity, Table, by_draw, select

DEPTH = Column("depth", "int", "number of layers", draw=True)
DRAW = Column("draw", "int", "draw of the matrix, its observed entries and the initialisation", draw=True)
SCALE = Column("scale", "float", "initialisation scale s: layers' entries have deviation s^(1/N) n^(-1/2)", draw=True)
OBSERVED = Column("observed", "int", "number of observed entries", draw=True)
CONVERGED = Column("converged", "bool", "whether the training loss reached the one asked for")


def depth_of(table: Table) -> int:
    """Return the depth of a run whose networks all have the same."""
    return int(table["depth"].iloc[0])


def unfinished(*tables: Table) -> dict[str, int]:
    """Return how many networks were to complete a matrix, and how many did not reach their training loss.

    Captions read the keys: ``runs`` is the number of networks, ``lost`` that of those which did not.
    """
    converged = np.concatenate([select(table, ERROR)["converged"] for table in tables])
    return {"runs": len(converged), "lost": int((~converged).sum())}


def less_true_norm(table: Table) -> Table:
    """Return a table of completed matrices in which each nuclear norm is replaced by itself less the true one.

    The true one is the nuclear norm of the matrix to complete, of the same draw. Other rows are as they were.
    """
    true = select(table, TRUE_NUCLEAR_NORM).groupby("draw")["value"].first()
    is_norm = table["quantity"] == NUCLEAR_NORM
    return table.assign(value=np.where(is_norm, table["value"] - table["draw"].map(true), table["value"]))


def observed_entries(minimiser: Table) -> int:
    """Return from how many entries matrices of least nuclear norm were completed."""
    return int(values_by_draw(minimiser, OBSERVED_ENTRIES)[0])


def excess_norm(deep: Table, minimiser: Table, scale: float) -> np.ndarray:
    """Return by draw how far networks' nuclear norms are above the least one, relatively: their ratio less one.

    Draws of both tables are the same matrices and entries, in the same order.
    """
    return network_values(deep, NUCLEAR_NORM, scale) / values_by_draw(minimiser, NUCLEAR_NORM) - 1


def excess_beyond_slack(
    deep: Table, minimiser: Table, deep_many: Table, minimiser_many: Table, *, scale: float
) -> np.ndarray:
    """Return by draw `excess_norm` with few entries, less that with many, which the slack in the fit makes alone.

    `deep` and `minimiser` are completions from few entries, the other two from many. Draws with few and with many
    entries are the same matrices, in the same order.
    """
    return excess_norm(deep, minimiser, scale) - excess_norm(deep_many, minimiser_many, scale)


def proved_gap(minimiser: Table, minimiser_many: Table) -> np.ndarray:
    """Return by draw how far `excess_beyond_slack` may be off, because solvers stop before the least nuclear norm.

    It is the sum of both minimisers' proved gaps: how far their nuclear norms are above the least one, relatively, at
    most. An excess divides by such a norm, so that it is off by as much, but for a factor one plus the excess.
    """
    return values_by_draw(minimiser, GAP) + values_by_draw(minimiser_many, GAP)


def sigmas(table: Table, *indices: int, **where: Any) -> list[np.ndarray]:
    """Return some singular values, each of shape (draws, times); 1 is the largest."""
    return [by_draw(table, SIGMA, index=index, **where) for index in indices]


def log_slopes(rows: Table, by: str, draw: str) -> np.ndarray:
    """Return by draw the least-squares slope of log value against the logarithm of a setting, the column `by`.

    `draw` names the column of draws. A draw with a value that is nan has the slope nan.
    """
    by_setting = rows.pivot_table(index=by, columns=draw, values="value", dropna=False)
    x = np.log(by_setting.index.to_numpy())
    x = x - x.mean()
    # values have shape (settings, draws); their mean drops out, as the x sum to zero
    return x @ np.log(by_setting.to_numpy()) / (x @ x)


def network_values(table: Table, quantity: Quantity, scale: float) -> np.ndarray:
    """Return a quantity of completed matrices by draw, at one scale and the smallest learning rate.

    Draws that did not reach the training loss are nan: they decide nothing, and leave a check of all draws, or of their
    mean or median, undecided.
    """
    rows = select(table, quantity, scale=scale)
    rows = select(rows, learning_rate=rows["learning_rate"].min()).sort_values("draw")
    return np.where(rows["converged"], rows["value"], np.nan)


def values_by_draw(table: Table, quantity: Quantity) -> np.ndarray:
    """Return a quantity that each draw of a table has once, in the order of draws: of minimisers, or of the data."""
    return select(table, quantity).sort_values("draw")["value"].to_numpy()
