"""Claims on the third phase: shares of draws that fall, on made-up draws."""

import itertools

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.compression import claims
from learning_dynamics.papers.softmax_dynamics.grids import Moment
from tests.papers.softmax_dynamics.tables import grid_table
from tests.support import named_after_its_call

JUDGED = {"measure": "rankme_centred", "threshold": 0.05}


def compressed(fall: float, net: float, share: float = 1.0, otherwise: float = 0.0):
    """Judge such falls in so many of 25 skewed draws, and others in the rest; none of equal ones."""
    falls = np.concatenate([np.zeros(25), np.where(np.arange(25) < share * 25, fall, otherwise)])
    measured = {
        "fall_rare@rankme_centred@0.05": falls,
        "net@rankme_centred": np.full(50, net),
        "phases@rankme_centred@0.05": np.zeros(50),
    }
    cells = [("2-2-2-2", "gaussian", 0.01), ("4-2-1-1", "gaussian", 0.01)]
    settings = {**JUDGED, "within": "fall_rare", "majority_share": 0.5}
    return evaluate(claims.compression, {"grid": grid_table(cells, measured, seeds=25)}, settings)


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "not reproduced"), (0.5, "undecided"), (1.0, "reproduced")])
def test_compression_is_found_where_most_draws_fall(share, verdict):
    found = compressed(0.2, -0.2, share)
    assert found.verdict == verdict
    assert found.judgement.headline.draws_for == np.ceil(share * 25)


def test_a_sliver_of_a_fall_is_no_fall():
    found = compressed(0.04, -0.2)
    assert (found.judgement.headline.draws_for, found.facts["any_part"]) == (0, 1.0)


def test_falls_in_a_rank_that_rises_all_the_same_decide_nothing():
    found = compressed(0.2, 0.5)
    assert found.verdict == "undecided"
    assert found.rivals == {"the rank rises while they are learned": "reproduced"}


def test_flows_that_failed_count_against_compression_and_are_shown():
    found = compressed(np.nan, -0.2, 0.4, otherwise=0.2)
    assert (found.judgement.headline.draws_for, found.judgement.headline.draws_undecided) == (15, 10)
    assert found.verdict == "undecided"


PHASES = {"within": "phases", "threshold": 0.05, "emerging_share": 0.2}


def one_frequent(treated=0.0, equal=0.0, wide=0.0, widest=0.0, name: str = "phases", lasting: float = 0.0):
    """Sixty draws of each case of one frequent class, of which so many show the phases; of milder sizes all do.

    The rank of a share `lasting` of all draws ends 0.06 below its highest, of the others 0.04.
    """
    cases = {
        ("1-1-1-1", 2): equal,
        ("1000-1-1-1", 2): 1.0,
        ("1000-1-1-1", 3): 1.0,
        ("3000-1-1-1", 2): treated,
        ("3000-1-1-1", 3): wide,
        ("3000-1-1-1", 4): widest,
    }
    rows = []
    for (counts, dimension), share in cases.items():
        for seed in range(60):
            shows = float(seed < round(60 * share))
            cell = {
                "counts": counts,
                "skewed": counts != "1-1-1-1",
                "dimension": dimension,
                "seed": seed,
                "scale": 0.01,
            }
            values = {
                ("phases", 0.05): 0.0,
                ("phases_since_rare", 0.05): 0.0,
                (name, 0.05): shows,
                ("peak", 0.0): 2.0,
                ("end", 0.0): 1.94 if seed < round(60 * lasting) else 1.96,
            }
            rows += [
                {**cell, "population": "examples", "quantity": quantity, "threshold": threshold, "value": value}
                for (quantity, threshold), value in values.items()
            ]
    return pd.DataFrame(rows)


def one_rare(skewed: float, equal: float) -> pd.DataFrame:
    """Forty draws of one rare class and forty of equal ones, of which so many show the phases, the last fall late."""
    cells = [("33-33-33-1", "gaussian", 0.01), ("25-25-25-25", "gaussian", 0.01)]
    shows = np.concatenate([np.arange(40) < round(40 * share) for share in (skewed, equal)]).astype(float)
    moments = np.tile(np.arange(5.0), (80, 1))
    quantities = {"phases_since_rare@rankme_centred@0.05": shows, "sigma_1": 2 * moments, "sigma_2": moments}
    quantities |= {"fall_since_rare@rankme_centred@0.05": 0.07 * shows, "fall_rare@rankme_centred@0.05": 0.04 * shows}
    return grid_table(cells, quantities, seeds=40)


