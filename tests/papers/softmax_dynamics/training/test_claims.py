"""The judge of the search at eight examples, on tables made by hand."""

import itertools

import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.training import claims
from tests.support import named_after_its_call

SEEDS = 60
JUDGED = {"threshold": 0.05, "typical": 0.5}
BEST = (0, 1.0, 1000)  # batch, learning rate and steps of the setting that is judged
SETTINGS = tuple(itertools.product((1, 0), (0.1, 1.0), (300, 1000)))


def trainings(share, learned=lambda *_: 1.0, settings=SETTINGS) -> pd.DataFrame:
    """Three phases, and learning, in as many draws as functions say of batch, rate, steps, skew and dimension."""
    rows = []
    for setting, skewed, dimension, seed in itertools.product(settings, (True, False), (2, 3), range(SEEDS)):
        batch, rate, steps = setting
        key = (batch, rate, steps, skewed, dimension)
        cell = {
            "method": "SGD",
            "learning_rate": rate,
            "decay": 0.0,
            "batch": batch,
            "steps": steps,
            "counts": "4-2-1-1" if skewed else "2-2-2-2",
            "skewed": skewed,
            "dimension": dimension,
            "scale": 0.01,
            "seed": seed,
        }
        place = seed / SEEDS
        for quantity, population, threshold, of in (("learned", "", 0.0, learned), ("phases", "examples", 0.05, share)):
            known = {"quantity": quantity, "population": population, "threshold": threshold}
            rows.append({**cell, **known, "value": float(place < of(*key))})
    return pd.DataFrame(rows)


@named_after_its_call
def at_best(skewed: float, equal: float, wide: float):
    """Shares at `BEST`; in all other settings no draw shows the phases."""

    def share(batch, rate, steps, skew, dimension):
        if (batch, rate, steps) != BEST:
            return 0.0
        return equal if not skew else skewed if dimension == 2 else wide

    return share


def judged(share, learned=lambda *_: 1.0):
    tables = {"trainings": trainings(share, learned), "best": trainings(share, learned, (BEST,))}
    return evaluate(claims.eight_examples_show_three_phases, tables, JUDGED)


@pytest.mark.parametrize(
    ("skewed", "equal", "wide", "verdict"),
    [
        (0.9, 0.1, 0.1, "reproduced"),
        (0.2, 0.0, 0.0, "not reproduced"),
        (0.5, 0.0, 0.0, "undecided"),
        (0.95, 0.8, 0.1, "not reproduced"),
        (0.95, 0.1, 0.8, "not reproduced"),
    ],
)
def test_phases_must_show_with_skew_and_bottleneck_and_not_without(skewed, equal, wide, verdict):
    found = judged(at_best(skewed, equal, wide))
    assert found.verdict == verdict
    assert found.facts["setting"] == "full batches, learning rate 1, 1000 steps"
    assert (found.facts["settings"], found.facts["place"]) == (len(SETTINGS), 1)
    assert found.judgement.headline.value == pytest.approx(skewed, abs=0.02)
    assert found.judgement.headline.draws == SEEDS
    assert [found.facts[case] for case in ("equal", "wide")] == pytest.approx([equal, wide], abs=0.02)
    assert found.facts["excess"] == pytest.approx(skewed - max(equal, wide), abs=0.02)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param((True, 2), id="skewed classes in two dimensions"),
        pytest.param((False, 2), id="equal classes in two dimensions"),
        pytest.param((True, 3), id="skewed classes in three dimensions"),
    ],
)
def test_draws_that_have_not_learned_count_against_it_on_either_side(case):
    """With nine in ten that show and none of the controls, seven in ten that have not learned undo it."""

    def learned(batch, rate, steps, skewed, dimension):
        return 0.3 if (skewed, dimension) == case else 1.0

    found = judged(at_best(0.9, 0.1, 0.1), learned)
    assert found.verdict == "not reproduced"
    assert sum(check.draws_undecided for check in found.judgement.checks) == pytest.approx(0.7 * SEEDS)
    # 0.3 less the 0.1 of the controls, or 0.9 less a control's 0.1 that show and 0.7 that have not learned
    assert found.facts["excess"] == pytest.approx(0.2 if case == (True, 2) else 0.1, abs=0.02)


def test_another_setting_than_the_one_that_is_judged_decides_nothing_and_is_counted():
    def elsewhere(batch, rate, steps, skewed, dimension):
        if (batch, rate) == (1, 0.1):  # in a control as well: farther from the claim than where nothing shows
            return 1.0 if dimension == 2 else 0.5
        return 1.0 if (batch, rate, steps) == (1, 1.0, 300) and skewed and dimension == 2 else 0.0

    found = judged(elsewhere)
    assert (found.verdict, found.judgement.headline.value) == ("not reproduced", 0.0)
    assert (found.facts["place"], found.facts["excess"]) == (2, 1.0)
