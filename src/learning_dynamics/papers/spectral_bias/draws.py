"""Numbers per draw from tables of flows: the integrator's errors, each draw's largest value, and what laws leave."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.tidy import Draws, Quantity, by_draw, settings_of

STEPS_BY_RTOL = "the integrator's steps times its rtol"
LEFT_OPEN = "what the remaining residual leaves open, and steps times rtol"

PerTable = list[np.ndarray]  # measured or predicted: one array for each table, draws along the first axis


def local_errors(*tables: pd.DataFrame) -> np.ndarray:
    """Return each draw's number of steps times rtol: the integrator's tolerance of one step, added up over all steps.

    The draws of several tables follow one another. The sum bounds the error of what the flow neither damps nor
    amplifies: invariants, and what grows relative to its size.
    """
    return np.concatenate(
        [
            table.groupby("seed")["steps"].first().to_numpy() * settings_of(table)["integration"]["rtol"]
            for table in tables
        ]
    )


def steps_by_rtol(draws: Draws) -> np.ndarray:
    """Return each draw's number of steps times rtol: the integrator's tolerance of one step, added up over all steps.

    The sum bounds the error of what the flow neither damps nor amplifies: invariants, and what grows relative to its
    size.
    """
    return draws.column("steps") * draws.setting("integration.rtol")


def per_table(tables: Sequence[pd.DataFrame], quantity: Quantity, column: str = "value", **where: Any) -> PerTable:
    """Return a quantity of each table, of shape (draws, entries), whose sizes may differ from table to table."""
    return [by_draw(table, quantity, column=column, **where) for table in tables]


def gathered(tables: Sequence[pd.DataFrame], quantity: Quantity, column: str = "value", **where: Any) -> np.ndarray:
    """Return a quantity with one value per draw, shape (draws,); the draws of several tables follow one another."""
    return np.concatenate([values[:, 0] for values in per_table(tables, quantity, column, **where)])


def worst(tables: Sequence[pd.DataFrame], quantity: Quantity, **where: Any) -> np.ndarray:
    """Return each draw's largest value of a quantity over times and indices, for the draws of all tables in turn."""
    return np.concatenate([values.max(axis=1) for values in per_table(tables, quantity, **where)])


def several_interpolators(table: pd.DataFrame) -> bool:
    """Return whether a flow from orthogonal rows had fewer samples than inputs, and interpolators to choose from."""
    inputs = by_draw(table, "sigma_w1", phase="limit").shape[1]
    return bool(by_draw(table, "samples", phase="draw")[0, 0] < inputs)


def multiplied(predictions: PerTable, factor: float) -> PerTable:
    """Return predictions for each table, multiplied."""
    return [factor * predicted for predicted in predictions]


def relative_errors(measured: PerTable, predicted: PerTable, sizes: PerTable | None = None) -> np.ndarray:
    """Return each draw's largest error over entries, relative to its size, by default its largest measured value.

    Parameters
    ----------
    measured, predicted : list of ndarray, each of shape (draws, entries)
    sizes : list of ndarray, each of shape (draws,), optional

    Returns
    -------
    ndarray, shape (draws of all tables,)
    """
    if sizes is None:
        sizes = [np.abs(values).max(axis=1) for values in measured]
    triples = zip(measured, predicted, sizes, strict=True)
    return np.concatenate([np.abs(values - expected).max(axis=1) / size for values, expected, size in triples])
