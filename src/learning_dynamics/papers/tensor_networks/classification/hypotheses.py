"""What Theorems 1 and 2, Corollary 1 and equation (14) assume of a flow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, every_draw, premise
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.limit_checks import (
    largest_lag,
    last_exact_margins,
    last_exact_sigma,
    second_half,
)
from learning_dynamics.tidy import Draws, Table, draw_columns

STILL_TURNS = "$X^T r$ still turns, and may not converge in direction, as the theorem assumes"


def last_exact_log_time(flows: Draws) -> float:
    """Return the log t up to which all flows are those of the exponential loss itself, log log t = log(1 + log t)."""
    return float(np.expm1(min(map(last_exact_sigma, flows.tables))))


def falls_below_one(flows: Draws) -> Check:
    """Check what Theorem 1, Corollary 1 and (14) assume: that the loss falls below one."""
    return premise(
        every_draw(
            r"the loss is below one before its exponent is capped: $\min_i y_i f(x_i) / \log t$",
            last_exact_margins(flows),
            at_least=np.log(100) / last_exact_log_time(flows),
            because="with such a margin the loss of a hundred points is below one",
        )
    )


def at_rest(tables: Sequence[Table], slack: float, **where: Any) -> Draws:
    """Return the draws that Theorems 1 and 2 are about: without those whose X^T r still turns late.

    These are all draws where half or more of an architecture's draws of one depth still turn: what is left of it would
    say little, and `residuals_converge` finds that the premise is not met. A draw without a number stays.

    Parameters
    ----------
    **where
        Which rows are read, as for `select`.
    """
    flows = Draws(tables, **where)
    still_turns = _late_turns(flows) > _largest_turn(flows, slack)
    kinds = [flows.column("network"), flows.column("depth")]
    if (pd.Series(still_turns).groupby(kinds).mean() >= 0.5).any():
        return flows
    ends = np.cumsum([len(of_table.column("seed")) for of_table in flows])
    kept = []
    for of_table, turning in zip(flows, np.split(still_turns, ends[:-1]), strict=True):
        (table,) = of_table.tables
        names = list(draw_columns(table))
        draws = pd.MultiIndex.from_arrays([of_table.column(name) for name in names])
        kept.append(table[~pd.MultiIndex.from_frame(table[names]).isin(draws[turning])])
    return Draws(kept, **where)


def left_out(flows: Draws, judged: Draws) -> dict[str, int]:
    """Return how many draws `at_rest` leaves out, by the reason."""
    return {STILL_TURNS: len(flows.column("seed")) - len(judged.column("seed"))}


def _late_turns(flows: Draws) -> np.ndarray:
    """Return the degrees by which X^T r turns over the second half of log log t, shape (draws,)."""
    return second_half(flows).largest(quantities.TURN_OF_RESIDUALS)


def _largest_turn(flows: Draws, slack: float) -> float:
    """Return the degrees up to which a direction counts as at rest."""
    return float(np.degrees(largest_lag(flows, slack)))


def residuals_converge(flows: Draws, slack: float) -> Check:
    """Check what Theorems 1 and 2 assume: that X^T r converges in direction."""
    return premise(
        every_draw(
            r"$X^T r$ converges in direction: degrees by which it turns over the second half of $\log\log t$",
            _late_turns(flows),
            at_most=_largest_turn(flows, slack),
            because="as an angle, the bound on what vanishes",
            fact="turned",
        )
    )
