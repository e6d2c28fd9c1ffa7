"""Every claim of deep_linear: the expected verdict on what is measured, another on altered measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.support import SMOKE, Tables, claim_tables, project, scaled, verdict

PAPER = "deep_linear"
DRAWS = 5


def set_where(quantity, value, **where):
    def alter(tables: Tables) -> Tables:
        found = False
        for table in tables.values():
            rows = table["quantity"] == quantity
            for column, wanted in where.items():
                rows &= table[column] == wanted
            table.loc[rows, "value"] = value
            found |= bool(rows.any())
        assert found, f"no rows of {quantity!r} where {where}"
        return tables

    return alter


def drift_of_second_order(tables: Tables) -> Tables:
    (table,) = tables.values()
    table["value"] *= table["learning_rate"]
    return tables


def swapped_inits(tables: Tables) -> Tables:
    (table,) = tables.values()
    table["init"] = table["init"].map({"balanced": "layer_wise", "layer_wise": "balanced"})
    return tables


def slow_fall(tables: Tables) -> Tables:
    (table,) = tables.values()
    table.loc[table["quantity"] == "loss", "value"] **= 0.01
    return tables


def only(run, alter):
    """Alter one run's table alone."""

    def altered(tables: Tables) -> Tables:
        return tables | alter({run: tables[run]})

    return altered


def depth_three_as_depth_one(tables: Tables) -> Tables:
    (table,) = tables.values()
    shallow = table[table["depth"] == 1]
    return {"paths": pd.concat([table[table["depth"] < 3], shallow.assign(depth=3)]).reset_index(drop=True)
            .pipe(_with_attributes, table)}  # fmt: skip


def _with_attributes(table: pd.DataFrame, of: pd.DataFrame) -> pd.DataFrame:
    table.attrs = of.attrs
    return table


def bent(tables: Tables) -> Tables:
    """Bend the aligned measurement's second singular value away from every curve of the family."""
    rows = (tables["one_measurement"]["index"] == 2) & (tables["one_measurement"]["time"] > 0)
    tables["one_measurement"].loc[rows, "value"] *= 1 + 0.01 * np.sin(np.arange(rows.sum()))
    return tables


# alterations that each claim must refuse: far beyond the tolerance, or the size of a real effect
MEASURED = {
    "balancedness_flow": (scaled("drift", 1e9), "contradicted"),
    "balancedness_gd_first_order": (drift_of_second_order, "contradicted"),
    "end_to_end_dynamics": (only("balanced_flow", set_where("difference", 0.01)), "contradicted"),
    "singular_value_dynamics": (only("balanced_flow", scaled("sigma", 1 + 1e-6)), "contradicted"),
    "preconditioner_psd": (set_where("eigenvalue", -1e-3, index=1), "contradicted"),
    "no_regulariser": (set_where("integral", 0.0, depth=3), "contradicted"),
    "linear_rate": (slow_fall, "contradicted"),
    "assumptions_necessary": (set_where("loss", 1e-9, case="unbalanced"), "contradicted"),
    "balanced_init_converges_more_widely": (swapped_inits, "contradicted"),
    "depth_accelerates_l4": (scaled("iterations", 0.2, depth=1), "contradicted"),
    "depth_does_not_accelerate_l2": (scaled("iterations", 10.0, depth=1), "contradicted"),
    "depth_accelerates_l4_gas_sensor": (set_where("features", 128.0), "reproduced"),
    "nuclear_norm_recovers_5k": (scaled("error", 1e3), "contradicted"),
    "deep_has_larger_nuclear_norm": (only("completion_2k", scaled("nuclear_norm", 0.9)), "contradicted"),
    "depth_lowers_effective_rank": (only("minimiser_2k", scaled("effective_rank", 0.1)), "contradicted"),
    "depth_separates_singular_values": (depth_three_as_depth_one, "contradicted"),
    "one_entry_depth_1": (bent, "contradicted"),
    "one_entry_depth_2": (bent, "contradicted"),
    "one_entry_depth_3": (bent, "contradicted"),
}


def found(run, errors, norms, ranks):
    """A table of draws that spread by a tenth around the given numbers; keys are depths, 0 the minimiser."""
    rng = np.random.default_rng(0)
    rows = []
    for depth, error in errors.items():
        for draw in range(DRAWS):
            about = {"error": error * 10 ** rng.normal(0, 0.05), "nuclear_norm": norms[depth] + rng.normal(0, 0.5),
                     "effective_rank": ranks[depth] + rng.normal(0, 0.1), "gap": 1e-4}  # fmt: skip
            rows += [
                {"depth": depth, "scale": 1e-6, "learning_rate": 1.0, "draw": draw, "converged": True,
                 "quantity": quantity, "value": value}
                for quantity, value in about.items()
            ]  # fmt: skip
    return {run: pd.DataFrame(rows)}


