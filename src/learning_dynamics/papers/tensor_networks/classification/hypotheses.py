"""What Theorems 1 and 2, Corollary 1 and equation (14) assume of a flow, and the draws that fulfil it.

f is the network, and x_i are the points with labels y_i. X^T r is the sum of all x_i with the weights
r_i = -y_i exp(-y_i f(x_i)), the residuals of the exponential loss. That it converges in direction cannot be seen at a
finite time. Instead, X^T r counts as at rest in a draw if its direction turns little over the second half of log log t;
otherwise it still turns. Two facts that hold by construction need no check: -X^T r is a combination of the y_i x_i with
positive weights, and a point whose margin exceeds the least one by a share of it has a weight that vanishes, relative
to the largest, like a power of t. So the limit u is in the cone of the support vectors (complementary slackness).

The bound on what vanishes in the limit is `log_time_checks.largest_lag`, with the claims' factor `slack`. Arrays have
shape (draws,), the draws of one table after those of the table before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, every_draw, premise
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.log_time_checks import (
    largest_lag,
    last_exact_log_log_time,
    last_exact_margins,
    second_half,
    settles,
    vanishes,
)
from learning_dynamics.tidy import Draws, Quantity, Table, draw_columns

STILL_TURNS = "$X^T r$ still turns, and may not converge in direction, as the theorem assumes"  # printed with a count
# Largest share of the draws of one network at one depth that may be left out; chosen: three quarters are judged.
MOST_LEFT_OUT = 0.25


def last_exact_log_time(flows: Draws) -> float:
    """Return the log t up to which all flows are those of the exponential loss itself, without a cap on its exponent.

    `log_time_checks.last_exact_log_log_time` returns the log log t of this for one table.
    """
    return float(np.expm1(min(map(last_exact_log_log_time, flows.tables))))  # log log t is log(1 + log t)


def falls_below_one(flows: Draws) -> Check:
    """Check what Theorem 1, Corollary 1 and (14) assume: that the loss falls below one."""
    # The loss of n points is at most n exp(-least margin), so that it is below one where the least margin, which is the
    # number checked times log t, is above log n. Chosen: n = 100, more points than any data set here has.
    return premise(
        every_draw(
            r"the loss is below one before its exponent is capped: $\min_i y_i f(x_i) / \log t$",
            last_exact_margins(flows),
            at_least=np.log(100) / last_exact_log_time(flows),
            because="with such a margin the loss of a hundred points is below one",
        )
    )


@dataclass(frozen=True)
class JudgedDraws:
    """The draws on which a theorem is judged that assumes that X^T r converges in direction.

    Attributes
    ----------
    all_flows : Draws
        All draws, with those that are left out.
    flows : Draws
        The draws that are judged (`draws_to_judge`).
    slack : float
        The claims' factor on the bound.
    """

    all_flows: Draws
    flows: Draws
    slack: float

    def of_depth(self, depth: int, **where: Any) -> JudgedDraws:
        """Return the draws of networks with so many layers; `where` takes some of their rows, as `select` does."""
        all_flows, flows = (dict(draws.groups("depth"))[depth].where(**where) for draws in (self.all_flows, self.flows))
        return JudgedDraws(all_flows, flows, self.slack)

    @property
    def undecided(self) -> np.ndarray:
        """Whether X^T r is not seen at rest in a judged draw: it still turns, or the flow could not be followed."""
        return ~(_late_turns(self.flows) <= _largest_turn(self.flows, self.slack))  # nan compares as false

    @property
    def excluded(self) -> dict[str, int]:
        """How many draws are left out, by the reason."""
        return {STILL_TURNS: len(self.all_flows.column("seed")) - len(self.flows.column("seed"))}

    @property
    def largest_turn(self) -> float:
        """The most degrees by which X^T r turns in a draw where it is at rest; nan if there is no such draw.

        Claims print it. That X^T r is at rest is no check: a draw that is not at rest contradicts no theorem.
        """
        turns = _late_turns(self.flows)[~self.undecided]
        return float(np.max(turns)) if turns.size else np.nan

    @property
    def options(self) -> dict[str, Any]:
        """The arguments `undecided` and `excluded` of a check on these draws."""
        return {"undecided": self.undecided, "excluded": self.excluded}

    def vanishes(self, name: str, quantity: Quantity, **others: Any) -> Check:
        """Check by `log_time_checks.vanishes` that a quantity has vanished; `others` are its rivals and its fact."""
        return vanishes(name, self.flows, quantity, self.slack, **self.options, **others)

    def settles(self, name: str, quantity: Quantity, **others: Any) -> Check:
        """Check by `log_time_checks.settles` that a quantity has vanished; `others` are its rivals and its fact."""
        return settles(name, self.flows, quantity, self.slack, **self.options, **others)


def draws_to_judge(
    tables: Sequence[Table], slack: float, *, vanishing: Mapping[int, Sequence[Quantity]], **where: Any
) -> JudgedDraws:
    """Return the draws on which Theorems 1 and 2 are judged: all but those that are left out.

    The theorems say nothing about a draw in which X^T r does not converge in direction. A draw's kind is its network at
    its depth. "Stays beyond" says that one of the quantities that vanish by the theorem is beyond its bound at the last
    time and has not fallen since halfway, so that more time might not help. Cases, the first that applies:

    ======================================================  ====================================================
    X^T r is at rest                                        judged
    the flow could not be followed: quantities are nan      kept; the judge counts it as undecided
    X^T r still turns, and so it does in more than          kept, undecided
    `MOST_LEFT_OUT` of the draws of this kind
    X^T r still turns, and a quantity stays beyond          kept, undecided
    X^T r still turns, otherwise                            left out
    ======================================================  ====================================================

    Parameters
    ----------
    tables : sequence of Table
        Flows of the exponential loss, of one depth each.
    slack : float
        The claims' factor on the bound.
    vanishing : mapping from number of layers to quantities
        The quantities that by the theorem vanish on draws at rest.
    **where
        Which rows are read, as for `select`.
    """
    flows = Draws(tables, **where)
    turns = _late_turns(flows) > _largest_turn(flows, slack)  # shape (draws,), of all tables; nan compares as false
    of_same_kind = pd.Series(turns).groupby([flows.column("network"), flows.column("depth")])
    share_turning = of_same_kind.transform("mean").to_numpy()  # of the draws of the same kind, for each draw
    # for each draw, whether one of its quantities stays beyond the bound
    stays_beyond = []
    for of_table in flows:
        (depth,) = set(of_table.column("depth"))
        of_each_quantity = [_stays_beyond(of_table, quantity, slack) for quantity in vanishing[depth]]
        stays_beyond.append(np.any(of_each_quantity, axis=0))
    is_left_out = turns & ~np.concatenate(stays_beyond) & (share_turning <= MOST_LEFT_OUT)
    judged = Draws(_tables_without(flows, is_left_out), **where)
    return JudgedDraws(all_flows=flows, flows=judged, slack=slack)


def _tables_without(flows: Draws, is_left_out: np.ndarray) -> list[Table]:
    """Return the tables of flows without the rows of the draws that are left out, by a mask over all draws in turn."""
    kept, first = [], 0  # `first` is the place of a table's first draw in the mask
    for of_table in flows:
        (table,) = of_table.tables
        names = draw_columns(table)
        draws = pd.MultiIndex.from_arrays([of_table.column(name) for name in names])
        draws_left_out = draws[is_left_out[first : first + len(draws)]]
        draw_of_row = pd.MultiIndex.from_frame(table[names])  # rows of other networks are of no draw here, and are kept
        kept.append(table[~draw_of_row.isin(draws_left_out)])
        first += len(draws)
    return kept


def _late_turns(flows: Draws) -> np.ndarray:
    """Return the most degrees by which X^T r is off its last direction in the second half of log log t, one a draw."""
    return second_half(flows).largest(quantities.TURN_OF_RESIDUALS)


def _stays_beyond(flows: Draws, quantity: Quantity, slack: float) -> np.ndarray:
    """Return, for each draw, whether a quantity ends beyond the bound and has not fallen by a tenth since halfway."""
    sizes = np.abs(second_half(flows).entries(quantity))  # shape (draws, times)
    # a tenth, chosen: the change from which on a quantity is on its way in `log_time_checks.still_changes` too
    return (sizes[:, -1] > largest_lag(flows, slack)) & (1.1 * sizes[:, -1] > sizes[:, 0])


def _largest_turn(flows: Draws, slack: float) -> float:
    """Return the degrees up to which a direction counts as at rest: the bound on what vanishes, as an angle."""
    return float(np.degrees(largest_lag(flows, slack)))