def judge_phases_under_flow(frequent: pd.DataFrame, **settings):
    tables = {"one_frequent": frequent, "narrow": one_rare(0.5, 0.1), "wide": one_rare(0.2, 0.0)}
    return evaluate(claims.three_phases_under_flow, tables, PHASES | settings)


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((0.5, 0.0, 0.0, 0.0), "reproduced"),
        ((0.5, 0.3, 0.3, 0.3), "reproduced"),
        ((0.05, 0.0, 0.0, 0.0), "not reproduced"),  # somebody who tries five starts sees none
        ((0.5, 0.95, 0.0, 0.0), "not reproduced"),
        ((0.5, 0.0, 0.95, 0.0), "not reproduced"),
        ((0.5, 0.0, 0.0, 0.95), "not reproduced"),
        ((0.2, 0.0, 0.0, 0.0), "undecided"),
        ((0.5, 0.4, 0.0, 0.0), "undecided"),
        ((0.5, 0.0, 0.4, 0.0), "undecided"),
        ((0.5, 0.0, 0.0, 0.4), "undecided"),
    ],
)
def test_three_phases_show_in_one_of_five_starts_and_less_often_in_each_control(shares, verdict):
    found = judge_phases_under_flow(one_frequent(*shares))
    assert found.verdict == verdict
    assert tuple(found.facts[case] for case in ("value", "equal", "wide", "widest")) == pytest.approx(shares)


def test_facts_of_three_phases_under_flow():
    facts = judge_phases_under_flow(one_frequent(0.5, lasting=0.1)).facts
    expected = {"at_second": 1.0, "since": 0.0, "lasting": 0.2, "one_rare": 0.5, "one_rare_equal": 0.1}
    expected |= {"one_rare_wide": 0.2, "depth": 0.07, "meanwhile": 0.0, "grows": 1.0}
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)
    assert (facts["skewest"], facts["second"]) == ("3000 : 1 : 1 : 1", "1000 : 1 : 1 : 1")


@pytest.mark.parametrize("name", ["phases", "phases_since_rare"])
def test_a_fall_after_the_rare_classes_are_learned_is_one_in_one_reading_alone(name):
    table = one_frequent(0.5, name=name)
    verdicts = {
        within: judge_phases_under_flow(table, within=within).verdict for within in ("phases", "phases_since_rare")
    }
    assert verdicts.pop(name) == "reproduced"
    assert set(verdicts.values()) == {"not reproduced"}


NAMES = ("sigma_1", "sigma_2", "variance_1", "variance_2", "direction")
EXCHANGED = {name: f"class_{name}" for name in NAMES} | {f"class_{name}": name for name in NAMES}
SINGULAR = {"majority_share": 0.5, "spectrum": "singular values"}
EIGENVALUES = {"majority_share": 0.5, "spectrum": "eigenvalues"}
REUSED, OVER_CLASSES = claims.dominant_direction_reused, claims.dominant_direction_over_classes


TURNED, KEPT = 1.5, 0.1  # angles of 86 and of 6 degrees: more than 45, and less


@named_after_its_call
def course(first, second=1.0, *, turned: float = KEPT, examples=1.0, below=1.0):
    """Return 25 draws whose class means and examples have the same spectra, given at the five moments.

    Class means have the singular values `first` and `second`; their dominant direction turns by the angle `turned`. All
    examples have the second singular value `below`, and the first is `examples` times that.
    """
    moments = np.arange(1, 6)
    columns = {
        "class_sigma_1": first,
        "class_sigma_2": second,
        "class_variance_1": np.square(first),
        "class_variance_2": np.square(second),
        "class_direction": np.cos(np.where(moments < 4, turned, 0.0)),
        "sigma_1": np.multiply(examples, below),
        "sigma_2": below,
        "variance_1": np.square(np.multiply(examples, below)),
        "variance_2": np.square(below),
        "direction": 1.0,
    }
    rows = [
        {
            "skewed": True,
            "seed": seed,
            "measure": "",
            "threshold": 0.0,
            "quantity": quantity,
            "index": index,
            "value": value,
        }
        for quantity, seed in itertools.product(columns, range(25))
        for index, value in zip(moments, np.broadcast_to(columns[quantity], 5), strict=True)
    ]
    return pd.DataFrame(rows)


def exchanged(table):
    """Return the table with what all inputs and what class means show exchanged."""
    return table.assign(quantity=table["quantity"].map(lambda name: EXCHANGED.get(name, name)))


