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
