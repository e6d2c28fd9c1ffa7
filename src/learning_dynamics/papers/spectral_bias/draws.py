"""Numbers per draw from tables of flows: the integrator's steps and errors, and each draw's largest value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.tidy import Column, Quantity, by_draw, settings_of

# a column of every table of flows
STEPS = Column("steps", "int", "steps that the integrator took; 0 for a draw that it could not carry to its end")


def local_errors(*tables: pd.DataFrame) -> np.ndarray:
    """Return each draw's number of steps times rtol: the integrator's tolerance of one step, added up over all steps.

    The draws of several tables follow one another. The sum bounds the error of what the flow neither damps nor
    amplifies: invariants, and what grows relative to its size.
    """
    rtols = [settings_of(table)["integration"]["rtol"] for table in tables]
    steps = [table.groupby("seed")["steps"].first().to_numpy() for table in tables]
    return np.concatenate([taken * rtol for taken, rtol in zip(steps, rtols, strict=True)])


def gathered(tables: Sequence[pd.DataFrame], quantity: Quantity, column: str = "value", **where: Any) -> np.ndarray:
    """Return a quantity with one value per draw, shape (draws,); the draws of several tables follow one another."""
    return np.concatenate([by_draw(table, quantity, column=column, **where)[:, 0] for table in tables])


def several_interpolators(table: pd.DataFrame) -> bool:
    """Return whether a flow from orthogonal rows had fewer samples than inputs, and interpolators to choose from."""
    inputs = by_draw(table, "sigma_w1", phase="limit").shape[1]
    return bool(by_draw(table, "samples", phase="draw")[0, 0] < inputs)


def worst(tables: Sequence[pd.DataFrame], quantity: Quantity, **where: Any) -> np.ndarray:
    """Return each draw's largest value of a quantity over times and indices, for the draws of all tables in turn."""
    return np.concatenate([by_draw(table, quantity, **where).max(axis=1) for table in tables])