@pytest.mark.parametrize(
    ("table", "reused"),
    [
        (course([1.0, 1.3, 1.2, 2.0, 3.0]), "reproduced"),
        (course([1.0, 1.3, 1.2, 2.0, 3.0], turned=TURNED), "not reproduced"),
        (course([1.0, 4.0, 4.0, 5.6, 7.6], [0.1, 0.2, 1.0, 2.5, 4.0]), "reproduced"),
        (course([1.0, 4.0, 4.0, 3.0, 2.0]), "not reproduced"),
    ],
)
def test_the_dominant_direction_is_reused_if_it_stays_and_outgrows_the_other(table, reused):
    assert evaluate(REUSED, {"grid": exchanged(table)}, SINGULAR).verdict == reused


def test_eigenvalues_that_grow_more_before_as_well_say_nothing_of_the_third_phase():
    """The second singular value grows more throughout, and less than the first if both are squared."""
    table = exchanged(course([2.0, 4.0, 5.0, 6.0, 7.0], [0.0, 0.5, 1.8, 3.0, 4.2]))
    singular, squared = (evaluate(REUSED, {"grid": table}, settings) for settings in (SINGULAR, EIGENVALUES))
    assert singular.verdict == "not reproduced"
    assert squared.verdict == "undecided"
    assert [name for name, verdict in squared.rivals.items() if verdict == "reproduced"] == [
        "before they are learned, instead of while they are"
    ]
    assert (squared.facts["eigenvalues"], squared.facts["singular"], squared.facts["eigenvalues_before"]) == (
        1.0,
        0.0,
        1.0,
    )


def test_eigenvalues_that_grow_more_only_in_the_third_phase_reproduce_it():
    table = exchanged(course([2.0, 4.0, 4.0, 6.0, 7.0], [0.0, 0.5, 2.5, 3.0, 4.2]))
    assert evaluate(REUSED, {"grid": table}, EIGENVALUES).verdict == "reproduced"


@pytest.mark.parametrize(("claim", "turned", "other"), [(OVER_CLASSES, TURNED, KEPT), (REUSED, KEPT, TURNED)])
def test_what_a_sentence_says_together_must_be_true_together(claim, turned, other):
    """Each of the three is true of two thirds of the draws, and all of none."""
    parts = [
        course([1.0, 1.3, 1.2, 1.1, 3.0], turned=turned),
        course([1.0, 1.3, 1.2, 2.0, 1.5], turned=turned),
        course([1.0, 1.3, 1.2, 2.0, 3.0], turned=other),
    ]
    table = pd.concat([part.assign(seed=part["seed"] + 25 * place) for place, part in enumerate(parts)])
    settings = {"majority_share": 0.5} if claim is OVER_CLASSES else SINGULAR
    found = evaluate(claim, {"grid": table if claim is OVER_CLASSES else exchanged(table)}, settings)
    assert (found.verdict, found.judgement.headline.value) == ("not reproduced", 0.0)


@pytest.mark.parametrize(
    ("learned", "end", "verdict"),
    [
        (5.1, 5.2, "reproduced"),
        (5.0, 5.0, "not reproduced"),  # it stays
        (4.9, 4.8, "not reproduced"),  # it shrinks by less than the other
    ],
)
def test_the_first_singular_value_must_grow_and_not_only_shrink_by_less(learned, end, verdict):
    table = course([5.0, 5.0, 5.0, learned, end], [1.0, 1.0, 1.0, 0.5, 0.2], turned=TURNED)
    assert evaluate(OVER_CLASSES, {"grid": table}, {"majority_share": 0.5}).verdict == verdict


def test_a_direction_is_kept_from_the_first_class_learned_on():
    table = course([1.0, 1.3, 1.2, 2.0, 3.0], turned=KEPT)
    table.loc[(table["quantity"] == "class_direction") & (table["index"] == Moment.FIRST_LEARNED), "value"] = 0.1
    assert evaluate(OVER_CLASSES, {"grid": table}, {"majority_share": 0.5}).verdict == "reproduced"


@pytest.mark.parametrize(
    ("sizes", "turned", "verdict"),
    [
        ([1.0, 1.3, 1.2, 2.0, 3.0], TURNED, "reproduced"),
        ([1.0, 1.3, 1.2, 2.0, 3.0], KEPT, "not reproduced"),  # the direction that the frequent classes took
        ([1.0, 1.3, 1.2, 1.1, 3.0], TURNED, "not reproduced"),
        ([1.0, 1.3, 1.2, 2.0, 1.5], TURNED, "not reproduced"),
    ],
)
def test_over_classes_another_direction_outgrows_the_first(sizes, turned, verdict):
    found = evaluate(OVER_CLASSES, {"grid": course(sizes, turned=turned)}, {"majority_share": 0.5})
    assert (found.verdict, found.facts["since_first"]) == (verdict, float(turned < np.pi / 4))


