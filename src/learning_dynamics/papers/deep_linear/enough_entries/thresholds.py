"""From how many observed entries on a matrix is recovered."""

from __future__ import annotations

import numpy as np

from learning_dynamics.tidy import Table, select


def thresholds(table: Table, recovered: float) -> np.ndarray:
    """Return by draw the smallest number of entries from which on the error stays at most `recovered`.

    nan where it does not at the largest number, and where a run that did not reach its training loss leaves it open.
    """
    found = []
    errors = select(table, "error")
    if "converged" in errors:
        errors = errors.assign(value=np.where(errors["converged"], errors["value"], np.nan))
    for _, rows in errors.groupby("draw"):
        rows = rows.sort_values("observed")
        good = (rows["value"] <= recovered).to_numpy()
        # the longest run of successes that ends at the largest number
        length = int(np.argmin(good[::-1])) if not good.all() else len(good)
        open_ = length < len(good) and np.isnan(rows["value"].iloc[len(good) - length - 1])
        found.append(np.nan if open_ or not length else float(rows["observed"].iloc[len(good) - length]))
    return np.array(found)


def number_before(grid: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the number of an ascending grid before each threshold; nan before the first one and where there is none.

    A method's own threshold, which may lie between numbers of the grid, is above it.
    """
    place = np.searchsorted(grid, threshold)
    known = (place > 0) & np.isfinite(threshold)
    return np.where(known, grid[np.where(known, place - 1, 0)], np.nan)
