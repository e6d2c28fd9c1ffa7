"""Where a ReLU student's training ends, and the saddles on its way, read off its table."""

import numpy as np
import pandas as pd

from learning_dynamics.tidy import Table, by_draw, select


def fitted_draws(table: Table, loss: float) -> np.ndarray:
    """Return for each draw whether its loss has fallen to a share of its first value, shape (draws,) of bool."""
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
    saddle_ranks = np.array([ranks.loc[(seed, starts[seed])] if seed in starts.index else np.nan for seed in draws])
    return np.where(starts_at_zero(table), saddle_ranks, np.nan)


def starts_at_zero(table: Table) -> np.ndarray:
    """Return for each draw whether its loss starts on a plateau, shape (draws,) of bool."""
    starts = pd.Series(
        table.loc[(table["quantity"] == "plateau_start") & (table["index"] == 1)].set_index("seed")["value"]
    )
    draws = np.sort(table["seed"].unique())
    early = 0.01 * table["time"].max()
    return np.array([seed in starts.index and starts[seed] < early for seed in draws])


def typical_draw(table: Table, share: int, loss: float) -> int:
    """Return the first draw that is fitted at rank 2 after a second plateau of rank 1, as the paper's figures show.

    Without such a draw, the first that is fitted at rank 2; without that, the first of all.
    """
    ends = fitted_draws(table, loss) & (last_ranks(table, share) == 2)
    follows = ends & (first_saddle_ranks(table, share) == 1)
    for candidates in (follows, ends):
        if candidates.any():
            return int(np.flatnonzero(candidates)[0])
    return 0