@pytest.mark.parametrize(
    ("classes", "examples", "verdict"),
    [
        ([9.0, 1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 8.0, 7.0, 6.0], "reproduced"),
        # each of the four, the other way round
        ([9.0, 1.0, 2.0, 3.0, 2.5], [1.0, 9.0, 8.0, 7.0, 6.0], "not reproduced"),
        ([9.0, 1.0, 3.0, 2.0, 4.0], [1.0, 9.0, 8.0, 7.0, 6.0], "not reproduced"),
        ([9.0, 1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 8.0, 7.0, 7.5], "not reproduced"),
        ([9.0, 1.0, 2.0, 3.0, 4.0], [1.0, 9.0, 7.0, 8.0, 6.0], "not reproduced"),
    ],
)
def test_ratios_fall_over_examples_and_rise_over_classes(classes, examples, verdict):
    second = np.array([1.0, 1.0, 1.0, 3.0, 9.0])  # so that differences go their own way
    table = course(classes, examples=np.array(examples), below=second)
    found = evaluate(claims.ratio_by_population, {"grid": table}, {"majority_share": 0.5})
    assert found.verdict == verdict
    assert found.rivals["the difference of the singular values in place of their ratio"] == "not reproduced"


def decays(treated: float, *, equal: float = 0.0, wide: float = 0.0, none: float = 0.0, classes: float = 0.0):
    """Falls of 0.1 in so many of sixty draws of each case; of the treated at a decay of 0.3 in fewer, of one half."""
    rows = []
    for skewed, dimension, amount, seed in itertools.product((True, False), (2, 3), (0.0, 0.3, 0.6), range(60)):
        case = {(True, 2): treated, (True, 3): wide}.get((skewed, dimension), equal)
        if amount == 0.0:
            case = none
        both = skewed and dimension == 2
        case = case * (seed < 30) * 0.5 if amount == 0.3 and both else case
        depths = {"rankme_centred": case, "class_rankme_centred": classes if amount and both else 0.0}
        for measure, share in depths.items():
            known = {
                "fall_rare": (0.05, 0.1 if seed % 10 < round(10 * share) else 0.04),
                "net": (0.0, 0.3),
                "learned": (0.0, float(seed % 2)),
            }
            rows += [
                {
                    "skewed": skewed,
                    "dimension": dimension,
                    "counts": "4-2-1-1",
                    "variant": "AdamW",
                    "amount": amount,
                    "seed": seed,
                    "measure": measure,
                    "quantity": quantity,
                    "threshold": threshold,
                    "value": value,
                }
                for quantity, (threshold, value) in known.items()
            ]
    return pd.DataFrame(rows)


ADAMW = {**JUDGED, "majority_share": 0.5}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"treated": 0.9}, "reproduced"),
        ({"treated": 0.2}, "not reproduced"),
        ({"treated": 0.9, "equal": 0.9}, "not reproduced"),
        ({"treated": 0.9, "wide": 0.9}, "not reproduced"),
        ({"treated": 0.9, "none": 0.9}, "not reproduced"),
    ],
)
def test_decay_compresses_with_skew_and_a_bottleneck_alone(given, verdict):
    found = evaluate(claims.adamw_compresses, {"decays": decays(**given)}, ADAMW)
    assert found.verdict == verdict
    assert found.judgement.headline.draws == 30
    assert found.facts["depth"] == pytest.approx(0.1)
    assert (found.facts["net"], found.facts["learned"]) == (pytest.approx(0.3), pytest.approx(0.5))


def test_a_decay_is_judged_on_draws_that_did_not_choose_it():
    table = decays(0.9)
    chosen_on = (table["amount"] == 0.3) & (table["seed"] < 30) & table["skewed"] & (table["dimension"] == 2)
    table.loc[chosen_on & (table["quantity"] == "fall_rare"), "value"] = 0.1
    found = evaluate(claims.adamw_compresses, {"decays": table}, ADAMW)
    assert (found.verdict, found.facts["decay"], found.facts["most"]) == ("not reproduced", 0.3, 0.9)


def test_falls_over_classes_as_well_would_not_tell_the_populations_apart():
    found = evaluate(claims.adamw_compresses, {"decays": decays(0.9, classes=0.9)}, ADAMW)
    assert found.verdict not in ("reproduced", "corrected")
