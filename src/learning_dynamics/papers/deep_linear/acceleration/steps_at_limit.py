"""How many steps the end-to-end update takes at the largest learning rate that is stable, in compiled loops.

The update is that of `lp_regression.descend` by the end-to-end rule, written again for two weights. A step takes 0.07
microseconds. In `lp_regression.descend` a step of one member takes 0.8 microseconds if 270 members descend at once, and
90 if it descends alone. Descents take up to three million steps at each of dozens of rates. A test compares the two.
"""

import numba
import numpy as np

# a descent is given up after this many times the fewest steps so far: a learning rate that needs more is not in
# proportion to its neighbours; chosen
PATIENCE = 300
AT_ONCE = 100_000  # the most steps in one call of compiled code, which no signal interrupts: 7 milliseconds
# what `_advance` returns instead of a number of steps: the descent has not arrived yet, or it has diverged
ON_ITS_WAY, LOST = -1, -2


def steps_at_limit(
    start: np.ndarray,
    rates: np.ndarray,
    *,
    stiffness: float,
    exponent: float,
    depth: int,
    target: float,
    cap: int,
    below: int,
    slack: float,
) -> tuple[int, float, int]:
    """Return the steps to a loss of `target` at the largest stable learning rate, that rate, and the fewest steps.

    The loss is the mean of |x.w - 1|^p, with the `exponent` p, over the samples stiffness e_1 and e_2. At depth 1 the
    update is gradient descent. A rate arrives if the loss falls to `target` in at most `cap` steps. It is stable if it
    and the next `below` smaller rates all arrive, and none of them takes more than `slack` times the steps that it
    would take if steps were inversely proportional to rates. A larger rate may arrive by luck, with fewer steps.

    Rates are tried from the largest down, until one is known to be stable. For example, let `below` be 2, and let the
    rates 8, 4, 2, 1 and 1/2 take 3 steps, diverge, and take 50, 100 and 200 steps. The rate 2 is the first one with two
    smaller rates in proportion. So it is the largest stable one, though the rate 8 arrives in 3 steps, by luck.

    Parameters
    ----------
    start : ndarray, shape (2,)
        Weights at the start.
    rates : ndarray, shape (rates,), ascending

    Returns
    -------
    steps : int
        To `target`, at the largest stable rate. -1 if no rate is stable; also if the largest of `rates` is, since then
        even larger ones, which are not tried, may be.
    rate : float
        The largest stable rate; 0 where `steps` is -1.
    fewest : int
        The fewest steps to `target` over all rates that were tried; -1 if none arrived.
    """
    steps = np.full(len(rates), -1)
    fewest, limit = -1, cap
    for place in reversed(range(len(rates))):
        steps[place] = _steps(start, rates[place], stiffness, exponent, depth, target=target, cap=limit)
        if steps[place] >= 0 and (fewest < 0 or steps[place] < fewest):
            fewest = int(steps[place])
            limit = min(cap, PATIENCE * max(fewest, 1))
        # rates are known to be stable from below: when this rate is done, the one `below` places higher can be judged
        highest = place + below
        neighbours = steps[place : highest + 1]
        if highest < len(rates) and np.all(neighbours >= 0):
            # the steps that the rates from this one up to the highest would take
            in_proportion = steps[highest] * rates[highest] / rates[place : highest + 1]
            if np.all(neighbours <= slack * in_proportion):
                if highest == len(rates) - 1:
                    break  # the limit is beyond the grid
                return int(steps[highest]), float(rates[highest]), fewest
    return -1, 0.0, fewest


def _steps(
    start: np.ndarray, rate: float, stiffness: float, exponent: float, depth: int, *, target: float, cap: int
) -> int:
    """Return after how many steps the loss is at most the target; -1 if it diverges, or is above after `cap` steps."""
    weights, first = start.copy(), -1.0
    # the loss is compared with the target `cap` + 1 times, before each step and after the last
    for begun in range(0, cap + 1, AT_ONCE):
        count = min(AT_ONCE, cap + 1 - begun)
        steps, first = _advance(weights, first, stiffness, exponent, depth, rate, target, count)
        if steps != ON_ITS_WAY:
            return begun + steps if steps != LOST else -1
    return -1


@numba.njit(error_model="numpy")
def _advance(weights, first, stiffness, exponent, depth, rate, target, count):
    """Take up to `count` steps, changing the weights; return a number of steps or a code, and the loss at the start.

    The number is how many of these steps were taken until the loss was at most the target; the codes are `ON_ITS_WAY`
    and `LOST`. `first`, the loss at the start of descent, is negative in the first call, which does not know it yet.
    """
    for step in range(count):
        long, short = stiffness * weights[0] - 1, weights[1] - 1
        powers = _power(abs(long), exponent - 2), _power(abs(short), exponent - 2)
        loss = (powers[0] * long**2 + powers[1] * short**2) / 2
        if first < 0:
            first = loss
        if loss <= target:
            return step, first
        if not loss < 1e6 * first:  # as `lp_regression.DIVERGED`; nan has diverged
            return LOST, first
        # the gradient g, and the update |w|^(2 - 2/N) (g + (N - 1) <w, g> w / |w|^2), as in `lp_regression`
        slope = exponent * powers[0] * long * stiffness / 2, exponent * powers[1] * short / 2
        size = weights[0] ** 2 + weights[1] ** 2
        inner = weights[0] * slope[0] + weights[1] * slope[1]
        factor, along = rate * _power(size, 1 - 1 / depth), (depth - 1) * inner / size
        for k in range(2):
            weights[k] -= factor * (slope[k] + along * weights[k])
    return ON_ITS_WAY, first


@numba.njit
def _power(base, exponent):
    """Raise to a power; for some exponents by multiplication or a root, which takes a tenth of the time.

    These are p - 2 at p = 2, 3, 4 and 6, and 1 - 1/N at the depths N = 1 and 2.
    """
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
