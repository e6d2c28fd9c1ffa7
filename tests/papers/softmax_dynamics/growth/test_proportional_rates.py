"""Judges of rates proportional to singular values, the first part of Theorem B.3, on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.growth import claims
from tests.papers.softmax_dynamics.tables import flow_table

RTOL, SIMPLE = 2e-13, 0.01  # of the flows' integration; the least relative gap of a simple spectrum
# ten roundings over a difference step of a thousandth of that gap, and ten rtol over the gap, two terms about equal
TOLERANCE = 10 * np.finfo(float).eps / (1e-3 * SIMPLE) + 10 * RTOL / SIMPLE


def flow_with_errors(**errors: float) -> pd.DataFrame:
    """Return flows with rates as predicted, but for these errors of the first singular value of seed 0 at time 2."""
    sigma = np.array([2.0, 0.5])
    table = flow_table(
        {
            "sigma": (sigma, [np.nan] * 2),
            "rate_f": (0.7 * sigma, 0.7 * sigma),
            "rate_w": (0.7 * sigma, 0.7 * sigma),
            "speed_f": 2.0,
            "speed_w": 4.0,
            "gap": 0.3,
        },
        integration={"rtol": RTOL},
    )
    for quantity, error in errors.items():
        fifth = table.index[table["quantity"] == quantity][4]  # two singular values at each of times 0 and 1 precede it
        table.loc[fifth, "value"] += error
    return table


def random_starts(order: float) -> pd.DataFrame:
    """Return starts of one scale whose rates are sigma^order, times a random factor of either sign."""
    rng = np.random.default_rng(5)
    sigma = np.exp(rng.standard_normal(4000) * 0.5)
    return pd.DataFrame({"sigma": sigma, "rate": sigma**order * rng.choice([-1, 1], 4000) * rng.uniform(1, 1.2, 4000)})


@pytest.mark.parametrize("order", [0.9, 1.0, 1.1])
def test_rates_that_are_not_proportional_to_the_singular_values_are_refused(order):
    found = evaluate(
        claims.theorem_b_3_proportional,
        {"flows": [flow_with_errors()], "starts": random_starts(order)},
        {"simple_gap": SIMPLE},
    )
    assert (found.verdict == "reproduced") == (order == 1.0)
    assert found.facts["slope"] == pytest.approx(order, abs=0.02)


@pytest.mark.parametrize(("quantity", "speed"), [("rate_f", 2.0), ("rate_w", 4.0)])
@pytest.mark.parametrize(("factor", "state"), [(0.9, "holds"), (1.1, "fails")])  # one term alone is about half
@pytest.mark.parametrize("place", [0, 1], ids=["first run", "second run"])
def test_rates_along_flows_are_off_by_errors_of_differences_and_integration_at_most(
    quantity, speed, factor, state, place
):
    flows = [flow_with_errors(), flow_with_errors()]
    flows[place] = flow_with_errors(**{quantity: factor * speed * TOLERANCE})
    found = evaluate(
        claims.theorem_b_3_proportional, {"flows": flows, "starts": random_starts(1.0)}, {"simple_gap": SIMPLE}
    )
    assert found.judgement.state == state


def test_rates_are_not_judged_where_the_spectrum_is_not_simple():
    flow = flow_with_errors(rate_f=1.0)  # of seed 0 at time 2
    flow.loc[flow.eval("quantity == 'gap' and seed == 0 and time == 2"), "value"] = 0.5 * SIMPLE
    tables = {"flows": [flow], "starts": random_starts(1.0)}
    assert evaluate(claims.theorem_b_3_proportional, tables, {"simple_gap": SIMPLE}).judgement.state == "holds"
