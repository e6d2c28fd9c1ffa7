"""Judges of the first two phases on tables made by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.evidence import share
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.phases import claims
from tests.papers.softmax_dynamics.tables import grid_table
from tests.support import plan

SCALES = (0.001, 0.1, 1.0)
CELLS = [("4-2-1-1", "gaussian", scale) for scale in SCALES]
SEEDS = 50
MEMBERS = len(CELLS) * SEEDS


def share_of(*shares: float) -> np.ndarray:
    """Of each scale's draws, whether they are among so many."""
    return np.concatenate([np.arange(SEEDS) < round(share * SEEDS) for share in shares])


def columns(*parts: np.ndarray) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*parts), axis=1).astype(float)


def separated(factor: np.ndarray, weights: np.ndarray, later: float = 1.0):
    one = np.ones(MEMBERS)
    measured = {
        "separation_f": columns(one, factor, factor, later * factor, one),
        "separation_w": columns(one, np.where(weights, 2.0, 0.5), one, one, one),
        "sigma_1": np.ones((MEMBERS, 5)),
    }
    settings = {"factor": 2.0, "small_scale": 0.1, "majority_share": 0.5}
    return evaluate(claims.phases_warmup, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


@pytest.mark.parametrize(
    ("factors", "weights", "verdict"),
    [
        ((2.1, 2.1, 1.0), (1.0, 1.0, 0.0), "reproduced"),
        ((1.9, 1.9, 9.0), (1.0, 1.0, 1.0), "not reproduced"),
        ((2.1, 2.1, 9.0), (0.3, 0.3, 1.0), "not reproduced"),
    ],
)
def test_features_and_weights_must_separate_from_small_starts(factors, weights, verdict):
    found = separated(np.repeat(factors, SEEDS), share_of(*weights))
    assert found.verdict == verdict
    assert found.facts["least"] == pytest.approx(min(factors[:2]))
    assert found.judgement.headline.excluded.startswith(f"{SEEDS} left out")


def words(first: np.ndarray, rises_first: np.ndarray):
    swing = np.zeros((MEMBERS, 4))
    swing[:, 0] = np.where(first, -0.3, 0.3)
    swing[:, 1] = np.where(first, 0.5, np.where(rises_first, -0.3, 0.0))
    measured = {"swing@rankme_centred@0.05": swing, "sigma_1": np.ones((MEMBERS, 5))}
    settings = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1, "majority_share": 0.5}
    return evaluate(claims.warmup_lowers_rank, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


@pytest.mark.parametrize(
    ("first", "verdict"),
    [((0.9, 0.9, 0.0), "reproduced"), ((0.2, 0.2, 1.0), "not reproduced"), ((1.0, 0.2, 1.0), "not reproduced")],
)
def test_the_rank_must_fall_first_at_each_small_scale(first, verdict):
    found = words(share_of(*first), np.ones(MEMBERS, bool))
    assert found.verdict == verdict
    assert found.judgement.headline.value == pytest.approx(np.mean(first[:2]))
    assert found.facts["large"] == pytest.approx(first[2])
    assert np.isnan(found.facts["rise_then_fall"]) or found.facts["rise_then_fall"] == 1.0


def expanded(rise: np.ndarray, *, before: float = -0.3, sigma_2: float = 2.0, last: np.ndarray | bool = False):
    rank = columns(1.8, 1.8 + before, 1.8 + before, 1.8 + before + rise, 1.9)
    measured = {
        "rank@rankme_centred": rank,
        "sigma_1": np.tile([0.1, 1.0, 1.5, 2.0, 3.0], (MEMBERS, 1)),
        "sigma_2": np.tile([0.1, 1.0, 1.5, sigma_2, 3.0], (MEMBERS, 1)),
        "learning_time": columns(np.where(last, 9.0, np.ones(MEMBERS)), 2.0, 3.0, 4.0),
        "final": np.ones((MEMBERS, 4)),
    }
    settings = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1, "majority_share": 0.5}
    return evaluate(claims.phases_entropy_seeking, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [((0.9, 0.9, 0.0), "reproduced"), ((0.2, 0.2, 1.0), "not reproduced"), ((1.0, 0.2, 1.0), "not reproduced")],
)
def test_the_rank_must_rise_from_the_first_class_learned_to_the_last(shares, verdict):
    found = expanded(np.where(share_of(*shares), 0.06, 0.04))
    assert found.verdict == verdict
    assert found.judgement.headline.value == pytest.approx(np.mean(shares[:2]))
    assert (found.facts["large"], found.facts["lowest"]) == (pytest.approx(shares[2]), pytest.approx(min(shares[:2])))
    assert found.facts["before"] == 0.0


def test_both_singular_values_must_grow_and_the_frequent_class_must_not_come_last():
    rise = np.full(MEMBERS, 0.3)
    assert expanded(rise).verdict == "reproduced"
    assert expanded(rise, sigma_2=0.9).verdict == "not reproduced"
    assert expanded(rise, last=share_of(0.5, 0.5, 0.5)).verdict == "not reproduced"


