"""The comparison with verdicts, facts and quantities written down: it notices an error, and no machine's rounding.

Written again on another day, a number stays as it is while it agrees, and so does a tolerance that is wider.
"""

import copy
import math

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import Facts, claim, evaluate, every_draw
from tests.papers.written import (
    MACHINE,
    NOISE,
    ROUNDING,
    SAFETY,
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

# -- claims ------------------------------------------------------------------------------------------------------------

# what is written down of a claim with one check; draws are all, for, against, undecided
ENTRY = {
    "verdict": "reproduced",
    "printed": [{"state": "holds", "measured": 2.0, "tolerance": 1e-6, "draws": [3, 3, 0, 0]}],
    "rivals": {"twice as much": "contradicted"},
}


def altered(**changes):
    """Return the entry with other values of its keys or of its check's."""
    entry = copy.deepcopy(ENTRY)
    entry["printed"][0] |= {key: value for key, value in changes.items() if key in entry["printed"][0]}
    return entry | {key: value for key, value in changes.items() if key in entry}


@pytest.mark.parametrize("changes", [{}, {"measured": 2.0 + 5e-7}], ids=["the same", "half a tolerance away"])
def test_a_claim_that_agrees_within_the_tolerance_has_no_difference(changes):
    assert claim_differences(altered(**changes), ENTRY) == []


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"measured": 2.00001}, "printed, part 0: 2.00001, written 2.0 ± 1e-06"),
        ({"verdict": "contradicted"}, "verdict contradicted, written reproduced"),
        ({"rivals": {}}, "rivals {}, written {'twice as much': 'contradicted'}"),
        ({"printed": []}, "printed: 0 parts, written 1"),
        ({"state": "undecided"}, "printed, part 0: undecided, written holds"),
        ({"draws": [3, 2, 1, 0]}, "printed, part 0: draws [3, 2, 1, 0], written [3, 3, 0, 0]"),
    ],
)
def test_a_difference_of_a_claim_is_named(changes, difference):
    assert claim_differences(altered(**changes), ENTRY) == [difference]


def test_of_a_claim_whose_verdict_depends_on_the_machine_numbers_alone_are_compared():
    written = ENTRY | {"varies": "verdict"}
    assert claim_differences(altered(verdict="undecided", state="undecided", draws=[3, 2, 0, 1]), written) == []
    assert len(claim_differences(altered(measured=3.0), written)) == 1


def test_of_a_claim_whose_states_depend_on_the_machine_the_verdict_is_compared():
    written = ENTRY | {"varies": "parts"}
    assert claim_differences(altered(state="undecided"), written) == []
    assert len(claim_differences(altered(verdict="undecided", state="undecided"), written)) == 1


def test_where_a_number_may_move_by_much_the_state_and_the_number_of_draws_are_compared_and_not_what_each_says():
    written = altered(tolerance=1.0)  # half of the number itself, as of a training
    assert claim_differences(altered(draws=[3, 2, 1, 0]), written) == []
    assert len(claim_differences(altered(draws=[2, 2, 0, 0]), written)) == 1
    assert len(claim_differences(altered(state="fails", draws=[3, 2, 1, 0]), written)) == 1


@pytest.mark.parametrize(
    ("measured", "number", "tolerance"),
    [
        pytest.param(2.0004, 2.0, 1e-3, id="within half of the wider tolerance, both stay"),
        # it is rounded, perhaps from beyond the tolerance
        pytest.param(2.0009, 2.0009, 1e-6, id="beyond that half, both are written again"),
    ],
)
def test_a_number_of_a_claim_that_is_written_again(measured, number, tolerance):
    again = {"a claim": altered(measured=measured)}
    _keep_wider(again, {"a claim": altered(tolerance=1e-3)})
    (check,) = again["a claim"]["printed"]
    assert (check["measured"], check["tolerance"]) == (number, tolerance)


# -- quantities and tolerances -----------------------------------------------------------------------------------------


def test_a_sum_of_a_quantity_that_is_written_again_stays_where_it_agrees_within_the_wider_tolerance():
    known = pd.DataFrame(quantity_rows("paper", "run", pd.DataFrame({"loss": [1.0, 2.0]})))
    known = known.assign(size_tolerance=1e-3, mix_tolerance=1e-9)
    # the size has moved by a tenth of its tolerance, the mix by more than its own
    again = known.assign(size=known["size"] + 1e-4, mix=known["mix"] + 1e-4, size_tolerance=1e-6, mix_tolerance=1e-6)
    kept = _keep_wider_quantities(again, known).iloc[0]
    assert (kept["size"], kept["size_tolerance"]) == (known["size"][0], 1e-3)
    assert (kept["mix"], kept["mix_tolerance"]) == (again["mix"][0], 1e-6)


