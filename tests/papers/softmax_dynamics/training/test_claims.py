"""The judge of the search at eight examples, on tables made by hand."""

import itertools

import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.training import claims
from tests.support import named_after_its_call

SEEDS = 60
JUDGED = {"threshold": 0.05, "typical": 0.5}


def trainings(share, learned=lambda *_: 1.0) -> pd.DataFrame:
    """Three phases, and learning, in as many draws as functions say of batch, rate, steps, skew and dimension."""
    rows = []
    for batch, rate, steps, skewed, dimension, seed in itertools.product(
        (1, 0), (0.1, 1.0), (300, 1000), (True, False), (2, 3), range(SEEDS)
    ):
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
        # alternately over the draws, so that even and odd ones have the same share
        place = (seed // 2) / (SEEDS / 2)
        for quantity, population, threshold, of in (("learned", "", 0.0, learned), ("phases", "examples", 0.05, share)):
            known = {"quantity": quantity, "population": population, "threshold": threshold}
            rows.append({**cell, **known, "value": float(place < of(*key))})
    return pd.DataFrame(rows)


@named_after_its_call
def at_one_setting(skewed: float, equal: float, wide: float):
    """Shares at full batches, rate 1 and 1,000 steps; noise alone at one other setting."""

    def share(batch, rate, steps, skew, dimension):
        if (batch, rate) == (1, 0.1):
            return 0.95
        if (batch, rate, steps) != (0, 1.0, 1000):
            return 0.0
        return equal if not skew else skewed if dimension == 2 else wide

    return share


def judged(table):
    return evaluate(claims.eight_examples_show_three_phases, {"trainings": table}, JUDGED)


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
    found = judged(trainings(at_one_setting(skewed, equal, wide)))
    assert found.verdict == verdict
    assert found.facts["setting"] == "full batches, learning rate 1, 1000 steps"
    assert found.facts["often"].startswith("batches of 1, learning rate 0.1")
    assert found.judgement.headline.value == pytest.approx(skewed, abs=0.02)
    assert found.judgement.headline.draws == SEEDS // 2
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
    """With nine in ten that show and none of the controls, six in ten that have not learned undo it."""

    def learned(batch, rate, steps, skewed, dimension):
        return 0.3 if (skewed, dimension) == case else 1.0

    found = judged(trainings(at_one_setting(0.9, 0.1, 0.1), learned))
    assert found.verdict == "not reproduced"
    assert sum(check.draws_undecided for check in found.judgement.checks) == 21
    assert found.facts["most"] == pytest.approx(0.3 if case == (True, 2) else 0.95, abs=0.02)


def test_draws_that_choose_do_not_judge():
    """A setting at which the even draws show and the odd ones do not is chosen, and fails."""
    table = trainings(at_one_setting(0.0, 0.0, 0.0))
    chosen = (
        (table["quantity"] == "phases")
        & table["skewed"]
        & (table["dimension"] == 2)
        & (table["seed"] % 2 == 0)
        & (table["learning_rate"] == 1.0)
        & (table["batch"] == 0)
        & (table["steps"] == 300)
    )
    table.loc[chosen, "value"] = 1.0
    found = judged(table)
    assert found.facts["setting"] == "full batches, learning rate 1, 300 steps"
    assert (found.verdict, found.judgement.headline.value) == ("not reproduced", 0.0)


def test_the_setting_chosen_stands_out_from_both_controls():
    """One shows them more often, but equal classes there do so or have not learned: the other is chosen, and holds."""

    def share(batch, rate, steps, skewed, dimension):
        if (rate, steps) != (1.0, 1000):
            return 0.0
        if batch == 1:
            return (1.0 if dimension == 2 else 0.0) if skewed else 0.2
        return 0.8 if skewed and dimension == 2 else 0.1

    found = judged(trainings(share, lambda batch, rate, steps, skewed, dimension: 0.3 if batch and not skewed else 1.0))
    assert found.facts["setting"] == "full batches, learning rate 1, 1000 steps"
    assert found.facts["often"] == "batches of 1, learning rate 1, 1000 steps"
    assert found.verdict == "reproduced"
