"""The power of the initialisation scale in what lies beyond the rank, measured and predicted, by draw."""

from __future__ import annotations

import numpy as np

from learning_dynamics.tidy import Quantity, Table, select


def measured_powers(ends: Table, observed: int) -> np.ndarray:
    """Return by draw the slope of log sigma_(r+1) against log s, at the end of descent from every scale.

    A draw of which one run did not reach its training loss is nan.
    """
    rows = select(ends, "beyond_rank", observed=observed)
    values = rows.assign(value=np.where(rows["converged"], np.log(rows["value"]), np.nan))
    wide = values.pivot_table(index="scale", columns="draw", values="value", dropna=False)
    x = np.log(wide.index.to_numpy())
    x = x - x.mean()
    return x @ wide.to_numpy() / (x @ x)


def predicted_powers(path: Table, observed: int, quantity: Quantity = "alpha") -> np.ndarray:
    """Return 1 - alpha by draw, of the ratio of sums or of another quantity in its place."""
    return 1 - select(path, quantity, observed=observed).sort_values("draw")["value"].to_numpy()
