"""How many observed entries it takes to recover a matrix."""

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import ERROR
from learning_dynamics.tidy import Table, select


def thresholds(table: Table, largest_error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds on the number of observed entries that suffice to recover a matrix, two arrays of shape (draws,).

    A matrix is recovered where its error is at most `largest_error`; one of nan is not. A draw's threshold is the
    smallest number from which on all matrices are; infinite if the one with the most entries is not. Where a run missed
    its training loss, the lower bound counts its matrix as recovered whatever its error, the upper one as not.
    """
    errors = select(table, ERROR)
    has_small_error = errors["value"] <= largest_error
    # the convex program has no column `converged`: its solutions are all final
    converged = errors["converged"] if "converged" in errors else np.ones(len(errors), dtype=bool)
    lower = _smallest_sufficient(errors, has_small_error | ~converged)
    upper = _smallest_sufficient(errors, has_small_error & converged)
    return lower, upper


def _smallest_sufficient(errors: Table, is_recovered: np.ndarray) -> np.ndarray:
    """Return the smallest number of entries from which on all are recovered, by draw; infinite if the last is not."""
    numbers = []
    for _, rows in errors.assign(is_recovered=is_recovered).groupby("draw"):
        failures = rows[~rows["is_recovered"]]
        largest_failing = failures["observed"].max() if len(failures) else -np.inf
        sufficient = rows[rows["observed"] > largest_failing]
        numbers.append(float(sufficient["observed"].min()) if len(sufficient) else np.inf)
    return np.array(numbers)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the number before each threshold in an ascending grid of numbers of entries, shape (draws,).

    It is nan before the first number, and before an infinite threshold, whose place is not known. The method's true
    threshold, which may fall between two numbers of the grid, is above it.
    """
    position = np.searchsorted(grid, threshold)
    # at position 0, grid[-1] is discarded
    return np.where((position > 0) & np.isfinite(threshold), grid[position - 1], np.nan)
