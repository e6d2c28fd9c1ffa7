"""Along training L_LS^perp becomes negligible, and L_NC1 is the largest term of the loss (section 2, figure 2).

The package's docstring has the symbols.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.neural_collapse.training.quantities import (
    LOSS_LS_PERP,
    LOSS_NC1,
    LOSS_NC1_DECAY,
    LOSS_NC23,
    Decay,
    with_decay,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    IN_SCOPE_TURNED_BY_STEPS,
    SCOPE,
    at_the_end,
    deviation_share,
    epochs_errors_end,
    last_epoch_at_full_rate,
    latest_early_epochs,
    loss_term,
    over_trainings,
    premise_errors_end,
    without_stl10_exceptions,
)
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table

# Settings of these claims, whose values are in workflow/config/neural_collapse.yaml:
# - largest_share (`least_squares_deviation_negligible`): largest L_LS^perp / L_LS that is negligible: a tenth, as a
#   figure shows it
# - parts: whether terms are whole (all), or without what weight decay adds to them (data)
# - since: first epoch that is judged: the latest one that counts as early (early, `latest_early_epochs`), the end of
#   train errors (zero_error), the first one after the learning rate has dropped (drop), or the last (end)
# - decay: the weight decay in the terms: the training's (trained), or a tenth of it, as copies of the authors' notebook
#   have it (notebook)
# - train_error: largest share of train images misclassified at which train errors count as ended: one in a thousand, at
#   which Papyan, Han and Donoho 2020 mark the effective beginning of the terminal phase of training

Period = Literal["early", "zero_error", "drop", "end"]  # values of `since`
# how names of checks call the period from the epoch `since` on
PERIODS = {
    "early": "from an early epoch on",
    "zero_error": "from zero train error on",
    "drop": "after the first drop",
    "end": "last epoch",
}


@claim("Section 2, Figure 2", scope=SCOPE + IN_SCOPE_TURNED_BY_STEPS, empirical=True, quantifier="all draws")
def least_squares_deviation_negligible(
    trainings: Sequence[Table],
    *,
    largest_share: Fraction,
    parts: Literal["all", "data"],
    since: Period,
    decay: Decay,
    train_error: Fraction,
) -> Claim:
    r"""During training the network's classifier becomes nearly the least-squares classifier of its features:
    $L_{LS}^\perp$ becomes negligible against $L_{LS}$ from an early epoch on, and stays so beyond zero train error.

    In every training there must be an early epoch from which on the share $L_{LS}^\perp/L_{LS}$ stays at
    {largest_share:g} or less. So the latest early epoch and all later recorded ones are judged. An early epoch is one
    before the first drop of the learning rate (in a training without drops, one of its first tenth) and not after train
    errors have ended.

    The largest share of a training over these epochs is {smallest_largest_share:.1g} to
    {largest_share_since_early:.1g}. Up to the latest early epoch shares are at most {largest_share_up_to_early:.1g}, at
    later ones at most {largest_share_after_early:.1g}. Train errors end at epochs {first_epoch_errors_end:.0f} to
    {last_epoch_errors_end:.0f}. Variants judge from the end of train errors on, from the drop on, or at the last epoch
    alone, where the share is at most {largest_share_at_end:.1g}. At the last epoch the least-squares classifier's
    weight decay makes {decay_share:.1g} of $L_{LS}$ (median over trainings). The rest is squared errors: $L_{LS}^\perp$
    without its own decay is {median_share_of_data:.1g} of these (median; largest {largest_share_of_data:.1g}). A
    variant has a tenth of the trained weight decay, as the authors' notebook seems to have it (`nc23_vanishes_first`).
    """
    included, excluded = without_stl10_exceptions(trainings)
    # For each table, epochs by seeds: L_LS^perp over L_LS = L_NC1 + L_NC2/3, the same without what decay adds to the
    # three terms, and, for a rival, L_NC1 over L_LS
    deviation_shares = [deviation_share(table, decay) for table in included]
    deviation_shares_without_decay = [deviation_share(table, decay, without_decay=True) for table in included]
    nc1_shares = []
    for table in included:
        nc1, nc23 = loss_term(table, LOSS_NC1, decay), loss_term(table, LOSS_NC23, decay)
        nc1_shares.append(nc1 / (nc1 + nc23))
    if parts == "data":
        judged_shares, qualifier = deviation_shares_without_decay, ", without decay"
    else:
        judged_shares, qualifier = deviation_shares, ""

    def largest_of_period(shares_by_table: Sequence[pd.DataFrame]) -> np.ndarray:
        """Return the largest share of each training in the judged period, shape (trainings,); nan if one of them is."""
        return np.array(
            [
                of_seed.max(skipna=False)
                for shares, table in zip(shares_by_table, included, strict=True)
                for of_seed in _by_seed_since(shares, table, since, train_error)
            ]
        )

    yield every_draw(
        f"largest $L_{{LS}}^\\perp / L_{{LS}}$, {PERIODS[since]}{qualifier}",
        largest_of_period(judged_shares),
        at_most=largest_share,
        because="a tenth: what a figure shows as negligible",
        excluded=excluded,
        rivals={  # each is another share
            "the first epoch's deviation": {"values": np.concatenate([shares.iloc[0] for shares in judged_shares])},
            "$L_{NC1}$ instead of the deviation": {"values": largest_of_period(nc1_shares)},
        },
    )
    yield premise_errors_end(included, excluded, train_error=train_error)

    # For each table, shape (seeds,): the largest share of each seed from the latest early epoch on, up to that epoch,
    # and after it. The text has them whatever period is judged
    since_early, up_to_early, after_early = [], [], []
    for shares, table in zip(deviation_shares, included, strict=True):
        recorded = shares.index.to_numpy()[:, None]
        latest = latest_early_epochs(shares, table, train_error).to_numpy()  # shape (seeds,)
        since_early.append(shares.where(recorded >= latest).max())
        up_to_early.append(shares.where(recorded <= latest).max())
        after_early.append(shares.where(recorded > latest).max())
    # shape (trainings,) each: the epoch at which train errors end, and terms and shares at the last epoch
    epochs_of_end = over_trainings(included, lambda table: epochs_errors_end(table, train_error))
    nc1_at_end, nc23_at_end, nc1_decay_at_end = (
        at_the_end(included, with_decay(term, decay)) for term in (LOSS_NC1, LOSS_NC23, LOSS_NC1_DECAY)
    )
    last_shares = np.concatenate([shares.iloc[-1] for shares in deviation_shares])
    last_shares_without_decay = np.concatenate([shares.iloc[-1] for shares in deviation_shares_without_decay])
    yield Facts(
        largest_share=largest_share,
        decay_share=np.median(nc1_decay_at_end / (nc1_at_end + nc23_at_end)),
        median_share_of_data=np.median(last_shares_without_decay),
        largest_share_of_data=np.max(last_shares_without_decay),
        largest_share_at_end=np.max(last_shares),
        largest_share_up_to_early=np.max(np.concatenate(up_to_early)),
        largest_share_after_early=np.max(np.concatenate(after_early)),
        smallest_largest_share=np.min(np.concatenate(since_early)),
        largest_share_since_early=np.max(np.concatenate(since_early)),
        first_epoch_errors_end=np.nanmin(epochs_of_end),
        last_epoch_errors_end=np.nanmax(epochs_of_end),
    )


@claim("Section 2, Figure 2", scope=SCOPE + IN_SCOPE_TURNED_BY_STEPS, empirical=True, quantifier="all draws")
def nc1_term_dominates(
    trainings: Sequence[Table],
    *,
    parts: Literal["all", "data"],
    since: Period,
    decay: Decay,
    train_error: Fraction,
) -> Claim:
    r"""From an early epoch on, $L_{NC1}$ is the dominant term of the loss: it is larger than $L_{NC2/3}$ and than
    $L_{LS}^\perp$.

    In every training the ratio of $L_{NC1}$ to the larger of the other two must be one or more at all recorded epochs
    from the latest early one on. An early epoch is one before the first drop of the learning rate, and not after train
    errors have ended. A training with a ratio below one at single recorded epochs alone, never at two in a row, is
    undecided, because $L_{LS}^\perp$ fluctuates from epoch to epoch. (Of two in a row the first may be the last epoch
    that is not judged.)

    The least ratio of a training is {smallest_least_ratio:.2g} to {largest_least_ratio:.2g}; at the last epoch ratios
    are at least {least_ratio_at_end:.2g}. Weight decay makes {decay_share:.2g} of $L_{NC1}$ at the last epoch (median
    over trainings). Without decay the least ratio is {smallest_least_ratio_of_data:.2g} to
    {largest_least_ratio_of_data:.2g}, and that at the last epoch {least_ratio_of_data_at_end:.2g} or more.
    `least_squares_deviation_negligible` tests whether $L_{LS}^\perp$ is negligible too.
    """
    included, excluded = without_stl10_exceptions(trainings)

    def ratio_to_larger(table: Table, term: Quantity, *, without_decay: bool) -> pd.DataFrame:
        """Return one of the three terms over the larger of the other two, epochs by seeds."""
        terms = {
            name: loss_term(table, name, decay, without_decay=without_decay)
            for name in (LOSS_NC1, LOSS_NC23, LOSS_LS_PERP)
        }
        one_other, another = (terms[name] for name in terms if name != term)
        return terms[term] / np.maximum(one_other, another)

    def least_ratio(term: Quantity, period: Period, *, without_decay: bool) -> np.ndarray:
        """Return the least `ratio_to_larger` in a period, shape (trainings,); nan if the ratio of one epoch is."""
        return np.array(
            [
                of_seed.min(skipna=False)
                for table in included
                for of_seed in _by_seed_since(
                    ratio_to_larger(table, term, without_decay=without_decay), table, period, train_error
                )
            ]
        )

    leaves_out_decay = parts == "data"
    least_ratios = least_ratio(LOSS_NC1, since, without_decay=leaves_out_decay)
    is_less_twice_in_a_row = np.concatenate(
        [
            _holds_twice_in_a_row_since(
                ratio_to_larger(table, LOSS_NC1, without_decay=leaves_out_decay) < 1, table, since, train_error
            )
            for table in included
        ]
    )
    other_terms = {"$L_{LS}^\\perp$ dominant": LOSS_LS_PERP, "$L_{NC2/3}$ dominant": LOSS_NC23}  # by rivals' phrases
    yield every_draw(
        f"least $L_{{NC1}}$ over the larger of the other terms, {PERIODS[since]}",
        least_ratios,
        at_least=1.0,
        because="the largest term",
        # trainings whose ratio is below one at single recorded epochs alone
        undecided=(least_ratios < 1) & ~is_less_twice_in_a_row,
        excluded=excluded,
        rivals={
            phrase: {
                "values": least_ratio(term, since, without_decay=leaves_out_decay),
                "undecided": None,  # a single recorded epoch at which the ratio is below one refuses a rival
            }
            for phrase, term in other_terms.items()
        },
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    nc1_at_end, nc1_decay_at_end = (
        at_the_end(included, with_decay(term, decay)) for term in (LOSS_NC1, LOSS_NC1_DECAY)
    )
    least_ratios_of_data = least_ratio(LOSS_NC1, since, without_decay=True)
    yield Facts(
        smallest_least_ratio=np.nanmin(least_ratios),
        largest_least_ratio=np.nanmax(least_ratios),
        least_ratio_at_end=least_ratio(LOSS_NC1, "end", without_decay=leaves_out_decay).min(),
        decay_share=np.median(nc1_decay_at_end / nc1_at_end),
        smallest_least_ratio_of_data=np.nanmin(least_ratios_of_data),
        largest_least_ratio_of_data=np.nanmax(least_ratios_of_data),
        least_ratio_of_data_at_end=least_ratio(LOSS_NC1, "end", without_decay=True).min(),
    )


def _by_seed_since(values: pd.DataFrame, table: Table, since: Period, train_error: float) -> list[pd.Series]:
    """Return a quantity, epochs by seeds, from the start of a period on, as a series for each seed.

    The series is empty, and its largest and least value nan, for a seed that has no epoch in the period: if train
    errors never end (`zero_error`), or if the learning rate never drops (`drop`).
    """
    starts = _starts(values, table, since, train_error)
    # where a start is nan the series is empty: comparisons with nan are false
    return [values.loc[values.index >= starts[seed], seed] for seed in values.columns]


def _holds_twice_in_a_row_since(holds: pd.DataFrame, table: Table, since: Period, train_error: float) -> np.ndarray:
    """Return whether something holds at two recorded epochs in a row, the later one in a period, shape (seeds,).

    `holds` has epochs as rows and seeds as columns.
    """
    epochs = holds.index.to_numpy()[:, None]  # shape (epochs, 1)
    is_judged = epochs >= _starts(holds, table, since, train_error).to_numpy()  # shape (epochs, seeds)
    at_previous = holds.shift(1, fill_value=False)
    return (holds & at_previous & is_judged).any().to_numpy()


def _starts(values: pd.DataFrame, table: Table, since: Period, train_error: float) -> pd.Series:
    """Return for each seed the epoch at which a period starts that goes on to the last epoch of `values`.

    It is the latest epoch that counts as early, the first at which train errors have ended (nan where they never do),
    the first after the learning rate has dropped (after the last epoch where it never does), or the last.
    """
    if since == "zero_error":
        return epochs_errors_end(table, train_error)
    if since == "early":
        return latest_early_epochs(values, table, train_error)
    if since == "drop":
        start = last_epoch_at_full_rate(table) + 1
    else:
        start = int(values.index[-1])
    return pd.Series(start, index=values.columns)
