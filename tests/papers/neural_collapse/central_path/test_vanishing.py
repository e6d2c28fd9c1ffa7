"""Checks that a distance falls as a power of the spread: on a made-up flow, with tolerances computed by hand.

With the singular values omega the spread is omega_max / omega_min - 1, which falls as 1 / t. One check is of the
distance's exponent in t, over the latest decade at whose end the spread is a hundred times the integrator's error. The
other is of the share of the distance at the end of this decade that is left at the last time.
"""

import pandas as pd
import pytest

from learning_dynamics.papers.neural_collapse.central_path.vanishing import vanishing_checks

# From t = 1 on the spread is 0.05 / t, and the integrator's error is 20 rtol = 1e-6: at t = 100 the spread is 500
# errors and visible, at t = 1000 it is 50 and no longer is. So the exponent is read from t = 10 to t = 100
TIMES = (0.0, 1.0, 10.0, 100.0, 1e3, 1e4)
SPREADS = (1.0, 5e-2, 5e-3, 5e-4, 5e-5, 5e-6)
RTOL = 5e-8
# the next order, in tolerances, is 2 C / omega^2 for the least omega: for C = 3, 0.2 at t = 10 and 0.05 at t = 100
LEAST_OMEGA_SQUARED = (3.0, 10.0, 30.0, 120.0, 400.0, 1200.0)
# of the exponent: the next order at the start of the decade, and the error over the spread at its end
TOLERANCE = 0.2 + 1e-6 / 5e-4
# of the spread at t = 100, the share that may be left at t = 10^4: what its law leaves to the next order, 0.05, and
# twice the error over the spread at t = 100
LARGEST_SHARE = (1 / 100) ** (1 - 0.05) + 2 * 1e-6 / 5e-4


def states_of_checks(power_of_spread, *, exponent, share_left):
    """Return the states of both checks, of exponent and share left, for a distance that should fall as a power.

    The distance is one at t = 100. It has the exponent from t = 10 to t = 100, and `share_left` is left of it later.
    """
    at_10 = 0.1**exponent
    distances = (at_10, at_10, at_10, 1.0, share_left, share_left)
    rows = []
    for time, spread, least, distance in zip(TIMES, SPREADS, LEAST_OMEGA_SQUARED, distances, strict=True):
        values = {("omega", 1): (2 * least) ** 0.5, ("omega", 2): least**0.5}
        values |= {("singular_value_spread", 0): spread, ("nc3", 0): distance}
        rows += [(time, quantity, index, value) for (quantity, index), value in values.items()]
    table = pd.DataFrame(rows, columns=["time", "quantity", "index", "value"])
    table = table.assign(classes=3, examples=6, features=4, seed=0, flow="orthogonal", step=0.0)
    table.attrs["settings"] = {"integration": {"rtol": RTOL}}
    exponent_check, share_check = vanishing_checks(
        table,
        quantity="nc3",
        flow="orthogonal",
        power_of_spread=power_of_spread,
        wrong_exponents={"a distance that stays": 0.0},
    )
    return exponent_check.state, share_check.state


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("side", [1, -1])
def test_an_exponent_may_be_off_by_the_next_order_where_the_decade_starts(power, side):
    for factor, expected in ((0.99, "holds"), (1.01, "fails")):
        exponent = power * (-1 + side * factor * TOLERANCE)  # -power, but for the tolerance
        assert states_of_checks(power, exponent=exponent, share_left=0.0) == (expected, "holds"), factor


@pytest.mark.parametrize("power", [1, 2])
def test_at_the_last_time_a_distance_may_be_what_its_law_leaves(power):
    """With twice the integrator's error besides."""
    for factor, expected in ((0.99, "holds"), (1.01, "fails")):
        states = states_of_checks(power, exponent=-power, share_left=(factor * LARGEST_SHARE) ** power)
        assert states == ("holds", expected), factor
