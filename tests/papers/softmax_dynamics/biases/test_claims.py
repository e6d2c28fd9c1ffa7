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

CELLS = [  # class sizes, kind of start, scale
    ("4-2-1-1", "gaussian", 0.01),
    ("5-1-1-1", "gaussian", 0.01),
    ("4-2-1-1", "gaussian", 1.0),
    ("2-2-2-2", "gaussian", 0.01),
]
SEEDS = 20
# class sizes of each draw, cell by cell, shape (cells * seeds, classes)
SIZES = np.repeat([[4, 2, 1, 1], [5, 1, 1, 1], [4, 2, 1, 1], [2, 2, 2, 2]], SEEDS, axis=0)
SMALL_SCALE = 0.1  # the largest that claims judge
# the first two cells are judged: the third starts at a large scale, the last has classes of one size
JUDGED = slice(0, 2 * SEEDS)
LARGE_SCALE = slice(2 * SEEDS, 3 * SEEDS)

# -- primacy -----------------------------------------------------------------------------------------------------------


def random_times(*, order: float) -> np.ndarray:
    """Return learning times, the sizes to the power `order` times log-normal noise, shape (cells * seeds, classes)."""
    rng = np.random.default_rng(2)
    return SIZES.astype(float) ** order * np.exp(rng.standard_normal(SIZES.shape) * 0.5)


def judge_primacy(times: np.ndarray, *, small_scale: float = SMALL_SCALE) -> Evaluation:
    """Judge whether, from starts up to `small_scale`, the more frequent of two classes is mostly learned first.

    The average share of a draw's pairs of classes that are in this order must be above one half, of all draws and of
    those at each scale. `times` are learning times; a class whose time is nan is never learned.
    """
    quantities = {"learning_time": times, "final": np.where(np.isnan(times), 0.2, 0.9)}
    grid = grid_table(CELLS, quantities, seeds=SEEDS)
    return evaluate(claims.primacy_bias, {"grid": grid}, {"small_scale": small_scale, "chance_share": 0.5})


def shares_of_pairs_in_order(times: np.ndarray) -> np.ndarray:
    """Return the share of pairs of classes of which the larger is learned first, of each judged draw, shape (draws,).

    It is (1 + D) / 2 with Somers' D, that share less the share of pairs in the other order.
    """
    draws = zip(SIZES[JUDGED], times[JUDGED], strict=True)
    return np.array([0.5 * (1 + stats.somersd(sizes, -of_draw).statistic) for sizes, of_draw in draws])


def test_the_share_of_pairs_in_order_is_somers_d():
    times = random_times(order=-1.0)
    evaluation = judge_primacy(times)
    assert evaluation.judgement.headline.value == pytest.approx(np.mean(shares_of_pairs_in_order(times)))
    assert evaluation.verdict == "reproduced"


def test_facts_of_primacy_are_the_shares_of_draws_with_the_largest_class_first_and_with_all_pairs_in_order():
    times = random_times(order=-1.0)
    facts = judge_primacy(times).facts
    assert facts["share_with_largest_first"] == pytest.approx(np.mean(times[JUDGED].argmin(axis=1) == 0))
    assert facts["share_with_all_in_order"] == pytest.approx(np.mean(shares_of_pairs_in_order(times) == 1))


def test_starts_of_a_large_scale_are_left_out_of_primacy():
    assert judge_primacy(random_times(order=-1.0)).judgement.headline.excluded.startswith(f"{SEEDS} left out")


@pytest.mark.parametrize(
    ("order", "state"),
    [
        pytest.param(-2.0, "holds", id="larger ones earlier"),
        pytest.param(0.0, "undecided", id="whatever the size"),
        pytest.param(2.0, "fails", id="larger ones later"),
    ],
)
def test_primacy_holds_where_larger_classes_are_learned_earlier(order, state):
    assert judge_primacy(random_times(order=order)).judgement.state == state


def test_primacy_must_hold_at_each_judged_scale():
    times = random_times(order=-3.0)
    times[LARGE_SCALE] = times[LARGE_SCALE, ::-1]  # at the scale 1.0 the rarer classes come first
    assert judge_primacy(times, small_scale=0.1).verdict == "reproduced"
    assert judge_primacy(times, small_scale=1.0).verdict == "not reproduced"


def test_a_class_that_is_never_learned_comes_last():
    times = SIZES.astype(float)  # the rarer first
    times[JUDGED, -2:] = np.nan  # the last two classes are never learned
    # of the pairs of different sizes only that of the first two classes is out of order: one of five at the sizes
    # 4, 2, 1, 1, one of three at 5, 1, 1, 1
    assert judge_primacy(times).judgement.headline.value == pytest.approx((4 / 5 + 2 / 3) / 2)


