"""Judges on tables made by hand: what is right passes, what is wrong by twice the tolerance on one draw does not."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.invariants import claims
from tests.papers.softmax_dynamics.tables import flow_table

RTOL = 1e-9
SIMPLE = 0.01
RATES = (np.array([1.0, -0.5]), np.array([1.0, -0.5]))


def curves(error: float = 0.0, gap: float = 1.0) -> pd.DataFrame:
    table = flow_table({"lemma": RATES, "speed": 2.0, "gap": gap}, step=1e-4)
    table.loc[table.index[0], "value"] += error
    return table


def lemma_flow(**errors: float) -> pd.DataFrame:
    table = flow_table(
        {"lemma_f": RATES, "lemma_w": RATES, "speed_f": 2.0, "speed_w": 4.0, "gap": 0.3, "sigma": 1.0},
        integration={"rtol": RTOL},
    )
    for quantity, error in errors.items():
        table.loc[table.index[table["quantity"] == quantity][0], "value"] += error
    return table


def lemma(curves: pd.DataFrame, flow: pd.DataFrame) -> str:
    found = evaluate(claims.lemma_b_1, {"curves": curves, "flow": flow}, {"simple_gap": SIMPLE}, verdict_alone=True)
    assert set(found.rivals.values()) == {"contradicted"}
    return found.judgement.state


# truncation 10 simple^4 in units of the speed; rounding 10 eps / (1e-3 simple)
TRUNCATION, ROUNDING = 10 * SIMPLE**4, 10 * np.finfo(float).eps / (1e-3 * SIMPLE)


@pytest.mark.parametrize(
    ("curve", "flow", "state"),
    [
        (0.5 * 2.0 * TRUNCATION, {}, "holds"),
        (2.0 * 2.0 * TRUNCATION, {}, "fails"),
        (0.0, {"lemma_f": 2.0 * ROUNDING / 2}, "holds"),
        (0.0, {"lemma_f": 2.0 * ROUNDING * 2}, "fails"),
        (0.0, {"lemma_w": 4.0 * ROUNDING * 2}, "fails"),
        (0.0, {"lemma_w": 4.0 * ROUNDING / 2}, "holds"),
    ],
)
def test_rates_of_singular_values_are_held_to_what_differences_leave(curve, flow, state):
    assert lemma(curves(curve), lemma_flow(**flow)) == state


def test_errors_where_the_spectrum_is_not_simple_do_not_count():
    table = curves()
    met = (table["seed"] == 0) & (table["time"] == 0.0)
    table.loc[met & (table["quantity"] == "gap"), "value"] = 1e-3
    table.loc[met & (table["quantity"] == "lemma"), "value"] += 0.5
    found = evaluate(claims.lemma_b_1, {"curves": table, "flow": lemma_flow()}, {"simple_gap": SIMPLE})
    assert found.verdict == "reproduced"
    assert found.judgement.headline.excluded.startswith("1 left out")


def conserved(drift: float, imbalance: float = 0.3) -> pd.DataFrame:
    table = flow_table({"drift": 0.1 * RTOL, "imbalance": imbalance}, integration={"rtol": RTOL})
    table.loc[table.index[3], "value"] = drift
    return table


@pytest.mark.parametrize("wrong", ["balanced", "gaussian"])
@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "reproduced"), (2.0, "contradicted")])
def test_conservation_is_held_to_ten_times_the_integrators_tolerance(wrong, factor, verdict):
    tables = {"balanced": conserved(0.0), "gaussian": conserved(0.0)}
    tables[wrong] = conserved(factor * 10 * RTOL)
    assert evaluate(claims.conservation, tables, {}).verdict == verdict


def test_conservation_is_undecided_where_the_difference_is_zero_from_the_start():
    tables = {"balanced": conserved(0.0, 0.0), "gaussian": conserved(0.0, 0.0)}
    found = evaluate(claims.conservation, tables, {})
    assert found.verdict == "undecided"
    assert set(found.rivals.values()) == {"reproduced"}


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_a_tolerance_that_hides_what_is_at_stake_decides_nothing(tolerance):
    tables = {
        name: flow_table({"drift": 0.0, "imbalance": 0.3}, integration={"rtol": tolerance})
        for name in ("balanced", "gaussian")
    }
    assert (evaluate(claims.conservation, tables, {}).verdict == "reproduced") == (tolerance < 1e-5)


@pytest.mark.parametrize(
    ("order", "verdict"), [(1.0, "reproduced"), (1.08, "reproduced"), (1.2, "contradicted"), (0.8, "contradicted")]
)
def test_the_drift_of_steps_has_the_order_of_the_rate(order, verdict):
    rng = np.random.default_rng(1)
    rows = [
        {
            "seed": seed,
            "learning_rate": rate,
            "time": time,
            "quantity": "drift",
            "value": size * rate**order * (time if time < 2 else 0.5),
        }
        for seed, size in enumerate(rng.uniform(1, 2, 8))
        for rate in (0.1, 0.05, 0.025)
        for time in (0.0, 1.0, 2.0)
    ]
    # the interval of a mean of equal numbers is nothing: what is allowed is the tolerance, a tenth
    assert evaluate(claims.conservation_gradient_descent, {"descent": pd.DataFrame(rows)}, {}).verdict == verdict


def inputs(factor: float) -> pd.DataFrame:
    rows = [
        {"correlation": correlation, "seed": seed, "time": time, "quantity": quantity, "value": value}
        for correlation, departure in ((0.0, 1e-9), (0.3, 0.2))
        for seed in range(5)
        for time in (0.0, 1.0)
        for quantity, value in (("departure", departure * time), ("looser", 1e-7 * time))
    ]
    table = pd.DataFrame(rows)
    chosen = (table["quantity"] == "departure") & (table["seed"] == 2) & (table["correlation"] == 0.0)
    table.loc[chosen, "value"] = factor * 1e-7
    table.attrs["settings"] = {"looser": 100.0}
    return table


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "reproduced"), (2.0, "contradicted")])
def test_linear_features_are_held_to_their_own_draws_error(factor, verdict):
    found = evaluate(claims.equation_12, {"inputs": inputs(factor)}, {})
    assert found.verdict == verdict
    assert found.facts["correlated"] == pytest.approx(0.2)


def balanced(**errors: float) -> pd.DataFrame:
    table = flow_table({"spectra": 0.0, "directions": 0.0}, integration={"rtol": RTOL})
    for quantity, value in errors.items():
        table.loc[table.index[table["quantity"] == quantity][5], "value"] = value
    return table


UNBALANCED = flow_table({"spectra": 0.4, "directions": 0.3}, integration={"rtol": RTOL})


@pytest.mark.parametrize("quantity", ["spectra", "directions"])
@pytest.mark.parametrize("place", [0, 1], ids=["first run", "second run"])
@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "reproduced"), (2.0, "contradicted")])
def test_factors_stay_balanced_to_ten_times_the_integrators_tolerance(quantity, place, factor, verdict):
    flows = [balanced(), balanced()]
    flows[place] = balanced(**{quantity: factor * 10 * RTOL})
    assert evaluate(claims.theorem_b_2, {"flows": flows, "unbalanced": UNBALANCED}, {}).verdict == verdict


def test_starts_that_are_not_balanced_must_show_that_balance_matters():
    same = UNBALANCED.assign(value=0.0)
    found = evaluate(claims.theorem_b_2, {"flows": [balanced()], "unbalanced": same}, {})
    assert found.verdict != "reproduced"
