"""Every claim of spectral_bias: reproduced on what is measured, refused on altered measurements."""

from __future__ import annotations

import pytest

from tests.support import claim_tables, project, scaled, verdict

PAPER = "spectral_bias"
# alterations that each claim must refuse, a hundred times the integrator's error or the size of a real effect
ALTERED = {
    "lemma_3_2": scaled("imbalance", 1e4),
    "theorem_3_1_i": scaled("loss", 1e3, phase="limit"),
    "theorem_3_1_ii": scaled("distance", 1e3),
    "corollary_3_1": scaled("sigma_w1", 1 + 1e-8, phase="limit"),
    "lemma_c_10": scaled("sigma_w2", 1 + 1e-9, phase="flow"),
}


def test_every_claim_has_an_alteration():
    assert set(ALTERED) == set(project().claims(PAPER)["claims"])


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_holds_on_the_measurement(claim):
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == "reproduced"


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_turns_on_altered_measurements(claim):
    assert verdict(PAPER, claim, ALTERED[claim](claim_tables(PAPER, claim))) == "contradicted"


def test_an_integrator_that_hides_the_imbalance_decides_nothing():
    tables = claim_tables(PAPER, "lemma_3_2")
    for table in tables.values():
        table.attrs["settings"]["rtol"] = 1e-3
    assert verdict(PAPER, "lemma_3_2", tables) == "not reproduced"
