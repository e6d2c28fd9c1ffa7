"""Where a ReLU student's training ends, and the saddles on its way: ranks, losses and plateaus, read off its table.

W is the student's hidden layer, |.| the Frobenius norm. A plateau is a stretch of time on which the loss hardly falls,
as `metrics.relu_descent` finds them; plateaus of a draw are numbered in the order of time. The first is at the saddle
at zero, where all weights are small, if the draw starts on it; the second is then the first saddle on the way.

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
    """Return for each draw whether its loss ends at the share `loss` of its first value or below, (draws,) of bool.

    A draw that diverged has nan as its loss, and is not fitted.
    """
    curves = Draws(table).entries(LOSS)  # shape (draws, times)
    return curves[:, -1] <= loss * curves[:, 0]


def last_ranks(table: Table, percent: int) -> np.ndarray:
    """Return how many singular values carry so many percent of |W|^2 at the end, shape (draws,)."""
    # the column `index` of a rank is the percentage; entries are (draws, times)
    return Draws(table, index=percent).entries(quantities.RANK)[:, -1]


def plateaus(table: Table, seed: int) -> list[tuple[float, float]]:
    """Return first and last time of each of one draw's plateaus, in the order of time."""
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
    ranks = _when_second_plateau_begins(table, select(table, quantities.RANK, index=percent))
    return np.where(starts_at_zero(table), ranks, np.nan)


def first_saddle_losses(table: Table) -> np.ndarray:
    """Return each draw's loss when its second plateau begins, as a share of its first value; nan where it has none."""
    first_losses = Draws(table).entries(LOSS)[:, 0]
    return _when_second_plateau_begins(table, select(table, LOSS)) / first_losses


def starts_at_zero(table: Table) -> np.ndarray:
    """Return for each draw whether its loss starts on a plateau, shape (draws,) of bool.

    It does if its first plateau begins within the first hundredth of the time, a share that is chosen.
    """
    return (_plateau_starts(table, AT_ZERO) < 0.01 * table["time"].max()).to_numpy()


def _when_second_plateau_begins(table: Table, rows: pd.DataFrame) -> np.ndarray:
    """Return each draw's value when its second plateau begins, from rows with a value for each draw and time.

    nan where a draw has no second plateau.
    """
    values = rows.set_index(["seed", "time"])["value"]
    starts = _plateau_starts(table, AT_FIRST_SADDLE)
    return np.array([np.nan if np.isnan(start) else values.loc[(seed, start)] for seed, start in starts.items()])


def _plateau_starts(table: Table, number: int) -> pd.Series:
    """Return when each draw enters its plateau of this number, nan where it has none, by seed."""
    rows = table[(table["quantity"] == quantities.PLATEAU_START) & (table["index"] == number)]
    return rows.set_index("seed")["value"].reindex(np.sort(table["seed"].unique()))


def typical_draw(table: Table, percent: int, loss: float) -> int:
    """Return the first draw that is fitted at rank 2 after a second plateau of rank 1, as the paper's figures show.

    Without such a draw, the first that is fitted at rank 2; without that, the first of all.
    """
    is_fitted_at_rank_2 = fitted_draws(table, loss) & (last_ranks(table, percent) == 2)
    passes_rank_1 = is_fitted_at_rank_2 & (first_saddle_ranks(table, percent) == 1)
    for candidates in (passes_rank_1, is_fitted_at_rank_2):
        if candidates.any():
            return int(np.flatnonzero(candidates)[0])
    return 0
