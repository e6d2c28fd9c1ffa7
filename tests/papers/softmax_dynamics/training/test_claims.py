"""The claim that eight examples show three phases, on trainings made by hand, and the facts on its page."""

import itertools
from collections.abc import Callable

import pandas as pd
import pytest

from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.papers.softmax_dynamics.training import claims

SEEDS = 60  # draws of each setting, sizes and dimension
# batches and learning rates that are tried; a batch of 0 is all eight examples
SETTINGS = tuple(itertools.product((4, 0), (0.1, 0.4)))
BEST = (4, 0.4)  # the one that is judged, with the sizes 3 : 3 : 1 : 1
SKEWED, EQUAL = ("4-2-1-1", "3-3-1-1"), "2-2-2-2"

Share = Callable[[int, float, str, int], float]  # of draws, by batch, learning rate, class sizes and dimension


def all_draws(batch: int, rate: float, counts: str, dimension: int) -> float:
    return 1.0


def trainings(shows: Share, learned: Share, *, settings=SETTINGS, skewed=SKEWED) -> pd.DataFrame:
    """Return trainings of skewed and of equal sizes, in two and in three dimensions.

    The first draws of each show the phases, a share `shows` of them, and the first learn, a share `learned`.
    """
    rows = []
    for (batch, rate), counts, dimension in itertools.product(settings, (*skewed, EQUAL), (2, 3)):
        cell = {
            "method": "SGD",
            "learning_rate": rate,
            "decay": 0.0,
            "batch": batch,
            "steps": 400,
            "counts": counts,
            "skewed": counts != EQUAL,
            "dimension": dimension,
            "scale": 1e-4,
        }
        share_showing = shows(batch, rate, counts, dimension)
        share_learned = learned(batch, rate, counts, dimension)
        for seed in range(SEEDS):
            draw = {**cell, "seed": seed}
            has_learned, has_phases = float(seed / SEEDS < share_learned), float(seed / SEEDS < share_showing)
            rows += [
                {**draw, "quantity": "learned", "population": "", "threshold": 0.0, "value": has_learned},
                {**draw, "quantity": "phases", "population": "examples", "threshold": 0.05, "value": has_phases},
            ]
    return pd.DataFrame(rows)


def evaluation_of(shows: Share, learned: Share = all_draws) -> Evaluation:
    """Judge whether most draws show the phases at `BEST`, and fewer with equal classes and in three dimensions.

    The judged draws have the same shares as the trainings at all settings. A draw that has not learned its examples
    counts against the claim. The second argument is the share that learns.
    """
    tables = {
        "trainings": trainings(shows, learned),
        "best": trainings(shows, learned, settings=(BEST,), skewed=("3-3-1-1",)),
    }
    return evaluate(claims.eight_examples_show_three_phases, tables, {"threshold": 0.05, "majority_share": 0.5})


def at_best(*, skewed: float, equal: float, wide: float) -> Share:
    """Return the shares that show the phases at `BEST`: skewed sizes, equal ones, and skewed in three dimensions.

    In all other settings no draw shows them, nor at the sizes 4 : 2 : 1 : 1.
    """

    def shows(batch, rate, counts, dimension):
        if (batch, rate) != BEST or counts == "4-2-1-1":
            return 0.0
        if counts == EQUAL:
            return equal
        return skewed if dimension == 2 else wide

    return shows


@pytest.mark.parametrize(
    ("skewed", "equal", "wide", "verdict"),
    [
        (0.9, 0.1, 0.1, "reproduced"),
        # the share must be above one half
        (0.2, 0.0, 0.0, "not reproduced"),
        (0.5, 0.0, 0.0, "undecided"),
        # with 60 draws the interval of a difference of shares excludes zero for 0.8 and 0.63, and not for 0.8 and 0.65
        (0.8, 0.63, 0.1, "reproduced"),
        (0.8, 0.65, 0.1, "undecided"),
        (0.8, 0.1, 0.63, "reproduced"),
        (0.8, 0.1, 0.65, "undecided"),
        # a control shows the phases more often
        (0.75, 0.95, 0.1, "not reproduced"),
        (0.75, 0.1, 0.95, "not reproduced"),
    ],
)
def test_phases_must_show_in_most_draws_and_less_often_without_skew_or_bottleneck(skewed, equal, wide, verdict):
    assert evaluation_of(at_best(skewed=skewed, equal=equal, wide=wide)).verdict == verdict


