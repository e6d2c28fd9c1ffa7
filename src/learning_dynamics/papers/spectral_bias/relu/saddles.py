"""What claims and figures read off a ReLU student's table: where it ended, and the saddles on its way."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.tidy import Table, by_draw, select


def arrived(table: Table, loss: float) -> np.ndarray:
    """Return of each draw whether its loss has fallen below a share of its first value, shape (draws,) of bool."""
    curves = by_draw(table, "loss")
    return curves[:, -1] <= loss * curves[:, 0]


def last_ranks(table: Table, share: int) -> np.ndarray:
    """Return how many singular values carry a share, in percent, of |W|^2 at the end, shape (draws,)."""
    return by_draw(table, "rank", index=share)[:, -1]


def plateaus(table: Table, seed: int) -> list[tuple[float, float]]:
    """Return first and last time of one draw's plateaus."""
    rows = table[(table["seed"] == seed) & table["quantity"].isin(["plateau_start", "plateau_end"])]
    if rows.empty:
        return []
    starts, ends = select(rows, "plateau_start"), select(rows, "plateau_end")
    return list(zip(starts["value"], ends["value"], strict=True))


def first_saddle_ranks(table: Table, share: int) -> np.ndarray:
    """Return each draw's rank when its loss settles on the first plateau after the one at zero.

    nan where there is none, or where the first plateau is not at zero, so that the next is not the first saddle.
    """
    starts = table[(table["quantity"] == "plateau_start") & (table["index"] == 2)].set_index("seed")["value"]
    ranks = select(table, "rank", index=share).set_index(["seed", "time"])["value"]
    draws = np.sort(table["seed"].unique())
    found = np.array([ranks.loc[(seed, starts[seed])] if seed in starts.index else np.nan for seed in draws])
    return np.where(starts_at_zero(table), found, np.nan)


def starts_at_zero(table: Table) -> np.ndarray:
    """Return of each draw whether its loss starts on a plateau, shape (draws,) of bool."""
    starts = pd.Series(
        table.loc[(table["quantity"] == "plateau_start") & (table["index"] == 1)].set_index("seed")["value"]
    )
    draws = np.sort(table["seed"].unique())
    early = 0.01 * table["time"].max()
    return np.array([seed in starts.index and starts[seed] < early for seed in draws])


def typical_draw(table: Table, share: int, loss: float) -> int:
    """Return the first draw that arrives, at rank 2, by a second plateau of rank 1: what the paper's figures show.

    The first that arrives at rank 2 if there is none, and the first of all if there is none of these either.
    """
    ends = arrived(table, loss) & (last_ranks(table, share) == 2)
    follows = ends & (first_saddle_ranks(table, share) == 1)
    for found in (follows, ends):
        if found.any():
            return int(np.flatnonzero(found)[0])
    return 0
