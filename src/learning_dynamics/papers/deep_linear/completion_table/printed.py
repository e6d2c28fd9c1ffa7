"""What slides 31 and 32 print, by observations and method, and the same quantities of a run."""

from dataclasses import dataclass

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import EFFECTIVE_RANK, ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.tables import minimiser_values, network_values
from learning_dynamics.tidy import Table


@dataclass(frozen=True)
class Row:
    """A row of a table; one draw, rounded."""

    error: float  # of reconstruction; whether a mean square or its root the slides do not print
    norm: float  # nuclear norm
    rank: float  # effective rank


MANY, FEW = "5k", "2k"  # slide 31, slide 32
SIZE_AND_ENTRIES = {MANY: (100, 5000), FEW: (100, 2000)}  # number of rows, number of observed entries
MINIMISATION = 0  # of the nuclear norm; networks go by their depth
PRINTED = {
    MANY: {MINIMISATION: Row(8e-7, 221, 5), 2: Row(5e-6, 221, 5), 3: Row(4e-6, 221, 5)},
    FEW: {MINIMISATION: Row(2e-1, 217, 8), 2: Row(6e-2, 220, 6), 3: Row(3e-5, 221, 5)},
}
TRUE_NORM = PRINTED[MANY][3].norm  # of the matrix to complete: what they print for recovered ones
METHODS = {MINIMISATION: "nuclear norm min", 2: "depth 2", 3: "depth 3"}


def measured(table: Table, scale: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return by draw the error, the nuclear norm less the truth's, and the effective rank.

    Of networks at one scale, or of nuclear-norm minimisers, which have none.
    """
    error, norm, true_norm, rank = (
        network_values(table, name, scale) if scale else minimiser_values(table, name)
        for name in (ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM, EFFECTIVE_RANK)
    )
    return error, norm - true_norm, rank
