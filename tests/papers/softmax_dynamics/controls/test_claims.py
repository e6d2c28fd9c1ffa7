"""Judges of controls on tables made by hand."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import share
from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.papers.softmax_dynamics.compression.claims import compression
from learning_dynamics.papers.softmax_dynamics.controls import claims
from tests.papers.softmax_dynamics.tables import grid_table
from tests.support import plan

# skewed sizes, then equal ones; at each a small scale, and a large one, which claims leave out
CELLS = [(counts, "gaussian", scale) for counts in ("4-2-1-1", "2-2-2-2") for scale in (0.01, 1.0)]
SEEDS = 50  # draws of each cell
SETTINGS_OF_FALLS = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1}
SETTINGS_OF_CONTROLS = {**SETTINGS_OF_FALLS, "majority_share": 0.5, "warm_up": "to the trough"}
ABOVE, BELOW = 0.06, 0.04  # changes of the rank, above the threshold and below it


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
    """Return a table in which shares of the draws of each cell change their rank, by the threshold or more.

    - In `warm` it falls to the trough of the warm-up, in `rises` it grows from there.
    - In `falls` it falls after its growth, at any time, in `falls_while_rare` while the rare classes are learned. Of
      equal classes `equal` falls after its growth, if that is given.
    - In `saturated` it changes over the last half decade of time by less than the threshold.
    - In `rise_first` its first change is a rise, in the others a fall.

    These draws are the first of each cell: of two shares the smaller one's draws are among the larger one's.
    """
    depth = np.where(among_first(falls), ABOVE, BELOW)
    if equal is not None:
        is_equal = np.repeat([counts == "2-2-2-2" for counts, _, _ in CELLS], SEEDS)
        depth[is_equal] = np.where(among_first(equal), ABOVE, BELOW)[is_equal]
    swing = np.tile([-0.3, 0.5, 0.0, 0.0], (len(CELLS) * SEEDS, 1))  # the first changes of the rank, zeros after them
    swing[among_first(rise_first)] = [0.1, -0.3, 0.5, 0.0]
    measured = {
        "fall@rankme_centred@0.05": depth,
        "fall_rare@rankme_centred@0.05": np.where(among_first(falls_while_rare), ABOVE, BELOW),
        "swing@rankme_centred@0.05": swing,
        "warm_up@rankme_centred": np.where(among_first(warm), ABOVE, BELOW),
        "growth@rankme_centred": np.where(among_first(rises), ABOVE, BELOW),
        "tail@rankme_centred": -np.where(among_first(saturated), BELOW, ABOVE),
    }
    return grid_table(CELLS, measured, seeds=SEEDS, **{"loss": "cross_entropy", "dimension": 2, **settings})


# Claims on runs without one of skew, bottleneck and cross-entropy: after the warm-up the rank grows, does not fall by
# the threshold, and saturates, in most draws from small starts. The settings are those of the runs.
CONTROLS = {
    "controls_uniform": {},
    "controls_no_bottleneck": {"dimension": 3},
    "controls_squared_loss": {"loss": "squared"},
    "controls_squared_loss_uniform": {"loss": "squared"},
}


def judge(name: str, control: pd.DataFrame, **settings) -> Evaluation:
    """Judge the claim `name` on a control; with skew, a bottleneck and cross-entropy 0.3 of the draws fall."""
    tables = {"control": control, "with_all_three": grid(falls=0.3)}
    return evaluate(getattr(claims, name), tables, SETTINGS_OF_CONTROLS | settings)


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
    evaluation = judge(name, grid(**shares, **CONTROLS[name]))
    assert evaluation.judgement.headline.value == pytest.approx(share_that_agrees)
    assert evaluation.verdict == verdict


@pytest.mark.parametrize("name", CONTROLS)
def test_facts_are_the_shares_of_draws_that_do_each(name):
    control = grid(warm=0.9, rises=0.8, saturated=0.5, falls=0.4, falls_while_rare=0.2, **CONTROLS[name])
    facts = judge(name, control).facts
    expected = {
        "share_warming_up": 0.9,
        "share_rising": 0.8,
        "share_saturating": 0.5,
        "share_never_falling": 1 - 0.4,
        "share_falling_while_rare": 0.2,
        "share_never_falling_with_all_three": 1 - 0.3,  # as in `judge`
    }
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)


def test_one_draw_must_show_all_parts_of_the_growth():
    """Of 50 draws the first 33 warm up and the last 33 grow: two in three do each, 16 do both."""
    table = grid(warm=33 / SEEDS)
    is_growth = table["quantity"] == "growth"
    table.loc[is_growth, "value"] = np.where(table["seed"][is_growth] >= SEEDS - 33, ABOVE, BELOW)
    evaluation = judge("controls_uniform", table)
    assert (evaluation.facts["share_warming_up"], evaluation.facts["share_rising"], evaluation.facts["value"]) == (
        33 / SEEDS,
        33 / SEEDS,
        16 / SEEDS,
    )
    assert evaluation.verdict == "not reproduced"


# the warm-up is the fall to the trough, or must be the rank's first change
@pytest.mark.parametrize(("warm_up", "verdict"), [("to the trough", "reproduced"), ("first", "not reproduced")])
def test_the_setting_decides_whether_the_rank_may_rise_before_its_fall_in_the_warm_up(warm_up, verdict):
    assert judge("controls_uniform", grid(rise_first=0.7), warm_up=warm_up).verdict == verdict


def test_treated_case_and_control_have_one_quantifier():
    quantifiers = {getattr(claims, name).claim.quantifier for name in CONTROLS}
    assert quantifiers == {compression.claim.quantifier}


def test_one_draw_that_falls_refuses_a_control_read_as_every_draw():
    evaluation = judge("controls_uniform", grid(falls=0.3), majority_share=1.0)
    assert evaluation.verdict == "not reproduced"


@pytest.mark.parametrize(
    ("name", "verdict"), [("controls_uniform", "not reproduced"), ("controls_squared_loss", "reproduced")]
)
def test_a_control_is_judged_on_its_own_classes(name, verdict):
    """Nine of ten draws of equal classes fall, and none of skewed ones."""
    evaluation = judge(name, grid(falls=0.0, equal=0.9, **CONTROLS[name]))
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.draws == SEEDS  # of one size, from the small scale


@pytest.mark.parametrize(
    ("scale", "undecided", "verdict"),
    [
        pytest.param(0.01, 30, "undecided", id="from small starts"),
        pytest.param(1.0, 0, "reproduced", id="from large starts"),
    ],
)
def test_flows_that_failed_are_undecided_unless_their_starts_are_large_and_left_out(scale, undecided, verdict):
    table = grid()
    table.loc[(table["scale"] == scale) & (table["seed"] < 30), "value"] = np.nan  # 30 draws of each size
    evaluation = judge("controls_uniform", table)
    headline = evaluation.judgement.headline
    assert (headline.draws, headline.draws_undecided, evaluation.verdict) == (SEEDS, undecided, verdict)
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
    ((setting, value),) = other.items()
    with pytest.raises(ProjectError, match=f"role `with_all_three`: {setting} is {value}, and must be"):
        evaluate(getattr(claims, name), tables, SETTINGS_OF_CONTROLS)


@pytest.mark.parametrize(
    ("shares", "rival"),
    [
        ({"warm": 0.1}, "such a growth from the start, without a warm-up"),
        ({"falls": 0.9}, "a growth that falls again"),
        ({"saturated": 0.1}, "a growth that goes on to the end"),
    ],
)
def test_a_rival_passes_where_most_draws_do_what_it_says(shares, rival):
    evaluation = judge("controls_uniform", grid(**shares))
    rivals_that_hold = [phrase for phrase, verdict in evaluation.rivals.items() if verdict == "reproduced"]
    assert rivals_that_hold == [rival]


# -- the contrasts -----------------------------------------------------------------------------------------------------

MILD, SKEWED, EQUAL = "200-1-1-1", "3000-1-1-1", "1-1-1-1"
# "phases": the last fall comes while the rare classes are learned; "phases_since_rare": then or later
SETTINGS_OF_PHASES = {"within": "phases", "threshold": 0.05, "small_scale": 0.1, "premise_share": 0.2}

Shares = dict[tuple[str, int], float]  # of draws, by class sizes and dimension


def class_flows(by_quantity: dict[str, Shares], loss: str = "cross_entropy") -> pd.DataFrame:
    """Return flows with one row a class, of which shares fall (quantity `fall`) or show phases (`phases` or another).

    From large starts, which are not to be read, all do.
    """
    rows = []
    for quantity, shares in by_quantity.items():
        reached, missed = (ABOVE, BELOW) if quantity == "fall" else (1.0, 0.0)
        for (counts, dimension), share_of_draws in shares.items():
            for scale, seed in itertools.product((0.01, 1.0), range(SEEDS)):
                does = scale == 1.0 or seed < round(share_of_draws * SEEDS)
                row = {"counts": counts, "skewed": counts != EQUAL, "dimension": dimension, "scale": scale}
                row |= {"seed": seed, "population": "examples", "threshold": 0.05, "quantity": quantity}
                rows.append(row | {"value": reached if does else missed})
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {"loss": loss}, "draw": ("counts", "dimension", "scale", "seed")}
    return table


def phases_of(*, with_both: float, equal: float, three: float, four: float) -> Shares:
    """Return shares that show the phases: with skew and a bottleneck, with equal classes, in three dimensions, in four.

    With both the share is of the mild and the large skew together, of which the large one shows them first.
    """
    shares = {(EQUAL, 2): equal, (SKEWED, 3): three, (MILD, 3): three, (SKEWED, 4): four, (MILD, 4): four}
    # half of the draws are of each size
    return shares | {(MILD, 2): max(0.0, 2 * with_both - 1), (SKEWED, 2): min(1.0, 2 * with_both)}


def one_rare(dimension: int, *, skewed: dict[str, float], equal: dict[str, float]) -> pd.DataFrame:
    """Return a grid whose skewed draws, and whose equal ones, show the phases in shares by reading of the last fall."""

    def among_first_of(reading: str) -> np.ndarray:
        shares = [(skewed if counts == "4-2-1-1" else equal)[reading] for counts, _, _ in CELLS]
        return np.concatenate([np.arange(SEEDS) < round(share * SEEDS) for share in shares])

    measured = {f"{name}@rankme_centred@0.05": among_first_of(name) for name in ("phases", "phases_since_rare")}
    return grid_table(CELLS, measured, seeds=SEEDS, loss="cross_entropy", dimension=dimension)


def judge_phases(during: Shares, *, later: Shares, failed: tuple[str, int] | None = None, **settings) -> Evaluation:
    """Judge whether the phases show in more draws with skew and a bottleneck than with equal classes, d = 3 or d = 4.

    Where one class is frequent, the shares `during` have the last fall while the rare classes are learned, the shares
    `later` then or later. Flows of the sizes and dimension `failed` have failed. Where one class is rare the shares are
    fixed; they give facts alone.
    """
    tables = {
        "one_frequent": class_flows({"phases": during, "phases_since_rare": later}),
        "narrow": one_rare(
            dimension=2,
            skewed={"phases": 0.04, "phases_since_rare": 0.5},
            equal={"phases": 0.0, "phases_since_rare": 0.02},
        ),
        "wide": one_rare(
            dimension=3,
            skewed={"phases": 0.0, "phases_since_rare": 0.06},
            equal={"phases": 0.0, "phases_since_rare": 0.0},
        ),
    }
    if failed:
        counts, dimension = failed
        flows = tables["one_frequent"]
        has_failed = (flows["counts"] == counts) & (flows["dimension"] == dimension)
        flows.loc[has_failed, "value"] = np.nan
    return evaluate(claims.controls_differ, tables, SETTINGS_OF_PHASES | settings)


HALF_WITH_BOTH = {"with_both": 0.5, "equal": 0.0, "three": 0.1, "four": 0.1}


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "reproduced"),
        # of 100 draws with both and of 50 or 100 in a control: 15 per cent less is outside the interval, 10 is not
        ({"equal": 0.3, "three": 0.35, "four": 0.35}, "reproduced"),
        ({"equal": 0.4}, "undecided"),
        ({"three": 0.4}, "undecided"),
        ({"equal": 0.8}, "not reproduced"),
        ({"three": 0.8}, "not reproduced"),
        ({"four": 0.8}, "not reproduced"),
        # the contrast holds, and the premise does not: fewer than one in five show the phases
        ({"with_both": 0.1, "three": 0.0, "four": 0.0}, "undecided"),
    ],
)
def test_fewer_draws_must_show_the_phases_in_each_control(changed, verdict):
    all_show_them_later = phases_of(with_both=1.0, equal=1.0, three=1.0, four=1.0)  # is not to be read
    evaluation = judge_phases(phases_of(**HALF_WITH_BOTH | changed), later=all_show_them_later)
    assert evaluation.verdict == verdict


@pytest.mark.parametrize(("within", "verdict"), [("phases", "reproduced"), ("phases_since_rare", "not reproduced")])
def test_the_setting_decides_when_the_last_phase_ends(within, verdict):
    later = phases_of(with_both=0.5, equal=0.0, three=0.8, four=0.9)
    assert judge_phases(phases_of(**HALF_WITH_BOTH), later=later, within=within).verdict == verdict


def test_facts_of_the_contrast_are_shares_at_all_sizes_together_and_with_one_rare_class():
    evaluation = judge_phases(
        phases_of(with_both=0.6, equal=0.1, three=0.2, four=0.3),
        later=phases_of(with_both=0.7, equal=0.3, three=0.8, four=0.9),
    )
    expected = {
        "with_both": 0.6,
        "equal": 0.1,
        "in_three": 0.2,
        "in_four": 0.3,
        "with_later_falls": 0.7,
        "equal_with_later_falls": 0.3,
        "in_three_with_later_falls": 0.8,
        "in_four_with_later_falls": 0.9,
        # as in `judge_phases`
        "one_rare": 0.04,
        "one_rare_with_later_falls": 0.5,
        "one_rare_equal_with_later_falls": 0.02,
        "one_rare_in_three_with_later_falls": 0.06,
    }
    assert {fact: evaluation.facts[fact] for fact in expected} == pytest.approx(expected)
    assert (evaluation.facts["mildest_sizes"], evaluation.facts["most_skewed_sizes"]) == (
        "200 : 1 : 1 : 1",
        "3000 : 1 : 1 : 1",
    )
    assert evaluation.judgement.headline.value == pytest.approx(0.6 - 0.1)  # with both less with equal classes


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        pytest.param(EQUAL, "not reproduced", id="equal classes"),
        pytest.param(SKEWED, "undecided", id="with both"),
    ],
)
def test_flows_that_failed_count_against_the_contrast(counts, verdict):
    """Flows of equal classes that failed count as showing the phases, flows with both as not showing them."""
    shares = phases_of(**HALF_WITH_BOTH)
    evaluation = judge_phases(shares, later=shares, failed=(counts, 2))
    assert evaluation.verdict == verdict


SETTINGS_OF_LOSSES = {**SETTINGS_OF_FALLS, "premise_share": 0.2}


def judge_squared_loss(rare: dict[str, float], frequent: dict[str, float]) -> Evaluation:
    """Judge whether the rank falls after its growth in more draws under cross-entropy than under the squared loss.

    Shares of the draws that fall are `rare` where one class is rare, and `frequent` where one is frequent: `with_all`
    under cross-entropy with skew, `other` under the squared loss with skew, `equal` under the squared loss with equal
    classes. Those of eight examples are fixed; they give facts alone.
    """
    squared = {(SKEWED, 2): frequent["other"], (MILD, 2): frequent["other"], (EQUAL, 2): frequent["equal"]}
    tables = {
        "cross_entropy": grid(falls=rare["with_all"]),
        "squared": grid(falls=rare["other"], equal=rare["equal"], loss="squared"),
        "one_frequent": class_flows({"fall": dict.fromkeys([(SKEWED, 2), (MILD, 2)], frequent["with_all"])}),
        "one_frequent_squared": class_flows({"fall": squared}, loss="squared"),
        "eight": grid(falls=0.06, equal=0.04),
        "eight_squared": grid(falls=0.3, equal=0.1, loss="squared"),
    }
    for role in ("cross_entropy", "squared"):  # large starts, which are left out, say the opposite
        table = tables[role]
        is_large = (table["quantity"] == "fall") & (table["scale"] == 1.0)
        has_all = table["skewed"] & (role == "cross_entropy")
        table.loc[is_large & has_all, "value"] = 0.0
        table.loc[is_large & ~has_all, "value"] = 0.9
    return evaluate(claims.controls_differ_squared_loss, tables, SETTINGS_OF_LOSSES)


RARER = {"with_all": 0.8, "equal": 0.2, "other": 0.2}


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
def test_fewer_draws_must_fall_under_the_squared_loss_at_both_sizes(at, changed, verdict):
    shares = {"one rare class": RARER, "one frequent class": RARER} | {at: {**RARER, **changed}}
    assert judge_squared_loss(shares["one rare class"], shares["one frequent class"]).verdict == verdict


def test_facts_of_the_losses_are_shares_at_one_rare_class_one_frequent_class_and_eight_examples():
    rare = {"with_all": 0.8, "equal": 0.1, "other": 0.2}
    frequent = {"with_all": 0.9, "equal": 0.3, "other": 0.4}
    facts = judge_squared_loss(rare, frequent).facts
    expected = {
        "one_rare": 0.8,
        "one_rare_squared": 0.2,
        "one_rare_squared_equal": 0.1,
        "one_frequent": 0.9,
        "one_frequent_squared": 0.4,
        "one_frequent_squared_equal": 0.3,
        # as in `judge_squared_loss`
        "eight_examples": 0.06,
        "eight_examples_squared": 0.3,
        "eight_examples_squared_equal": 0.1,
    }
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)


# -- what is learned under the squared loss ----------------------------------------------------------------------------


def evaluation_of_learned(pattern: Sequence[bool], *, that_learn_all: int = 0) -> Evaluation:
    """Judge whether under the squared loss only the most frequent classes are learned, but in one draw of twenty.

    Of a hundred draws under the squared loss some learn all classes, and the others those of the pattern. Under
    cross-entropy all classes are learned. A class is learned whose final output is above one half.
    """
    final = np.tile(np.where(pattern, 0.9, 0.2), (100, 1))
    final[:that_learn_all] = 0.9
    cells = [("4-2-1-1", "gaussian", 0.1)]
    tables = {
        "squared": grid_table(cells, {"final": final}, seeds=100, loss="squared"),
        "cross_entropy": grid_table(cells, {"final": np.full((100, 4), 0.9)}, seeds=100, loss="cross_entropy"),
    }
    return evaluate(claims.squared_loss_learns_frequent_classes, tables, {"exceptions": 0.05})


@pytest.mark.parametrize("pattern", list(itertools.product([False, True], repeat=4)))
def test_only_the_most_frequent_are_learned_by_the_definition(pattern):
    """Some are learned and some not, and no learned class is smaller than one that is not.

    `pattern` says which of the classes of sizes 4, 2, 1 and 1 are learned.
    """
    sizes = np.array([4, 2, 1, 1])
    learned_sizes, other_sizes = sizes[np.array(pattern)], sizes[~np.array(pattern)]
    some_of_each = len(learned_sizes) > 0 and len(other_sizes) > 0
    agrees = some_of_each and learned_sizes.min() >= other_sizes.max()
    evaluation = evaluation_of_learned(pattern)
    assert evaluation.judgement.headline.value == float(agrees)
    assert evaluation.verdict == ("reproduced" if agrees else "not reproduced")
    assert evaluation.facts["share_learning_all_classes"] == 1.0  # under cross-entropy


@pytest.mark.parametrize(("that_learn_all", "verdict"), [(0, "reproduced"), (30, "not reproduced")])
def test_few_draws_may_learn_more_than_the_most_frequent(that_learn_all, verdict):
    assert evaluation_of_learned([True, True, False, False], that_learn_all=that_learn_all).verdict == verdict


def test_the_configured_draws_are_enough_to_tell_a_share_of_0_56_from_one_half():
    """If 56 draws of 100 warm up, the interval of the measured share is above one half in 95 samples of 100.

    The configuration says so of the draws of `controls_squared_loss_uniform`.
    """
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
