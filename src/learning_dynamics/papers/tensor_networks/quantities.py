"""Tables of quantities: one row for each value, or for each entry of a vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.tables import Column

VALUE = (
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... for entries of a vector; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the theory gives for it, where it does", nullable=True),
)


def rows_of(quantity: str, value: Any, predicted: Any = None, **keys: Any) -> pd.DataFrame:
    """Return rows of one quantity: arrays (times,) give scalars by time, (times, count) vectors by time."""
    value = np.asarray(value, dtype=float)
    scalar = value.ndim < 2
    value = value.reshape(-1, 1) if scalar else value
    times, count = value.shape
    predicted = np.nan if predicted is None else np.asarray(predicted, dtype=float)
    if scalar and np.ndim(predicted) == 1:
        predicted = predicted[:, None]
    repeated = {key: np.repeat(np.broadcast_to(entry, times), count) for key, entry in keys.items()}
    index = np.zeros(times, dtype=int) if scalar else np.tile(np.arange(1, count + 1), times)
    return pd.DataFrame(
        {
            **repeated,
            "quantity": quantity,
            "index": index,
            "value": value.ravel(),
            "predicted": np.broadcast_to(predicted, value.shape).ravel(),
        }
    )


def joined(measure: Callable, tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return one table with the columns that its metrics function declares, in their order."""
    return pd.concat(tables, ignore_index=True)[[column.name for column in measure.columns]]  # type: ignore[attr-defined]


def grid(settings: dict, *names: str) -> Iterator[tuple]:
    """Yield the position in a series' first axis, and what belongs to it, for settings that vary as listed."""
    sizes = [settings[name] if isinstance(settings[name], list) else range(settings[name]) for name in names]
    for position, chosen in enumerate(np.ndindex(*map(len, sizes))):
        yield position, *(size[i] for size, i in zip(sizes, chosen, strict=True))
