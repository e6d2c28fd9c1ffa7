"""What is written down tells right from wrong, on any machine."""

import copy
import math

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import Facts, claim, evaluate, every_draw
from tests.papers.written import (
    MACHINE,
    WORDS,
    _facts_together,
    _keep_wider,
    _keep_wider_facts,
    _keep_wider_quantities,
    agree,
    claim_differences,
    claim_facts,
    fact_differences,
    quantity_rows,
    tolerance,
)

ENTRY = {
    "verdict": "reproduced",
    "printed": [{"state": "holds", "measured": 2.0, "tolerance": 1e-6, "draws": [3, 3, 0, 0]}],
    "rivals": {"twice as much": "contradicted"},
}


def altered(**changes):
    entry = copy.deepcopy(ENTRY)
    entry["printed"][0] |= {key: value for key, value in changes.items() if key in entry["printed"][0]}
    return entry | {key: value for key, value in changes.items() if key in entry}


@pytest.mark.parametrize(
    ("changed", "differences"),
    [
        ({}, 0),
        ({"measured": 2.0 + 5e-7}, 0),
        ({"measured": 2.00001}, 1),
        ({"verdict": "contradicted"}, 1),
        ({"rivals": {}}, 1),
        ({"printed": []}, 1),
        ({"state": "undecided"}, 1),
        ({"draws": [3, 2, 1, 0]}, 1),
    ],
)
def test_a_difference_beyond_the_tolerance_is_told(changed, differences):
    assert len(claim_differences(altered(**changed), ENTRY)) == differences


def test_where_the_verdict_depends_on_the_machine_numbers_are_compared():
    written = ENTRY | {"varies": "verdict"}
    assert claim_differences(altered(verdict="undecided", state="undecided", draws=[3, 2, 0, 1]), written) == []
    assert len(claim_differences(altered(verdict="undecided", state="undecided"), ENTRY | {"varies": "parts"})) == 1
    assert len(claim_differences(altered(measured=3.0), written)) == 1


def test_single_draws_are_not_held_where_numbers_of_trainings_move():
    written = altered(tolerance=1.0)
    assert claim_differences(altered(draws=[3, 2, 1, 0]), written) == []
    assert len(claim_differences(altered(draws=[2, 2, 0, 0]), written)) == 1
    assert len(claim_differences(altered(state="fails", draws=[3, 2, 1, 0]), written)) == 1


@pytest.mark.parametrize(
    ("measured", "kept"),
    [(2.0004, (2.0, 1e-3)), (2.0009, (2.0009, 1e-6))],  # the second is rounded, perhaps from beyond it
)
def test_written_again_a_wider_tolerance_stays_where_the_number_does(measured, kept):
    again = {"a claim": altered(measured=measured)}
    _keep_wider(again, {"a claim": altered(tolerance=1e-3)})
    part = again["a claim"]["printed"][0]
    assert (part["measured"], part["tolerance"]) == kept


def test_written_again_a_quantity_keeps_its_wider_tolerance():
    known = pd.DataFrame(quantity_rows("paper", "run", pd.DataFrame({"loss": [1.0, 2.0]})))
    known = known.assign(size_tolerance=1e-3, mix_tolerance=1e-9)
    again = known.assign(size=known["size"] + 1e-4, mix=known["mix"] + 1e-4, size_tolerance=1e-6, mix_tolerance=1e-6)
    kept = _keep_wider_quantities(again, known).iloc[0]
    assert (kept["size"], kept["size_tolerance"]) == (known["size"][0], 1e-3)
    assert (kept["mix"], kept["mix_tolerance"]) == (again["mix"][0], 1e-6)


def test_a_tolerance_covers_other_machines_and_rounding():
    assert tolerance([1.0, 1.0, 1.0]) == 1e-6
    assert tolerance([1.0, 1.01]) == pytest.approx(0.1)
    assert tolerance([0.0, 0.0]) == 1e-13
    assert not agree(np.inf, 1.0, 1e9)
    assert agree(np.inf, np.inf, 0.0)


def test_sums_notice_factors_orders_and_missing_rows():
    table = pd.DataFrame({"quantity": "loss", "value": [1.0, 2.0, 4.0], "predicted": [1.0, 2.0, np.nan]})

    def sums(value, predicted=(1.0, 2.0, np.nan)):
        return quantity_rows("toy", "descent", table.assign(value=value, predicted=predicted))

    right = quantity_rows("toy", "descent", table)
    assert sums([1.0, 2.0, 4.0]) == right
    for wrong in ([2.0, 4.0, 8.0], [4.0, 2.0, 1.0], [-1.0, -2.0, -4.0], [1.0, 2.0, np.nan]):
        assert sums(wrong) != right, wrong
    assert sums([1.0, 2.0, 4.0], predicted=(2.0, 1.0, np.nan)) != right


# -- facts -------------------------------------------------------------------------------------------------------------

FACTS = {"share": 0.25, "at": "rate 0.8", "gap": math.nan}


def written_facts(*machines):
    together = _facts_together([{"a claim": facts} for facts in (FACTS, *machines)])
    return together.set_index(["claim", "fact"]).loc["a claim"]


@pytest.mark.parametrize(
    ("changed", "differences"),
    [
        ({}, 0),
        ({"share": 0.25 + 1e-8}, 0),
        ({"share": 0.251}, 1),
        ({"share": math.nan}, 1),
        ({"at": "rate 0.4"}, 1),
        ({"gap": 1.0}, 1),
        ({"one more": 1.0}, 1),
    ],
)
def test_a_fact_that_differs_is_noticed(changed, differences):
    assert len(fact_differences(FACTS | changed, written_facts())) == differences


def test_a_fact_that_is_gone_is_noticed():
    assert len(fact_differences({"share": 0.25, "gap": math.nan}, written_facts())) == 1


def test_facts_that_depend_on_the_machine_are_not_compared():
    written = written_facts(FACTS | {"share": 0.26, "at": "rate 0.4", "gap": 1.0})
    assert list(written["tolerance"]) == ["0.1", MACHINE, MACHINE]
    assert fact_differences({"share": 0.3, "at": "rate 1.6", "gap": 2.0}, written) == []


def test_written_again_a_fact_keeps_its_wider_tolerance():
    known = _facts_together([{"a claim": FACTS}]).assign(tolerance=["0.001", WORDS, "1e-13"])
    moved = _facts_together([{"a claim": FACTS | {"share": 0.2501, "at": "rate 0.4"}}])
    kept = _keep_wider_facts(moved, known.set_index(["claim", "fact"])).set_index("fact")
    assert tuple(kept.loc["share", ["value", "tolerance"]]) == ("0.25", "0.001")
    assert kept.loc["at", "value"] == "rate 0.4"


def test_facts_of_checks_and_facts_of_their_own_are_both_written_down():
    @claim("Figure 1", scope="anything")
    def bounded(table):
        yield every_draw("a number", [1.0, 2.0], at_most=3.0, fact="largest", rivals={"half": 0.5})
        yield Facts(mean=1.5)

    assert claim_facts(evaluate(bounded, {"table": pd.DataFrame()}, {})) == {"largest": 2.0, "mean": 1.5}
