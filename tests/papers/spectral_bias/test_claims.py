"""Every claim of spectral_bias: its expected verdict on what is measured, another on altered measurements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import SMOKE, Tables, claim_tables, project, scaled, verdict

PAPER = "spectral_bias"
Alteration = Callable[[Tables], Tables]


def assigned(column: str, value: float, **where: object) -> Alteration:
    """Return an alteration of tables: give a column a value, in the rows where columns match."""

    def alter(tables: Tables) -> Tables:
        found = 0
        for table in tables.values():
            if not set(where) <= set(table.columns):
                continue
            rows = table[list(where)].eq(list(where.values())).all(axis=1)
            table.loc[rows, column] = value
            found += rows.sum()
        assert found, f"no rows where {where}"
        return tables

    return alter


def shifted(amount: float, **where: object) -> Alteration:
    """Return an alteration of tables: move value and interval together, in the rows where columns match."""

    def alter(tables: Tables) -> Tables:
        found = 0
        for table in tables.values():
            if not set(where) <= set(table.columns):
                continue
            rows = table[list(where)].eq(list(where.values())).all(axis=1)
            table.loc[rows, ["value", "lower", "upper"]] += amount
            found += rows.sum()
        assert found, f"no rows where {where}"
        return tables

    return alter


def at_the_end(quantity: str, factor: float, index: int) -> Alteration:
    def alter(tables: Tables) -> Tables:
        for table in tables.values():
            rows = (table["quantity"] == quantity) & (table["index"] == index) & (table["time"] == table["time"].max())
            table.loc[rows, "value"] *= factor
        return tables

    return alter


def slower(tables: Tables) -> Tables:
    tables["jump"]["time"] *= 1.05
    return tables


# alterations that each claim must refuse: a hundred times the integrator's error, or the size of a real effect
ALTERED: dict[str, Alteration] = {
    "lemma_3_1": assigned("value", 1e-6, quantity="projected"),
    "lemma_3_2": scaled("imbalance", 1e4),
    "lemma_3_3": assigned("value", 1e-6, quantity="beta_from_alpha"),
    "theorem_3_1_i": scaled("loss", 1e3, phase="limit"),
    "theorem_3_1_ii": scaled("distance", 1e3),
    "theorem_3_1_iii": assigned("value", -1e-3, quantity="excess"),
    "corollary_3_1": scaled("sigma_w1", 1 + 1e-8, phase="limit"),
    "lemma_c_10": scaled("sigma_w2", 1 + 1e-9, phase="flow"),
    "gaussian_init_low_rank": scaled("sigma_w1", 20.0, phase="limit", index=5),
    "label_noise_low_rank": at_the_end("sigma_w1", 1e3, 2),
    "nonzero_second_layer": scaled("sigma_w1", 3.0, phase="limit", index=5),
    "theorem_3_2_a": scaled("mirror_speed", 1.01),
    "theorem_3_2_b": scaled("beta", 1 + 1e-6),
    "lemma_c_8": scaled("loss", 100.0),
    "theorem_c_11": assigned("value", 1e-6, quantity="turning"),
    "theorem_c_12": scaled("sigma_beta", 1 + 1e-5),
    "jump_process": slower,
    "relu_low_rank": assigned("value", 3.0, quantity="rank", index=95),
    "relu_phase_one": assigned("value", 2.0, quantity="rank", index=95),
    "noise_low_rank": shifted(0.5, quantity="largest"),
    "proposition_4_1_a": shifted(-1.0, quantity="hidden_norm", statistic="mean"),
    "proposition_4_1_b": shifted(-1.0, quantity="largest"),
    "proposition_4_1_c": shifted(0.5, quantity="commutator", statistic="mean"),
}
# claims that fail as printed: what the measurement would have to be for them to hold
AS_PRINTED: dict[str, Alteration] = {
    "lemma_3_3": assigned("value", 0.0, quantity="printed_beta_speed"),
    "gaussian_init_low_rank": scaled("sigma_w1", 100.0, phase="limit", index=1),
    "noise_low_rank": assigned("value", 0.99, quantity="sigma_1", statistic="share above 1"),
    "proposition_4_1_c": shifted(-0.48, quantity="commutator", statistic="mean"),
}


def expected(claim: str) -> str:
    return project(*SMOKE).claims(PAPER)["claims"][claim]["expected"]


def test_every_claim_has_an_alteration():
    assert set(ALTERED) == set(project().claims(PAPER)["claims"])


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_has_its_verdict_on_the_measurement(claim):
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == expected(claim)


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_turns_on_altered_measurements(claim):
    assert verdict(PAPER, claim, ALTERED[claim](claim_tables(PAPER, claim))) == "contradicted"


@pytest.mark.parametrize("claim", AS_PRINTED)
def test_claim_that_fails_as_printed_could_hold(claim):
    tables = AS_PRINTED[claim](claim_tables(PAPER, claim))
    if claim == "noise_low_rank":
        tables = assigned("upper", 0.991, quantity="sigma_1", statistic="share above 1")(tables)
        tables = assigned("lower", 0.989, quantity="sigma_1", statistic="share above 1")(tables)
    assert verdict(PAPER, claim, tables) == "reproduced"


def test_printed_potential_would_pass_if_the_flow_obeyed_it():
    tables = claim_tables(PAPER, "theorem_3_2_a")
    (table,) = tables.values()
    rows = table["quantity"] == "printed_mirror_speed"
    table.loc[rows, "value"] = table.loc[rows, "predicted"]
    assert verdict(PAPER, "theorem_3_2_a", tables) == "reproduced"


def test_an_integrator_that_hides_the_imbalance_decides_nothing():
    tables = claim_tables(PAPER, "lemma_3_2")
    for table in tables.values():
        table.attrs["settings"]["rtol"] = 1e-3
    assert verdict(PAPER, "lemma_3_2", tables) == "not reproduced"
