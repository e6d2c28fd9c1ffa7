"""How long descent takes from several initialisations, and whether the guaranteed rate is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.long_tables import (
    DEPTH,
    PREDICTED,
    QUANTITY,
    SEED,
    TIME,
    VALUE,
    long_table,
    over_time,
)
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    DEPTH,
    Column("init", "str", "balanced, or layer_wise: independent Gaussian layers"),
    Column("deviation", "float", "standard deviation of the layers' entries, or of the end-to-end matrix's (balanced)"),
    SEED,
    QUANTITY,
    VALUE,
)
def initialisation_range(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how long descent takes.

    Quantities: ``steps`` to the optimum at the best learning rate, and that ``learning_rate`` (both empty
    where none converged); ``size``, the end-to-end matrix's Frobenius norm at the start.
    """
    constants = trajectory.constants
    labels = {
        "depth": constants["depth"].astype(int),
        "init": np.where(constants["balanced"] == 1, "balanced", "layer_wise"),
        "deviation": constants["deviation"],
        "seed": constants["member"].astype(int),
    }
    steps = trajectory.series["steps"][:, 0]
    rate = trajectory.series["learning_rate"][:, 0]
    return long_table(
        labels,
        {
            "steps": np.where(steps < 0, np.nan, steps),
            "learning_rate": np.where(steps < 0, np.nan, rate),
            "size": constants["size"],
        },
    )


CASES = ("assumptions hold", "beyond a singular matrix", "unbalanced")


@columns(
    Column("case", "str", "which assumption on the initialisation is broken, if any"),
    SEED,
    TIME,
    QUANTITY,
    VALUE,
    PREDICTED,
)
def guarantee(trajectory: Trajectory) -> pd.DataFrame:
    """Measure descent with and without the assumptions.

    Quantities: ``loss``, over the first one, with the guaranteed bound as its prediction; ``imbalance`` at
    the start.
    """
    constants, settings = trajectory.constants, trajectory.settings
    W, target = trajectory.series["end_to_end"], constants["target"][:, None]
    loss = 0.5 * np.sum((W - target) ** 2, axis=(-2, -1))
    time = trajectory.time * settings["learning_rate"]
    table = over_time("loss", (loss / loss[:, :1])[..., None], time)
    table["predicted"] = np.exp(-theory.guaranteed_rate(settings["margin"], settings["depth"]) * table["time"])
    imbalance = over_time("imbalance", constants["imbalance"][:, None, None], time[:1]).assign(predicted=np.nan)
    joined = pd.concat([table, imbalance], ignore_index=True)
    joined["case"] = np.array(CASES)[constants["case"][joined["member"]]]
    joined["seed"] = constants["member"][joined["member"]]
    return joined[[column.name for column in guarantee.columns]]