def test_shares_of_draws_at_the_judged_setting_are_the_headline_and_facts():
    evaluation = evaluation_of(at_best(skewed=0.8, equal=0.65, wide=0.1))
    assert evaluation.judgement.headline.draws == SEEDS
    # 48, 39 and 6 of `SEEDS` draws
    assert evaluation.judgement.headline.value == pytest.approx(0.8)
    assert evaluation.facts["equal"] == pytest.approx(0.65)
    assert evaluation.facts["wide"] == pytest.approx(0.1)
    assert evaluation.facts["full_batches"] == " In full batches at most 0% of the draws show the phases."


def test_the_judged_setting_is_named_and_ranked_among_those_of_both_skewed_sizes():
    facts = evaluation_of(at_best(skewed=0.9, equal=0.1, wide=0.1)).facts
    assert facts["setting"] == "sizes 3 : 3 : 1 : 1, scale 0.0001, batches of 4, rate 0.4 and 400 steps"
    assert facts["settings_tried"] == len(SKEWED) * len(SETTINGS)
    assert facts["place"] == 1


# by this rival the difference of the shares is zero, whose interval has both signs
@pytest.mark.parametrize("rival", ["as often with equal classes", "as often in three dimensions"])
def test_the_rival_that_a_control_shows_the_phases_as_often_is_undecided(rival):
    evaluation = evaluation_of(at_best(skewed=0.9, equal=0.7, wide=0.7))
    assert evaluation.verdict == "reproduced"
    assert evaluation.rivals[rival] == "undecided"


@pytest.mark.parametrize(
    ("counts", "dimension"),
    [
        pytest.param("3-3-1-1", 2, id="skewed classes in two dimensions"),
        pytest.param(EQUAL, 2, id="equal classes in two dimensions"),
        pytest.param("3-3-1-1", 3, id="skewed classes in three dimensions"),
    ],
)
@pytest.mark.parametrize(("not_learned", "verdict"), [(0.2, "reproduced"), (0.95, "not reproduced")])
def test_draws_that_have_not_learned_count_against_the_claim_on_either_side(counts, dimension, not_learned, verdict):
    """Three draws in four show the phases, and of the controls none.

    If nearly all draws of one case have not learned, too few are left that show the phases, or too many controls may.
    """

    def learned(batch, rate, counts_of_draws, dimension_of_draws):
        is_case = (counts_of_draws, dimension_of_draws) == (counts, dimension)
        return 1.0 - not_learned if is_case else 1.0

    assert evaluation_of(at_best(skewed=0.75, equal=0.0, wide=0.0), learned=learned).verdict == verdict


@pytest.fixture
def phases_elsewhere() -> Evaluation:
    """Judge phases in full batches at the rate 0.4 and sizes 4 : 2 : 1 : 1, and none at `BEST`.

    In batches of four at the rate 0.1 the controls show them more often: that is farther from the claim than `BEST`.
    """

    def shows(batch, rate, counts, dimension):
        if (batch, rate) == (4, 0.1):
            return 0.3 if dimension == 2 and counts != EQUAL else 1.0
        return 0.9 if (batch, rate, counts, dimension) == (0, 0.4, "4-2-1-1", 2) else 0.0

    return evaluation_of(shows)


def test_phases_at_another_setting_than_the_judged_one_decide_nothing(phases_elsewhere):
    assert phases_elsewhere.verdict == "not reproduced"
    assert phases_elsewhere.judgement.headline.value == 0.0


def test_the_judged_setting_has_the_place_behind_settings_nearer_to_the_claim(phases_elsewhere):
    # one is nearer, at 4 : 2 : 1 : 1; all that show nothing are as near
    assert phases_elsewhere.facts["place"] == 2


def test_the_largest_share_in_full_batches_is_a_fact(phases_elsewhere):
    assert phases_elsewhere.facts["full_batches"] == " In full batches at most 90% of the draws show the phases."


def test_equal_classes_are_the_control_of_both_skewed_sizes():
    """In batches of four equal classes show the phases as often as skewed ones, in full batches they never do."""

    def shows(batch, rate, counts, dimension):
        if dimension == 3:
            return 0.0
        if batch == 4:
            return 0.8
        return 0.7 if counts == "4-2-1-1" else 0.0

    # the judged setting is behind 4 : 2 : 1 : 1 in full batches, which exceeds its control, at both rates
    assert evaluation_of(shows).facts["place"] == 3
