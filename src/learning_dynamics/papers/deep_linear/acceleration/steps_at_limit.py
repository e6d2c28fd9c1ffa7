"""How many steps the end-to-end update takes at the largest learning rate that is stable, in compiled loops."""

from collections.abc import Generator

import numba
import numpy as np

PATIENCE = 300  # times the fewest steps so far: a rate that needs more is not in proportion to its neighbours
AT_ONCE = 100_000  # steps of compiled code, which no signal interrupts
ON_ITS_WAY, ARRIVED, LOST = range(3)

Found = tuple[int, float, int]  # steps, rate, fewest of `steps_at_limit`


def steps_at_limit(
    starts: np.ndarray,
    stiffness: float,
    exponent: float,
    depth: int,
    rates: np.ndarray,
    target: float,
    cap: int,
    *,
    below: int,
    slack: float,
) -> list[Found]:
    """Return for each start the steps to a loss of `target` at the largest stable rate, that rate, and the fewest.

    The loss is the mean of |x.w - 1|^p over the samples stiffness e_1 and e_2. The update is that of
    `lp_regression.descend` by the end-to-end rule; at depth 1 it is gradient descent. A rate is stable if it and the
    next `below` smaller ones all arrive, and none of them takes more than `slack` times the steps that it would if
    steps were inversely proportional to rates. A larger rate may arrive by luck, with fewer steps.

    Parameters
    ----------
    starts : ndarray, shape (starts, 2)
        Their steps are taken in turn: a processor works on several at once that do not wait for each other.
    rates : ndarray, shape (rates,), ascending
    cap : int
        The most steps to wait.

    Returns
    -------
    list of tuple
        steps : -1 if no rate is stable, or the largest of all is; rate : 0 if there is none; fewest : over all rates
        that were tried, -1 if none arrived.
    """
    if not len(rates):
        return [(-1, 0.0, -1)] * len(starts)
    searches = [_search(rates, cap, below, slack) for _ in starts]
    found: list[Found] = [(-1, 0.0, -1)] * len(starts)
    rate, limit = np.array([next(search) for search in searches]).T
    weights, taken = starts.copy(), np.zeros(len(starts), dtype=int)
    first, state = np.full(len(starts), -1.0), np.full(len(starts), ON_ITS_WAY)
    while len(running := np.flatnonzero(state == ON_ITS_WAY)):
        _advance(running, weights, taken, first, state, rate, limit, stiffness, exponent, depth, target, AT_ONCE)
        for start in running[state[running] != ON_ITS_WAY]:
            try:
                steps = int(taken[start]) if state[start] == ARRIVED else -1
                rate[start], limit[start] = searches[start].send(steps)
            except StopIteration as end:
                found[start] = end.value
            else:
                weights[start], taken[start], state[start] = starts[start], 0, ON_ITS_WAY
    return found


def _search(rates: np.ndarray, cap: int, below: int, slack: float) -> Generator[tuple[float, int], int, Found]:
    """Yield a rate and how many steps to wait, be sent the steps that it takes or -1, and return what is found."""
    steps = np.full(len(rates), -1)
    fewest, limit = -1, cap
    for place in reversed(range(len(rates))):
        steps[place] = yield rates[place], limit
        neighbours = steps[place : place + below + 1]
        if steps[place] >= 0 and (fewest < 0 or steps[place] < fewest):
            fewest = int(steps[place])
            limit = min(cap, PATIENCE * max(fewest, 1))
        highest = place + below
        if highest < len(rates) and np.all(neighbours >= 0):
            in_proportion = steps[highest] * rates[highest] / rates[place : highest + 1]
            if np.all(neighbours <= slack * in_proportion):
                if highest == len(rates) - 1:
                    break
                return int(steps[highest]), float(rates[highest]), fewest
    return -1, 0.0, fewest


@numba.njit(error_model="numpy")
def _advance(running, weights, taken, first, state, rate, limit, stiffness, exponent, depth, target, count):
    """Take steps from the running starts in turn, until one of them has ended or `count` are taken."""
    for _ in range(count):
        ended = False
        for start in running:
            long, short = stiffness * weights[start, 0] - 1, weights[start, 1] - 1
            powers = _power(abs(long), exponent - 2), _power(abs(short), exponent - 2)
            loss = (powers[0] * long**2 + powers[1] * short**2) / 2
            if first[start] < 0:
                first[start] = loss
            if loss <= target:
                state[start] = ARRIVED
            elif not loss < 1e6 * first[start] or taken[start] == limit[start]:
                state[start] = LOST
            if state[start] != ON_ITS_WAY:
                ended = True
                continue
            slope = exponent * powers[0] * long * stiffness / 2, exponent * powers[1] * short / 2
            size = weights[start, 0] ** 2 + weights[start, 1] ** 2
            inner = weights[start, 0] * slope[0] + weights[start, 1] * slope[1]
            factor, along = rate[start] * _power(size, 1 - 1 / depth), (depth - 1) * inner / size
            for k in range(2):
                weights[start, k] -= factor * (slope[k] + along * weights[start, k])
            taken[start] += 1
        if ended:
            return


@numba.njit
def _power(base, exponent):
    """Raise to a power, by multiplication where that is all: a tenth of the time."""
    if exponent == 0:
        return 1.0
    if exponent == 0.5:
        return np.sqrt(base)
    if exponent == 1:
        return base
    if exponent == 2:
        return base**2
    if exponent == 4:
        return base**4
    return base**exponent
