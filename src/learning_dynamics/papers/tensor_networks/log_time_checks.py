"""Checks of what settles or vanishes like a power of log t under the exponential loss, and of how fast this loss falls.

- Flows are those of `exponential_flow`. Time is the column `log_log_time`: log log t, exactly log(1 + log(1 + t)).
- The exponent of the loss is exact to a hundredth up to a log t of a hundredth of the flow's setting `sharpness`. From
  a log t of the order of `sharpness` on it is capped (`exponential_flow`).
- X^T r is the gradient of the loss by the coefficients, and u the direction that it tends to. Layers tend in direction
  to singular vectors of M(-u), the network's data tensor at -u (Theorem 1). A singular direction is one of these.
- A lag is what a margin or a direction still lacks of its limit at the last time. A gap is the lag of a margin.
- `slack` is a setting of claims: a factor on each bound, for the numbers of order one that laws in log t leave open.
- Arrays have shape (draws,). A draw whose flow could not be followed is nan in all quantities, and the judge counts it
  as undecided.
- A rival of `vanishes` or `settles` is another quantity, which has to meet the same bound. `@takes_rivals` lets these
  functions take `rivals`, `printed`, `corrected` and `fact` besides the parameters that they show.
"""

from collections.abc import Mapping

import numpy as np

from learning_dynamics.judging import Check, every_draw, takes_rivals
from learning_dynamics.papers.tensor_networks.tables import MARGIN
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

NO_FALL = "a loss that does not fall"  # the rival of `loss_vanishes`
LAG = r"the largest distance from the limit that theory leaves, $1 / (e \log \log t)$"  # printed as a reason


def largest_lag(flows: Draws, slack: float) -> float:
    """Return the largest lag that a direction may have at the last time: slack / (e tau), with tau = log log t.

    Gaps are of two layers, or of fully connected networks. Let a singular direction have the fraction s of the largest
    singular value of M(-u), and let delta = 1 - s. Two layers have a component along it that lowers a margin by
    delta exp(-delta tau), times its share at the start, a number of order one that `slack` bounds. Whatever the data,
    delta exp(-delta tau) is largest at delta = 1 / tau, where it is 1 / (e tau).

    Residuals are of any depth L. The residual of the singular-vector equations, and that of the stationarity
    conditions, is at most L times the speed by which the layers' directions turn per log log t. A slow mode of the
    flow, of size a exp(-kappa tau), turns them at a kappa exp(-kappa tau), at most a / (e tau): `slack` bounds L times
    a. The derivation is in docs/tensor_networks.md.
    """
    return slack / (np.e * last_log_log_time(flows))


def last_log_log_time(flows: Draws) -> float:
    """Return the log log t to which all flows are followed."""
    return min(float(table["log_log_time"].max()) for table in flows.tables)


def second_half(flows: Draws) -> Draws:
    """Return the draws at the times of the second half of log log t."""
    return flows.where(log_log_time=lambda times: times >= times.max() / 2)


@takes_rivals("quantity")
def vanishes(
    name: str,
    flows: Draws,
    quantity: Quantity,
    slack: float,
    *,
    undecided: np.ndarray | None = None,
    excluded: Mapping[str, int] | None = None,
) -> Check:
    """Check that a quantity has vanished at the last time on every draw, up to the largest lag.

    A draw beyond the bound fails; by `settles` it is undecided while the quantity still changes.

    Parameters
    ----------
    name : str
        The check's.
    flows : Draws
        Flows of the exponential loss.
    quantity : str
        It has one number for each draw and time; its sign does not count.
    slack : float
        A claim's factor on the bound, as for `largest_lag`.
    undecided : ndarray of bool, shape (draws,), optional
        Draws that decide nothing.
    excluded : mapping from reason to count, optional
        How many draws were left out of `flows`, and why.
    """
    return every_draw(
        name,
        np.abs(flows.at_end("log_log_time")[quantity]),
        at_most=largest_lag(flows, slack),
        because=f"{slack:g} times {LAG}",
        undecided=undecided,
        excluded=excluded,
    )