def test_a_rank_that_rises_before_any_class_is_learned_as_well_says_nothing_of_the_phase():
    assert expanded(np.full(MEMBERS, 0.3), before=0.3).verdict not in ("reproduced", "corrected")


# -- along single courses ----------------------------------------------------------------------------------------------

COURSE = {"factor": 2.0, "lower": 0.4, "upper": 0.9, "majority_share": 0.5}
# two classes of 2, 1 and 1 examples are learned one after the other: at the records 1, and 3
LEARNED = np.array([[0.3, 0.3, 0.3], [0.6, 0.2, 0.2], [0.8, 0.35, 0.35], [0.95, 0.92, 0.92]])


def course(probability=LEARNED, apart=(0.1, 0.1, 0.1, 1.0), apart_w=(0.1, 0.1, 0.1, 1.0), share: float = 1.0):
    """Sixty flows at four times; so many have these probabilities and distances of the two rare classes, others do not.

    The large class is at one end of an axis. The rare ones are at the other, apart from each other along the second.
    """
    rows = []
    for seed, time in itertools.product(range(60), range(4)):
        as_given = seed < round(60 * share)
        entries = {"probability": probability[time] if as_given else np.minimum(probability[time], [0.6, 1.0, 1.0])}
        for name, distances, repeated in (("feature", apart, 2), ("class", apart_w, 1)):
            half = (distances[time] if as_given else 0.1) / 2
            entries[f"{name}_x"] = [*[-1.0] * repeated, 1.0, 1.0]
            entries[f"{name}_y"] = [*[0.0] * repeated, half, -half]
        rows += [
            {"seed": seed, "time": float(time), "quantity": quantity, "index": index, "value": value}
            for quantity, values in entries.items()
            for index, value in enumerate(values, start=1)
        ]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {"counts": [2, 1, 1]}, "draw": ("seed",)}
    return table


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "reproduced"),
        ({"share": 0.2}, "not reproduced"),
        ({"probability": np.minimum(LEARNED, [0.75, 1.0, 1.0])}, "not reproduced"),  # from 0.4 to 0.25 is not a half
        ({"probability": np.maximum(LEARNED, [0.3, 0.0, 0.0]) - [[0.25, 0, 0], *[[0, 0, 0]] * 3]}, "undecided"),
        ({"probability": np.where(LEARNED.max() == LEARNED, 0.995, LEARNED)}, "undecided"),
        # it is learned as late as the rare ones, of which nothing tells it apart
        ({"probability": np.tile(LEARNED[:, [1]], 3)}, "not reproduced"),
    ],
)
def test_the_error_of_the_most_frequent_class_halves_while_features_expand(given, verdict):
    """Undecided is whether it halves in the warm-up as well, and whether it gains more while rare classes do."""
    found = evaluate(claims.frequent_classes_gain_confidence, {"course": course(**given)}, COURSE)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "reproduced"),
        ({"apart": (0.1, 0.1, 0.1, 0.15)}, "not reproduced"),
        ({"apart_w": (0.1, 0.1, 0.1, 0.15)}, "not reproduced"),
        ({"apart": (0.1, 0.1, 1.0, 1.0)}, "not reproduced"),  # before they are learned
        ({"share": 0.2}, "not reproduced"),
    ],
)
def test_rare_classes_separate_while_they_are_learned_in_both_spaces(given, verdict):
    found = evaluate(claims.rare_classes_separate, {"course": course(**given)}, COURSE)
    assert found.verdict == verdict
    assert found.judgement.headline.draws == 60


def test_draws_are_enough_to_tell_a_share_of_0_6_from_one_half():
    """As the configuration says; too few draws leave a share of 0.65 undecided in every third sample."""
    configured = plan(papers=["softmax_dynamics"])
    claim = configured.claim("softmax_dynamics", "rare_classes_separate")
    draws = configured.config.blocks("softmax_dynamics", "runs")[claim["runs"]["course"]["name"]]["seeds"]
    decided = [share(holding, draws).lower >= claim["settings"]["majority_share"] for holding in range(draws + 1)]
    assert stats.binom.pmf(np.arange(draws + 1), draws, 0.6) @ decided >= 0.95


def test_how_far_the_rare_are_apart_is_in_units_of_the_spread_of_all_classes():
    near, far = (np.array([[[[-1.0, 0.0], [1.0, y], [1.0, -y]]]]) for y in (0.05, 0.5))
    sizes = np.array([2, 1, 1])
    for points, y in ((near, 0.05), (far, 0.5)):
        unit = np.sqrt((np.square([4 / 3, 2 / 3, 2 / 3]).sum() + 2 * y**2) / 3)
        assert claims._distance_of_rarest(points, sizes) == pytest.approx(2 * y / unit), y
        assert claims._distance_of_rarest(7 * points, sizes) == pytest.approx(2 * y / unit), y
