"""Checks of where flows end, all draws of all runs together: how slowly directions settle, and predicted limits.

- Time is the column `log_log_time`: log log t, or log(1 + log(1 + t)) exactly.
- A lag is what a margin or direction still lacks of its limit at the last time.
- M(-u) is the network's data tensor at -u, with u the limit direction of X^T r; layers tend to its singular vectors
  (Theorem 1).
- From a log t of the order of `sharpness` on the exponent of the loss is capped (`exponential_flow`).
- `slack` is a setting of claims: a factor on each bound, for the numbers of order one that laws in log t leave open.
- Arrays have shape (draws,).
"""

from collections.abc import Mapping

import numpy as np

from learning_dynamics.judging import Check, Claim, equal_on_every_draw, every_draw, takes_rivals
from learning_dynamics.papers.tensor_networks.tables import MARGIN, OTHER_DEPTH, OTHER_SCALE
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# Relative error of a flow's limit, in units of rtol, the error that the integrator allows itself in each step. Flows to
# a limit take 300 to 3,400 steps. Of five seeds the worst flow was off by 730 times rtol. Chosen: nearly three times
# as much.
LIMIT_ERROR = 2000.0
RIVAL_MINIMISERS = {"the minimiser for one more layer": OTHER_DEPTH, r"the minimiser for $2 \alpha$": OTHER_SCALE}
LAG = r"the largest distance from the limit that theory leaves, $1 / (e \log \log t)$"


def largest_lag(flows: Draws, slack: float) -> float:
    """Return the largest lag that a direction may have at the last time.

    Let a singular direction have the fraction s of the largest singular value of M(-u), delta = 1 - s and tau = log
    log t. The direction lowers a margin by delta exp(-delta tau), times its share at the start, a number of order one
    that `slack` bounds. Whatever the data, delta exp(-delta tau) is largest at delta = 1 / tau, where it is
    1 / (e tau): at a tau of 3200, 1.1e-4.

    A residual of the singular-vector equations is linear in the layers' component along the direction, which is the
    root of its share. The residual is of order delta exp(-delta tau / 2), at most 2 / (e tau): `slack` bounds the 2 as
    well. The argument is for two layers; the same bound is asked of three.
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
        Draws that were left out.
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
    """Return margins at the last time at which the loss's exponent is exact to a hundredth, shape (draws,)."""
    return flows.per_table(lambda flow: flow.where(log_log_time=last_exact_log_log_time(flow.tables[0]))[MARGIN])


@takes_rivals("power")
def loss_vanishes(flows: Draws, slack: float, *, power: float) -> Check:
    """Check that the loss falls like a power of 1 / t, as long as its exponent is not capped.

    The margin is then that power of log t, but for (2 - 2 / L) log log t and a number of order one.
    """
    log_log_time = min(map(last_exact_log_log_time, flows.tables))
    return every_draw(
        rf"loss $\to 0$ like $t^{{-{power:g}}}$, before its cap: $|\min_i y_i f(x_i) / \log t - {power:g}|$",
        np.abs(last_exact_margins(flows) - power),
        at_most=slack * log_log_time * np.exp(-log_log_time),
        because=rf"{slack:g} times $\log \log t / \log t$: $\log 1 / \mathcal{{L}} = \log t + (2 - 2 / L) \log \log t$ "
        "and a number of order one",
    )


# -- limits that are predicted entry by entry --------------------------------------------------------------------------


def limit_error(flows: Draws) -> float:
    """Return the relative error that the integrator may make in a flow's limit."""
    return LIMIT_ERROR * flows.setting("integration.rtol").max()


@takes_rivals("predicted", scaled=True)
def check_limits(name: str, flows: Draws, measured: np.ndarray, predicted: np.ndarray) -> Check:
    """Check that limits of flows, shape (draws, entries), are those predicted, to the integrator's error."""
    return equal_on_every_draw(
        name, measured, predicted, tolerance=limit_error(flows), because="the integrator's tolerance, step by step"
    )


def limits_minimise(
    name: str,
    flows: Draws,
    limit: Quantity,
    *,
    printed: Quantity,
    corrected: Quantity | None = None,
    least_norms: Mapping[str, Quantity],
) -> Claim:
    """Yield a check that every flow's limit is the minimiser of Q (Theorem 4), entry by entry.

    The rivals are the minimisers for another depth and another scale, and solutions of least norm.

    Parameters
    ----------
    name : str
        The check's.
    flows : Draws
    limit : str
        The quantity that is the flow's limit.
    printed, corrected : str
        Quantities whose predictions, the column `predicted`, are the minimisers that the paper prints and its
        correction.
    least_norms : mapping from phrase to str
        The same for the solutions of least norm.
    """

    def predicted(quantity: Quantity) -> np.ndarray:
        return flows.entries(quantity, column="predicted")

    yield check_limits(
        name,
        flows,
        flows.entries(limit),
        predicted(printed),
        corrected=None if corrected is None else predicted(corrected),
        rivals={phrase: predicted(quantity) for phrase, quantity in {**RIVAL_MINIMISERS, **least_norms}.items()},
    )


def relative_distances(flows: Draws, quantity: Quantity) -> np.ndarray:
    """Return the distance of a quantity from its prediction, relative to the prediction's norm, shape (draws,)."""
    measured, predicted = flows.with_prediction(quantity)
    return np.linalg.norm(measured - predicted, axis=1) / np.linalg.norm(predicted, axis=1)