@takes_rivals("quantity")
def settles(
    name: str,
    flows: Draws,
    quantity: Quantity,
    slack: float,
    *,
    undecided: np.ndarray | None = None,
    excluded: Mapping[str, int] | None = None,
) -> Check:
    """Check that a quantity has vanished, as `vanishes` does, but leave a draw undecided while the quantity changes.

    The parameters are those of `vanishes`.
    """
    values, bound = np.abs(flows.at_end("log_log_time")[quantity]), largest_lag(flows, slack)
    on_its_way = (values > bound) & still_changes(flows, quantity)
    return every_draw(
        name,
        values,
        at_most=bound,
        because=f"{slack:g} times {LAG}; a draw that is beyond it and still changes is undecided",
        undecided=on_its_way if undecided is None else on_its_way | undecided,
        excluded=excluded,
    )


def still_changes(flows: Draws, quantity: Quantity) -> np.ndarray:
    """Return whether the quantity changes by a tenth over the second half of log log t, shape (draws,).

    Layers that leave a singular vector for one of a slightly larger singular value do so more slowly than any power of
    log t, and what vanishes at either end grows on the way.
    """

    # A tenth is chosen. The slowest lag that `largest_lag` allows, exp(-delta tau) with delta = 1 / tau at the last
    # time, falls by a factor of e^(1/2) = 1.65 over this half.
    def changes(flow: Draws) -> np.ndarray:
        sizes = np.abs(flow.entries(quantity))  # shape (draws, times)
        return sizes.max(axis=1) > 1.1 * sizes.min(axis=1)

    return second_half(flows).per_table(changes)


def last_exact_log_log_time(table: Table) -> float:
    """Return the last log log t at which the loss's exponent is exact to a hundredth.

    That is a log t of a hundredth of the flow's `sharpness` (`exponential_flow`).
    """
    log_log_times = table["log_log_time"]
    return float(log_log_times[log_log_times <= np.log1p(settings_of(table)["integration"]["sharpness"] / 100)].max())


def last_exact_margins(flows: Draws) -> np.ndarray:
    """Return the least margins at the last time at which the loss's exponent is exact to a hundredth, shape (draws,).

    They are divided by log t, as `MARGIN` is: exactly by 1 + log(1 + t).
    """
    return flows.per_table(lambda flow: flow.where(log_log_time=last_exact_log_log_time(flow.tables[0]))[MARGIN])


def loss_vanishes(flows: Draws, slack: float, *, rival: str = NO_FALL, fact: str = "") -> Check:
    """Check that the loss has come near zero at the last time before its exponent is capped.

    A loss that stays away from zero has a least margin of order one, which `slack` bounds. The loss has vanished where
    the margin is larger; it is then at most exp(-slack) for each point. No power of t is asked for: a loss that falls
    like t^-p passes where p exceeds slack / log t. The number that is shown, the least margin over log t, is this p,
    but for terms that vanish over log t.

    Parameters
    ----------
    flows : Draws
        Flows of the exponential loss.
    slack : float
        The claim's factor on bounds.
    rival : str
        The phrase for the rival: a loss that stays away from zero, whose margins stay of order one.
    fact : str
        Field of the docstring for the least power.
    """
    log_log_time = min(map(last_exact_log_log_time, flows.tables))
    least = slack * np.exp(-log_log_time)  # exp(-log log t) is 1 / log t
    return every_draw(
        r"loss $\to 0$, before its cap: $\min_i y_i f(x_i) / \log t$",
        last_exact_margins(flows),
        at_least=least,
        because=rf"a least margin of {slack:g}: a loss that stays away from zero leaves a number of order one",
        rivals={rival: {"at_least": None, "at_most": least}},
        fact=fact,
    )
