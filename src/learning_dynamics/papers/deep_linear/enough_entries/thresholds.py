"""How many observed entries it takes to recover a matrix."""

import numpy as np

from learning_dynamics.papers.deep_linear.quantities import ERROR
from learning_dynamics.tidy import Table, select


def thresholds(table: Table, recovered: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds, by draw, on the number of entries from which on a matrix is recovered.

    A matrix is recovered where its error is at most `recovered`; the threshold is the smallest number of entries from
    which on all are, and infinite where that of most entries is not. Runs that did not reach their training loss count
    as recovered for the lower bound and as not recovered for the upper one; without any the bounds are equal.
    """
    errors = select(table, ERROR)
    has_small_error = errors["value"] <= recovered
    # the convex program has no such column: its solutions are all final
    converged = errors["converged"] if "converged" in errors else np.ones(len(errors), dtype=bool)
    lower = _smallest_sufficient(errors, has_small_error | ~converged)
    return lower, _smallest_sufficient(errors, has_small_error & converged)


def _smallest_sufficient(errors: Table, is_recovered: np.ndarray) -> np.ndarray:
    """Return the smallest number of entries from which on all are recovered, by draw; infinite if the last is not."""
    numbers = []
    for _, rows in errors.assign(is_recovered=is_recovered).groupby("draw"):
        last_not_recovered = rows["observed"][~rows["is_recovered"]].max()
        # nan where all are recovered, and then no number is at most it
        beyond = rows["observed"][~(rows["observed"] <= last_not_recovered)]
        numbers.append(float(beyond.min()) if len(beyond) else np.inf)
    return np.array(numbers)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the number before each threshold in an ascending grid; nan for the first, the last for an infinite one.

    The method's true threshold, which may fall between two numbers of the grid, is above it.
    """
    place = np.searchsorted(grid, threshold)
    return np.where(place > 0, grid[place - 1], np.nan)
