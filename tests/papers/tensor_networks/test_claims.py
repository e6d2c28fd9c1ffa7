"""Every claim of tensor_networks: as expected on what is measured, refused on altered measurements."""

from __future__ import annotations

import pytest

from tests.support import claim_tables, project, scaled, verdict

PAPER = "tensor_networks"


def shifted(quantity: str, amount: float, **where: object):
    """Return an alteration of tables: add to the values of a quantity, in the rows where columns match."""

    def alter(tables):
        altered = False
        for table in tables.values():
            rows = table["quantity"] == quantity
            for column, value in where.items():
                rows &= table[column] == value
            table.loc[rows, "value"] += amount
            altered |= bool(rows.any())
        assert altered, f"no rows of {quantity!r} where {where}"
        return tables

    return alter


# alterations that each claim must refuse, of the size of a real effect
ALTERED = {
    "theorem_1": shifted("singular", 0.3),
    "theorem_2": shifted("stationarity", 0.2, network="decomposable"),
    "theorem_3": shifted("intercept", 3.0),
    "theorem_4": shifted("error", 1e-6),
    "theorem_5": shifted("error", 1e-5, step=0.0),
    "theorem_6_convergence": scaled("residual", 100.0),
    "theorem_6_bias": shifted("distance", 0.1, scale=0.01),
    "corollary_1": shifted("intercept", 3.0, network="fully_connected"),
    "corollary_2": shifted("stationarity", 0.2, network="diagonal"),
    "corollary_3": shifted("intercept", 3.0, network="convolutional"),
    "corollary_4": shifted("intercept", 3.0, length=2),
    "corollary_5": shifted("error", 1e-6, depth=3),
    "corollary_6": shifted("error", 1e-6),
    "corollary_7": shifted("error", 1e-6),
    "remark_4": shifted("l1_distance", 0.5, scale=0.01),
    "lemma_5_1": scaled("reached", 1 + 1e-6),
    "conservation": scaled("drift", 1e5),
    "min_norm_points": shifted("reference", 0.02),
    "small_scale_forgets_direction": scaled("limit", 1000.0, scale=0.01),
    "finite_loss_remembers_initialisation": scaled("angle", 0.01),
    "final_loss": scaled("loss", 10.0),
}


def test_every_claim_has_an_alteration():
    assert set(ALTERED) == set(project().claims(PAPER)["claims"])


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_is_as_expected_on_the_measurement(claim):
    expected = project().claims(PAPER)["claims"][claim]["expected"]
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == expected


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_turns_on_altered_measurements(claim):
    assert verdict(PAPER, claim, ALTERED[claim](claim_tables(PAPER, claim))) == "contradicted"


def test_corollary_6_holds_as_printed_where_nothing_tells_the_two_formulas_apart():
    tables = claim_tables(PAPER, "corollary_6")
    for table in tables.values():
        table.loc[table["quantity"] == "printed_error", "value"] = 0.0
    assert verdict(PAPER, "corollary_6", tables) == "reproduced"


def test_draws_that_have_not_settled_decide_nothing():
    tables = claim_tables(PAPER, "corollary_2")
    for table in tables.values():
        table.loc[table["quantity"] == "settled", "value"] = 5.0
    assert verdict(PAPER, "corollary_2", tables) == "untested"
