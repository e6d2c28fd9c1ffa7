"""How many observed entries it takes to recover a matrix.

The error of a completed matrix is the mean over all entries of its squared difference from the matrix to complete. The
grid is the numbers of observed entries that are tried.
"""

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import ERROR
from learning_dynamics.tidy import Table, select


def thresholds(table: Table, largest_error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the number of observed entries that suffice to recover a matrix, two arrays of shape (draws,).

    The table is that of one method, with one completed matrix for each draw and number of entries. A matrix is
    recovered if its error is at most `largest_error`; an error of nan is not. A draw's threshold is the smallest number
    of the grid from which on all its matrices are recovered. It is infinite if the matrix with the most entries is not.
    A network that did not reach its training loss leaves open whether its matrix is recovered: the lower bound counts
    it as recovered, whatever its error, and the upper bound as not.
    """
    errors = select(table, ERROR)
    has_small_error = errors["value"] <= largest_error
    # the convex program has no column `converged`: its solutions are all final
    converged = errors["converged"] if "converged" in errors else np.ones(len(errors), dtype=bool)
    lower = _smallest_sufficient(errors, has_small_error | ~converged)
    upper = _smallest_sufficient(errors, has_small_error & converged)
    return lower, upper


def _smallest_sufficient(errors: Table, is_recovered: np.ndarray) -> np.ndarray:
    """Return by draw the smallest number of entries from which on all matrices are recovered; else infinity."""
    numbers = []
    for _, rows in errors.assign(is_recovered=is_recovered).groupby("draw"):
        failures = rows[~rows["is_recovered"]]
        largest_failing = failures["observed"].max() if len(failures) else -np.inf
        sufficient = rows[rows["observed"] > largest_failing]
        numbers.append(float(sufficient["observed"].min()) if len(sufficient) else np.inf)
    return np.array(numbers)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return for each threshold the number before it in an ascending grid of numbers of entries, shape (draws,).

    It is nan for a threshold that is the first number of the grid or infinite. The method's true threshold may be
    between two numbers of the grid: it is above the number returned, and at most the given threshold.
    """
    position = np.searchsorted(grid, threshold)
    # at position 0 this reads grid[-1], which is discarded
    return np.where((position > 0) & np.isfinite(threshold), grid[position - 1], np.nan)
