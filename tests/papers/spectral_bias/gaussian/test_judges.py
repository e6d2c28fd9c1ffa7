"""What the claims on Gaussian layers accept and refuse: spectra in which fewer or more than k = 2 values grow.

Only k values grow where the others have at most 5 % of the squared displacement, end less start: of the whole
spectrum's with `since="first"`, of that of the values from the k-th on with `since="k-th"`. Most draws must show it.
Verdicts are listed in `doctored`.
"""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.gaussian import claims
from learning_dynamics.tidy import rows
from tests.papers.spectral_bias.doctored import PAPER, evaluation_on, put, verdict_on
from tests.support import claim_tables

AT_START, AT_END = {"phase": "flow", "time": 0.0}, {"phase": "limit"}
DRAWS = 12  # of the runs, at smoke scale

# -- Figure 1a: a Gaussian first layer, and a second layer of zero -----------------------------------------------------
# The role `printed` is the run whose entries have the printed 0.01 as variance, `deviation` as standard deviation.

SMALL_START = [0.1] * 6  # singular values


def spectrum_from_to(role, start, end, *, draw=None):
    """Return alterations: the six singular values of W1 in a role start and end as given, on all draws or on one."""
    alterations = []
    for index, (first, last) in enumerate(zip(start, end, strict=True), start=1):
        alterations.append(put("sigma_w1", first, role=role, index=index, draw=draw, **AT_START))
        alterations.append(put("sigma_w1", last, role=role, index=index, draw=draw, **AT_END))
    return alterations


@pytest.mark.parametrize(
    ("ends", "since", "verdict"),
    [
        # of the squares at the end the first two have 5 / 5.2275, and 5 / 5.2704
        pytest.param([2.0, 1.0, 0.25, 0.25, 0.25, 0.2], "first", "reproduced", id="95.6 % in the first two"),
        pytest.param([2.0, 1.0, 0.26, 0.26, 0.26, 0.26], "first", "not reproduced", id="94.9 % in the first two"),
        # the same, the rest nearly all in the third: 5 / 5.2509, and 5 / 5.2701
        pytest.param([2.0, 1.0, 0.47, 0.1, 0.1, 0.1], "first", "reproduced", id="95.2 %, the rest in the third"),
        pytest.param([2.0, 1.0, 0.49, 0.1, 0.1, 0.1], "first", "not reproduced", id="94.9 %, the rest in the third"),
        # the squared displacement of the second and third is 0.9^2 + 0.2^2, and 0.9^2 + 0.21^2
        pytest.param([2.0, 1.0, 0.30, 0.1, 0.1, 0.1], "k-th", "reproduced", id="4.7 % of the displacement"),
        pytest.param([2.0, 1.0, 0.31, 0.1, 0.1, 0.1], "k-th", "not reproduced", id="5.2 % of the displacement"),
    ],
)
def test_figure_1a_asks_that_two_values_grow_and_hold_95_percent_of_the_squares(ends, since, verdict):
    alterations = spectrum_from_to("printed", SMALL_START, ends)
    assert verdict_on("gaussian_init_low_rank", *alterations, since=since) == verdict


