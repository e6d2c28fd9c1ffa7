"""The claims on warm-up and expansion, and on rare classes that separate afterwards, on tables made by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.evidence import share
from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.papers.softmax_dynamics.phases import claims
from tests.papers.softmax_dynamics.tables import grid_table
from tests.support import plan

SCALES = (0.001, 0.1, 1.0)  # the last is above `small_scale`: its draws are left out
CELLS = [("4-2-1-1", "gaussian", scale) for scale in SCALES]  # class sizes, kind of start, scale
SEEDS = 50  # draws of each cell
MEMBERS = len(CELLS) * SEEDS


def among_first(*shares: float) -> np.ndarray:
    """Return whether each draw is among the first of its scale, which are a share of them, one share for each scale."""
    return np.concatenate([np.arange(SEEDS) < round(share * SEEDS) for share in shares])


def columns(*entries: np.ndarray | float) -> np.ndarray:
    """Return arrays of shape (members,), or numbers for all members, side by side: shape (members, entries)."""
    return np.stack(np.broadcast_arrays(*entries), axis=1).astype(float)


# -- warm-up -----------------------------------------------------------------------------------------------------------


def evaluation_of_separations(factor: np.ndarray, weights_separate: np.ndarray) -> Evaluation:
    """Judge whether in most draws the largest class separates from the others until the first class is learned.

    Its separation must grow by a factor of 2 or more, in features and in weights. That in features changes by `factor`,
    that in weights by 2 where `weights_separate` is true and by 1/2 elsewhere.
    """
    one = np.ones(MEMBERS)
    measured = {  # a column for each of the moments of `grids.Moment`
        "separation_f": columns(one, factor, factor, factor, one),
        "separation_w": columns(one, np.where(weights_separate, 2.0, 0.5), one, one, one),
    }
    settings = {"factor": 2.0, "small_scale": 0.1, "majority_share": 0.5}
    return evaluate(claims.phases_warmup, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


@pytest.mark.parametrize(
    ("factors", "shares_of_weights", "verdict"),  # at each scale, the last of which is not judged
    [
        pytest.param((2.2, 2.1, 1.0), (1.0, 1.0, 0.0), "reproduced", id="both at the small scales"),
        pytest.param((1.9, 1.8, 9.0), (1.0, 1.0, 1.0), "not reproduced", id="features by less than a factor of 2"),
        pytest.param((2.2, 2.1, 9.0), (0.3, 0.3, 1.0), "not reproduced", id="weights in fewer than half of the draws"),
    ],
)
def test_features_and_weights_must_separate_from_small_starts(factors, shares_of_weights, verdict):
    evaluation = evaluation_of_separations(np.repeat(factors, SEEDS), among_first(*shares_of_weights))
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.excluded.startswith(f"{SEEDS} left out")


def test_the_least_factor_at_a_small_scale_is_a_fact():
    evaluation = evaluation_of_separations(np.repeat([2.2, 2.1, 1.0], SEEDS), among_first(1.0, 1.0, 0.0))
    assert (evaluation.facts["least_growth"], evaluation.facts["scale_of_least_growth"]) == (2.1, SCALES[1])


def evaluation_of_courses(falls_first: np.ndarray, others_fall: np.ndarray | bool = True) -> Evaluation:
    """Judge whether in most draws the first change of the rank, by 0.05 or more, is a fall.

    Ranks fall and then rise where `falls_first` is true. The others rise at first; then they fall where `others_fall`
    is true.
    """
    swing = np.zeros((MEMBERS, 4))  # the first four changes of the rank, zeros after the last
    swing[~falls_first, 0] = 0.3
    swing[~falls_first & others_fall, 1] = -0.3
    swing[falls_first, :2] = [-0.3, 0.5]
    measured = {"swing@rankme_centred@0.05": swing}
    settings = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1, "majority_share": 0.5}
    return evaluate(claims.warmup_lowers_rank, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


# shares of draws that do what the claim says, at each scale; most must, of all that are judged and at each small scale
each_small_scale_counts = pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        pytest.param((0.9, 0.9, 0.0), "reproduced", id="most at both small scales"),
        pytest.param((0.2, 0.2, 1.0), "not reproduced", id="most at the large scale alone"),
        pytest.param((1.0, 0.2, 1.0), "not reproduced", id="few at one small scale"),
    ],
)


@each_small_scale_counts
def test_the_rank_must_fall_first_at_each_small_scale(shares, verdict):
    evaluation = evaluation_of_courses(among_first(*shares))
    assert evaluation.verdict == verdict
    *of_small_scales, of_large_scale = shares
    assert evaluation.judgement.headline.value == pytest.approx(np.mean(of_small_scales))
    assert evaluation.facts["large_starts"] == f"; from {of_large_scale:.0%} of them it falls first"


def test_of_the_draws_that_do_not_fall_first_the_share_that_rises_and_falls_is_a_fact():
    # of 50 draws of each scale the first 10 fall first; of the first 30 those that do not, 20, fall after their rise
    evaluation = evaluation_of_courses(among_first(0.2, 0.2, 0.2), others_fall=among_first(0.6, 0.6, 0.6))
    assert evaluation.facts["other_draws"] == f" Of the other draws {20 / 40:.0%} rise and then fall."


# -- expansion ---------------------------------------------------------------------------------------------------------


def evaluation_of_expansions(
    rise: np.ndarray,
    *,
    before: float = -0.3,
    later: float = 0.0,
    sigma_2: float = 2.0,
    rare_begin: float = 2.0,
    frequent_is_last: np.ndarray | bool = False,
    expansion: float = 0.0,
    begins: str = "first_learned",
) -> Evaluation:
    """Judge whether features expand from when the first class is learned to when the rarest begin to be.

    In most draws the rank, by 0.05 or more, and both singular values must grow in this time, and the most frequent
    class must not be learned last.

    The first class is learned at time 1; until then the rank changes by `before`. It changes by `rise` until the rarest
    begin to be learned, at the time `rare_begin`, and by `later` until they are. The second singular value is 1 when
    the first class is learned and `sigma_2` when the rarest begin to be. Where `frequent_is_last` is true the most
    frequent class is learned after all others. From the trough until the rarest begin the rank changes by `expansion`.
    """
    measured = {  # a column for each of the moments of `grids.Moment`
        "reached": columns(0.0, 1.0, np.full(MEMBERS, rare_begin), 3.0, 4.0),
        "rank@rankme_centred": columns(1.8, 1.8 + before, 1.8 + before + rise, 1.8 + before + rise + later, 1.9),
        "expansion@rankme_centred": np.full(MEMBERS, expansion),
        "sigma_1": np.tile([0.1, 1.0, 1.5, 2.0, 3.0], (MEMBERS, 1)),
        "sigma_2": np.tile([0.1, 1.0, sigma_2, 2.5, 3.0], (MEMBERS, 1)),
        # a column for each class
        "learning_time": columns(np.where(frequent_is_last, 9.0, np.ones(MEMBERS)), 2.0, 3.0, 4.0),
        "final": np.ones((MEMBERS, 4)),
    }
    settings = {"measure": "rankme_centred", "threshold": 0.05, "small_scale": 0.1, "majority_share": 0.5}
    settings["begins"] = begins
    return evaluate(claims.phases_entropy_seeking, {"grid": grid_table(CELLS, measured, seeds=SEEDS)}, settings)


@each_small_scale_counts
def test_the_rank_must_rise_from_the_first_class_learned_to_when_the_rarest_begin_to_be(shares, verdict):
    # by the threshold, 0.05, or more
    evaluation = evaluation_of_expansions(np.where(among_first(*shares), 0.06, 0.04))
    assert evaluation.verdict == verdict
    *of_small_scales, of_large_scale = shares
    mean = np.mean(of_small_scales)
    assert evaluation.judgement.headline.value == pytest.approx(mean)
    assert evaluation.facts["large_starts"] == f"; from {of_large_scale:.0%} of them the rank rises by as much"
    expected = {
        "lowest_share": min(of_small_scales),
        # the rank rises from when the first class is learned to when the rarest are, or only while the rarest are
        "share_rising_until_learned": mean,
        "share_rising_while_rare": 0.0,
    }
    assert {fact: evaluation.facts[fact] for fact in expected} == pytest.approx(expected)


RISE = np.full(MEMBERS, 0.3)  # far above the threshold
TOO_SMALL_A_RISE = np.full(MEMBERS, 0.04)


@pytest.mark.parametrize(("expansion", "verdict"), [(0.06, "reproduced"), (0.04, "not reproduced")])
def test_as_a_variant_the_rank_must_rise_from_the_trough(expansion, verdict):
    evaluation = evaluation_of_expansions(TOO_SMALL_A_RISE, expansion=expansion, begins="trough")
    assert evaluation.verdict == verdict


def test_a_rise_while_the_rare_classes_are_learned_does_not_count_as_expansion():
    evaluation = evaluation_of_expansions(TOO_SMALL_A_RISE, later=0.3)
    assert evaluation.verdict == "not reproduced"
    assert evaluation.facts["share_rising_until_learned"] == evaluation.facts["share_rising_while_rare"] == 1.0


@pytest.mark.parametrize(
    ("rare_begin", "share_that_rises", "verdict"),
    [(1.1, 1.0, "reproduced"), (1.0, 0.0, "not reproduced"), (0.9, 0.0, "not reproduced")],
)
def test_draws_whose_rare_classes_begin_to_be_learned_before_any_class_is_have_no_phase_of_expansion(
    rare_begin, share_that_rises, verdict
):
    """The first class is learned at time 1, and rare ones begin to be at `rare_begin`."""
    evaluation = evaluation_of_expansions(RISE, rare_begin=rare_begin)
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.value == share_that_rises
    assert evaluation.facts["share_without_phase"] == 1 - share_that_rises


@pytest.mark.parametrize(("sigma_2", "verdict"), [(1.1, "reproduced"), (0.9, "not reproduced")])
def test_the_second_singular_value_must_grow_as_well(sigma_2, verdict):
    # from 1, when the first class is learned
    assert evaluation_of_expansions(RISE, sigma_2=sigma_2).verdict == verdict


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "reproduced"), (0.5, "not reproduced")])
def test_the_most_frequent_class_must_not_be_learned_last(share, verdict):
    assert evaluation_of_expansions(RISE, frequent_is_last=among_first(share, share, share)).verdict == verdict


def test_a_rank_that_rises_before_any_class_is_learned_as_well_leaves_the_claim_undecided():
    evaluation = evaluation_of_expansions(RISE, before=0.3)
    assert (evaluation.verdict, evaluation.rivals) == ("undecided", {"the time before, instead": "reproduced"})


# -- along single courses ----------------------------------------------------------------------------------------------

# `factor` is that by which errors must shrink, and separations grow; a class begins to be learned at the probability
# `lower`, and is learned at `upper`
SETTINGS_OF_COURSES = {"factor": 2.0, "lower": 0.4, "upper": 0.9, "majority_share": 0.5}
COURSES = 60  # draws
# of classes of 2, 1 and 1 examples at four times: the largest is learned at the second. The features expand from then
# to the third, the last at which both rare classes are below `lower`. These are learned at the fourth.
LEARNED = np.array([[0.3, 0.3, 0.3], [0.6, 0.2, 0.2], [0.8, 0.35, 0.35], [0.95, 0.92, 0.92]])


def with_largest(*probabilities: float) -> np.ndarray:
    """Return the probabilities `LEARNED` with those of the largest class, at each of four times, replaced."""
    return np.column_stack([probabilities, LEARNED[:, 1:]])


def course(probability=LEARNED, apart=(0.1, 0.1, 0.1, 1.0), apart_w=(0.1, 0.1, 0.1, 1.0), share: float = 1.0):
    """Return `COURSES` flows at four times, a share of which have the given probabilities and distances.

    `apart` are distances between the two rare classes' features at each time, and `apart_w` those between their
    columns of the classifier. In the other flows the largest class stays at 0.6, and the rare ones stay together. The
    largest class is at one end of an axis. The rare ones are at the other, apart from each other along the second.
    """
    rows = []
    for seed, time in itertools.product(range(COURSES), range(4)):
        as_given = seed < round(COURSES * share)
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


IN_WARM_UP, WHILE_RARE = "the warm-up instead", "the time in which the rare classes are learned, instead"


@pytest.mark.parametrize(
    ("given", "verdict", "rivals_that_hold"),  # `given`: arguments of `course`
    [
        pytest.param({}, "reproduced", [], id="an error that halves, from 0.4 to 0.2"),
        pytest.param(
            {"probability": with_largest(0.3, 0.6, 0.75, 0.95)},
            "not reproduced",
            [],
            id="an error from 0.4 to 0.25",
        ),
        pytest.param({"share": 0.2}, "not reproduced", [], id="in one draw of five"),
        pytest.param(
            {"probability": with_largest(0.05, 0.6, 0.8, 0.95)}, "undecided", [IN_WARM_UP], id="in the warm-up as well"
        ),
        pytest.param(
            {"probability": with_largest(0.3, 0.6, 0.8, 0.995)}, "undecided", [WHILE_RARE], id="even more afterwards"
        ),
        pytest.param({"probability": LEARNED[:, [1, 1, 1]]}, "not reproduced", [], id="learned with the rare classes"),
    ],
)
def test_the_error_of_the_most_frequent_class_must_halve_while_features_expand_and_only_then(
    given, verdict, rivals_that_hold
):
    evaluation = evaluate(claims.frequent_classes_gain_confidence, {"course": course(**given)}, SETTINGS_OF_COURSES)
    assert evaluation.verdict == verdict
    assert [
        phrase for phrase, verdict_of in evaluation.rivals.items() if verdict_of == "reproduced"
    ] == rivals_that_hold


def test_factors_by_which_errors_shrink_are_facts():
    facts = evaluate(claims.frequent_classes_gain_confidence, {"course": course()}, SETTINGS_OF_COURSES).facts
    # errors are one less probabilities, those of `LEARNED`
    expected = {
        "shrinkage_in_warm_up": 0.7 / 0.4,  # of the largest class until the first class is learned
        "shrinkage_of_frequent": 0.4 / 0.2,  # of the largest class while the features expand
        "shrinkage_of_rarest": 0.8 / 0.65,  # of the rare classes in the same time
        # shares of draws in which the error of the largest class shrinks by more than that of the rare ones: while the
        # features expand, and afterwards, when it shrinks from 0.2 to 0.05, and that of the rare ones from 0.65 to 0.08
        "share_shrinking_more": 1,
        "share_shrinking_more_later": 0,
    }
    assert {fact: facts[fact] for fact in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        pytest.param({}, "reproduced", id="tenfold in both spaces"),
        pytest.param({"apart": (0.1, 0.1, 0.1, 0.15)}, "not reproduced", id="features by less than a factor of 2"),
        pytest.param({"apart_w": (0.1, 0.1, 0.1, 0.15)}, "not reproduced", id="weights by less than a factor of 2"),
        pytest.param({"apart": (0.1, 0.1, 1.0, 1.0)}, "not reproduced", id="features before they are learned"),
        pytest.param({"share": 0.2}, "not reproduced", id="in one draw of five"),
    ],
)
def test_rare_classes_must_separate_while_they_are_learned_in_both_spaces(given, verdict):
    evaluation = evaluate(claims.rare_classes_separate, {"course": course(**given)}, SETTINGS_OF_COURSES)
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.draws == COURSES


def test_the_configured_draws_are_enough_to_tell_a_share_of_0_6_from_one_half():
    """If six draws in ten separate, the interval of the measured share is above one half in 95 samples of 100."""
    configured = plan(papers=["softmax_dynamics"])
    claim = configured.claim("softmax_dynamics", "rare_classes_separate")
    run = configured.config.blocks("softmax_dynamics", "runs")[claim["runs"]["course"]["name"]]
    draws = run["seeds"]
    separating = np.arange(draws + 1)  # how many draws separate
    is_decided = [share(count, draws).lower >= claim["settings"]["majority_share"] for count in separating]
    probability_of_a_decision = stats.binom.pmf(separating, draws, 0.6) @ is_decided
    assert probability_of_a_decision >= 0.95


@pytest.mark.parametrize("y", [0.05, 0.5])
@pytest.mark.parametrize("size", [1.0, 7.0])
def test_the_distance_of_the_rarest_is_in_units_of_the_spread_of_all_classes(y, size):
    """The unit is the root mean square distance from the centre, which is at (1/3, 0) times the size."""
    points = size * np.array([[-1.0, 0.0], [1.0, y], [1.0, -y]])  # the last two are the rarest
    spread = np.sqrt((np.square([4 / 3, 2 / 3, 2 / 3]).sum() + 2 * y**2) / 3)
    distance = claims._distance_of_rarest(points[None, None], sizes=np.array([2, 1, 1]))
    assert distance.item() == pytest.approx(2 * y / spread)