def of_5k(**changed):
    errors = {0: 8e-7, 2: 5e-6, 3: 4e-6} | changed.get("errors", {})
    made = found("completion_5k", errors, dict.fromkeys(errors, 221), dict.fromkeys(errors, 5))["completion_5k"]
    return {"completion_5k": made[made["depth"] > 0], "minimiser_5k": made[made["depth"] == 0]}


def of_2k(**changed):
    # the errors of these two rows as root mean squares
    errors = {0: 0.04, 2: 0.0036, 3: 3e-5} | changed.get("errors", {})
    norms, ranks = {0: 217, 2: 220, 3: 221}, {0: 8, 2: 6, 3: 5} | changed.get("ranks", {})
    made = found("completion_2k", errors, norms, ranks)["completion_2k"]
    return {"completion_2k": made[made["depth"] > 0], "minimiser_2k": made[made["depth"] == 0]}


# claims on 100 x 100 matrices, which smoke scale cannot show: made tables, the verdicts that they must get
MADE = [
    ("table_5k_nuclear_norm", of_5k(), "reproduced"),
    ("table_5k_nuclear_norm", of_5k(errors={0: 8e-5}), "contradicted"),
    ("table_5k_depth_2", of_5k(), "reproduced"),
    ("table_5k_depth_2", of_5k(errors={2: 5e-4}), "contradicted"),
    ("table_5k_depth_3", of_5k(), "reproduced"),
    ("table_5k_depth_3", of_5k(errors={3: 4e-8}), "contradicted"),
    ("table_2k_nuclear_norm", of_2k(), "corrected"),
    ("table_2k_nuclear_norm", of_2k(errors={0: 0.2}), "reproduced"),
    ("table_2k_nuclear_norm", of_2k(ranks={0: 20}), "contradicted"),
    ("table_2k_depth_2", of_2k(), "corrected"),
    ("table_2k_depth_2", of_2k(errors={2: 0.06}), "reproduced"),
    ("table_2k_depth_2", of_2k(errors={2: 1e-5}), "contradicted"),
    ("table_2k_depth_3", of_2k(), "reproduced"),
    ("table_2k_depth_3", of_2k(errors={3: 3e-3}), "contradicted"),
    ("depth_beats_nuclear_norm_2k", of_2k(), "reproduced"),
    ("depth_beats_nuclear_norm_2k", of_2k(errors={3: 0.01}), "contradicted"),
    ("depth_beats_nuclear_norm_2k", of_2k(errors={2: 0.5}), "contradicted"),
    ("depth_3_beats_depth_2_2k", of_2k(errors={2: 0.03}), "reproduced"),
    ("depth_3_beats_depth_2_2k", of_2k(errors={2: 1e-4}), "contradicted"),
]


def test_every_claim_has_an_alteration():
    assert set(MEASURED) | {claim for claim, _, _ in MADE} == set(project().claims(PAPER)["claims"])


@pytest.mark.parametrize("claim", project(*SMOKE).claims(PAPER)["claims"])
def test_claim_has_its_expected_verdict_at_smoke_scale(claim):
    expected = project(*SMOKE).claims(PAPER)["claims"][claim]["expected"]
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == expected


@pytest.mark.parametrize("claim", MEASURED)
def test_claim_turns_on_altered_measurements(claim):
    alter, altered = MEASURED[claim]
    assert verdict(PAPER, claim, alter(claim_tables(PAPER, claim))) == altered


@pytest.mark.parametrize(("claim", "tables", "expected"), MADE, ids=lambda value: value if type(value) is str else "")
def test_claim_on_made_tables(claim, tables, expected):
    runs = project(*SMOKE).claims(PAPER)["claims"][claim]["runs"]
    assert verdict(PAPER, claim, {run: tables[run] for run in runs}) == expected


def test_a_depth_that_never_converged_leaves_the_claim_untested():
    tables = of_2k()
    tables["completion_2k"]["converged"] = tables["completion_2k"]["depth"] != 3
    assert verdict(PAPER, "depth_3_beats_depth_2_2k", {"completion_2k": tables["completion_2k"]}) == "untested"


def test_an_integral_at_depth_two_would_reproduce_the_claim_as_printed():
    tables = set_where("integral", 0.1, depth=2, case="one output, whitened inputs")(
        claim_tables(PAPER, "no_regulariser")
    )
    table = tables["closed_curve"]
    table.loc[table["predicted"].notna() & (table["depth"] == 2), "predicted"] = 0.1
    assert verdict(PAPER, "no_regulariser", tables) == "reproduced"


def test_a_coarse_integrator_decides_nothing():
    tables = claim_tables(PAPER, "end_to_end_dynamics")
    for table in tables.values():
        table.attrs["settings"]["rtol"] = 1e-4
    assert verdict(PAPER, "end_to_end_dynamics", tables) == "not reproduced"


def test_a_depth_that_no_learning_rate_brings_home_decides_nothing():
    tables = set_where("iterations", np.nan, depth=2)(claim_tables(PAPER, "depth_accelerates_l4"))
    assert verdict(PAPER, "depth_accelerates_l4", tables) == "not reproduced"