TWO_LEAD, FOUR_FOLLOW = [2.0, 1.0, 0.1, 0.1, 0.1, 0.1], [2.0, 1.0, 0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(("reading", "verdict"), [("variance", "not reproduced"), ("standard deviation", "reproduced")])
def test_the_reading_of_the_printed_number_decides_which_run_is_judged(reading, verdict):
    alterations = spectrum_from_to("printed", SMALL_START, FOUR_FOLLOW)
    alterations += spectrum_from_to("deviation", SMALL_START, TWO_LEAD)
    assert verdict_on("gaussian_init_low_rank", *alterations, reading=reading) == verdict


def test_the_run_read_as_a_deviation_has_facts_of_its_own():
    """The least share of the leading values, and the share of draws on which only these grow."""
    facts = evaluation_on("gaussian_init_low_rank", *spectrum_from_to("deviation", SMALL_START, TWO_LEAD)).facts
    of_leading = 5 / 5.04  # squares of the first two values, over all
    assert facts["smallest_leading_share_as_deviation"] == pytest.approx(of_leading)
    assert facts["share_of_draws_as_deviation"] == 1.0


def test_the_trend_under_the_other_reading_too_is_no_rival():
    """Two values grow in both runs."""
    alterations = spectrum_from_to("printed", SMALL_START, TWO_LEAD)
    alterations += spectrum_from_to("deviation", SMALL_START, TWO_LEAD)
    assert verdict_on("gaussian_init_low_rank", *alterations) == "reproduced"


def test_where_one_value_alone_grows_the_claim_on_figure_1a_is_undecided():
    """One value has 95 % of the squares, at the end and in the displacement: k - 1 values would pass as well."""
    one_grows = spectrum_from_to("printed", SMALL_START, [4.0, 0.2, 0.1, 0.1, 0.1, 0.1])
    evaluation = evaluation_on("gaussian_init_low_rank", *one_grows, since="first")
    assert evaluation.verdict == "undecided"
    assert "only $k - 1$ values grow" in evaluation.reason


def test_a_second_value_that_is_large_and_stays_refuses_the_rival_of_one_value():
    """One value has all of the displacement, but of the squares at the end only 4 / 5.04."""
    second_stays = spectrum_from_to("printed", [0.1, 1.0, 0.1, 0.1, 0.1, 0.1], TWO_LEAD)
    assert verdict_on("gaussian_init_low_rank", *second_stays, since="first") == "reproduced"


def test_tables_have_as_many_draws_as_these_tests_count_with():
    assert claim_tables(PAPER, "gaussian_init_low_rank")["printed"]["seed"].nunique() == DRAWS


def test_facts_are_the_share_of_draws_of_low_rank_and_the_range_of_the_leading_share():
    three_lead = spectrum_from_to("printed", [0.0] * 6, [2.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    two_lead_on_one_draw = spectrum_from_to("printed", [0.0] * 6, [2.0, 1.0, 0.1, 0.0, 0.0, 0.0], draw=1)
    facts = evaluation_on("gaussian_init_low_rank", *three_lead, *two_lead_on_one_draw).facts
    assert facts["value"] == pytest.approx(1 / DRAWS)
    # squares of the first two over all, on the other draws and on that one
    assert (facts["smallest_leading_share"], facts["largest_leading_share"]) == pytest.approx((5 / 6, 5 / 5.01))


# -- Figure 4: both layers Gaussian ------------------------------------------------------------------------------------

# singular values of W1 at the start of a run with two outputs
START = np.array([0.5, 0.48, 0.46, 0.44, 0.42])
# their growths, (end - start) / start
TWO_GROW, ALL_GROW = [2.0, 0.8, 0.05, 0.02, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]


def on_first_draws(draws, growth):
    """Return growths of all draws, shape (draws, 5): on the first ones as given, on the others two values grow."""
    return [growth] * draws + [TWO_GROW] * (DRAWS - draws)


def table_of(growth):
    """Return the table of a run with two outputs, from the growth on all draws, shape (5,), or on each, (draws, 5)."""
    axes = {"seed": np.arange(DRAWS), "time": np.zeros(1)}
    start = np.broadcast_to(START, (DRAWS, 1, 5))
    end = start * (1 + np.broadcast_to(growth, (DRAWS, 5)))[:, None]
    flow = rows({"sigma_w1": start}, axes).assign(phase="flow")
    limit = rows({"sigma_w1": end, "sigma_beta": end[..., :2]}, axes).assign(phase="limit")
    table = pd.concat([flow, limit], ignore_index=True)
    # the claim names both variances; "draw" lists the columns that distinguish draws
    table.attrs = {"settings": {"variance": 0.01, "output_variance": 0.01}, "draw": ("seed",)}
    return table


def evaluate_growths(first, *, second=TWO_GROW, deviation=TWO_GROW, large=ALL_GROW, larger_teacher=None, since="k-th"):
    """Judge runs with these growths, each of all draws, shape (5,), or of each, (draws, 5).

    `first` and `second` are from the larger and the smaller printed variance of W2, `deviation` from one of them read
    as a standard deviation, `large` from the large scale of Figure 1a. `larger_teacher` is like `first`, with a larger
    teacher; without it that run grows as the first.
    """
    tables = {
        "flows": [table_of(first), table_of(second)],
        "deviations": [table_of(deviation)],
        "large": table_of(large),
        "larger_teacher": table_of(first if larger_teacher is None else larger_teacher),
    }
    return evaluate(claims.nonzero_second_layer, tables, settings={"share": 0.95, "since": since})


@pytest.mark.parametrize(
    ("growth", "since", "verdict"),
    [
        pytest.param(TWO_GROW, "k-th", "reproduced", id="two grow"),
        # displacements are growth times start
        pytest.param([2.0, 0.8, 0.52, 0.02, 0.0], "first", "reproduced", id="4.8 % of all squares in the third"),
        pytest.param([2.0, 0.8, 0.54, 0.02, 0.0], "first", "not reproduced", id="5.1 % of all squares in the third"),
        pytest.param([2.0, 0.8, 0.19, 0.02, 0.0], "k-th", "reproduced", id="4.97 % from the second value on"),
        pytest.param([2.0, 0.8, 0.20, 0.02, 0.0], "k-th", "not reproduced", id="5.48 % from the second value on"),
        pytest.param([2.0, 0.8, 0.0, 0.0, -0.6], "k-th", "not reproduced", id="a value that falls is displaced too"),
    ],
)
def test_figure_4_asks_that_only_two_values_grow(growth, since, verdict):
    assert evaluate_growths(growth, since=since).verdict == verdict


def test_only_two_values_may_grow_from_the_variances_read_as_deviations_too():
    a_third_grows = [2.0, 0.8, 0.20, 0.02, 0.0]
    assert evaluate_growths(TWO_GROW, deviation=a_third_grows).verdict == "not reproduced"


def test_where_two_values_grow_from_a_large_start_too_the_claim_is_undecided():
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
    assert evaluation.facts["share_with_larger_teacher"] == share_with_larger


def test_where_one_value_alone_grows_the_claim_on_figure_4_is_undecided():
    """One value has 95 % of the whole displacement: the rival of k - 1 values passes as well."""
    one_grows = [2.0, 0.1, 0.0, 0.0, 0.0]
    evaluation = evaluate_growths(one_grows, second=one_grows, deviation=one_grows, since="first")
    assert evaluation.verdict == "undecided"


# Wilson intervals of 10, 9, 3 and 2 draws of 12 that show it: from 0.55, from 0.47, up to 0.53, up to 0.45
@pytest.mark.parametrize(
    ("draws_without_trend", "verdict"),
    [(2, "reproduced"), (3, "undecided"), (9, "undecided"), (10, "not reproduced")],
)
def test_most_of_twelve_draws_must_show_the_trend(draws_without_trend, verdict):
    assert evaluate_growths(on_first_draws(draws_without_trend, ALL_GROW)).verdict == verdict


THREE_GROW = [2.0, 0.8, 0.4, 0.0, 0.0]


def test_facts_are_the_shares_of_draws_that_show_the_trend_in_each_run():
    facts = evaluate_growths(TWO_GROW, second=on_first_draws(3, THREE_GROW), deviation=THREE_GROW).facts
    assert facts["value"] == 1
    assert facts["share_at_smaller_variance"] == (DRAWS - 3) / DRAWS
    assert facts["share_as_deviations"] == 0


def test_facts_have_the_largest_share_of_the_displacement_and_the_share_allowed():
    facts = evaluate_growths(TWO_GROW, second=on_first_draws(3, THREE_GROW)).facts
    displacement = START * np.array(THREE_GROW)
    assert facts["largest_displacement_share"] == pytest.approx(displacement[2] ** 2 / np.sum(displacement**2))
    assert facts["allowed_share"] == pytest.approx(0.05)
