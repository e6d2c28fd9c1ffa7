"""Checks and verdicts: the engine can return every verdict, and turns where it should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning_dynamics.claims import (
    VERDICTS,
    Outcome,
    Untested,
    all_of,
    at_least,
    at_most,
    claim,
    equal,
    evaluate,
    share_at_least,
)

HOLDS = equal(1.0, 1.0, 0.1)
FAILS = equal(2.0, 1.0, 0.1)
OPEN = equal(1.0, 1.0, 0.1, resolution=0.01)


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        (HOLDS, None, "reproduced"),
        (HOLDS, HOLDS, "reproduced"),
        (FAILS, HOLDS, "corrected"),
        (FAILS, FAILS, "contradicted"),
        (FAILS, OPEN, "contradicted"),
        (FAILS, None, "contradicted"),
        (OPEN, HOLDS, "not reproduced"),
        (OPEN, None, "not reproduced"),
    ],
)
def test_the_verdict_follows_from_the_checks(printed, corrected, verdict):
    assert Outcome(printed, 1, corrected).verdict == verdict
    assert verdict in VERDICTS


@given(measured=st.floats(-10, 10), predicted=st.floats(-10, 10), tolerance=st.floats(1e-6, 1), margin=st.floats(0, 1))
def test_equal_holds_exactly_within_tolerance_and_uncertainty(measured, predicted, tolerance, margin):
    within = abs(measured - predicted) <= tolerance + margin
    assert equal(measured, predicted, tolerance, uncertainty=margin).state == ("holds" if within else "fails")


@given(measured=st.floats(-10, 10), bound=st.floats(-10, 10), margin=st.floats(0, 1))
def test_bounds_are_undecided_while_the_interval_covers_them(measured, bound, margin):
    below, above = at_most(measured, bound, uncertainty=margin), at_least(measured, bound, uncertainty=margin)
    if abs(measured - bound) < margin:
        assert below.state == above.state == "undecided"
    elif bound - measured > margin:
        assert (below.state, above.state) == ("holds", "fails")


def test_nan_decides_nothing():
    for check in (equal(np.nan, 1.0, 0.1), at_most(np.nan, 1.0), at_least(np.nan, 1.0)):
        assert check.state == "undecided"


@pytest.mark.parametrize(
    ("successes", "trials", "bound", "state"),
    [(20, 20, 0.5, "holds"), (0, 20, 0.5, "fails"), (12, 20, 0.5, "undecided"), (2, 2, 0.9, "undecided")],
)
def test_a_share_needs_enough_members(successes, trials, bound, state):
    assert share_at_least(successes, trials, bound).state == state


def test_the_worst_of_several_checks_is_reported():
    assert all_of(HOLDS, OPEN, FAILS) is FAILS
    assert all_of(HOLDS, OPEN) is OPEN
    near = equal(1.09, 1.0, 0.1)
    assert all_of(HOLDS, near) is near


@claim("Theorem 1", "how much")
def example(tables, *, measured=1.0):
    """It is one.

    Because it is.
    """
    if not tables:
        raise Untested("needs a table")
    return Outcome(equal(measured, 1.0, 0.1), 3, reason="It drifts")


def test_a_claim_becomes_a_row():
    row = evaluate(example, {"run": None}, {})
    assert row["statement"] == "It is one."
    assert row["verdict"] == "reproduced"
    assert row["reason"] == ""
    assert row["samples"] == 3


def test_every_other_verdict_has_a_reason_with_the_numbers():
    row = evaluate(example, {"run": None}, {"measured": 2.0})
    assert row["verdict"] == "contradicted"
    assert row["reason"].startswith("It drifts. as printed: measured 2;")


def test_what_is_missing_makes_a_claim_untested():
    row = evaluate(example, {}, {})
    assert (row["verdict"], row["reason"], row["samples"]) == ("untested", "needs a table", 0)
