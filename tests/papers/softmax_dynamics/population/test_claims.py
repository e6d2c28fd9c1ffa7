"""Judges of phases on tables made by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.population import claims
from tests.papers.softmax_dynamics.tables import grid_table

SIZES = {"1-1-1-1": 1, "8-4-2-1": 8, "64-16-4-1": 64, "512-64-8-1": 512}
SEEDS = 60


def region(share) -> pd.DataFrame:
    """Falls of 0.1, in so many of the draws as `share` says of skew, dimension, scale and population."""
    rows = []
    for (counts, skew), dimension, scale, population in itertools.product(
        SIZES.items(), (2, 3), (0.001, 0.1, 1.0), ("classes", "examples")
    ):
        fallen = round(SEEDS * share(skew, dimension, scale, population))
        for seed, (quantity, value) in itertools.product(range(SEEDS), (("fall_rare", 0.1), ("phases", 1.0))):
            rows.append(
                {
                    "counts": counts,
                    "skewed": skew > 1,
                    "dimension": dimension,
                    "scale": scale,
                    "seed": seed,
                    "population": population,
                    "threshold": 0.05,
                    "quantity": quantity,
                    "value": value if seed < fallen else 0.04 * (quantity == "fall_rare"),
                }
            )
    return pd.DataFrame(rows)


def as_measured(skew, dimension, scale, population):
    if population == "examples" or skew < 27 or scale > 0.5:
        return 0.0
    return 0.95 if dimension == 2 or skew > 100 else 0.0


JUDGED = {"threshold": 0.05, "small": 0.1, "typical": 0.5}


def bottleneck(shares):
    """The claim on a region of two and three dimensions, and on one of four."""
    four = region(lambda skew, d, *cell: shares(skew, d + 1, *cell)).query("dimension == 3").assign(dimension=4)
    return evaluate(claims.bottleneck_is_necessary, {"regions": [region(shares), four]}, JUDGED)


def test_equal_classes_must_not_fall_and_skewed_ones_must():
    found = evaluate(claims.skew_is_necessary, {"region": region(as_measured)}, JUDGED)
    assert found.verdict == "reproduced"
    # two sizes of four, at both small scales, two of three skews: of d = 2 alone
    assert found.facts["skewed"] == pytest.approx(0.95 * 2 / 3)
    assert found.judgement.headline.draws == SEEDS * 2 * 2


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "reproduced"), (1 / SEEDS, "not reproduced")])
@pytest.mark.parametrize("dimension", [2, 3])
def test_one_draw_of_equal_classes_that_falls_refuses_it(share, verdict, dimension):
    def shares(skew, d, scale, population):
        return as_measured(skew, d, scale, population) if skew > 1 else share * (d == dimension)

    assert evaluate(claims.skew_is_necessary, {"region": region(shares)}, JUDGED).verdict == verdict


def test_starts_of_large_scale_are_left_out_of_necessity():
    def shares(skew, d, scale, population):
        return as_measured(skew, d, scale, population) if scale < 0.5 else 0.5

    small, large = (
        evaluate(claims.skew_is_necessary, {"region": region(shares)}, {**JUDGED, "small": scale})
        for scale in (0.1, 1.0)
    )
    assert (small.verdict, small.facts["large"], large.verdict) == ("reproduced", 0.5, "not reproduced")


def test_a_bottleneck_is_necessary_until_a_skew_and_that_skew_is_told():
    found = bottleneck(as_measured)
    assert found.verdict == "not reproduced"
    assert found.facts["turns"] == 512.0
    assert (found.facts["share"], found.facts["narrow"]) == (pytest.approx(0.95), pytest.approx(0.95))

    def never(skew, d, scale, population):
        return as_measured(skew, d, scale, population) * (d == 2)

    found = bottleneck(never)
    assert found.verdict == "reproduced"
    assert np.isnan(found.facts["turns"])


def test_the_skew_that_three_dimensions_need_is_told_by_scale():
    def shares(skew, d, scale, population):
        return 0.6 * (population == "classes" and skew >= (64 if scale < 0.01 else 512)) + 0.25 * (d == 2)

    facts = bottleneck(shares).facts
    assert (facts["at"], facts["turns"], facts["larger"], facts["turns_larger"]) == (0.001, 64.0, 0.1, 512.0)
    assert (facts["share"], facts["narrow"]) == (0.6, 0.85)


@pytest.mark.parametrize(("skew", "dimension"), [(8, 3), (64, 4)])
def test_one_draw_without_a_bottleneck_that_falls_refuses_necessity(skew, dimension):
    def shares(size, d, scale, population):
        return 1 / SEEDS if (size, d) == (skew, dimension) else as_measured(size, d, scale, population) * (d == 2)

    assert bottleneck(shares).verdict == "not reproduced"


@pytest.mark.parametrize("claim", ["skew_is_necessary", "bottleneck_is_necessary"])
def test_nothing_is_necessary_for_a_fall_that_is_not_there(claim):
    """Over all inputs nothing falls: the premise of necessity is not met."""
    nowhere = region(lambda skew, d, scale, population: 0.1 * (skew > 1 and d == 2))
    tables = {"region": nowhere} if claim == "skew_is_necessary" else {"regions": [nowhere]}
    found = evaluate(getattr(claims, claim), tables, JUDGED)
    assert found.verdict == "undecided"
    assert "the premise is not met" in found.reason


@pytest.mark.parametrize(("least", "verdict"), [(1.0, "reproduced"), (1 - 1 / SEEDS, "not reproduced")])
@pytest.mark.parametrize("population", ["classes", "examples"])
def test_what_suffices_does_so_on_every_draw_and_over_both_populations(least, verdict, population):
    def shares(skew, d, scale, name):
        return (least if (skew, name) == (8, population) else 1.0) * (scale < 0.5 and skew > 1)

    settings = {"threshold": 0.05, "small": 0.1}
    found = evaluate(claims.skew_and_bottleneck_suffice, {"region": region(shares)}, settings)
    assert found.verdict == verdict
    assert found.facts["mild"] == pytest.approx(least if population == "classes" else 1.0)


@pytest.mark.parametrize(
    ("population", "even", "odd", "verdict"),
    [
        ("examples", 1.0, 1.0, "reproduced"),
        ("examples", 1.0, 0.0, "not reproduced"),
        ("classes", 1.0, 1.0, "not reproduced"),
    ],
)
def test_phases_of_one_setting_must_show_on_draws_that_did_not_choose_it(population, even, odd, verdict):
    table = region(lambda *_: 0.0)
    at = (table["counts"] == "64-16-4-1") & (table["scale"] == 0.1) & (table["quantity"] == "phases")
    at &= (table["population"] == population) & (table["dimension"] == 2)
    table.loc[at, "value"] = np.where(table.loc[at, "seed"] % 2 == 0, even, odd)
    found = evaluate(claims.three_phases_exist, {"region": table}, {"threshold": 0.05, "typical": 0.5})
    assert found.verdict == verdict
    assert found.judgement.headline.draws == SEEDS / 2
    assert population == "classes" or found.facts["setting"] == "64 : 16 : 4 : 1"


CELLS = [("64-16-4-1", init, scale) for init in ("balanced", "gaussian") for scale in (0.001, 0.01)]


def grid(shown: float, gaussian: float | None = None) -> pd.DataFrame:
    shares = [shown, 0.0, shown if gaussian is None else gaussian, 0.0]
    over_classes = np.concatenate([np.arange(30) < round(30 * share) for share in shares])
    measured = {"phases@class_rankme_centred@0.05": over_classes, "phases@rankme_centred@0.05": np.zeros(120)}
    return grid_table(CELLS, {**measured, "sigma_1": np.ones((120, 5))}, seeds=30)


def over_classes(table: pd.DataFrame):
    settings = {"measure": "rankme_centred", "threshold": 0.05, "typical": 0.5}
    return evaluate(claims.three_phases_over_classes, {"grid": table, "region": region(as_measured)}, settings)


@pytest.mark.parametrize(("shown", "verdict"), [(0.9, "reproduced"), (0.2, "not reproduced")])
def test_three_phases_must_show_in_most_draws_from_the_smallest_scale(shown, verdict):
    found = over_classes(grid(shown))
    assert found.verdict == verdict
    assert found.judgement.headline.value == pytest.approx(shown)
    assert (found.facts["least"], found.facts["below"]) == (64.0, 8.0)
    assert (found.facts["wider"], found.facts["examples"]) == (0.0, 0.0)


def test_one_kind_of_start_that_shows_none_is_not_averaged_away():
    assert over_classes(grid(1.0, gaussian=0.3)).verdict == "not reproduced"


def test_phases_over_examples_as_well_would_not_tell_the_populations_apart():
    table = grid(0.9)
    rows = (table["measure"] == "rankme_centred") & (table["quantity"] == "phases")
    table.loc[rows, "value"] = 1.0
    assert over_classes(table).verdict not in ("reproduced", "corrected")


def lengths(order: float, classes: float, examples: float) -> pd.DataFrame:
    """Falls from a highest rank of 2 by 0.06 in so many draws, else by 0.04; lengths of an order."""
    rows = []
    for (counts, skew), dimension, scale, seed in itertools.product(SIZES.items(), (2, 3), (0.001, 0.1), range(SEEDS)):
        cell = {"counts": counts, "skewed": skew > 1, "dimension": dimension, "scale": scale, "seed": seed}
        right = dimension == 2 and scale == 0.001
        noise = 1e-3 * (-1) ** seed
        rows.append(
            {
                **cell,
                "population": "",
                "quantity": "length_order",
                "value": (order + noise if right else 9.0) if skew > 1 else np.nan,
            }
        )
        for population, share in (("classes", classes), ("examples", examples)):
            fallen = 0.06 if seed < round(share * SEEDS) else 0.04
            rows += [
                {**cell, "population": population, "quantity": "peak", "value": 2.0},
                {**cell, "population": population, "quantity": "end", "value": 2.0 - fallen},
            ]
    return pd.DataFrame(rows).assign(threshold=0.0)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ((-0.5, 0.9, 0.0), "reproduced"),
        ((-0.46, 0.9, 0.0), "reproduced"),
        ((-0.4, 0.9, 0.0), "not reproduced"),  # twice the tolerance
        ((-0.6, 0.9, 0.0), "not reproduced"),
        ((-0.5, 0.2, 0.0), "not reproduced"),
        ((-0.5, 0.9, 0.3), "not reproduced"),
    ],
)
def test_lengths_and_both_ranks_must_be_as_predicted(given, verdict):
    settings = {"threshold": 0.05, "typical": 0.5, "rare": 0.05}
    found = evaluate(claims.population_decides, {"region": lengths(*given)}, settings)
    assert found.verdict == verdict
    # eigenvalues as 8 to 1 at 512 : 64 : 8 : 1
    assert found.facts["predicted_rank"] == pytest.approx(np.exp(stats.entropy([8, 1])))
    assert found.facts["classes"] == pytest.approx(given[1], abs=0.01)
