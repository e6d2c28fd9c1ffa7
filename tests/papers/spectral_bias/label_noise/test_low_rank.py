"""Singular values that fall with label noise, but not like an exponential."""

import numpy as np
import pytest

from tests.support import claim_tables, verdict

PAPER, CLAIM = "spectral_bias", "label_noise_low_rank"
DRAWS = 12
COURSES = {
    "exponential": (lambda t: np.exp(-8 * t), "reproduced"),
    "to a tenth, and stays": (lambda t: np.maximum(1 - 3 * t, 0.1), "not reproduced"),
    "like a power of time": (lambda t: 1 / (1 + 30 * t), "not reproduced"),
}


@pytest.mark.parametrize("name", COURSES)
def test_only_an_exponential_decay_is_one(name):
    course, expected = COURSES[name]
    tables = claim_tables(PAPER, CLAIM)
    follow(tables["noisy"], course)
    assert verdict(PAPER, CLAIM, tables) == expected


@pytest.mark.parametrize("name", ["to a tenth, and stays", "like a power of time"])
@pytest.mark.parametrize(("draws", "expected"), [(1, "reproduced"), (6, "undecided"), (11, "not reproduced")])
def test_most_draws_decide(name, draws, expected):
    tables = claim_tables(PAPER, CLAIM)
    follow(tables["noisy"], COURSES["exponential"][0])
    follow(tables["noisy"], COURSES[name][0], draws)
    assert verdict(PAPER, CLAIM, tables) == expected


def follow(noisy, course, draws=DRAWS):
    """Let sigma_2 of the first draws follow a course, a function of time over the whole time."""
    second = (noisy["quantity"] == "sigma_w1") & (noisy["index"] == 2) & (noisy["seed"] < draws)
    noisy.loc[second, "value"] = course(noisy["time"][second] / noisy["time"].max())
