"""What the claims on Gaussian layers accept and refuse: spectra in which fewer or more than k values grow."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows
from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on

FLOW, LIMIT = {"phase": "flow", "time": 0.0}, {"phase": "limit"}


def put_spectrum(role, start, end, *, draw):
    """Return alterations: the six singular values of W1 start and end as given, on one draw or, for None, on all."""
    alterations = []
    for index, (first, last) in enumerate(zip(start, end, strict=True), start=1):
        alterations.append(put("sigma_w1", first, role=role, index=index, draw=draw, **FLOW))
        alterations.append(put("sigma_w1", last, role=role, index=index, draw=draw, **LIMIT))
    return alterations


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
    printed = put_spectrum("printed", [0.1] * 6, ends, draw=None)
    assert verdict_on("gaussian_init_low_rank", *printed, since=since) == verdict


def test_the_reading_decides_which_run_is_judged():
    """Of the smoke runs as they are, the printed variance leaves full rank, and 0.01 as a deviation does not."""
    alterations = put_spectrum("printed", [0.1] * 6, [2.0, 1.0, 0.5, 0.5, 0.5, 0.5], draw=None)
    alterations += put_spectrum("deviation", [0.1] * 6, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    assert verdict_on("gaussian_init_low_rank", *alterations, reading="variance") == "not reproduced"
    evaluation = evaluation_on("gaussian_init_low_rank", *alterations, reading="standard deviation")
    assert evaluation.verdict == "reproduced"
    np.testing.assert_allclose([evaluation.facts[name] for name in ("deviation", "grow")], [5 / 5.04, 1.0])


def test_both_readings_may_show_the_trend():
    alterations = []
    for role in ("printed", "deviation"):
        alterations += put_spectrum(role, [0.1] * 6, [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    assert verdict_on("gaussian_init_low_rank", *alterations) == "reproduced"


def test_one_value_that_grows_is_a_rival_of_two():
    """One value that has nearly all of the squares, at the end and in the displacement, is no trend of two."""
    one_grows = put_spectrum("printed", [0.1] * 6, [4.0, 0.2, 0.1, 0.1, 0.1, 0.1], draw=None)
    evaluation = evaluation_on("gaussian_init_low_rank", *one_grows, since="first")
    assert evaluation.verdict == "undecided"
    assert "only $k - 1$ values grow" in evaluation.reason
    # a second value that is large at the end, and was so at the start, refuses this rival
    second_stays = put_spectrum("printed", [0.1, 1.0, 0.1, 0.1, 0.1, 0.1], [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], draw=None)
    assert verdict_on("gaussian_init_low_rank", *second_stays, since="first") == "reproduced"


def test_facts_are_the_share_of_draws_of_low_rank_and_the_range_of_the_leading_share():
    most = put_spectrum("printed", [0.0] * 6, [2.0, 1.0, 1.0, 0.0, 0.0, 0.0], draw=None)
    one = put_spectrum("printed", [0.0] * 6, [2.0, 1.0, 0.1, 0.0, 0.0, 0.0], draw=1)
    facts = evaluation_on("gaussian_init_low_rank", *most, *one).facts
    # one of the twelve draws of the smoke configuration ends with 95 % of |W1|^2 in two values
    np.testing.assert_allclose([facts[name] for name in ("value", "least", "largest")], [1 / 12, 5 / 6, 5 / 5.01])


# singular values of W1 at the start of a run with two outputs
START = np.array([0.5, 0.48, 0.46, 0.44, 0.42])
# their growths, relative to the start
TWO_GROW, ALL_GROW = [2.0, 0.8, 0.05, 0.02, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]
DRAWS = 12


def mixed(growth, draws):
    """Return growths of all draws, shape (draws, 5): the first `draws` grow as given, in the others two values do."""
    return [growth] * draws + [TWO_GROW] * (DRAWS - draws)


def table_of(growth):
    """Return the table of a run with two outputs, from a growth of shape (5,), or of shape (draws, 5)."""
    axes = {"seed": np.arange(DRAWS), "time": np.zeros(1)}
    start = np.broadcast_to(START, (DRAWS, 1, 5))
    end = start * (1 + np.broadcast_to(growth, (DRAWS, 5)))[:, None]
    flow = rows({"sigma_w1": start}, axes).assign(phase="flow")
    limit = rows({"sigma_w1": end, "sigma_beta": end[..., :2]}, axes).assign(phase="limit")
    table = pd.concat([flow, limit], ignore_index=True)
    table.attrs = {"settings": {"variance": 0.01, "output_variance": 0.01}, "draw": ("seed",)}
    return table


def evaluate_growths(first, *, second=TWO_GROW, deviation=TWO_GROW, large=ALL_GROW, larger_teacher=None, since="k-th"):
    """Judge runs by their growths, `first` and `second` at the two variances; a larger teacher grows as the first."""
    tables = {
        "flows": [table_of(first), table_of(second)],
        "deviations": [table_of(deviation)],
        "large": table_of(large),
        "larger_teacher": table_of(first if larger_teacher is None else larger_teacher),
    }
    return evaluate(claims.nonzero_second_layer, tables, {"share": 0.95, "since": since})


@pytest.mark.parametrize(
    ("growth", "since", "verdict"),
    [
        (TWO_GROW, "k-th", "reproduced"),
        # a third that takes a little less than a twentieth of the squared displacement, and a little more
        ([2.0, 0.8, 0.52, 0.02, 0.0], "first", "reproduced"),
        ([2.0, 0.8, 0.54, 0.02, 0.0], "first", "not reproduced"),
        # the same of that from the second on
        ([2.0, 0.8, 0.19, 0.02, 0.0], "k-th", "reproduced"),
        ([2.0, 0.8, 0.20, 0.02, 0.0], "k-th", "not reproduced"),
        # a value that falls is displaced too
        ([2.0, 0.8, 0.0, 0.0, -0.6], "k-th", "not reproduced"),
    ],
)
def test_as_many_values_grow_as_there_are_outputs(growth, since, verdict):
    assert evaluate_growths(growth, since=since).verdict == verdict


def test_read_as_deviations_as_many_values_grow_as_well():
    assert evaluate_growths(TWO_GROW, deviation=[2.0, 0.8, 0.20, 0.02, 0.0]).verdict == "not reproduced"


def test_a_large_start_from_which_two_values_grow_is_a_rival_that_passes():
    assert evaluate_growths(TWO_GROW, large=TWO_GROW).verdict == "undecided"


@pytest.mark.parametrize(
    ("first", "larger_teacher", "verdict", "share_with_larger"),
    [
        (TWO_GROW, TWO_GROW, "reproduced", 1.0),
        (ALL_GROW, ALL_GROW, "not reproduced", 0.0),
        (ALL_GROW, TWO_GROW, "undecided", 1.0),
        (TWO_GROW, ALL_GROW, "undecided", 0.0),
    ],
)
def test_where_the_size_of_the_teacher_decides_the_claim_is_undecided(
    first, larger_teacher, verdict, share_with_larger
):
    evaluation = evaluate_growths(first, larger_teacher=larger_teacher)
    assert evaluation.verdict == verdict
    assert ("with a larger teacher" in evaluation.reason) == (verdict == "undecided")
    assert evaluation.facts["with_larger"] == share_with_larger


def test_one_value_that_grows_is_no_trend_of_two():
    # of the whole spectrum's displacement one value would do: the rival of k - 1 values passes
    one_grows = [2.0, 0.1, 0.0, 0.0, 0.0]
    evaluation = evaluate_growths(one_grows, second=one_grows, deviation=one_grows, since="first")
    assert evaluation.verdict == "undecided"


@pytest.mark.parametrize(("draws", "verdict"), [(2, "reproduced"), (6, "undecided"), (10, "not reproduced")])
def test_the_trend_is_one_of_most_draws(draws, verdict):
    """All values grow on the first draws."""
    assert evaluate_growths(mixed(ALL_GROW, draws)).verdict == verdict


THREE_GROW = [2.0, 0.8, 0.4, 0.0, 0.0]


def test_facts_are_the_shares_of_draws_that_show_the_trend_value_by_value():
    facts = evaluate_growths(TWO_GROW, second=mixed(THREE_GROW, 3), deviation=THREE_GROW).facts
    # of the second run nine of twelve draws show it
    assert (facts["value"], facts["second"], facts["deviation"]) == (1, 0.75, 0)


def test_facts_have_the_largest_share_of_the_whole_displacement_and_the_share_allowed():
    facts = evaluate_growths(TWO_GROW, second=mixed(THREE_GROW, 3), deviation=THREE_GROW).facts
    displacement = START * np.array(THREE_GROW)
    assert facts["whole"] == pytest.approx(displacement[2] ** 2 / np.sum(displacement**2))
    assert facts["left"] == pytest.approx(0.05)
