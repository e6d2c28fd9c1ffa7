"""Where a ReLU student's training ends, and the saddles on its way, read off its table.

Shapes: arrays that functions return have a number for each draw, (draws,), in the order of seeds.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.spectral_bias.quantities import LOSS
from learning_dynamics.papers.spectral_bias.relu import quantities
from learning_dynamics.tidy import Draws, Table, select

# numbers of a loss's plateaus, where the first is at the saddle at zero
AT_ZERO, AT_FIRST_SADDLE = 1, 2


def fitted_draws(table: Table, loss: float) -> np.ndarray:
    """Return for each draw whether its loss has fallen to a share of its first value, shape (draws,) of bool."""
    curves = Draws(table).entries(LOSS)
    return curves[:, -1] <= loss * curves[:, 0]


def last_ranks(table: Table, percent: int) -> np.ndarray:
    """Return how many singular values carry so many percent of |W|^2 at the end, shape (draws,)."""
    return Draws(table, index=percent).entries(quantities.RANK)[:, -1]


def plateaus(table: Table, seed: int) -> list[tuple[float, float]]:
    """Return first and last time of one draw's plateaus."""
    rows = table[table["seed"] == seed]
    starts, ends = (
        rows.loc[rows["quantity"] == name, "value"] for name in (quantities.PLATEAU_START, quantities.PLATEAU_END)
    )
    return list(zip(starts, ends, strict=True))


def first_saddle_ranks(table: Table, percent: int) -> np.ndarray:
    """Return each draw's rank when its loss settles on the first plateau after the one at zero.

    nan where there is none, or where the first plateau is not at zero, so that the next is not the first saddle. A draw
    with plateaus from 0.1, 5 and 40, of 100 units of time, starts at zero and gets its rank at time 5; one with those
    from 30 and 40 may have passed its first saddle unseen, and gets nan.
    """
    starts = _plateau_starts(table, AT_FIRST_SADDLE)
    ranks = select(table, quantities.RANK, index=percent).set_index(["seed", "time"])["value"]
    saddle_ranks = [np.nan if np.isnan(start) else ranks.loc[(seed, start)] for seed, start in starts.items()]
    return np.where(starts_at_zero(table), saddle_ranks, np.nan)


def first_saddle_losses(table: Table) -> np.ndarray:
    """Return each draw's loss when its second plateau begins, as a share of its first value; nan where it has none."""
    losses = select(table, LOSS).set_index(["seed", "time"])["value"]
    starts = _plateau_starts(table, AT_FIRST_SADDLE)
    return np.array(
        [
            np.nan if np.isnan(start) else losses.loc[(seed, start)] / losses.loc[(seed, 0.0)]
            for seed, start in starts.items()
        ]
    )


def starts_at_zero(table: Table) -> np.ndarray:
    """Return for each draw whether its loss starts on a plateau, shape (draws,) of bool."""
    return (_plateau_starts(table, AT_ZERO) < 0.01 * table["time"].max()).to_numpy()


def _plateau_starts(table: Table, number: int) -> pd.Series:
    """Return when each draw enters its plateau of this number, nan where it has none, by seed."""
    starts = table[(table["quantity"] == quantities.PLATEAU_START) & (table["index"] == number)].set_index("seed")[
        "value"
    ]
    return starts.reindex(np.sort(table["seed"].unique()))


def typical_draw(table: Table, percent: int, loss: float) -> int:
    """Return the first draw that is fitted at rank 2 after a second plateau of rank 1, as the paper's figures show.

    Without such a draw, the first that is fitted at rank 2; without that, the first of all.
    """
    ends = fitted_draws(table, loss) & (last_ranks(table, percent) == 2)
    follows = ends & (first_saddle_ranks(table, percent) == 1)
    for candidates in (follows, ends):
        if candidates.any():
            return int(np.flatnonzero(candidates)[0])
    return 0
