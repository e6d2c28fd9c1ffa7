"""Tables made by hand, for judges: what they are given is known, and so is what they must say."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd


def flow_table(quantities: Mapping[str, Any], *, seeds: int = 6, times: int = 4, **settings: Any) -> pd.DataFrame:
    """Return a table of flows: each quantity a number, or a pair of value and prediction, at every seed and time."""
    rows = []
    for name, given in quantities.items():
        pairs = enumerate(zip(*given, strict=True), start=1) if isinstance(given, tuple) else [(0, (given, np.nan))]
        for seed, time, (index, (value, predicted)) in itertools.product(range(seeds), range(times), pairs):
            known = {"seed": seed, "time": float(time), "quantity": name, "index": index}
            rows.append({**known, "value": value, "predicted": predicted})
    table = pd.DataFrame(rows)
    table.attrs = {"settings": settings, "draw": ("seed",)}
    return table


def grid_table(
    cells: Sequence[tuple[str, str, float]], quantities: Mapping[str, np.ndarray], *, seeds: int, **settings: Any
) -> pd.DataFrame:
    """Return a table of a grid.

    Parameters
    ----------
    cells : sequence of (counts, init, scale)
    quantities : mapping from ``name``, ``name@measure`` or ``name@measure@threshold`` to array
        Shape (cells * seeds,) for scalars, (cells * seeds, entries) otherwise.
    """
    rows = []
    for key, given in quantities.items():
        name, measure, threshold = (*key.split("@"), "", "")[:3]
        for member, value in enumerate(np.asarray(given, dtype=float)):
            counts, init, scale = cells[member // seeds]
            sizes = counts.split("-")
            known = {
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
            rows += [{**known, "index": index, "value": entry} for index, entry in entries]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": settings, "draw": ("counts", "init", "scale", "seed")}
    return table
