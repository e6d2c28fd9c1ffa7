"""From how many observed entries on a matrix is recovered."""

from __future__ import annotations

import numpy as np

from learning_dynamics.tidy import Table, select


def thresholds(table: Table, recovered: float) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds by draw, from below and above, on the number of entries from which on a matrix is recovered.

    A matrix is recovered where its error is at most `recovered`; the threshold is the smallest number of entries from
    which on all are, and infinite where that of most entries is not. What a run would have come to that did not reach
    its training loss is open: the lower bound takes it as recovered, the upper one as not. Both are the same where
    nothing is open.
    """
    errors = select(table, "error")
    small = errors["value"] <= recovered
    ended = errors["converged"] if "converged" in errors else np.ones(len(errors), dtype=bool)
    return _first_of_the_last_run(errors, small | ~ended), _first_of_the_last_run(errors, small & ended)


def _first_of_the_last_run(errors: Table, good: np.ndarray) -> np.ndarray:
    """Return by draw the smallest number of entries from which on all are good."""
    found = []
    for _, rows in errors.assign(good=good).groupby("draw"):
        bad = rows["observed"][~rows["good"]].max()
        beyond = rows["observed"][~(rows["observed"] <= bad)]
        found.append(float(beyond.min()) if len(beyond) else np.inf)
    return np.array(found)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the number of an ascending grid before each threshold, which an infinite one has too; nan for the first.

    A method's own threshold, which may lie between numbers of the grid, is above it.
    """
    place = np.searchsorted(grid, threshold)
    return np.where(place > 0, grid[place - 1], np.nan)
