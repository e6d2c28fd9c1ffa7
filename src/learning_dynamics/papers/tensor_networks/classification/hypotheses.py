"""What Theorems 1 and 2, Corollary 1 and equation (14) assume of a flow.

X^T r is the sum of all points x_i with the weights r_i = -y_i exp(-y_i f(x_i)), the residuals of the exponential loss.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, every_draw, premise
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.limit_checks import (
    largest_lag,
    last_exact_log_log_time,
    last_exact_margins,
    second_half,
)
from learning_dynamics.tidy import Draws, Quantity, Table, draw_columns

STILL_TURNS = "$X^T r$ still turns, and may not converge in direction, as the theorem assumes"
# Largest share of the draws of an architecture at one depth that may be left out; chosen: three quarters are judged.
MOST_LEFT_OUT = 0.25


def last_exact_log_time(flows: Draws) -> float:
    """Return the log t up to which all flows are those of the exponential loss itself.

    `limit_checks.last_exact_log_log_time` gives the log log t of one table.
    """
    return float(np.expm1(min(map(last_exact_log_log_time, flows.tables))))  # log log t is log(1 + log t)


def falls_below_one(flows: Draws) -> Check:
    """Check what Theorem 1, Corollary 1 and (14) assume: that the loss falls below one."""
    # A loss of n points is at most n exp(-least margin). Chosen: n = 100, more points than any data set here has.
    return premise(
        every_draw(
            r"the loss is below one before its exponent is capped: $\min_i y_i f(x_i) / \log t$",
            last_exact_margins(flows),
            at_least=np.log(100) / last_exact_log_time(flows),
            because="with such a margin the loss of a hundred points is below one",
        )
    )


def at_rest(tables: Sequence[Table], slack: float, *, residuals: Sequence[Sequence[Quantity]], **where: Any) -> Draws:
    """Return the draws that Theorems 1 and 2 are about: without those whose X^T r still turns late.

    Two kinds of draws that turn are kept, to be undecided (`still_turns`). Of the first a residual is beyond the bound
    and does not fall, so that more time might not help it. The second are all draws of an architecture of which more
    than a quarter turn. A draw without a number is kept as well.

    Parameters
    ----------
    residuals : sequence of sequences of str
        For each table, the quantities that vanish on draws at rest, by the theorem.
    **where
        Which rows are read, as for `select`.
    """
    flows = Draws(tables, **where)
    # arrays below have shape (draws,), the draws of one table after those of another
    turns = still_turns(flows, slack)
    by_architecture = pd.Series(turns).groupby([flows.column("network"), flows.column("depth")])
    share_turning = by_architecture.transform("mean").to_numpy()  # of the draws of its architecture
    has_residual_beyond = []
    for of_table, vanishing in zip(flows, residuals, strict=True):
        stays_beyond = [_stays_beyond(of_table, residual, slack) for residual in vanishing]
        has_residual_beyond.append(np.any(stays_beyond, axis=0))
    is_left_out = turns & ~np.concatenate(has_residual_beyond) & (share_turning <= MOST_LEFT_OUT)
    return Draws(_tables_without(flows, is_left_out), **where)


def _tables_without(flows: Draws, is_left_out: np.ndarray) -> list[Table]:
    """Return the tables without the rows of the draws of a mask, in which draws of one table come after another's."""
    kept, first = [], 0
    for of_table in flows:
        (table,) = of_table.tables
        names = draw_columns(table)
        draws = pd.MultiIndex.from_arrays([of_table.column(name) for name in names])
        draws_left_out = draws[is_left_out[first : first + len(draws)]]
        draw_of_row = pd.MultiIndex.from_frame(table[names])
        kept.append(table[~draw_of_row.isin(draws_left_out)])
        first += len(draws)
    return kept


def left_out(flows: Draws, judged: Draws) -> dict[str, int]:
    """Return how many draws `at_rest` leaves out, by the reason."""
    return {STILL_TURNS: len(flows.column("seed")) - len(judged.column("seed"))}


def still_turns(flows: Draws, slack: float) -> np.ndarray:
    """Return of each draw whether X^T r turns late by more than a direction at rest, shape (draws,)."""
    return _late_turns(flows) > _largest_turn(flows, slack)


def _late_turns(flows: Draws) -> np.ndarray:
    """Return the degrees by which X^T r turns over the second half of log log t, shape (draws,)."""
    return second_half(flows).largest(quantities.TURN_OF_RESIDUALS)


def _stays_beyond(flows: Draws, residual: Quantity, slack: float) -> np.ndarray:
    """Return of each draw whether its residual ends beyond the bound, and has not fallen by a tenth since halfway."""
    sizes = np.abs(second_half(flows).entries(residual))  # shape (draws, times)
    # a tenth, chosen: the change from which on a quantity is on its way in `limit_checks.still_changes` too
    return (sizes[:, -1] > largest_lag(flows, slack)) & (1.1 * sizes[:, -1] > sizes[:, 0])


def _largest_turn(flows: Draws, slack: float) -> float:
    """Return the degrees up to which a direction counts as at rest: the largest lag, as an angle."""
    return float(np.degrees(largest_lag(flows, slack)))


def residuals_converge(flows: Draws, slack: float) -> Check:
    """Check what Theorems 1 and 2 assume: that X^T r converges in direction; draws in which it turns are undecided.

    No draw can fail. It is no `premise`, which would leave a claim undecided for one draw that turns while another, at
    rest, contradicts it.
    """
    return every_draw(
        r"$X^T r$ converges in direction: degrees by which it turns over the second half of $\log\log t$",
        _late_turns(flows),
        at_most=_largest_turn(flows, slack),
        because="as an angle, the bound on what vanishes",
        undecided=still_turns(flows, slack),
        fact="turned",
    )
