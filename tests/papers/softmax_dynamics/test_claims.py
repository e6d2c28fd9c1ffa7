"""Every claim of softmax_dynamics: the expected verdict on what is measured, another one on altered measurements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support import SMOKE, Tables, claim_tables, project, verdict

PAPER = "softmax_dynamics"
Alteration = Callable[[Tables], Tables]


def columns(**factors: Callable) -> Alteration:
    """Return an alteration of untidy tables: each named column, where there is one, through a function of its table."""

    def alter(tables: Tables) -> Tables:
        for table in tables.values():
            for name, function in factors.items():
                if name in table:
                    table[name] = function(table)
        return tables

    return alter


def quantity(name: str, factor: float) -> Alteration:
    """Return an alteration of tidy tables: multiply the values of a quantity wherever it is measured."""

    def alter(tables: Tables) -> Tables:
        found = [table for table in tables.values() if "quantity" in table and (table["quantity"] == name).any()]
        assert found, f"no table holds {name!r}"
        for table in found:
            table.loc[table["quantity"] == name, "value"] *= factor
        return tables

    return alter


def no_drift(tables: Tables) -> Tables:
    return quantity("drift", 0.0)(tables)


def drift_of_second_order(tables: Tables) -> Tables:
    table = tables["descent"]
    table.loc[table["quantity"] == "drift", "value"] *= table["learning_rate"]
    return tables


def faster_when_larger(tables: Tables) -> Tables:
    return columns(rate=lambda table: np.abs(table["gain"]).mean() * table["sigma"])(tables)


def never_reversed(tables: Tables) -> Tables:
    table = tables["skewed"]
    sigma = table.loc[table["quantity"] == "sigma_f", "value"].to_numpy()
    table.loc[table["quantity"] == "rate_f", "value"] = sigma
    return tables


def growing_like_the_class(tables: Tables) -> Tables:
    return columns(growth=lambda table: table["largest"])(tables)


def starts_that_know_the_class(tables: Tables) -> Tables:
    tables["initial_skews"]["rate"] *= tables["initial_skews"]["largest"]
    return tables


def no_phase(tables: Tables) -> Tables:
    return columns(first=lambda table: 0.0, second=lambda table: 0.0, third=lambda table: 0.0)(tables)


def every_phase(tables: Tables) -> Tables:
    return columns(first=lambda table: -1.0, second=lambda table: 1.0, third=lambda table: -1.0)(tables)


def half_the_members(tables: Tables) -> Tables:
    return columns(first=lambda table: np.where(np.arange(len(table)) % 2, -1.0, 1.0))(tables)


def no_rise_in_the_control(tables: Tables) -> Tables:
    if len(tables) == 1:
        (table,) = tables.values()
        table.loc[table["largest"] == table["smallest"], "second"] = 0.0
    else:
        list(tables.values())[-1]["second"] = 0.0
    return tables


# alterations that each claim must answer, and how
ALTERED: list[tuple[str, Alteration, str]] = [
    ("lemma_b_1", quantity("lemma_f", 1 + 1e-6), "contradicted"),
    ("lemma_b_1", quantity("lemma_w", 1 + 1e-6), "contradicted"),
    ("conservation", quantity("drift", 1e3), "contradicted"),
    ("conservation_gradient_descent", no_drift, "reproduced"),
    ("conservation_gradient_descent", drift_of_second_order, "contradicted"),
    ("theorem_b_2", quantity("spectra", 1e3), "contradicted"),
    ("theorem_b_2", quantity("directions", 1e3), "contradicted"),
    ("theorem_b_3_proportional", quantity("rate_f", 1 + 1e-5), "contradicted"),
    ("theorem_b_3_proportional", columns(rate=lambda t: t["rate"] * t["sigma"]), "contradicted"),
    ("theorem_b_3_selection_bias", faster_when_larger, "reproduced"),
    ("theorem_b_3_selection_bias", never_reversed, "contradicted"),
    ("theorem_b_3_dominant_class", growing_like_the_class, "reproduced"),
    ("theorem_b_3_dominant_class", starts_that_know_the_class, "contradicted"),
    ("theorem_b_3_dominant_class", columns(fastest=lambda t: 1.2 * t["fastest"]), "contradicted"),
    ("theorem_b_3_bound", columns(growth=lambda t: 1.5 * t["largest"]), "contradicted"),
    ("theorem_b_3_bound", columns(rate=lambda t: 2 * t["sigma"] * t["largest"]), "contradicted"),
    ("equation_21", columns(gain_many_classes=lambda t: 1.2 * t["gain"]), "contradicted"),
    ("phases_warmup", no_phase, "contradicted"),
    ("phases_warmup", half_the_members, "not reproduced"),
    ("phases_entropy_seeking", no_phase, "contradicted"),
    ("phases_compression_seeking", every_phase, "reproduced"),
    ("controls_uniform", no_rise_in_the_control, "reproduced"),
    ("controls_no_bottleneck", no_rise_in_the_control, "reproduced"),
    ("controls_squared_loss", no_rise_in_the_control, "reproduced"),
]
CLAIMS = project(*SMOKE).claims(PAPER)["claims"]


def test_every_claim_has_an_alteration():
    assert {claim for claim, _, _ in ALTERED} == set(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim_has_the_expected_verdict(claim):
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == CLAIMS[claim]["expected"]


@pytest.mark.parametrize(("claim", "alteration", "expected"), ALTERED)
def test_claim_turns_on_altered_measurements(claim, alteration, expected):
    assert expected != CLAIMS[claim]["expected"]
    assert verdict(PAPER, claim, alteration(claim_tables(PAPER, claim))) == expected


@pytest.mark.parametrize("claim", ["conservation", "theorem_b_2"])
def test_an_integrator_that_hides_the_invariants_decides_nothing(claim):
    tables = claim_tables(PAPER, claim)
    for table in tables.values():
        table.attrs["settings"]["rtol"] = 1e-4
    assert verdict(PAPER, claim, tables) == "not reproduced"


def test_unbalanced_factors_do_not_keep_equal_spectra():
    tables = {"skewed": claim_tables(PAPER, "conservation")["skewed_gaussian"]}
    assert verdict(PAPER, "theorem_b_2", tables) == "contradicted"
