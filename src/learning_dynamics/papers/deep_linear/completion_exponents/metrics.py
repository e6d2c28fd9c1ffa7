"""Ratios of the gradient's singular values along a descent."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completion_exponents.theory import step_growth
from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW, OBSERVED
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, columns, joined, rows
from learning_dynamics.trajectory import Trajectory


@columns(DEPTH, OBSERVED, DRAW, QUANTITY, VALUE_IF_ANY)
def gradient_along_path(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ratios, of growth of the first singular value beyond the rank r over growth of the r-th, with two layers.

    Quantities: ``alpha``, of sums along the path until the r-th is learned; ``alpha_at_the_start``, of the first step;
    ``alpha_of_the_whole``, of sums that take the gradient's r-th and next singular value, with nothing set aside;
    ``alpha_of_the_flow``, of integrals of the gradient's singular values, as if steps were small; ``growth``, by how
    much the r-th one's logarithm grows; ``step``, by how much the next one's does in one step, at most.
    """
    constants, settings = trajectory.constants, trajectory.settings
    rate = settings["learning_rate"]
    outside, whole = (trajectory.series[name] for name in ("outside", "whole"))
    grown = step_growth(outside, rate)
    measured = {
        "alpha": _ratio(grown.sum(axis=1)),
        "alpha_at_the_start": _ratio(grown[:, 0]),
        "alpha_of_the_whole": _ratio(step_growth(whole, rate).sum(axis=1)),
        "alpha_of_the_flow": _ratio(outside.sum(axis=1)),
        "growth": settings["every"] * grown[:, :, 0].sum(axis=1),
        "step": grown[:, :, 1].max(axis=1),
    }
    table = rows(measured, {"draw": constants["draw"]}, depth=settings["depth"],
                 observed=constants["observed"][constants["count"]])  # fmt: skip
    return joined(gradient_along_path.columns, table)


def _ratio(pairs: np.ndarray) -> np.ndarray:
    """Return the second of each pair over the first; nan where a path has no end."""
    return pairs[:, 1] / pairs[:, 0]
