"""Judges of controls on tables made by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import share
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.compression.claims import compression
from learning_dynamics.papers.softmax_dynamics.controls import claims
from tests.papers.softmax_dynamics.tables import grid_table
from tests.support import plan

CELLS = [(counts, "gaussian", scale) for counts in ("4-2-1-1", "2-2-2-2") for scale in (0.01, 1.0)]
SEEDS = 50
JUDGED = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1}
CONTROL = {**JUDGED, "majority_share": 0.5, "warm_up": "to the trough"}


def among_first(share: float) -> np.ndarray:
    """Return whether each draw is among the first of its cell, which are this share of them: shape (members,)."""
    return np.tile(np.arange(SEEDS) < round(share * SEEDS), len(CELLS))


def grid(
    falls: float = 0.0,
    falls_while_rare: float = 0.0,
    rises: float = 1.0,
    saturated: float = 1.0,
    warm: float = 1.0,
    rise_first: float = 0.0,
    equal: float | None = None,
    **settings,
):
    """Return a table in which these shares of draws do each; `equal` is the share of those that fall of equal classes.

    The draws that do are the first of each cell: of two shares the smaller one's draws are among the larger one's.
    A change counts from 0.05 on.
    """
    depth = np.where(among_first(falls), 0.06, 0.04)
    if equal is not None:
        depth[2 * SEEDS :] = np.where(among_first(equal), 0.06, 0.04)[2 * SEEDS :]
    swing = np.tile([-0.3, 0.5, 0.0, 0.0], (len(CELLS) * SEEDS, 1))
    swing[among_first(rise_first)] = [0.1, -0.3, 0.5, 0.0]
    measured = {
        "fall@rankme_centred@0.05": depth,
        "fall_rare@rankme_centred@0.05": np.where(among_first(falls_while_rare), 0.06, 0.02),
        "swing@rankme_centred@0.05": swing,
        "warm_up@rankme_centred": np.where(among_first(warm), 0.06, 0.04),
        "growth@rankme_centred": np.where(among_first(rises), 0.06, 0.04),
        "tail@rankme_centred": np.where(among_first(saturated), -0.04, -0.06),
    }
    return grid_table(CELLS, measured, seeds=SEEDS, **{"loss": "cross_entropy", "dimension": 2, **settings})


CONTROLS = {
    "controls_uniform": {},
    "controls_no_bottleneck": {"dimension": 3},
    "controls_squared_loss": {"loss": "squared"},
    "controls_squared_loss_uniform": {"loss": "squared"},
}


def judge(name: str, control: pd.DataFrame, **settings):
    tables = {"control": control, "with_all_three": grid(falls=0.3)}
    return evaluate(getattr(claims, name), tables, CONTROL | settings)


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize(
    ("shares", "share_that_agrees", "verdict"),
    [
        ({}, 1.0, "reproduced"),
        ({"falls": 0.3}, 0.7, "reproduced"),
        ({"falls": 0.7}, 0.3, "not reproduced"),
        ({"rises": 0.3}, 0.3, "not reproduced"),
        ({"saturated": 0.3}, 0.3, "not reproduced"),
        ({"warm": 0.7}, 0.7, "reproduced"),
        ({"warm": 0.3}, 0.3, "not reproduced"),
    ],
)
def test_most_draws_of_a_control_must_warm_up_then_grow_without_a_fall_and_saturate(
    name, shares, share_that_agrees, verdict
):
    found = judge(name, grid(**shares, **CONTROLS[name]))
    assert found.judgement.headline.value == pytest.approx(share_that_agrees)
    assert found.verdict == verdict


@pytest.mark.parametrize("name", CONTROLS)
def test_facts_are_the_shares_of_draws_that_do_each(name):
    control = grid(warm=0.9, rises=0.8, saturated=0.5, falls=0.4, falls_while_rare=0.2, **CONTROLS[name])
    facts = judge(name, control).facts
    expected = {"warm": 0.9, "rises": 0.8, "saturates": 0.5, "never": 0.6, "falls_while_rare": 0.2}
    expected["never_with_all_three"] = 0.7
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)


def test_one_draw_must_show_all_parts_of_the_growth():
    """Of 50 draws the first 33 warm up and the last 33 grow: two in three do each, one in three does both."""
    table = grid(warm=33 / SEEDS)
    is_growth = table["quantity"] == "growth"
    table.loc[is_growth, "value"] = np.where(table["seed"][is_growth] >= SEEDS - 33, 0.06, 0.04)
    found = judge("controls_uniform", table)
    assert (found.facts["warm"], found.facts["rises"], found.facts["value"]) == (33 / 50, 33 / 50, 16 / 50)
    assert found.verdict == "not reproduced"


@pytest.mark.parametrize(("warm_up", "verdict"), [("to the trough", "reproduced"), ("first", "not reproduced")])
def test_a_rise_before_the_fall_is_part_of_the_warm_up_or_is_not(warm_up, verdict):
    assert judge("controls_uniform", grid(rise_first=0.7), warm_up=warm_up).verdict == verdict


def test_treated_case_and_control_have_one_quantifier():
    quantifiers = {getattr(claims, name).claim.quantifier for name in CONTROLS}
    assert quantifiers == {compression.claim.quantifier}


def test_one_draw_that_falls_refuses_a_control_read_as_every_draw():
    found = judge("controls_uniform", grid(falls=0.3), majority_share=1.0)
    assert found.verdict == "not reproduced"


@pytest.mark.parametrize(
    ("name", "verdict"), [("controls_uniform", "not reproduced"), ("controls_squared_loss", "reproduced")]
)
def test_a_control_is_judged_on_its_own_classes(name, verdict):
    """Nine of ten draws of equal classes fall, and none of skewed ones."""
    found = judge(name, grid(falls=0.0, equal=0.9, **CONTROLS[name]))
    assert found.verdict == verdict
    assert found.judgement.headline.draws == SEEDS  # of the small scale


@pytest.mark.parametrize(
    ("scale", "undecided", "verdict"),
    [
        pytest.param(0.01, 30, "undecided", id="from small starts"),
        pytest.param(1.0, 0, "reproduced", id="from large starts"),
    ],
)
def test_flows_that_failed_are_undecided_unless_their_starts_are_large_and_left_out(scale, undecided, verdict):
    table = grid()
    table.loc[(table["scale"] == scale) & (table["seed"] < 30), "value"] = np.nan
    found = judge("controls_uniform", table)
    headline = found.judgement.headline
    assert (headline.draws, headline.draws_undecided, found.verdict) == (SEEDS, undecided, verdict)
    assert headline.excluded.startswith(f"{SEEDS} left out: starts of larger scale")


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("controls_uniform", {"loss": "squared"}, "loss is squared, and must be cross_entropy"),
        ("controls_uniform", {"dimension": 3}, "dimension is 3, and must be 2"),
        ("controls_no_bottleneck", {"dimension": 2}, "dimension is 2, and must be 3"),
        ("controls_no_bottleneck", {"dimension": 3, "loss": "squared"}, "loss is squared, and must be cross_entropy"),
        ("controls_squared_loss", {"loss": "cross_entropy"}, "loss is cross_entropy, and must be squared"),
        ("controls_squared_loss_uniform", {"loss": "cross_entropy"}, "loss is cross_entropy, and must be squared"),
    ],
)
def test_a_control_of_another_loss_or_dimension_is_refused(name, settings, said):
    with pytest.raises(ProjectError, match=f"role `control`: {said}"):
        judge(name, grid(**settings))


@pytest.mark.parametrize("other", [{"loss": "squared"}, {"dimension": 3}], ids=str)
@pytest.mark.parametrize("name", CONTROLS)
def test_what_a_control_is_compared_with_has_a_bottleneck_and_cross_entropy(name, other):
    tables = {"control": grid(**CONTROLS[name]), "with_all_three": grid(**other)}
    with pytest.raises(ProjectError, match=f"role `with_all_three`: {next(iter(other))} is"):
        evaluate(getattr(claims, name), tables, CONTROL)


@pytest.mark.parametrize(
    ("shares", "rival"),
    [
        ({"warm": 0.1}, "such a growth from the start, without a warm-up"),
        ({"falls": 0.9}, "a growth that falls again"),
        ({"saturated": 0.1}, "a growth that goes on to the end"),
    ],
)
def test_a_rival_passes_where_most_draws_do_what_it_says(shares, rival):
    found = judge("controls_uniform", grid(**shares))
    assert [phrase for phrase, verdict in found.rivals.items() if verdict == "reproduced"] == [rival]


SKEWED, EQUAL = "3000-1-1-1", "1-1-1-1"
CONTRAST = {**JUDGED, "premise_share": 0.2}


def class_flows(shares: dict[tuple[str, int], float], loss: str = "cross_entropy") -> pd.DataFrame:
    """Return flows with one row a class, of which a share falls, by sizes and dimension; from large starts all do.

    Milder sizes, which are not to be read, fall in all draws.
    """
    rows = [
        {
            "counts": counts,
            "skewed": counts != EQUAL,
            "dimension": dimension,
            "scale": scale,
            "seed": seed,
            "population": "examples",
            "threshold": 0.05,
            "quantity": "fall",
            "value": 0.06 if scale > 0.5 or seed < round(share * SEEDS) else 0.04,
        }
        for (counts, dimension), share in {**shares, ("200-1-1-1", 2): 1.0, ("200-1-1-1", 3): 1.0}.items()
        for scale, seed in itertools.product((0.01, 1.0), range(SEEDS))
    ]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {"loss": loss}, "draw": ("counts", "dimension", "scale", "seed")}
    return table


def judge_contrast(name: str, shares: dict[str, float], frequent: dict[str, float]):
    """Judge a contrast by the shares that fall with all three, with equal classes and with the other change.

    At one rare class they are `shares`, at one frequent class `frequent`, by `with_all`, `equal` and `other`.
    """
    eight = {"eight": grid(0.06, equal=0.04)}
    if name == "controls_differ":
        tables = {
            "narrow": grid(shares["with_all"], equal=shares["equal"]),
            "wide": grid(shares["other"], dimension=3),
            "one_frequent": class_flows(
                {(SKEWED, 2): frequent["with_all"], (EQUAL, 2): frequent["equal"], (SKEWED, 3): frequent["other"]}
            ),
            "eight_wide": grid(0.02, dimension=3),
        }
    else:
        squared = {(SKEWED, 2): frequent["other"], (EQUAL, 2): frequent["equal"]}
        tables = {
            "cross_entropy": grid(shares["with_all"]),
            "squared": grid(shares["other"], equal=shares["equal"], loss="squared"),
            "one_frequent": class_flows({(SKEWED, 2): frequent["with_all"]}),
            "one_frequent_squared": class_flows(squared, "squared"),
            "eight_squared": grid(0.3, equal=0.1, loss="squared"),
        }
    for role in ("narrow", "wide", "cross_entropy", "squared"):  # large starts, which are left out, say the opposite
        if role in tables:
            table = tables[role]
            is_large = (table["quantity"] == "fall") & (table["scale"] > 0.5)
            is_treated = table["skewed"][is_large] & (role in ("narrow", "cross_entropy"))
            table.loc[is_large, "value"] = np.where(is_treated, 0.0, 0.9)
    return evaluate(getattr(claims, name), tables | eight, CONTRAST)


RARER = {"with_all": 0.8, "equal": 0.2, "other": 0.2}
every_contrast = pytest.mark.parametrize("name", ["controls_differ", "controls_differ_squared_loss"])


@every_contrast
@pytest.mark.parametrize("at", ["one rare class", "one frequent class"])
@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "reproduced"),
        ({"equal": 0.56, "other": 0.56}, "reproduced"),
        ({"equal": 0.78}, "undecided"),
        ({"equal": 1.0}, "not reproduced"),
        ({"other": 1.0}, "not reproduced"),
        # the contrast holds, and the premise does not
        ({"with_all": 0.1, "equal": 0.0, "other": 0.0}, "undecided"),
    ],
)
def test_fewer_draws_must_fall_in_each_control_at_both_sizes(name, at, changed, verdict):
    shares = {"one rare class": RARER, "one frequent class": RARER} | {at: {**RARER, **changed}}
    found = judge_contrast(name, shares["one rare class"], shares["one frequent class"])
    assert found.verdict == verdict


def test_facts_of_a_contrast_are_shares_at_one_rare_class_one_frequent_class_and_eight_examples():
    rare = {"with_all": 0.8, "equal": 0.1, "other": 0.2}
    frequent = {"with_all": 0.9, "equal": 0.3, "other": 0.4}
    facts = judge_contrast("controls_differ", rare, frequent).facts
    expected = {"with_both": 0.8, "equal": 0.1, "wide": 0.2}
    expected |= {"frequent": 0.9, "frequent_equal": 0.3, "frequent_wide": 0.4}
    # shares of fifty draws at the small scale, and at the large one
    expected |= {"eight": 0.06, "eight_equal": 0.04, "eight_wide": 0.02}
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)
    facts = judge_contrast("controls_differ_squared_loss", rare, frequent).facts
    expected = {"cross_entropy": 0.8, "squared_equal": 0.1, "squared": 0.2}
    expected |= {"frequent": 0.9, "frequent_squared_equal": 0.3, "frequent_squared": 0.4}
    expected |= {"eight": 0.06, "eight_squared": 0.3, "eight_squared_equal": 0.1}
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [pytest.param("wide", "not reproduced", id="control"), pytest.param("narrow", "undecided", id="with both")],
)
def test_flows_that_failed_count_against_a_contrast(failed, verdict):
    tables = {
        "narrow": grid(0.8, equal=0.2),
        "wide": grid(0.2, dimension=3),
        "one_frequent": class_flows({(SKEWED, 2): 0.8, (EQUAL, 2): 0.2, (SKEWED, 3): 0.2}),
        "eight": grid(0.06),
        "eight_wide": grid(0.02, dimension=3),
    }
    table = tables[failed]
    table.loc[(table["quantity"] == "fall") & table["skewed"], "value"] = np.nan
    assert evaluate(claims.controls_differ, tables, CONTRAST).verdict == verdict


# -- what is learned under the squared loss ----------------------------------------------------------------------------


def learned(pattern: list[bool], loss: str, others: int = 0) -> pd.DataFrame:
    """A hundred draws that learn the classes of the pattern, but for some that learn all."""
    final = np.tile(np.where(pattern, 0.9, 0.2), (100, 1))
    final[:others] = 0.9
    return grid_table([("4-2-1-1", "gaussian", 0.1)], {"final": final}, seeds=100, loss=loss)


@pytest.mark.parametrize("pattern", list(itertools.product([False, True], repeat=4)))
def test_only_the_most_frequent_are_learned_by_the_definition(pattern):
    """Some are learned and some not, and no learned class is smaller than one that is not.

    `pattern` says which of the classes of sizes 4, 2, 1 and 1 are learned.
    """
    sizes = np.array([4, 2, 1, 1])
    learned_sizes, other_sizes = sizes[np.array(pattern)], sizes[~np.array(pattern)]
    some_of_each = len(learned_sizes) > 0 and len(other_sizes) > 0
    expected = some_of_each and learned_sizes.min() >= other_sizes.max()
    tables = {"squared": learned(pattern, "squared"), "cross_entropy": learned([True] * 4, "cross_entropy")}
    found = evaluate(claims.squared_loss_learns_frequent_classes, tables, {"exceptions": 0.05})
    assert found.judgement.headline.value == expected
    # one of two rarest classes is no more frequent than the other: the rival of rare classes may pass as well
    assert found.facts["all_learned"] == 1.0


@pytest.mark.parametrize(("others", "verdict"), [(0, "reproduced"), (30, "not reproduced")])
def test_few_draws_may_learn_more_than_the_most_frequent(others, verdict):
    tables = {
        "squared": learned([True, True, False, False], "squared", others),
        "cross_entropy": learned([True] * 4, "cross_entropy"),
    }
    assert evaluate(claims.squared_loss_learns_frequent_classes, tables, {"exceptions": 0.05}).verdict == verdict


def test_draws_are_enough_to_tell_a_warm_up_in_0_56_of_them_from_one_half():
    """As the configuration says; too few draws leave a share of 0.58 undecided in every third sample."""
    configured = plan(papers=["softmax_dynamics"])
    claim = configured.claim("softmax_dynamics", "controls_squared_loss_uniform")
    runs = configured.config.blocks("softmax_dynamics", "runs")
    control = runs[claim["runs"]["control"]["name"]]
    small_scales = [scale for scale in control["scales"] if scale <= claim["settings"]["small_scale"]]
    draws = control["seeds"] * len(runs["cross_entropy_grid"]["inits"]) * len(small_scales)
    warming_up = np.arange(draws + 1)
    is_decided = [share(count, draws).lower >= claim["settings"]["majority_share"] for count in warming_up]
    probability_of_a_decision = stats.binom.pmf(warming_up, draws, 0.56) @ is_decided
    assert probability_of_a_decision >= 0.95
