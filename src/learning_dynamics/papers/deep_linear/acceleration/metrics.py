"""How fast descent on a regression is, by depth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.long_tables import DEPTH, QUANTITY, SEED, VALUE
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

CURVE_POINTS = 150  # iterations at which a loss curve is kept, evenly spaced


@columns(
    DEPTH,
    Column("rule", "str", "network: descent on the layers; end_to_end: the preconditioned update itself"),
    SEED,
    QUANTITY,
    Column("learning_rate", "float", "of the run", nullable=True),
    Column("iteration", "int", "of the loss; 0 for other quantities"),
    VALUE,
)
def lp_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure descent on an l_p regression.

    Quantities: ``iterations`` to the tolerance, one for each learning rate (empty where it was not reached);
    ``excess``, (loss - least loss) / least loss along the run with the best rate; ``features``, how many
    columns the data have.
    """
    constants = trajectory.constants
    grid, iterations, least = constants["learning_rate"], constants["iterations"], float(constants["least_loss"])
    rule = np.where(constants["end_to_end"] == 1, "end_to_end", "network")
    members, rates = iterations.shape
    labels = pd.DataFrame({"depth": constants["depth"], "rule": rule, "seed": constants["member"]})
    tried = labels.loc[np.repeat(np.arange(members), rates)].assign(
        quantity="iterations",
        learning_rate=np.tile(grid, members),
        iteration=0,
        value=np.where(iterations < 0, np.nan, iterations).ravel(),
    )
    best = grid[np.where(iterations < 0, np.iinfo(np.int64).max, iterations).argmin(axis=1)]
    kept = np.unique(np.linspace(0, len(trajectory.time) - 1, CURVE_POINTS).round().astype(int))
    losses = trajectory.series["loss"][:, kept]
    curves = labels.loc[np.repeat(np.arange(members), len(kept))].assign(
        quantity="excess",
        learning_rate=np.repeat(best, len(kept)),
        iteration=np.tile(kept, members),
        value=(losses / least - 1).ravel(),
    )
    about = labels.iloc[:1].assign(
        quantity="features", learning_rate=np.nan, iteration=0, value=float(constants["features"])
    )
    table = pd.concat([tried, curves, about.astype({"learning_rate": float})], ignore_index=True)
    return table[[column.name for column in lp_descent.columns]]
