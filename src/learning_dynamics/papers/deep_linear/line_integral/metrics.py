"""Integrals of the preconditioned gradient along a closed curve."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.long_tables import DEPTH, PREDICTED, QUANTITY, VALUE, long_table
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

CURVES = ("one output, whitened inputs", "one output, correlated inputs", "two outputs, whitened inputs")


@columns(DEPTH, Column("case", "str", "outputs and inputs of the network"), QUANTITY, VALUE, PREDICTED)
def closed_curve(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``integral``, of P_W vec(grad) along the closed curve, and ``scale``, of its absolute integrand.

    The prediction is the closed form, for one output and whitened inputs.
    """
    constants, settings = trajectory.constants, trajectory.settings
    integrand = np.sum(trajectory.series["velocity"] * trajectory.series["element"], axis=-1)
    case = constants["case"]
    exact = [
        theory.sector_integral(
            int(depth),
            settings["target"],
            settings["inner"],
            settings["outer"],
            settings["first_angle"],
            settings["last_angle"],
        )
        if each == 0
        else np.nan
        for depth, each in zip(constants["depth"], case, strict=True)
    ]
    labels = {"depth": constants["depth"], "case": np.array(CURVES)[case]}
    table = long_table(labels, {"integral": integrand.sum(axis=1), "scale": np.abs(integrand).sum(axis=1)})
    return table.assign(predicted=[*exact, *np.full(len(exact), np.nan)])
