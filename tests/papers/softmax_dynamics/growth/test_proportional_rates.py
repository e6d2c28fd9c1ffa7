"""The claim that rates are proportional to singular values, Theorem B.3's first part, on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.papers.softmax_dynamics.growth import claims
from tests.papers.softmax_dynamics.tables import flow_table

RTOL = 2e-13  # of the flows' integration
SIMPLE = 0.01  # the least relative gap of a spectrum that counts as simple
SPEEDS = {"speed_f": 2.0, "speed_w": 4.0}  # the units of errors
# errors that the claim allows in these units, 10 eps / (1e-3 gap) + 10 rtol / gap: ten roundings over a difference step
# of a thousandth of that gap, and ten rtol over the gap; the two terms are about equal
TOLERANCE = 10 * np.finfo(float).eps / (1e-3 * SIMPLE) + 10 * RTOL / SIMPLE


def flow_with_errors(**errors: float) -> pd.DataFrame:
    """Return flows with rates as predicted, but for these errors of the first singular value of seed 0 at time 2.

    `rate_f` and `speed_f`, the norm of df/dt, are of the features, `rate_w` and `speed_w` of the classifier.
    """
    sigma = np.array([2.0, 0.5])
    table = flow_table(
        {
            "sigma": (sigma, [np.nan] * 2),
            # measured and predicted
            "rate_f": (0.7 * sigma, 0.7 * sigma),
            "rate_w": (0.7 * sigma, 0.7 * sigma),
            **SPEEDS,
            "gap": 0.3,
        },
        integration={"rtol": RTOL},
    )
    for quantity, error in errors.items():
        rows = table[(table["quantity"] == quantity) & (table["seed"] == 0) & (table["time"] == 2)]
        table.loc[rows.index[0], "value"] += error  # the row of the first singular value is the first
    return table


STARTS = 4000


def random_starts(order: float) -> pd.DataFrame:
    """Return starts of one scale whose rates are sigma^order, times a random factor of either sign."""
    rng = np.random.default_rng(5)
    sigma = np.exp(rng.standard_normal(STARTS) * 0.5)
    factor = rng.choice([-1, 1], STARTS) * rng.uniform(1, 1.2, STARTS)
    return pd.DataFrame({"sigma": sigma, "rate": factor * sigma**order})


def evaluation_of(flows: list[pd.DataFrame], starts: pd.DataFrame) -> Evaluation:
    """Judge whether |d sigma / dt| = |g| sigma: along flows at every time, and by the slope of log |rate| at starts.

    Along flows errors may be up to `TOLERANCE`; the slope on log sigma at random starts must be one, up to a twentieth.
    """
    tables = {"flows": flows, "starts": starts}
    return evaluate(claims.theorem_b_3_proportional, tables, {"simple_gap": SIMPLE})


# the slope may be off by a twentieth
@pytest.mark.parametrize(("order", "verdict"), [(0.9, "contradicted"), (1.0, "reproduced"), (1.1, "contradicted")])
def test_rates_at_random_starts_must_be_proportional_to_the_singular_values(order, verdict):
    assert evaluation_of([flow_with_errors()], random_starts(order)).verdict == verdict


@pytest.mark.parametrize("order", [0.9, 1.0, 1.1])
def test_the_text_has_the_slope_at_random_starts(order):
    facts = evaluation_of([flow_with_errors()], random_starts(order)).facts
    # four standard errors: logarithms of factors vary by 0.053, those of singular values by 0.5
    assert facts["slope"] == pytest.approx(order, abs=4 * 0.053 / 0.5 / np.sqrt(STARTS))


@pytest.mark.parametrize(("quantity", "speed"), [("rate_f", "speed_f"), ("rate_w", "speed_w")])
# `factor` is of the tolerance: either of its terms alone, about half of it, would refuse 0.9
@pytest.mark.parametrize(("factor", "state"), [(0.9, "holds"), (1.1, "fails")])
@pytest.mark.parametrize("place", [0, 1], ids=["first run", "second run"])
def test_rates_along_flows_may_be_off_by_errors_of_differences_and_integration_alone(
    quantity, speed, factor, state, place
):
    flows = [flow_with_errors(), flow_with_errors()]
    flows[place] = flow_with_errors(**{quantity: factor * SPEEDS[speed] * TOLERANCE})
    assert evaluation_of(flows, random_starts(1.0)).judgement.state == state


@pytest.mark.parametrize(("gap", "state"), [(2.0 * SIMPLE, "fails"), (0.5 * SIMPLE, "holds")])
def test_rates_are_not_judged_where_the_spectrum_is_not_simple(gap, state):
    flow = flow_with_errors(rate_f=1.0)  # far beyond the tolerance, of seed 0 at time 2
    flow.loc[flow.eval("quantity == 'gap' and seed == 0 and time == 2"), "value"] = gap
    assert evaluation_of([flow], random_starts(1.0)).judgement.state == state
