"""What the claims on Gaussian layers accept and refuse: spectra in which fewer or more than k values grow."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows
from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on

FLOW, LIMIT = {"phase": "flow", "time": 0.0}, {"phase": "limit"}


def spectrum(role, start, end, **which):
    """Let the six singular values of runs start and end as given."""
    alterations = []
    for index, (first, last) in enumerate(zip(start, end, strict=True), start=1):
        alterations.append(put("sigma_w1", first, role=role, index=index, **FLOW, **which))
        alterations.append(put("sigma_w1", last, role=role, index=index, **LIMIT, **which))
    return alterations


ONES = [0.1] * 6


@pytest.mark.parametrize(
    ("ends", "since", "verdict"),
    [
        # a little more than 95 % of the squares at the end in the first two, and a little less
        ([2.0, 1.0, 0.25, 0.25, 0.25, 0.2], "first", "reproduced"),
        ([2.0, 1.0, 0.26, 0.26, 0.26, 0.26], "first", "not reproduced"),
        # the same, the rest nearly all in the third
        ([2.0, 1.0, 0.47, 0.1, 0.1, 0.1], "first", "reproduced"),
        ([2.0, 1.0, 0.49, 0.1, 0.1, 0.1], "first", "not reproduced"),
        # of the displacement from the second value on: 95 % and a little more are the second's
        ([2.0, 1.0, 0.30, 0.1, 0.1, 0.1], "k-th", "reproduced"),
        ([2.0, 1.0, 0.31, 0.1, 0.1, 0.1], "k-th", "not reproduced"),
    ],
)
def test_only_as_many_values_grow_as_there_are_outputs(ends, since, verdict):
    # read as a deviation the layer ends at rank two as well, but its other four values have moved too far
    deviation = spectrum("deviation", [0.1, 0.1, 0.6, 0.6, 0.6, 0.6], [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    altered = spectrum("printed", ONES, ends, draw=None)
    assert verdict_on("gaussian_init_low_rank", *deviation, *altered, since=since) == verdict


def test_the_other_reading_has_to_be_another():
    both = [spectrum(role, ONES, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None) for role in ("printed", "deviation")]
    found = evaluation_on("gaussian_init_low_rank", *both[0], *both[1])
    assert found.verdict == "undecided"
    np.testing.assert_allclose(found.facts["deviation"], 5 / 5.04)


def test_the_range_of_draws_is_shown():
    printed = spectrum("printed", [0.0] * 6, [2.0, 1.0, 1.0, 0.0, 0.0, 0.0], draw=None)
    one = spectrum("printed", [0.0] * 6, [2.0, 1.0, 0.1, 0.0, 0.0, 0.0], draw=1)
    found = evaluation_on("gaussian_init_low_rank", *printed, *one)
    shown = [found.facts[name] for name in ("value", "least", "largest")]
    # one of the twelve draws of the smoke configuration
    np.testing.assert_allclose(shown, [1 / 12, 5 / 6, 5 / 5.01])


START = np.array([0.5, 0.48, 0.46, 0.44, 0.42])
TWO_GROW, ALL_GROW = [2.0, 0.8, 0.05, 0.02, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]
DRAWS = 12


def table_of(growth, others=TWO_GROW, draws=DRAWS):
    """Return a run with two outputs, whose five singular values grow by factors.

    These are `growth` on the first `draws` draws and `others` on the rest.
    """
    axes = {"seed": np.arange(DRAWS), "time": np.zeros(1)}
    factors = np.array([growth] * draws + [others] * (DRAWS - draws))
    start = np.broadcast_to(START, (DRAWS, 1, 5))
    end = start * (1 + factors)[:, None]
    flow = rows({"sigma_w1": start}, axes).assign(phase="flow")
    limit = rows({"sigma_w1": end, "sigma_beta": end[..., :2]}, axes).assign(phase="limit")
    table = pd.concat([flow, limit], ignore_index=True)
    table.attrs = {"settings": {"variance": 0.01, "output_variance": 0.01}, "draw": ("seed",)}
    return table


def judged(first, second=None, deviation=TWO_GROW, large=ALL_GROW, since="k-th", larger_teacher=None):
    """Judge tables, or those of these growths; a larger teacher changes nothing unless it is given."""
    first = first if isinstance(first, pd.DataFrame) else table_of(first)
    flows = [first, second if second is not None else table_of(TWO_GROW)]
    larger_teacher = first if larger_teacher is None else table_of(larger_teacher)
    tables = {"flows": flows, "deviations": [table_of(deviation)], "large": table_of(large)}
    tables["larger_teacher"] = larger_teacher
    return evaluate(claims.nonzero_second_layer, tables, {"share": 0.95, "since": since})


@pytest.mark.parametrize(
    ("growth", "deviation", "large", "since", "verdict"),
    [
        (TWO_GROW, TWO_GROW, ALL_GROW, "k-th", "reproduced"),
        # a third that takes a little less than a twentieth of the squared displacement, and a little more
        ([2.0, 0.8, 0.52, 0.02, 0.0], TWO_GROW, ALL_GROW, "first", "reproduced"),
        ([2.0, 0.8, 0.54, 0.02, 0.0], TWO_GROW, ALL_GROW, "first", "not reproduced"),
        # the same of that from the second on
        ([2.0, 0.8, 0.19, 0.02, 0.0], TWO_GROW, ALL_GROW, "k-th", "reproduced"),
        ([2.0, 0.8, 0.20, 0.02, 0.0], TWO_GROW, ALL_GROW, "k-th", "not reproduced"),
        (TWO_GROW, [2.0, 0.8, 0.20, 0.02, 0.0], ALL_GROW, "k-th", "not reproduced"),
        # a value that falls is displaced too
        ([2.0, 0.8, 0.0, 0.0, -0.6], TWO_GROW, ALL_GROW, "k-th", "not reproduced"),
        # from a large start two values grow as well: a rival that holds
        (TWO_GROW, TWO_GROW, TWO_GROW, "k-th", "undecided"),
    ],
)
def test_as_many_values_grow_as_there_are_outputs(growth, deviation, large, since, verdict):
    assert judged(growth, deviation=deviation, large=large, since=since).verdict == verdict


@pytest.mark.parametrize(
    ("first", "larger_teacher", "verdict", "share_with_larger"),
    [
        (TWO_GROW, TWO_GROW, "reproduced", 1.0),
        (ALL_GROW, ALL_GROW, "not reproduced", 0.0),
        (ALL_GROW, TWO_GROW, "undecided", 1.0),
        (TWO_GROW, ALL_GROW, "undecided", 0.0),
    ],
)
def test_a_size_of_the_teacher_that_decides_leaves_it_open(first, larger_teacher, verdict, share_with_larger):
    found = judged(first, larger_teacher=larger_teacher)
    assert found.verdict == verdict
    assert ("with a larger teacher" in found.reason) == (verdict == "undecided")
    assert found.facts["with_larger"] == share_with_larger


def test_one_value_that_grows_is_no_trend_of_two():
    # read of the whole spectrum, one value would do
    one_grows = [2.0, 0.1, 0.0, 0.0, 0.0]
    assert judged(one_grows, table_of(one_grows), one_grows, since="first").verdict == "undecided"


@pytest.mark.parametrize(("draws", "verdict"), [(2, "reproduced"), (6, "undecided"), (10, "not reproduced")])
def test_the_trend_is_one_of_most_draws(draws, verdict):
    assert judged(table_of(ALL_GROW, draws=draws)).verdict == verdict


def test_facts_count_the_draws_that_show_the_trend_value_by_value():
    third = [2.0, 0.8, 0.4, 0.0, 0.0]
    found = judged(TWO_GROW, table_of(third, draws=3), third)
    # of the second run nine of twelve draws show it
    assert (found.facts["value"], found.facts["second"], found.facts["deviation"]) == (1, 0.75, 0)
    moved = START * np.array(third)
    assert found.facts["whole"] == pytest.approx(moved[2] ** 2 / np.sum(moved**2))
    assert found.facts["left"] == pytest.approx(0.05)
