"""The claim that label noise makes sigma_2(W1) decay exponentially: on exponentials, and on courses that are none.

A course is what sigma_2 is, relative to its start, at the time t, which runs from 0 to 1 and has two halves. Slopes are
those of its logarithm, fitted to each half.
"""

import numpy as np
import pytest

from tests.support import claim_tables, verdict

PAPER, CLAIM = "spectral_bias", "label_noise_low_rank"
DRAWS = 12  # at smoke scale


def exponential(t):
    return np.exp(-8 * t)


def to_a_tenth_and_no_further(t):
    """The slope over the second half is zero."""
    return np.maximum(1 - 3 * t, 0.1)


def like_a_power_of_time(t):
    """The slope over the second half is less than a third of that over the first."""
    return 1 / (1 + 30 * t)


def ending_at(left):
    """Return the exponential that has this share of its start left at the end."""

    def course(t):
        return left**t

    course.__name__ = f"ending_at({left})"
    return course


def slowed_to(share):
    """Return a course that has this share of its slope over the first half left in the second."""

    def course(t):
        return np.exp(-8 * np.minimum(t, 0.5) - 8 * share * np.maximum(t - 0.5, 0))

    course.__name__ = f"slowed_to({share})"
    return course


def let_sigma_2_follow(tables, course, *, draws=DRAWS):
    """Let sigma_2 with noise follow a course on so many draws, the first ones."""
    noisy = tables["noisy"]
    sigma_2 = (noisy["quantity"] == "sigma_w1") & (noisy["index"] == 2)
    moved = sigma_2 & (noisy["seed"] < draws)
    noisy.loc[moved, "value"] = course(noisy["time"][moved] / noisy["time"].max())


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        (exponential, "reproduced"),
        (to_a_tenth_and_no_further, "not reproduced"),
        (like_a_power_of_time, "not reproduced"),
    ],
)
def test_only_an_exponential_decay_is_accepted(course, expected):
    tables = claim_tables(PAPER, CLAIM)
    let_sigma_2_follow(tables, course)
    assert verdict(PAPER, CLAIM, tables) == expected


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        # half of the start or less counts as fallen
        (ending_at(0.49), "reproduced"),
        (ending_at(0.51), "not reproduced"),
        # half of the slope or more counts as exponential
        (slowed_to(0.51), "reproduced"),
        (slowed_to(0.49), "not reproduced"),
    ],
)
def test_sigma_2_must_halve_and_keep_half_of_its_slope(course, expected):
    tables = claim_tables(PAPER, CLAIM)
    let_sigma_2_follow(tables, course)
    assert verdict(PAPER, CLAIM, tables) == expected


# Wilson intervals of 10, 9, 3 and 2 draws of 12 that decay so: from 0.55, from 0.47, up to 0.53, up to 0.45
@pytest.mark.parametrize("course", [to_a_tenth_and_no_further, like_a_power_of_time])
@pytest.mark.parametrize(
    ("draws_off_course", "expected"),
    [(2, "reproduced"), (3, "undecided"), (9, "undecided"), (10, "not reproduced")],
)
def test_most_of_twelve_draws_must_decay_exponentially(course, draws_off_course, expected):
    tables = claim_tables(PAPER, CLAIM)
    assert tables["noisy"]["seed"].nunique() == DRAWS
    let_sigma_2_follow(tables, exponential)
    let_sigma_2_follow(tables, course, draws=draws_off_course)
    assert verdict(PAPER, CLAIM, tables) == expected
