"""Ratios of the gradient's singular values along a descent."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.tables import DEPTH, DRAW, MEASURED, OBSERVED
from learning_dynamics.tidy import QUANTITY, columns, joined, rows
from learning_dynamics.trajectory import Trajectory


@columns(DEPTH, OBSERVED, DRAW, QUANTITY, MEASURED)
def gradient_along_path(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ratios, of what moves the first singular value beyond the rank r over what moves the r-th.

    Quantities: ``alpha``, of their integrals along the path until the r-th is learned; ``alpha_at_the_start``, of the
    first gradient's singular values; ``alpha_of_the_whole``, of integrals of the gradient's r-th and next singular
    value, with nothing set aside; ``growth``, twice the integral of what moves the r-th.
    """
    constants, series = trajectory.constants, trajectory.series
    step = trajectory.time[1] - trajectory.time[0]
    integrals = {name: step * values.sum(axis=1) for name, values in series.items()}
    measured = {
        "alpha": _ratio(integrals["outside"]),
        "alpha_at_the_start": _ratio(series["outside"][:, 0]),
        "alpha_of_the_whole": _ratio(integrals["whole"]),
        "growth": 2 * integrals["outside"][:, 0],
    }
    table = rows(measured, {"draw": constants["draw"]}, depth=trajectory.settings["depth"],
                 observed=constants["observed"][constants["count"]])  # fmt: skip
    return joined(gradient_along_path.columns, table)


def _ratio(pairs: np.ndarray) -> np.ndarray:
    """Return the second of each pair over the first; nan where a path has no end."""
    return pairs[:, 1] / pairs[:, 0]
