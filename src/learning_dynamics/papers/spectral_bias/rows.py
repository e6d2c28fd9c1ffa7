"""Tidy rows from arrays over members, times and indices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

# value, and prediction where there is one, each of shape (members, times, count)
Measured = Mapping[str, tuple[np.ndarray, np.ndarray | None]]


def tidy(measured: Measured, times: np.ndarray, **per_member: np.ndarray) -> pd.DataFrame:
    """Return one row for each quantity, member, time and index.

    Indices count from 1; quantities with a single value that is not a singular value have index 0.

    Parameters
    ----------
    measured : mapping of quantity to (value, prediction or None)
    times : ndarray, shape (times,) or (members, times)
    **per_member : ndarray, shape (members,)
        Further columns after ``seed``, such as the scale of each member.
    """
    tables = []
    for quantity, (value, predicted) in measured.items():
        members, points, count = value.shape
        seed, time, index = (grid.ravel() for grid in np.indices((members, points, count)))
        when = np.broadcast_to(times, (members, points))
        numbered = count > 1 or quantity.startswith("sigma")
        tables.append(
            pd.DataFrame(
                {
                    "seed": seed,
                    **{name: values[seed] for name, values in per_member.items()},
                    "time": when[seed, time],
                    "quantity": quantity,
                    "index": index + numbered,
                    "value": value.ravel(),
                    "predicted": np.nan if predicted is None else np.broadcast_to(predicted, value.shape).ravel(),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def norm(matrices: np.ndarray) -> np.ndarray:
    """Frobenius norms over leading axes, shape (..., 1)."""
    return np.linalg.norm(matrices, axis=(-2, -1))[..., None]
