"""What slides 31 and 32 print, by observations and method, and the same quantities of a run."""

from typing import NamedTuple

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import EFFECTIVE_RANK, ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.tables import network_values, values_by_draw
from learning_dynamics.tidy import Table


class Row(NamedTuple):
    """A row of a table: what the slides print of one draw, rounded, or our medians over draws."""

    error: float  # of reconstruction: ours is a mean square; the slides do not print whether theirs is one or its root
    norm_difference: float  # nuclear norm of the recovered matrix, less that of the matrix to complete
    rank: float  # effective rank


class RowByDraw(NamedTuple):
    """The columns of `Row`, by draw, each of shape (draws,)."""

    error: np.ndarray
    norm_difference: np.ndarray
    rank: np.ndarray


ENTRIES_5K, ENTRIES_2K = "5k", "2k"  # slide 31, slide 32
# number of rows, number of observed entries
SIZE_AND_ENTRIES = {ENTRIES_5K: (100, 5000), ENTRIES_2K: (100, 2000)}
MINIMISATION, DEPTH_2, DEPTH_3 = "nuclear norm min", "depth 2", "depth 3"  # methods
# nuclear norm of the slides' matrix to complete, which they do not print: taken to be that of the matrices that are
# recovered with a small error, 221 in four rows of six
TRUE_NORM = 221
PRINTED = {
    ENTRIES_5K: {
        MINIMISATION: Row(8e-7, 221 - TRUE_NORM, 5),
        DEPTH_2: Row(5e-6, 221 - TRUE_NORM, 5),
        DEPTH_3: Row(4e-6, 221 - TRUE_NORM, 5),
    },
    ENTRIES_2K: {
        MINIMISATION: Row(2e-1, 217 - TRUE_NORM, 8),
        DEPTH_2: Row(6e-2, 220 - TRUE_NORM, 6),
        DEPTH_3: Row(3e-5, 221 - TRUE_NORM, 5),
    },
}


def measured_row(table: Table, scale: float | None = None) -> RowByDraw:
    """Return the row of networks at one scale, or of nuclear-norm minimisers, which have none.

    Of networks the smallest learning rate counts, and draws that did not reach the training loss are nan.
    """
    error, norm, true_norm, rank = (
        values_by_draw(table, name) if scale is None else network_values(table, name, scale)
        for name in (ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM, EFFECTIVE_RANK)
    )
    return RowByDraw(error, norm - true_norm, rank)
