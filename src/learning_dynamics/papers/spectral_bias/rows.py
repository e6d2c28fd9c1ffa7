"""Tidy rows from arrays over members, times and indices, and the columns that they fill."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from learning_dynamics.tables import Column

SEED = Column("seed", "int", "ensemble member")
GAMMA = Column("gamma", "float", "initialisation scale")
TIME = Column("time", "float", "gradient-flow time; for descent, step size times number of steps")
QUANTITY = Column("quantity", "str", "what the value is; see the metrics function")
INDEX = Column("index", "int", "1, 2, ... in descending order for singular values; 0 for scalars")
VALUE = Column("value", "float", "measured")
PREDICTED = Column("predicted", "float", "what the theory gives for it, where it does", nullable=True)

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