# -- selection ---------------------------------------------------------------------------------------------------------


STARTS = 4000
SINGULAR_VALUES = np.array([3.0, 1.0])  # sigma_1 and sigma_2 of every random start


def random_starts(*, order: float) -> pd.DataFrame:
    """Return a table of starts at two scales: rates are gains times the singular value to a power, `order`.

    Gains g_1 and g_2 are independent, log-normal in size and of random sign. The claim says that `order` is 1.
    """
    rng = np.random.default_rng(3)
    gains = np.exp(rng.standard_normal((STARTS, 2))) * rng.choice([-1, 1], (STARTS, 2))
    rates = gains * SINGULAR_VALUES**order
    return pd.DataFrame(
        {
            "scale": np.repeat(np.repeat([0.1, 0.2], STARTS // 2), 2),
            "seed": np.repeat(np.arange(STARTS), 2),
            "index": np.tile([1, 2], STARTS),
            "rate": rates.ravel(),
            "sigma": np.tile(SINGULAR_VALUES, STARTS),
        }
    )


def even_course(*, share: float, steps: int = 12) -> pd.DataFrame:
    """Return 12 courses on which the loss falls evenly, until the last class is learned after `steps` steps.

    - The loss is `2 * steps` at first. It falls by one in each of these steps, of length one, and by five in a further
      step at the end.
    - The larger singular value grows faster than the smaller one in the first of these steps, a share of them, and
      again once the last class is learned.
    """
    rows = []
    for seed, time in itertools.product(range(12), range(steps + 2)):
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
    """Judge whether more than half of the loss's fall comes while the larger singular value grows faster.

    Besides, at random starts |rate| must be larger for the larger singular value in more than half of the draws. Their
    share must be the one that follows from |rate| = |gain| times singular value, with gains exchanged among starts.
    """
    return evaluate(claims.selection_bias, {"starts": starts, "course": course}, {"chance_share": 0.5})


def share_of_larger(*, order: float) -> float:
    """Return the probability that the larger singular value is faster if gains are independent.

    log |g_2 / g_1| is Gaussian of variance two, and below order * log(sigma_1 / sigma_2) with this probability.
    """
    sigma_1, sigma_2 = SINGULAR_VALUES
    return float(stats.norm.cdf(order * np.log(sigma_1 / sigma_2) / np.sqrt(2)))


def four_standard_errors(share: float) -> float:
    """Return four standard errors of a share of all random starts."""
    return 4 * np.sqrt(share * (1 - share) / STARTS)


@pytest.mark.parametrize(
    ("fact", "order"), [("predicted_share", 1.0), ("share_at_order_zero", 0.0), ("share_at_order_two", 2.0)]
)
def test_shares_predicted_from_exchanged_gains_have_a_closed_form(fact, order):
    facts = judge_selection(random_starts(order=1.0), even_course(share=0.75)).facts
    closed = share_of_larger(order=order)
    # the mean over all pairs of |g_1| and |g_2| has no larger standard error than one over as many independent draws
    assert facts[fact] == pytest.approx(closed, abs=four_standard_errors(closed))


def test_the_share_of_random_starts_is_the_predicted_one():
    evaluation = judge_selection(random_starts(order=1.0), even_course(share=0.75))
    _, larger_is_faster, is_predicted = evaluation.judgement.checks
    closed = share_of_larger(order=1.0)
    assert larger_is_faster.value == pytest.approx(closed, abs=four_standard_errors(closed))
    assert is_predicted.predicted == evaluation.facts["predicted_share"]
    assert evaluation.facts["share_faster"] == larger_is_faster.value
    assert evaluation.verdict == "reproduced"


@pytest.mark.parametrize("rival", claims.OTHER_ORDERS)
def test_rates_of_another_order_are_refused_on_rates_of_the_first(rival):
    evaluation = judge_selection(random_starts(order=1.0), even_course(share=0.75))
    assert evaluation.verdict == "reproduced"
    assert evaluation.rivals[rival] == "not reproduced"


def test_a_larger_value_that_changes_faster_less_often_than_not_is_no_bias():
    """Gains shrink as values grow: the smaller value mostly changes faster, as exchanged gains predict."""
    evaluation = judge_selection(random_starts(order=-0.5), even_course(share=0.75))
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
    evaluation = judge_selection(random_starts(order=1.0), even_course(share=share, steps=100))
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.value == pytest.approx(share, rel=1e-12)  # a ratio of small integers


def test_loss_that_falls_while_the_larger_value_shrinks_faster_does_not_count():
    course = even_course(share=0.75)
    larger_is_faster = course.eval("quantity == 'rate' and index == 1 and value == 2.0")  # than the other's rate, 1.5
    course.loc[larger_is_faster, "value"] = -2.0
    evaluation = judge_selection(random_starts(order=1.0), course)
    assert evaluation.verdict == "not reproduced"
    assert evaluation.judgement.headline.value == 0.0


def test_signs_of_rates_at_random_starts_are_facts():
    starts = random_starts(order=1.0)
    larger, smaller = (starts.loc[starts["index"] == index, "rate"].to_numpy() for index in (1, 2))
    facts = judge_selection(starts, even_course(share=0.75)).facts
    assert facts["share_with_larger_signed_rate"] == pytest.approx(np.mean(larger > smaller))
    assert facts["share_shrinking"] == pytest.approx(np.mean(larger[abs(larger) > abs(smaller)] < 0))


@pytest.mark.parametrize("share", [0.75, 0.25])
def test_the_loss_is_counted_by_relative_rates_too(share):
    # rates over singular values: 2 / 2 or 1 / 2 for the larger one, 1.5 for the smaller one, which is always faster
    facts = judge_selection(random_starts(order=1.0), even_course(share=share)).facts
    assert facts["loss_while_relatively_faster"] == 0.0


# -- alignment ---------------------------------------------------------------------------------------------------------


LEAST_COSINE = 0.95  # of directions that count as aligned
LEARNED = LEAST_COSINE + 0.01


def cosines(*, start: float = 0.5, learned: float = LEARNED, large: float = 0.99, failed: int = 0) -> pd.DataFrame:
    """Return a grid with the cosine `start` at the start and `learned` when the first class is learned.

    From the large scale the cosine is `large` at that moment. The first flows, as many as `failed`, are nan.
    """
    cosine = np.full((len(SIZES), len(Moment)), learned)  # columns are moments, in their order
    # moments are numbered from 1
    cosine[:, Moment.START - 1] = start
    cosine[LARGE_SCALE, Moment.FIRST_LEARNED - 1] = large
    cosine[:failed] = np.nan
    return grid_table(CELLS, {"alignment": cosine}, seeds=SEEDS)


def judge_alignment(grid: pd.DataFrame, *, small_scale: float = SMALL_SCALE) -> Evaluation:
    """Judge whether in most flows of skewed classes from small starts f and W align by when the first class is learned.

    Their leading directions count as aligned from `LEAST_COSINE` on.
    """
    settings = {"cosine": LEAST_COSINE, "small_scale": small_scale, "majority_share": 0.5}
    return evaluate(claims.alignment, {"grid": grid}, settings)


@pytest.mark.parametrize(
    ("start", "learned", "verdict"),
    [
        pytest.param(0.5, 0.96, "reproduced", id="aligned later"),
        pytest.param(0.5, 0.94, "not reproduced", id="nearly aligned later"),
        # the rival, that they are aligned from the start, holds as well
        pytest.param(0.96, 0.96, "undecided", id="aligned at the start as well"),
        pytest.param(0.96, 0.5, "not reproduced", id="aligned at the start alone"),
    ],
)
def test_directions_must_align_after_the_start(start, learned, verdict):
    assert judge_alignment(cosines(start=start, learned=learned)).verdict == verdict


# 1.0 is the scale of `LARGE_SCALE`, which then is one of the small ones
@pytest.mark.parametrize(("small_scale", "verdict"), [(0.1, "reproduced"), (1.0, "not reproduced")])
def test_only_starts_up_to_the_small_scale_must_align(small_scale, verdict):
    assert judge_alignment(cosines(large=0.1), small_scale=small_scale).verdict == verdict


def test_flows_that_failed_count_against_alignment():
    # of the 2 * SEEDS = 40 that are judged 10 are left, all of them aligned
    assert judge_alignment(cosines(failed=30)).verdict == "not reproduced"


def test_the_share_of_random_directions_that_count_as_aligned_is_that_of_uniform_angles():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(0, 2 * np.pi, (2, 100_000))
    by_chance = np.mean(np.abs(np.cos(first - second)) >= LEAST_COSINE)
    standard_error = np.sqrt(by_chance * (1 - by_chance) / len(first))
    assert judge_alignment(cosines()).facts["share_by_chance"] == pytest.approx(by_chance, abs=4 * standard_error)
