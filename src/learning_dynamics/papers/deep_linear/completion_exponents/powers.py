"""The power of the initialisation scale in the first singular value beyond the rank, measured and predicted."""

import numpy as np

from learning_dynamics.tidy import Quantity, Table, select


def measured_powers(ends: Table, observed: int) -> np.ndarray:
    """Return the slope of log sigma_(r+1) against log s by draw, at the end of descent from every scale.

    nan for a draw with a run that did not reach its training loss.
    """
    rows = select(ends, "beyond_rank", observed=observed)
    values = rows.assign(value=np.where(rows["converged"], np.log(rows["value"]), np.nan))
    wide = values.pivot_table(index="scale", columns="draw", values="value", dropna=False)
    x = np.log(wide.index.to_numpy())
    x = x - x.mean()
    return x @ wide.to_numpy() / (x @ x)


def predicted_powers(path: Table, observed: int, quantity: Quantity = "alpha") -> np.ndarray:
    """Return 1 - alpha by draw; `quantity` says which of the measured ratios is alpha."""
    return 1 - select(path, quantity, observed=observed).sort_values("draw")["value"].to_numpy()
