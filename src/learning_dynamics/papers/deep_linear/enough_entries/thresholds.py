"""How many observed entries it takes to recover a matrix."""

import numpy as np

from learning_dynamics.tidy import Table, select


def thresholds(table: Table, recovered: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds, by draw, on the number of entries from which on a matrix is recovered.

    A matrix is recovered where its error is at most `recovered`; the threshold is the smallest number of entries from
    which on all are, and infinite where that of most entries is not. Runs that did not reach their training loss count
    as recovered for the lower bound and as not recovered for the upper one; without any the bounds are equal.
    """
    errors = select(table, "error")
    small = errors["value"] <= recovered
    ended = errors["converged"] if "converged" in errors else np.ones(len(errors), dtype=bool)
    return _smallest_sufficient(errors, small | ~ended), _smallest_sufficient(errors, small & ended)


def _smallest_sufficient(errors: Table, good: np.ndarray) -> np.ndarray:
    """Return the smallest number of entries from which on all are good, by draw; infinite if the last is not."""
    numbers = []
    for _, rows in errors.assign(good=good).groupby("draw"):
        bad = rows["observed"][~rows["good"]].max()
        beyond = rows["observed"][~(rows["observed"] <= bad)]
        numbers.append(float(beyond.min()) if len(beyond) else np.inf)
    return np.array(numbers)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the number before each threshold in an ascending grid; nan for the first, the last for an infinite one.

    The method's true threshold, which may fall between two numbers of the grid, is above it.
    """
    place = np.searchsorted(grid, threshold)
    return np.where(place > 0, grid[place - 1], np.nan)
