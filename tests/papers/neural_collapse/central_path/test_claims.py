"""Every claim on the central path: the expected verdict on what is measured, another on altered measurements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import SMOKE, Tables, claim_tables, project, verdict

PAPER = "neural_collapse"
FEATURES, FLOWS, DESCENT = "central_path_features", "central_path_flows", "central_path_descent"
Alteration = Callable[[Tables], None]


def put(run: str, quantity: str, change: Callable, last: bool = False, **where: object) -> Alteration:
    """Return an alteration: set a quantity to what `change` makes of its rows, at the last time only if `last`."""

    def alter(tables: Tables) -> None:
        table = tables[run]
        rows = table["quantity"] == quantity
        for column, value in where.items():
            rows &= table[column] == value
        if last:
            rows &= table["time"] == table["time"].max()
        assert rows.any(), f"no rows of {quantity!r} where {where}"
        table.loc[rows, "value"] = change(table[rows])

    return alter


def times(factor: float) -> Callable:
    return lambda rows: rows["value"] * factor


def plus(amount: float) -> Callable:
    return lambda rows: rows["value"] + amount


def as_the_paper_predicts(rows):
    return rows["predicted"]


# claim, alterations made together, and the verdict that they must lead to
CASES = [
    ("proposition_1", [put(FEATURES, "classifier_gap", plus(1e-10), index=2)], "contradicted"),
    ("theorem_1", [put(FEATURES, "theorem_1_gap", plus(1e-10), index=1)], "contradicted"),
    ("theorem_2", [put(FEATURES, "theorem_2_gap", plus(1e-10), index=3)], "contradicted"),
    ("lemma_1", [put(FEATURES, "loss_nc23", times(1 + 1e-10))], "contradicted"),
    ("lemma_1", [put(FLOWS, "loss_nc1", times(1 + 1e-10), time=0.0)], "contradicted"),
    ("invariance", [put(FEATURES, "prediction_gap", plus(1e-8), index=3)], "contradicted"),
    ("invariance", [put(FEATURES, "loss_gap", plus(1e-8), index=1)], "contradicted"),
    ("tangent_space", [put(FEATURES, "image", plus(1e-6), flow="printed")], "contradicted"),
    ("tangent_space", [put(FEATURES, "curve_velocity", plus(1e-3))], "contradicted"),
    ("tangent_space", [put(FEATURES, "codimension", plus(1.0))], "contradicted"),
    ("projection_self_adjoint", [put(FEATURES, "asymmetry", times(0.0), flow="printed")], "reproduced"),
    ("proposition_2", [put(FLOWS, "omega", times(1 + 1e-7), flow="orthogonal")], "contradicted"),
    ("proposition_2", [put(FEATURES, "speed", times(1 + 1e-5), flow="orthogonal")], "contradicted"),
    ("proposition_2", [put(FEATURES, "speed", times(1 + 1e-5), flow="printed")], "contradicted"),
    (
        "proposition_2",
        [
            put(FLOWS, "omega", as_the_paper_predicts, flow="printed"),
            put(FEATURES, "speed", as_the_paper_predicts, flow="printed"),
        ],
        "reproduced",
    ),
    ("corollary_1_growth", [put(FLOWS, "omega", times(1.01), flow="orthogonal", last=True)], "contradicted"),
    ("corollary_1_growth", [put(FLOWS, "omega", times(1.01), flow="orthogonal")], "contradicted"),
    ("corollary_1_equality", [put(FLOWS, "excess", plus(1e-2), flow="printed")], "contradicted"),
    ("corollary_1_equality", [put(FLOWS, "excess", times(50.0), flow="orthogonal", last=True)], "contradicted"),
    ("corollary_2", [put(FLOWS, "snr_limit", plus(1e-2), flow="orthogonal")], "contradicted"),
    ("corollary_2", [put(FLOWS, "features_limit", times(1.001), flow="printed", last=True)], "contradicted"),
    ("corollary_2", [put(FLOWS, "nc1", plus(10.0), flow="printed", last=True)], "contradicted"),
    ("corollary_2", [put(FLOWS, "nc3", plus(1e-2), flow="orthogonal", last=True)], "contradicted"),
    ("corollary_2", [put(FLOWS, "nc4", plus(0.1), flow="orthogonal", last=True)], "contradicted"),
    ("lemma_6", [put(FLOWS, "vectors", plus(1e-6), flow="printed")], "contradicted"),
    ("lemma_6", [put(DESCENT, "vectors", plus(1e-9))], "contradicted"),
    ("described_algorithm_rate", [put(DESCENT, "omega", times(1.001))], "contradicted"),
    ("described_algorithm_rate", [put(DESCENT, "omega_exact", times(1 + 1e-9))], "contradicted"),
    ("described_algorithm_rate", [put(FLOWS, "omega", times(1.01), flow="printed", last=True)], "contradicted"),
    ("described_algorithm_rate", [put(DESCENT, "omega", times(1.05), step=2.0)], "not reproduced"),
]
CLAIMS = sorted({claim for claim, _, _ in CASES})


def test_every_claim_on_the_central_path_has_an_alteration():
    claims = project().claims(PAPER)["claims"]
    assert {
        name for name, block in claims.items() if block["runs"] and set(block["runs"]) <= {FEATURES, FLOWS, DESCENT}
    } == set(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS)
def test_measurement_has_the_expected_verdict(claim):
    expected = project(*SMOKE).claims(PAPER)["claims"][claim]["expected"]
    assert verdict(PAPER, claim, claim_tables(PAPER, claim)) == expected


@pytest.mark.parametrize(("claim", "alterations", "turned"), CASES)
def test_altered_measurement_turns_the_verdict(claim, alterations, turned):
    tables = claim_tables(PAPER, claim)
    for alter in alterations:
        alter(tables)
    assert verdict(PAPER, claim, tables) == turned


def test_an_algorithm_that_followed_proposition_2_would_reproduce_the_claim():
    tables = claim_tables(PAPER, "described_algorithm_rate")
    rows = tables[DESCENT]["quantity"] == "omega"
    step = 1e-6 * tables[DESCENT].loc[rows, "step"]
    error = step * (1 + 1e-2 * step)
    tables[DESCENT].loc[rows, "value"] = tables[DESCENT].loc[rows, "predicted"] * (1 + error)
    assert verdict(PAPER, "described_algorithm_rate", tables) == "reproduced"
