"""Acceleration by depth: how many iterations deeper networks save on a regression."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, Untested, at_least, at_most, claim
from learning_dynamics.papers.deep_linear.draws import interval
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables

GAS_SENSOR_FEATURES = 128


@claim("Acceleration by depth", "iterations at depth 1 over iterations at the slowest of the deeper ones, ℓ4 loss")
def depth_accelerates_l4(tables: Tables) -> Outcome:
    """For regression with the ℓ4 loss gradient descent is faster through redundant linear layers.

    Each depth runs at the best learning rate of one logarithmic grid. A speed-up counts when it exceeds the
    ratio of neighbouring rates, by which the grid alone could mislead. The deeper networks express the same
    linear functions, and their problem is not convex. The start matters: from weights of norm 0.01 or 0.1 depth
    helps; from weights of norm 1, about the solution's own but pointing elsewhere, the deeper networks are the
    slower ones (see the table of varied settings).
    """
    (table,) = tables.values()
    ratio, margin, grid, seeds = _speedup(table)
    return Outcome(at_least(ratio, grid, uncertainty=margin, because="ratio of neighbouring learning rates"), seeds)


@claim("Acceleration by depth", "iterations at depth 1 over iterations at the slowest of the deeper ones, ℓ2 loss")
def depth_does_not_accelerate_l2(tables: Tables) -> Outcome:
    """For regression with the ℓ2 loss depth brings no speed-up.

    The statement on the slide is about p > 2 only, and this is its other side: at p = 2 the Hessian does not
    change along the way, and a preconditioner that grows with the weights has nothing to correct. The criterion
    asks that no speed-up beyond one step of the grid of learning rates is seen.
    """
    (table,) = tables.values()
    ratio, margin, grid, seeds = _speedup(table)
    return Outcome(at_most(ratio, grid, uncertainty=margin, because="ratio of neighbouring learning rates"), seeds)


@claim(
    "Experiment: regression problem from UCI", "iterations at depth 1 over iterations at the slowest of the deeper ones"
)
def depth_accelerates_l4_gas_sensor(tables: Tables) -> Outcome:
    """On the slide's own data, ethanol in the UCI gas-sensor array set, depth accelerates the ℓ4 regression.

    The set has to be downloaded, and the default data are scikit-learn's diabetes regression. With the archive
    in place, lay `workflow/config/gas_sensor.yaml` over the configuration, and this claim is decided.
    """
    (table,) = tables.values()
    if values_of(table, "features")["value"].iloc[0] != GAS_SENSOR_FEATURES:
        raise Untested(
            "needs the UCI gas-sensor data (id 270), which must be downloaded: see workflow/config/gas_sensor.yaml"
        )
    return depth_accelerates_l4(tables)


def _speedup(table: pd.DataFrame) -> tuple[float, float, float, int]:
    """Return the smallest speed-up by depth, its 95 % half-width, the grid's ratio of rates, and the seeds."""
    rows = values_of(table, "iterations")
    rows = rows[rows["rule"] == "network"]
    grid = np.sort(rows["learning_rate"].unique())
    best = rows.pivot_table(index="depth", columns="seed", values="value", aggfunc="min")
    best = best.reindex(index=sorted(rows["depth"].unique()))  # a depth that never got there leaves it undecided
    logs = np.log(best.loc[1] / best.drop(index=1))
    worst = min(
        (interval(logs.loc[depth].dropna()) for depth in logs.index),
        key=lambda pair: np.nan_to_num(pair[0], nan=-np.inf),
    )
    ratio = float(np.exp(worst[0]))
    return ratio, ratio * float(np.expm1(worst[1])), float(grid[1] / grid[0]), best.shape[1]
