"""The claims on primacy, selection and alignment, on tables made by hand.

Shares are compared with scipy's rank statistics and with closed forms.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.papers.softmax_dynamics.biases import claims
from learning_dynamics.papers.softmax_dynamics.grids import Moment
from tests.papers.softmax_dynamics.tables import grid_table

CELLS = [
    ("4-2-1-1", "gaussian", 0.01),
    ("5-1-1-1", "gaussian", 0.01),
    ("4-2-1-1", "gaussian", 1.0),
    ("2-2-2-2", "gaussian", 0.01),
]
SEEDS = 20
# class sizes of each draw, cell by cell, shape (cells * seeds, classes)
SIZES = np.repeat([[4, 2, 1, 1], [5, 1, 1, 1], [4, 2, 1, 1], [2, 2, 2, 2]], SEEDS, axis=0)
# the first two cells are judged: the third starts at a large scale, the last has classes of one size
JUDGED = slice(0, 2 * SEEDS)
LARGE_SCALE = slice(2 * SEEDS, 3 * SEEDS)

# -- primacy -----------------------------------------------------------------------------------------------------------


def random_times(order: float) -> np.ndarray:
    """Return learning times, the sizes to a power times log-normal noise, shape (cells * seeds, classes)."""
    rng = np.random.default_rng(2)
    return SIZES.astype(float) ** order * np.exp(rng.standard_normal(SIZES.shape) * 0.5)


def judge_primacy(times: np.ndarray, small_scale: float = 0.1) -> Evaluation:
    """Judge learning times; a class whose time is nan is never learned."""
    quantities = {"learning_time": times, "final": np.where(np.isnan(times), 0.2, 0.9)}
    grid = grid_table(CELLS, quantities, seeds=SEEDS)
    return evaluate(claims.primacy_bias, {"grid": grid}, {"small_scale": small_scale, "chance_share": 0.5})


def shares_of_pairs_in_order(times: np.ndarray) -> np.ndarray:
    """Return the share of pairs of classes in order, of each judged draw, shape (draws,), from Somers' D.

    D is that share less the share of pairs in the other order.
    """
    pairs = zip(SIZES[JUDGED], times[JUDGED], strict=True)
    return np.array([0.5 * (1 + stats.somersd(sizes, -of_draw).statistic) for sizes, of_draw in pairs])


def test_the_share_of_pairs_in_order_is_somers_d():
    times = random_times(-1.0)
    evaluation = judge_primacy(times)
    assert evaluation.judgement.headline.value == pytest.approx(np.mean(shares_of_pairs_in_order(times)))
    assert evaluation.verdict == "reproduced"


def test_facts_of_primacy_are_the_shares_of_draws_with_the_largest_class_first_and_with_all_pairs_in_order():
    times = random_times(-1.0)
    facts = judge_primacy(times).facts
    assert facts["first"] == pytest.approx(np.mean(times[JUDGED].argmin(axis=1) == 0))
    assert facts["ordered"] == pytest.approx(np.mean(shares_of_pairs_in_order(times) == 1))


def test_starts_of_a_large_scale_are_left_out_of_primacy():
    assert judge_primacy(random_times(-1.0)).judgement.headline.excluded.startswith(f"{SEEDS} left out")


# learning times as a power of the sizes
@pytest.mark.parametrize(("order", "state"), [(-2.0, "holds"), (0.0, "undecided"), (2.0, "fails")])
def test_primacy_holds_where_larger_classes_are_learned_earlier(order, state):
    assert judge_primacy(random_times(order)).judgement.state == state


def test_primacy_must_hold_at_each_judged_scale():
    times = random_times(-3.0)
    times[LARGE_SCALE] = times[LARGE_SCALE, ::-1]  # at one scale the rarer classes come first
    assert judge_primacy(times).verdict == "reproduced"
    assert judge_primacy(times, small_scale=1.0).verdict == "not reproduced"


def test_a_class_that_is_never_learned_comes_last():
    times = SIZES.astype(float)  # the rarer first
    times[JUDGED, -2:] = np.nan
    # of the pairs of different sizes only that of the first two classes is out of order: one of five, and one of three
    assert judge_primacy(times).judgement.headline.value == pytest.approx((4 / 5 + 2 / 3) / 2)


# -- selection ---------------------------------------------------------------------------------------------------------


STARTS = 4000


def random_starts(order: float, ratio: float, draws: int = STARTS) -> pd.DataFrame:
    """Return a table of starts at two scales: rates are gains times the singular value to a power, `order`.

    Gains g_1 and g_2 are independent, log-normal in size and of random sign; sigma_1 / sigma_2 is `ratio` everywhere.
    """
    rng = np.random.default_rng(3)
    sigma = np.array([ratio, 1.0])
    rates = np.exp(rng.standard_normal((draws, 2))) * rng.choice([-1, 1], (draws, 2)) * sigma**order
    return pd.DataFrame(
        {
            "scale": np.repeat(np.repeat([0.1, 0.2], draws // 2), 2),
            "seed": np.repeat(np.arange(draws), 2),
            "index": np.tile([1, 2], draws),
            "rate": rates.ravel(),
            "sigma": np.tile(sigma, draws),
        }
    )


def even_course(share: float, draws: int = 12, steps: int = 12) -> pd.DataFrame:
    """Return a table of courses on which the loss falls evenly, until the last class is learned after `steps` steps.

    - The loss is `2 * steps` at first. It falls by one in each of these steps, of length one, and by five in one more.
    - The larger singular value grows faster than the smaller one in the first of these steps, a share of them, and
      again once the last class is learned.
    """
    rows = []
    for seed, time in itertools.product(range(draws), range(steps + 2)):
        is_learned = time >= steps
        is_faster = time < round(share * steps) or is_learned
        entries_of = {
            "loss": {0: 2.0 * steps - min(time, steps) - 5.0 * (time > steps)},
            "probability": {1: 0.9, 2: 0.9 if is_learned else 0.2},
            "sigma": {1: 2.0, 2: 1.0},
            "rate": {1: 2.0 if is_faster else 1.0, 2: 1.5},
        }
        for quantity, entries in entries_of.items():
            known = {"seed": seed, "time": float(time), "quantity": quantity}
            rows += [{**known, "value": value, "index": index} for index, value in entries.items()]
    return pd.DataFrame(rows)


def judge_selection(starts: pd.DataFrame, course: pd.DataFrame) -> Evaluation:
    return evaluate(claims.selection_bias, {"starts": starts, "course": course}, {"chance_share": 0.5})


def share_of_larger(ratio: float, order: float) -> float:
    """Return the probability that the larger singular value is faster if gains are independent.

    log |g_2 / g_1| is Gaussian of variance two, and below order * log(sigma_1 / sigma_2) with this probability.
    """
    return float(stats.norm.cdf(order * np.log(ratio) / np.sqrt(2)))


def four_standard_errors(share: float) -> float:
    """Return four standard errors of a share of all random starts."""
    return 4 * np.sqrt(share * (1 - share) / STARTS)


@pytest.mark.parametrize(("fact", "order"), [("expected", 1.0), ("square", 2.0)])
def test_shares_predicted_from_exchanged_gains_have_a_closed_form(fact, order):
    facts = judge_selection(random_starts(1.0, 3.0), even_course(0.75)).facts
    closed = share_of_larger(3.0, order)
    # the mean over all pairs of |g_1| and |g_2| has no larger standard error than one over as many independent draws
    assert facts[fact] == pytest.approx(closed, abs=four_standard_errors(closed))


def test_the_share_of_random_starts_is_the_predicted_one():
    evaluation = judge_selection(random_starts(1.0, 3.0), even_course(0.75))
    _, larger_is_faster, is_predicted = evaluation.judgement.checks
    closed = share_of_larger(3.0, 1.0)
    assert larger_is_faster.value == pytest.approx(closed, abs=four_standard_errors(closed))
    assert is_predicted.predicted == evaluation.facts["expected"]
    assert evaluation.facts["faster"] == larger_is_faster.value
    assert evaluation.verdict == "reproduced"


@pytest.mark.parametrize("rival", claims.OTHER_ORDERS)
def test_rates_of_another_order_are_refused_on_rates_of_the_first(rival):
    evaluation = judge_selection(random_starts(1.0, 3.0), even_course(0.75))
    assert evaluation.verdict == "reproduced"
    assert evaluation.rivals[rival] == "not reproduced"


def test_a_larger_value_that_changes_faster_less_often_than_not_is_no_bias():
    """Gains shrink as values grow: the smaller value mostly changes faster, as exchanged gains predict."""
    evaluation = judge_selection(random_starts(-0.5, 3.0), even_course(0.75))
    loss_falls_meanwhile, larger_is_faster, is_predicted = evaluation.judgement.checks
    assert larger_is_faster.state == "fails"
    assert is_predicted.state == "holds"
    assert loss_falls_meanwhile.state == "holds"  # of the course, which has no bearing on the starts
    assert evaluation.verdict == "not reproduced"


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.75, "reproduced"), (0.51, "reproduced"), (0.49, "not reproduced"), (0.25, "not reproduced")],
)
def test_most_of_the_loss_must_fall_while_the_larger_value_grows_faster(share, verdict):
    evaluation = judge_selection(random_starts(1.0, 3.0), even_course(share, steps=100))
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.value == pytest.approx(share, rel=1e-12)  # a ratio of small integers


def test_loss_that_falls_while_the_larger_value_shrinks_faster_does_not_count():
    course = even_course(0.75)
    shrinks = course.eval("quantity == 'rate' and index == 1 and value == 2.0")
    course.loc[shrinks, "value"] = -2.0
    evaluation = judge_selection(random_starts(1.0, 3.0), course)
    assert evaluation.verdict == "not reproduced"
    assert evaluation.judgement.headline.value == 0.0


def test_signs_of_rates_at_random_starts_are_facts():
    starts = random_starts(1.0, 3.0)
    larger, smaller = (starts.loc[starts["index"] == index, "rate"].to_numpy() for index in (1, 2))
    facts = judge_selection(starts, even_course(0.75)).facts
    assert facts["gains_more"] == pytest.approx(np.mean(larger > smaller))
    assert facts["shrinking"] == pytest.approx(np.mean(larger[abs(larger) > abs(smaller)] < 0))


@pytest.mark.parametrize("share", [0.75, 0.25])
def test_the_loss_is_counted_by_relative_rates_too(share):
    # rates over singular values: 2 / 2 or 1 / 2 for the larger one, 1.5 for the smaller one, which is always faster
    facts = judge_selection(random_starts(1.0, 3.0), even_course(share)).facts
    assert facts["lost_while_relatively_faster"] == 0.0


# -- alignment ---------------------------------------------------------------------------------------------------------


def cosines(start: float, learned: float, large: float = 0.99, failed: int = 0) -> pd.DataFrame:
    """Return a grid with the cosine `start` at the start and `learned` when the first class is learned.

    From the large scale the cosine is `large` at that moment. The first flows, as many as `failed`, are nan.
    """
    cosine = np.full((len(SIZES), len(Moment)), learned)  # columns are moments, in their order
    cosine[:, Moment.START - 1] = start
    cosine[LARGE_SCALE, Moment.FIRST_LEARNED - 1] = large
    cosine[:failed] = np.nan
    return grid_table(CELLS, {"alignment": cosine}, seeds=SEEDS)


def judge_alignment(grid: pd.DataFrame, small_scale: float = 0.1) -> Evaluation:
    settings = {"cosine": 0.95, "small_scale": small_scale, "majority_share": 0.5}
    return evaluate(claims.alignment, {"grid": grid}, settings)


@pytest.mark.parametrize(
    ("start", "learned", "verdict"),
    [
        (0.5, 0.96, "reproduced"),
        (0.5, 0.94, "not reproduced"),  # below 0.95, the least cosine that counts
        (0.96, 0.96, "undecided"),  # the rival, that they are aligned from the start, holds as well
        (0.96, 0.5, "not reproduced"),  # aligned at first and not later
    ],
)
def test_directions_must_align_after_the_start(start, learned, verdict):
    assert judge_alignment(cosines(start, learned)).verdict == verdict


# 1.0 makes the large scale one of the small ones
@pytest.mark.parametrize(("small_scale", "verdict"), [(0.1, "reproduced"), (1.0, "not reproduced")])
def test_only_starts_up_to_the_small_scale_must_align(small_scale, verdict):
    assert judge_alignment(cosines(0.5, 0.96, large=0.1), small_scale).verdict == verdict


def test_flows_that_failed_count_against_alignment():
    # of the 40 that are judged 10 are left, all of them aligned
    assert judge_alignment(cosines(0.5, 0.96, failed=30)).verdict == "not reproduced"


def test_the_share_of_random_directions_is_that_of_uniform_angles():
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, (2, 100_000))
    by_chance = np.mean(np.abs(np.cos(angles[0] - angles[1])) >= 0.95)
    # four standard errors of a share of 0.2 over 100,000 pairs
    assert judge_alignment(cosines(0.5, 0.96)).facts["random"] == pytest.approx(by_chance, abs=0.0051)