@pytest.mark.parametrize(
    ("values_of_machines", "expected"),
    [
        pytest.param([1.0, 1.0, 1.0], ROUNDING, id="the same everywhere: rounding, relative to the number"),
        pytest.param([1.0, 1.01], SAFETY * 0.01, id="different: ten times the difference"),
        pytest.param([0.0, 0.0], NOISE, id="zero everywhere: rounding of exact identities"),
    ],
)
def test_a_tolerance_is_the_largest_of_rounding_the_machines_difference_and_noise(values_of_machines, expected):
    assert tolerance(values_of_machines) == pytest.approx(expected)


def test_an_infinite_number_agrees_with_itself_alone():
    assert agree(np.inf, np.inf, 0.0)
    assert not agree(np.inf, 1.0, 1e9)


VALUES, PREDICTED = [1.0, 2.0, 4.0], [1.0, 2.0, np.nan]


def sums(values, predicted):
    """Return the sums over a quantity of three rows, and over its predictions."""
    return quantity_rows("toy", "descent", pd.DataFrame({"quantity": "loss", "value": values, "predicted": predicted}))


@pytest.mark.parametrize(
    ("values", "predicted"),
    [
        pytest.param([2.0, 4.0, 8.0], PREDICTED, id="a factor"),
        pytest.param([4.0, 2.0, 1.0], PREDICTED, id="another order"),
        pytest.param([-1.0, -2.0, -4.0], PREDICTED, id="another sign"),
        pytest.param([1.0, 2.0, np.nan], PREDICTED, id="a number less"),
        pytest.param(VALUES, [2.0, 1.0, np.nan], id="predictions in another order"),
    ],
)
def test_the_sums_over_a_quantity_notice(values, predicted):
    assert sums(values, predicted) != sums(VALUES, PREDICTED)


# -- facts -------------------------------------------------------------------------------------------------------------

FACTS = {"share": 0.25, "at": "rate 0.8", "gap": math.nan}


def written_facts(*facts_of_other_machines):
    """Return what is written down of a claim with these facts here, and with others on other machines."""
    together = _facts_together([{"a claim": facts} for facts in (FACTS, *facts_of_other_machines)])
    return together.set_index(["claim", "fact"]).loc["a claim"]


@pytest.mark.parametrize("changes", [{}, {"share": 0.25 + 1e-8}], ids=["the same", "within the tolerance"])
def test_facts_that_agree_have_no_difference(changes):
    assert fact_differences(FACTS | changes, written_facts()) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"share": 0.251}, id="another number"),
        pytest.param({"share": math.nan}, id="no number"),
        pytest.param({"gap": 1.0}, id="a number, where there was none"),
        pytest.param({"at": "rate 0.4"}, id="other words"),
        pytest.param({"one more": 1.0}, id="one more fact"),
    ],
)
def test_a_fact_that_differs_is_named(changes):
    (fact,) = changes
    (difference,) = fact_differences(FACTS | changes, written_facts())
    assert difference.startswith(f"fact {fact}")


def test_a_fact_that_a_claim_no_longer_has_is_named():
    without_words = {"share": FACTS["share"], "gap": FACTS["gap"]}
    assert fact_differences(without_words, written_facts()) == ["fact at is written down and not there"]


def test_words_and_missing_numbers_that_depend_on_the_machine_are_not_compared():
    written = written_facts({"share": 0.26, "at": "rate 0.4", "gap": 1.0})
    # the number has ten times the machines' difference as its tolerance
    assert written["tolerance"].to_dict() == {"share": "0.1", "at": MACHINE, "gap": MACHINE}
    assert fact_differences({"share": 0.3, "at": "rate 1.6", "gap": 2.0}, written) == []


def test_a_number_among_facts_that_is_written_again_stays_within_its_wider_tolerance_and_words_do_not():
    known = _facts_together([{"a claim": FACTS}]).assign(tolerance=["0.001", WORDS, "1e-13"])
    moved = _facts_together([{"a claim": FACTS | {"share": 0.2501, "at": "rate 0.4"}}])
    kept = _keep_wider_facts(moved, known.set_index(["claim", "fact"])).set_index("fact")
    assert kept.loc["share", "value"] == "0.25"
    assert kept.loc["share", "tolerance"] == "0.001"
    assert kept.loc["at", "value"] == "rate 0.4"


def test_facts_that_checks_name_and_facts_that_a_claim_yields_are_both_written_down():
    @claim("Figure 1", scope="anything")
    def bounded(table):
        yield every_draw("a number", [1.0, 2.0], at_most=3.0, fact="largest", rivals={"half": 0.5})
        yield Facts(mean=1.5)

    assert claim_facts(evaluate(bounded, {"table": pd.DataFrame()}, {})) == {"largest": 2.0, "mean": 1.5}
