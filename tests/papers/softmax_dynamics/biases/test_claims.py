"""Primacy, selection and alignment on tables made by hand: shares against scipy's rank statistics and closed forms."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics.biases import claims
from tests.papers.softmax_dynamics.tables import grid_table

CELLS = [
    ("4-2-1-1", "gaussian", 0.01),
    ("5-1-1-1", "gaussian", 0.01),
    ("4-2-1-1", "gaussian", 1.0),
    ("2-2-2-2", "gaussian", 0.01),
]
SEEDS = 20
SIZES = np.repeat([[4, 2, 1, 1], [5, 1, 1, 1], [4, 2, 1, 1], [2, 2, 2, 2]], SEEDS, axis=0)


def learned(times: np.ndarray) -> pd.DataFrame:
    everything = {
        "learning_time": times,
        "final": np.where(np.isnan(times), 0.2, 0.9),
        "sigma_1": np.ones((len(times), 5)),
    }
    return grid_table(CELLS, everything, seeds=SEEDS)


def times_by(order: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    return SIZES.astype(float) ** order * np.exp(rng.standard_normal(SIZES.shape) * 0.5)


def primacy(times: np.ndarray, small: float = 0.1):
    return evaluate(claims.primacy_bias, {"grid": learned(times)}, {"small_scale": small, "chance_share": 0.5})


def test_the_share_of_pairs_in_order_is_somers_d():
    times = times_by(-1.0)
    found = primacy(times)
    kept = range(2 * SEEDS)
    expected = [0.5 * (1 + stats.somersd(SIZES[k], -times[k]).statistic) for k in kept]
    assert found.judgement.headline.value == pytest.approx(np.mean(expected))
    assert found.verdict == "reproduced"
    assert found.facts["first"] == pytest.approx(np.mean([times[k].argmin() == 0 for k in kept]))
    assert found.facts["ordered"] == pytest.approx(np.mean(np.array(expected) == 1))
    assert found.judgement.headline.excluded.startswith(f"{SEEDS} left out")


@pytest.mark.parametrize(("order", "state"), [(-2.0, "holds"), (0.0, "undecided"), (2.0, "fails")])
def test_an_order_that_is_another_is_no_primacy(order, state):
    assert primacy(times_by(order)).judgement.state == state


def test_one_scale_that_does_otherwise_is_not_averaged_away():
    times = times_by(-3.0)
    times[2 * SEEDS : 3 * SEEDS] = times[2 * SEEDS : 3 * SEEDS, ::-1]
    assert primacy(times).verdict == "reproduced"
    assert primacy(times, small=1.0).verdict == "not reproduced"


def test_a_class_that_is_never_learned_comes_last():
    times = times_by(-3.0)
    times[: 2 * SEEDS, -2:] = np.nan
    assert primacy(times).judgement.headline.value > 0.95


# -- selection ---------------------------------------------------------------------------------------------------------


def starts(order: float, ratio: float, draws: int = 4000) -> pd.DataFrame:
    """Rates are gains times sigma to a power; gains are log-normal, sigma_1 / sigma_2 is one number."""
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


def course(share: float, draws: int = 12, records: int = 11) -> pd.DataFrame:
    """The loss falls evenly until all is learned, and once more after; the larger value grows faster so long."""
    rows = []
    for seed, time in itertools.product(range(draws), range(records + 3)):
        done = time > records
        faster = time < round(share * (records + 1)) or done
        known = {
            "loss": [10.0 - min(time, records + 1) - 5.0 * (time > records + 1)],
            "probability": [0.9, 0.9 if done else 0.2],
            "sigma": [2.0, 1.0],
            "rate": [2.0, 1.5] if faster else [1.0, 1.5],
        }
        for quantity, entries in known.items():
            rows += [
                {
                    "seed": seed,
                    "time": float(time),
                    "quantity": quantity,
                    "value": value,
                    "index": 0 if quantity == "loss" else index,
                }
                for index, value in enumerate(entries, start=1)
            ]
    return pd.DataFrame(rows)


def selection(starts: pd.DataFrame, course: pd.DataFrame):
    return evaluate(claims.selection_bias, {"starts": starts, "course": course}, {"chance_share": 0.5})


def test_the_predicted_share_of_independent_gains_in_closed_form():
    """log |g_1 / g_2| is Gaussian with variance two: the larger one wins with probability Phi(log ratio / sqrt 2)."""
    found = selection(starts(1.0, 3.0), course(0.75))
    expected = stats.norm.cdf(np.log(3.0) / np.sqrt(2))
    # every draw with every other, 2000 draws a scale: a standard error of a hundredth
    assert found.judgement.checks[1].predicted == found.facts["expected"] == pytest.approx(expected, abs=0.02)
    assert found.facts["square"] == pytest.approx(stats.norm.cdf(2 * np.log(3.0) / np.sqrt(2)), abs=0.02)
    assert found.judgement.headline.value == pytest.approx(expected, abs=0.03)
    assert found.verdict == "reproduced"


@pytest.mark.parametrize("rival", claims.OTHER_ORDERS)
def test_rates_of_another_order_are_refused_on_rates_of_the_first(rival):
    found = selection(starts(1.0, 3.0), course(0.75))
    assert (found.verdict, found.rivals[rival]) == ("reproduced", "not reproduced")


def test_a_larger_value_that_changes_faster_less_often_than_not_is_no_bias():
    """Gains that shrink as values grow: starts pair as predicted, and the smaller one mostly wins."""
    found = selection(starts(-0.5, 3.0), course(0.75))
    assert [check.state for check in found.judgement.checks] == ["fails", "holds", "holds"]
    assert found.verdict == "not reproduced"


@pytest.mark.parametrize(("share", "verdict"), [(0.75, True), (0.25, False)])
def test_most_of_the_loss_must_fall_while_the_larger_value_grows_faster(share, verdict):
    found = selection(starts(1.0, 3.0), course(share))
    assert (found.verdict == "reproduced") == verdict
    assert found.facts["lost_while_faster"] == pytest.approx(share, abs=1e-9)
    # 1.0 or 1.0 per unit against 1.5: never faster in ratio while classes are learned
    assert found.facts["lost_while_relatively_faster"] == 0.0


# -- alignment ---------------------------------------------------------------------------------------------------------


def cosines(start: float, first: float, large: float = 0.99, failed: int = 0) -> pd.DataFrame:
    found = np.full((len(SIZES), 5), first)
    found[:, 0] = start
    found[2 * SEEDS : 3 * SEEDS, 1] = large
    found[:failed] = np.nan
    return grid_table(CELLS, {"alignment": found, "sigma_1": np.ones((len(SIZES), 5))}, seeds=SEEDS)


def aligned(grid: pd.DataFrame, **settings):
    return evaluate(
        claims.alignment, {"grid": grid}, {"cosine": 0.95, "small_scale": 0.1, "majority_share": 0.5} | settings
    )


@pytest.mark.parametrize(
    ("start", "first", "verdict"),
    [(0.5, 0.96, True), (0.5, 0.94, False), (0.96, 0.96, False), (0.96, 0.5, False)],
)
def test_directions_must_align_after_the_start(start, first, verdict):
    assert (aligned(cosines(start, first)).verdict == "reproduced") == verdict


def test_only_small_starts_are_judged_and_failed_ones_count_against():
    assert aligned(cosines(0.5, 0.96, large=0.1)).verdict == "reproduced"
    assert aligned(cosines(0.5, 0.96, large=0.1), small_scale=1.0).verdict == "not reproduced"
    assert aligned(cosines(0.5, 0.96, failed=25)).verdict != "reproduced"


def test_the_share_of_random_directions_is_that_of_random_directions():
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, (2, 100_000))
    by_chance = np.mean(np.abs(np.cos(angles[0] - angles[1])) >= 0.95)
    assert aligned(cosines(0.5, 0.96)).facts["random"] == pytest.approx(by_chance, abs=0.006)
