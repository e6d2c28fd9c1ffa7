"""The rank of a ReLU student, at the end and at the first saddle."""

from __future__ import annotations

import pandas as pd

from learning_dynamics.claims import Outcome, claim, share_at_least
from learning_dynamics.papers.spectral_bias.evidence import led_by
from learning_dynamics.papers.spectral_bias.selections import select, settled_rank
from learning_dynamics.settings import Count
from learning_dynamics.tables import Tables


@claim("Figure 2", "share of draws at small scale that end at rank 2")
def relu_low_rank(tables: Tables, *, share: Count) -> Outcome:
    """A ReLU student of 20 neurons ends near rank 2, the teacher's, from small weights, and at high rank from large.

    Rank is the number of singular values that carry 95 % of |W|². The paper shows one draw; over many, rank 2
    is the rule at small scale and not the law: some draws need one direction only, others keep a third. At
    large scale no draw ends at rank 2.
    """
    small, large = (settled_rank(table, share, table["time"].max()) for table in tables.values())
    two, many = int((small == 2).sum()), int((large > 2).sum())
    return Outcome(
        led_by(
            share_at_least(two, len(small), 0.5, because="rank 2 in most draws"),
            share_at_least(many, len(large), 0.9, because="above rank 2 in nearly all draws at large scale"),
        ),
        len(small) + len(large),
    )


@claim("Figure 5", "share of draws whose hidden layer has rank 1 at the first plateau after the start")
def relu_phase_one(tables: Tables, *, share: Count) -> Outcome:
    """From small weights the loss descends from saddle to saddle, and the first saddle after zero has rank 1.

    A plateau is a stretch where the loss falls more slowly than 1/√t while time grows by a quarter or more, at
    more than 10⁻⁴ of its first value. Every draw starts on one, at zero. Of those that meet another, most have
    learnt a single direction when it begins: 95 % of |W|² in one singular value. It takes small weights: from
    ten times larger ones fewer than half of the draws meet a second plateau, as the sensitivity check shows.
    """
    (table,) = tables.values()
    ranks = _first_saddles(table, share)
    starts = select(table, "plateau_start")
    at_zero = starts[(starts["index"] == 1) & (starts["value"] < 0.01 * table["time"].max())]["seed"].nunique()
    seeds = table["seed"].nunique()
    return Outcome(
        led_by(
            share_at_least(int((ranks == 1).sum()), len(ranks), 0.5, because="rank 1 in most draws that meet a saddle"),
            share_at_least(len(ranks), seeds, 0.5, because="most draws meet a second plateau"),
            share_at_least(at_zero, seeds, 0.9, because="nearly all start on a plateau"),
        ),
        seeds,
    )


def _first_saddles(table: pd.DataFrame, share: int) -> pd.Series:
    """Rank of the hidden layer when the loss settles on its first plateau after the start, by seed.

    Seeds whose loss curve has no second plateau are left out.
    """
    starts = select(table, "plateau_start")
    starts = starts[starts["index"] == 2].set_index("seed")["value"]
    rows = select(table, "rank")
    rows = rows[rows["index"] == share].set_index(["seed", "time"])["value"]
    return pd.Series({seed: rows.loc[(seed, time)] for seed, time in starts.items()}, dtype=float)
