import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.growth import claims, metrics, runs

SIZES = [2, 8, 32]


def random_starts(seed: int, classes: list[int], seeds: int) -> pd.DataFrame:
    settings = {"classes": classes, "largest": SIZES, "dimension": 2, "scales": [1e-3], "seeds": seeds}
    trajectory = runs.initial_states(**settings, seed=seed)
    trajectory.settings = settings
    return metrics.initial_states(trajectory)


@pytest.fixture(scope="module")
def starts():
    return random_starts(2, [4, 30, 100, 300], 40)


@pytest.fixture(scope="module")
def early():
    """Features that are aligned already: they grow at the norm of the residual."""
    rows = []
    for size in SIZES:
        fastest = theory.fastest_growth([size] + [1] * 99)
        rows.append({"classes": 100, "largest": size, "seed": 0, "time": 18.0, "growth": fastest, "fastest": fastest})
    return pd.DataFrame(rows).assign(sigma=1e-3, departure=1e-6)


@pytest.fixture(scope="module")
def repeated(early):
    return early.assign(growth=0.99 * early["largest"], fastest=0.99 * early["largest"])


def test_dropped_terms_of_another_order_in_the_number_of_classes_are_refused(starts, early, repeated):
    found = evaluate(claims.equation_21, {"starts": starts, "early": early, "repeated": repeated}, {"dropped": 0.1})
    assert found.verdict == "corrected"
    slower = starts.assign(gain_many_classes=starts["gain"] * (1 + starts["classes"] ** -0.1 / 10))
    assert (
        evaluate(claims.equation_21, {"starts": slower, "early": early, "repeated": repeated}, {"dropped": 0.1}).verdict
        == "contradicted"
    )


def test_the_error_of_what_is_dropped_has_an_interval_of_draws_that_covers_the_law(early, repeated):
    """Independent directions: the root of 1 / (V - 1), 99 classes less than 100; other seeds than the default's."""
    covered = 0
    for seed in range(20):
        finding = claims.equation_21(random_starts(seed, [4, 30, 100], 20), early, repeated, dropped=0.2)
        error = next(check for check in finding.judgement(finding.corrected).checks if "square" in check.name)
        covered += error.lower <= 1 / np.sqrt(99) <= error.upper
        assert error.draws == 60
    assert covered >= 16  # of an interval that covers in 95 of 100 draws fewer have a chance of 0.3 %


def test_one_start_that_grows_faster_than_the_root_of_the_largest_class_refuses_the_correction(starts, early, repeated):
    found = evaluate(
        claims.theorem_b_3_dominant_class, {"starts": starts, "early": early, "repeated": repeated}, {"many": 100.0}
    )
    assert found.verdict == "corrected"
    faster = starts.copy()
    place = faster.index[faster["classes"] == 4][0]
    faster.loc[place, "rate"] = 1.1 * np.sqrt(faster.loc[place, "largest"]) * faster.loc[place, "sigma"]
    found = evaluate(
        claims.theorem_b_3_dominant_class, {"starts": faster, "early": early, "repeated": repeated}, {"many": 100.0}
    )
    assert found.verdict == "contradicted"
