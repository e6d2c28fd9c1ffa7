"""Completed matrices: errors, nuclear norms and effective ranks.

Shapes: matrices are square. `end_to_end` W (members, 1, n, n), where descent ended; `truth`, and of bool `mask`, true
where an entry is observed, (draws, n, n); `draw`, a place along draws, `scale` s, `learning_rate`, `loss`, the mean
square over observed entries, and `steps`, a number of steps, (members,). Of the convex program members are draws, and
`gap` (members,) is relative.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completed_matrices import completed, measures_of
from learning_dynamics.papers.deep_linear.completion.quantities import STEPS
from learning_dynamics.papers.deep_linear.quantities import GAP, MISFIT, OBSERVED_ENTRIES, SIZE
from learning_dynamics.papers.deep_linear.tables import CONVERGED, DEPTH, DRAW, SCALE
from learning_dynamics.tidy import QUANTITY, VALUE_IF_ANY, Column, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    DEPTH,
    SCALE,
    Column("learning_rate", "float", "of plain descent, or of group RMSprop", draw=True),
    DRAW,
    CONVERGED,
    QUANTITY,
    VALUE_IF_ANY,
)
def completion(trajectory: Trajectory) -> pd.DataFrame:
    """Measure completed matrices.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Empty where descent diverged.
    size
        Number of rows of the matrix to complete.
    observed
        Number of observed entries.
    steps
        Steps of descent.
    """
    constants, settings = trajectory.constants, trajectory.settings
    W, truth, mask = completed(trajectory)
    return rows(
        measures_of(W, truth, mask) | _setting(truth, mask) | {STEPS: constants["steps"]},
        {"draw": constants["draw"]},
        depth=settings["depth"],
        scale=constants["scale"],
        learning_rate=constants["learning_rate"],
        converged=constants["loss"] <= settings["stop"],
    )


@columns(DRAW, QUANTITY, VALUE_IF_ANY)
def nuclear_norm(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers.

    Quantities
    ----------
    `completed_matrices.measures_of`
        Of the minimiser.
    size
        Number of rows of the matrix to complete.
    observed
        Number of observed entries.
    gap
        Proved distance of the nuclear norm from the least one, relative.
    misfit
        Largest error on an observed entry.
    """
    constants = trajectory.constants
    W, truth, mask = completed(trajectory)
    misfit = np.abs(mask * (W - truth)).max(axis=(-2, -1))
    quantities = measures_of(W, truth, mask) | _setting(truth, mask) | {GAP: constants["gap"], MISFIT: misfit}
    return rows(quantities, {"draw": constants["draw"]})


def _setting(truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return the matrices' size and how many of their entries are observed, by matrix."""
    return {SIZE: np.full(len(truth), truth.shape[-1]), OBSERVED_ENTRIES: mask.sum(axis=(-2, -1))}
