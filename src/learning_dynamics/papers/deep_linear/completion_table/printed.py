"""What slides 31 and 32 print, what the authors' notebook shows, and the same quantities of a run.

Three methods complete a matrix: nuclear-norm minimisation, and networks of depth 2 and 3. Constants that end in 5K are
about completion from 5000 observed entries (slide 31), those in 2K from 2000 (slide 32).
"""

from typing import NamedTuple

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import EFFECTIVE_RANK, ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.tables import network_values, values_by_draw
from learning_dynamics.tidy import Table


class Row(NamedTuple):
    """A row of a table: what the slides print of one draw, rounded, or our medians over draws."""

    error: float  # of reconstruction: ours and the notebook's are mean squares; the slides do not say what theirs are
    norm_difference: float  # nuclear norm of the recovered matrix, less that of the matrix to complete
    rank: float  # effective rank


class RowByDraw(NamedTuple):
    """The columns of `Row`, by draw, each of shape (draws,)."""

    error: np.ndarray
    norm_difference: np.ndarray
    rank: np.ndarray


ENTRIES_5K, ENTRIES_2K = "5k", "2k"
# by name, the number of rows of the matrix to complete, and the number of its observed entries
SIZE_AND_ENTRIES = {ENTRIES_5K: (100, 5000), ENTRIES_2K: (100, 2000)}
MINIMISATION, DEPTH_2, DEPTH_3 = "nuclear norm min", "depth 2", "depth 3"  # methods
# Nuclear norm of the slides' matrix to complete. The slides do not print it. We take that of the matrices which they
# show to be recovered with a small error, in four rows of six
TRUE_NORM = 221
# by number of entries and method; each row: error, nuclear norm less the true one, effective rank
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

# The authors' public notebook, plot.ipynb of github.com/roosephu/deep_matrix_factorization, keeps a picture
# ("Figure 2") of errors, nuclear norms and effective ranks; main.py computes the errors, as mean squares. They are read
# off the picture to a tenth of their size, ranks to a tenth. Only from 5000 entries its matrix has the slides' norm.
NOTEBOOK_ERRORS_5K = {MINIMISATION: 8e-7, DEPTH_2: 5e-6, DEPTH_3: 4e-6}  # of networks at initialisation scale 1e-6
NOTEBOOK_TRUE_NORM_2K = 219.5  # nuclear norm of the matrix to complete
NOTEBOOK_MINIMISER_2K = Row(0.11, 210.15 - NOTEBOOK_TRUE_NORM_2K, 9.4)  # 210.15 is printed above the picture
NOTEBOOK_DEPTH_2_2K = {1e-6: (0.025, 6.6), 1e-4: (0.065, 8.4), 1e-3: (0.1, 10.1)}  # error and effective rank, by scale
NOTEBOOK_ERROR_2K_DEPTH_3 = 3e-5  # at every scale


def measured_row(table: Table, scale: float | None = None) -> RowByDraw:
    """Return the row of networks at one initialisation scale, or of nuclear-norm minimisers, which have no scale.

    Of networks the smallest learning rate counts, and draws that did not reach the training loss are nan.
    """
    error, norm, true_norm, rank = (
        values_by_draw(table, name) if scale is None else network_values(table, name, scale)
        for name in (ERROR, NUCLEAR_NORM, TRUE_NUCLEAR_NORM, EFFECTIVE_RANK)
    )
    return RowByDraw(error, norm - true_norm, rank)
