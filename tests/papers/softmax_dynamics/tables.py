"""Tables made by hand, with the columns that metrics write: what a claim must say of their numbers is known."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd


def flow_table(quantities: Mapping[str, Any], *, seeds: int = 6, times: int = 4, **settings: Any) -> pd.DataFrame:
    """Return a table of flows in which every seed has the same numbers at every time.

    Parameters
    ----------
    quantities : mapping from name to number, or to a pair of sequences
        A number has the index 0 and no prediction. A pair is (values, predictions), whose entries are numbered from 1.
    seeds, times : int
        How many of each there are; times are 0, 1, 2, ...
    settings
        The settings that the run records.
    """
    rows = []
    for name, quantity in quantities.items():
        if isinstance(quantity, tuple):
            values, predictions = quantity
            entries = list(zip(range(1, len(values) + 1), values, predictions, strict=True))
        else:
            entries = [(0, quantity, np.nan)]
        for seed, time, (index, value, predicted) in itertools.product(range(seeds), range(times), entries):
            rows.append(
                {
                    "seed": seed,
                    "time": float(time),
                    "quantity": name,
                    "index": index,
                    "value": value,
                    "predicted": predicted,
                }
            )
    table = pd.DataFrame(rows)
    table.attrs = {"settings": settings, "draw": ("seed",)}
    return table


def grid_table(
    cells: Sequence[tuple[str, str, float]], quantities: Mapping[str, np.ndarray], *, seeds: int, **settings: Any
) -> pd.DataFrame:
    """Return a table of a grid, whose members are cell by cell, `seeds` of each.

    Parameters
    ----------
    cells : sequence of (counts, init, scale)
    quantities : mapping from ``name``, ``name@measure`` or ``name@measure@threshold`` to array
        Shape (cells * seeds,) for scalars, (cells * seeds, entries) otherwise.
    settings
        The settings that the run records.
    """
    rows = []
    for key, of_members in quantities.items():
        name, _, measure_and_threshold = key.partition("@")
        measure, _, threshold = measure_and_threshold.partition("@")
        for member, value in enumerate(np.asarray(of_members, dtype=float)):
            counts, init, scale = cells[member // seeds]
            sizes = counts.split("-")
            columns = {
                "counts": counts,
                "skewed": len(set(sizes)) > 1,
                "init": init,
                "scale": scale,
                "seed": member % seeds,
                "measure": measure,
                "threshold": float(threshold or 0),
                "quantity": name,
            }
            entries = [(0, value)] if np.ndim(value) == 0 else enumerate(value, start=1)
            rows += [{**columns, "index": index, "value": entry} for index, entry in entries]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": settings, "draw": ("counts", "init", "scale", "seed")}
    return table
