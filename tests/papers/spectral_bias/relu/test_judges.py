"""What the claims on ReLU students accept and refuse: how many of 200 draws must agree.

Most draws must agree: the Wilson interval of their share must be above one half. Of 200 draws 114 is the least number
whose interval is above one half, and 86 the largest whose interval is below it; of 20 draws 15 and 5. A draw that is
undecided counts against the claim, whatever this asks of the share, and is reported apart.

Thresholds are those of the configuration. A draw has fitted the data once its loss is a thousandth of the start or
less; one that ends above it is unfitted. A direction counts as learned from a cosine of 0.95 on. Every count that an
alteration below takes is of the first draws, in the order of seeds. Verdicts are listed in `doctored`.
"""

import numpy as np
import pandas as pd
import pytest

from tests.papers.spectral_bias.doctored import PAPER, evaluation_on, verdict_on
from tests.support import claim_tables, named_after_its_call

# at smoke scale; with more samples there are fewer draws
DRAWS, MORE_SAMPLES_DRAWS = 200, 20


def set_by_draw(table, rows, values):
    """Set the value in these rows of a table to that of their draw; values are in the order of seeds."""
    table.loc[rows, "value"] = table.loc[rows, "seed"].map(dict(enumerate(values))).to_numpy(float)


def ranks(*, one=0, two=0, three=0, four=0):
    """Return a rank for each draw: so many draws of rank 1, then so many of rank 2, and so on."""
    return [1] * one + [2] * two + [3] * three + [4] * four


def last_losses(*, unfitted):
    """Return where the losses of all draws end, over their start: so many just above a thousandth, then just below."""
    return [1.1e-3] * unfitted + [0.9e-3] * (DRAWS - unfitted)


@named_after_its_call
def ends(role, last_ranks, *, unfitted=0):
    """Return an alteration: draws end at these ranks, at every percentage of |W|^2, and so many are unfitted."""

    def alter(tables):
        table = tables[role]
        is_rank, is_loss = table["quantity"] == "rank", table["quantity"] == "loss"
        at_start, at_end = table["time"] == 0, table["time"] == table["time"].max()
        set_by_draw(table, is_rank & at_end, last_ranks)
        table.loc[is_loss & at_start, "value"] = 1.0
        set_by_draw(table, is_loss & at_end, last_losses(unfitted=unfitted))

    return alter


# -- Figure 2: the rank at the end, from small weights and from large ones ---------------------------------------------


@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        pytest.param(ranks(two=114, three=86), ranks(four=DRAWS), "reproduced", id="rank 2 on just enough draws"),
        pytest.param(ranks(two=113, three=87), ranks(four=DRAWS), "undecided", id="rank 2 on one draw fewer"),
        pytest.param(ranks(two=86, three=114), ranks(four=DRAWS), "not reproduced", id="rank 3 is the rule"),
        pytest.param(ranks(one=86, two=114), ranks(four=DRAWS), "reproduced", id="rank 1 beside rank 2"),
        pytest.param(ranks(one=87, two=113), ranks(four=DRAWS), "undecided", id="rank 1 on one draw more"),
        pytest.param(ranks(two=DRAWS), ranks(two=86, three=114), "reproduced", id="from large weights just enough"),
        pytest.param(ranks(two=DRAWS), ranks(two=87, three=113), "undecided", id="from large weights one draw fewer"),
    ],
)
def test_most_draws_must_end_at_rank_2_from_small_weights_and_above_from_large_ones(small, large, verdict):
    assert verdict_on("relu_low_rank", ends("small", small), ends("large", large)) == verdict


@pytest.mark.parametrize(("unfitted", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_unfitted_draws_from_small_weights_are_undecided(unfitted, verdict):
    """Beside 87 of them the other 113 are too few to decide the claim."""
    alterations = ends("small", ranks(two=DRAWS), unfitted=unfitted), ends("large", ranks(four=DRAWS))
    evaluation = evaluation_on("relu_low_rank", *alterations)
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.draws_undecided == unfitted
    assert evaluation.facts["unfitted_from_small"] == unfitted


def test_facts_are_the_shares_of_draws_of_each_rank():
    alterations = ends("small", ranks(one=20, two=160, three=20)), ends("large", ranks(two=10, three=190))
    facts = evaluation_on("relu_low_rank", *alterations).facts
    shares = 20 / DRAWS, 160 / DRAWS, 20 / DRAWS
    names = "share_at_rank_one", "share_at_rank_two", "share_above_rank_two"
    assert tuple(facts[name] for name in names) == pytest.approx(shares)
    assert facts["value"] == pytest.approx((20 + 160) / DRAWS)  # rank 2 or below
    assert facts["share_above_rank_two_from_large"] == pytest.approx(190 / DRAWS)  # above rank 2


# -- section 4: directions of the teacher ------------------------------------------------------------------------------


def tables_of(tables, role):
    """Return the tables of a role as a list; some roles have one table, some a list."""
    return tables[role] if isinstance(tables[role], list) else [tables[role]]


@named_after_its_call
def all_are_fitted(role):
    """Return an alteration: after the start the losses of all draws are far below a thousandth of it."""

    def alter(tables):
        for table in tables_of(tables, role):
            table.loc[(table["quantity"] == "loss") & (table["time"] > 0), "value"] = 1e-9

    return alter


@named_after_its_call
def learn(role, *, both, one_or_both, other_cosines=0.94):
    """Return an alteration: so many draws learn both directions, and so many one or both; all are fitted.

    The first direction has the larger cosine. It is one on the first `one_or_both` draws, and that of the second on the
    first `both` draws; `other_cosines` are by default just below what counts as learned.
    """

    def alter(tables):
        all_are_fitted(role)(tables)
        for table in tables_of(tables, role):
            is_cosine = table["quantity"] == "teacher_cosine"
            table.loc[is_cosine, "value"] = other_cosines
            for direction, draws in ((1, one_or_both), (2, both)):
                is_learned = is_cosine & (table["index"] == direction) & (table["seed"] < draws)
                table.loc[is_learned, "value"] = 1.0

    return alter


# small weights learn one direction, and both from more samples, on all draws
SMALL_WEIGHTS_LEARN = [
    learn("small", both=0, one_or_both=DRAWS),
    learn("more_samples", both=MORE_SAMPLES_DRAWS, one_or_both=MORE_SAMPLES_DRAWS),
]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # neither both directions nor one may be learned on most draws
        ([learn("large", both=0, one_or_both=86)], "reproduced"),
        ([learn("large", both=0, one_or_both=87)], "undecided"),
        ([learn("large", both=0, one_or_both=114)], "not reproduced"),
        ([learn("large", both=86, one_or_both=86)], "reproduced"),
        ([learn("large", both=114, one_or_both=114)], "not reproduced"),
        # other cosines of 0.96 count as learned, so that all draws learn both
        ([learn("large", both=0, one_or_both=86, other_cosines=0.96)], "not reproduced"),
        # a rival passes: most draws from small weights learn no direction either, or none from more samples
        ([learn("large", both=0, one_or_both=0), learn("small", both=0, one_or_both=86)], "undecided"),
        ([learn("large", both=0, one_or_both=0), learn("more_samples", both=0, one_or_both=5)], "undecided"),
    ],
)
def test_from_large_weights_most_draws_may_not_learn_a_direction(alterations, verdict):
    assert verdict_on("relu_teacher_directions", *SMALL_WEIGHTS_LEARN, *alterations) == verdict


@pytest.mark.parametrize(("unfitted", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_unfitted_draws_from_large_weights_are_undecided(unfitted, verdict):
    """Beside 87 of them the other 113 are too few to decide the claim; ranks play no part in it."""
    large = learn("large", both=0, one_or_both=0), ends("large", ranks(two=DRAWS), unfitted=unfitted)
    evaluation = evaluation_on("relu_teacher_directions", *SMALL_WEIGHTS_LEARN, *large)
    assert evaluation.verdict == verdict
    assert evaluation.judgement.headline.draws_undecided == unfitted


def test_facts_are_the_shares_of_draws_that_learn_one_direction_or_both():
    alterations = learn("small", both=10, one_or_both=150), learn("large", both=20, one_or_both=50)
    facts = evaluation_on("relu_teacher_directions", *alterations).facts
    assert facts["value"] == pytest.approx(20 / DRAWS)  # both, from large weights
    assert facts["one_or_both_from_large"] == pytest.approx(50 / DRAWS)
    assert facts["one_or_both_from_small"] == pytest.approx(150 / DRAWS)


@pytest.mark.parametrize(
    ("both_with_fewest", "both_with_most", "verdict"),
    [(86, 15, "reproduced"), (86, 14, "undecided"), (87, 15, "undecided"), (86, 0, "not reproduced")],
)
def test_most_draws_must_learn_both_directions_with_many_samples_and_not_with_few(
    both_with_fewest, both_with_most, verdict
):
    """So many draws learn both with the fewest samples, of 200, and with the most, of 20; the others learn one."""
    alterations = (
        learn("few_samples", both=both_with_fewest, one_or_both=DRAWS),
        learn("more_samples", both=both_with_most, one_or_both=MORE_SAMPLES_DRAWS),
    )
    assert verdict_on("relu_directions_with_samples", *alterations) == verdict


def test_the_share_that_learns_one_direction_alone_with_the_fewest_samples_is_a_fact():
    alterations = learn("few_samples", both=10, one_or_both=150), all_are_fitted("more_samples")
    facts = evaluation_on("relu_directions_with_samples", *alterations).facts
    assert facts["share_of_one_alone"] == pytest.approx((150 - 10) / DRAWS)


# -- Figure 5: the first saddle ----------------------------------------------------------------------------------------

SMALLEST, LARGER = 1e-7, 1e-2  # scales of the run at smoke scale; the smallest decides


def plateau_starts(number, times):
    """Return rows that say when each draw enters its plateau of this number, from times in the order of seeds."""
    rows = pd.DataFrame({"seed": range(len(times)), "index": number, "value": times})
    return rows.assign(quantity="plateau_start", time=0.0)


@named_after_its_call
def plateaus(*, second_ranks, at_zero=DRAWS, scale=SMALLEST, late=0, unfitted=0, fitted_at_second=0):
    """Return an alteration: draws of one initialisation scale start on a plateau, and meet a second one.

    The second begins at the recorded time in the middle of the list; then ranks are those of the first saddle. Every
    count below is of the first draws, in the order of seeds.

    Parameters
    ----------
    second_ranks : list of int
        Ranks when the second plateau begins, of as many draws.
    at_zero : int
        How many draws have a first plateau; it is at the saddle at zero, from the first recorded time on.
    scale : float
        The initial scale whose draws are altered.
    late : int
        How many draws enter their first plateau only after half of the time: it is not at zero.
    unfitted : int
        How many draws end just above the loss that counts as fitted; the others end just below it.
    fitted_at_second : int
        How many draws are just below that loss when the second plateau begins already; the others are just above it.
    """

    def alter(tables):
        table = tables["scales"]
        of_scale = table["scale"] == scale
        times = np.sort(table.loc[of_scale, "time"].unique())
        first_record, second_plateau, end = times[1], times[len(times) // 2], times[-1]  # times[0] is the start
        at_start, at_second_plateau, at_end = (table["time"] == time for time in (0.0, second_plateau, end))

        meets_second = table["seed"] < len(second_ranks)
        is_rank = of_scale & (table["quantity"] == "rank")
        set_by_draw(table, is_rank & at_second_plateau & meets_second, second_ranks)

        is_loss = of_scale & (table["quantity"] == "loss")
        table.loc[is_loss & at_start, "value"] = 1.0
        set_by_draw(
            table, is_loss & at_second_plateau, [0.95e-3] * fitted_at_second + [1.05e-3] * (DRAWS - fitted_at_second)
        )
        set_by_draw(table, is_loss & at_end, last_losses(unfitted=unfitted))

        is_plateau = of_scale & table["quantity"].isin(["plateau_start", "plateau_end"])
        first_starts = plateau_starts(1, [end / 2] * late + [first_record] * (at_zero - late))
        second_starts = plateau_starts(2, [second_plateau] * len(second_ranks))
        starts = pd.concat([first_starts, second_starts]).assign(scale=scale)
        tables["scales"] = pd.concat([table[~is_plateau], starts], ignore_index=True)
        tables["scales"].attrs = table.attrs

    return alter


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        # 114 draws must have rank 1 at a second plateau
        (plateaus(second_ranks=ranks(one=113)), "undecided"),
        (plateaus(second_ranks=ranks(one=86, two=87)), "not reproduced"),
        # 114 draws must start on a plateau
        (plateaus(second_ranks=ranks(one=114), at_zero=114), "reproduced"),
        (plateaus(second_ranks=ranks(one=150), at_zero=113), "undecided"),
        # of 130 draws of rank 1 as many as 16 may enter their first plateau late, so that 114 are left
        (plateaus(second_ranks=ranks(one=130), late=16), "reproduced"),
        (plateaus(second_ranks=ranks(one=130), late=17), "undecided"),
        # as many may be unfitted; those that are of rank 2 are not among the 130
        (plateaus(second_ranks=ranks(one=130), unfitted=16), "reproduced"),
        (plateaus(second_ranks=ranks(one=130), unfitted=17), "undecided"),
        (plateaus(second_ranks=ranks(two=16) + ranks(one=130), unfitted=16), "reproduced"),
        (plateaus(second_ranks=ranks(one=DRAWS), unfitted=DRAWS), "not reproduced"),
        # as many may meet the second plateau at a loss that counts as fitted, from which it cannot go on
        (plateaus(second_ranks=ranks(one=130), fitted_at_second=16), "reproduced"),
        (plateaus(second_ranks=ranks(one=130), fitted_at_second=17), "undecided"),
        # a larger scale at which it is so as well is a rival
        (plateaus(second_ranks=ranks(one=114), scale=LARGER), "undecided"),
    ],
)
def test_most_draws_must_pass_a_saddle_of_rank_1_and_go_on_until_they_are_fitted(alteration, verdict):
    """A draw does so that starts on a plateau, is not fitted yet and of rank 1 at the second, and ends fitted."""
    accepted = plateaus(second_ranks=ranks(one=114))
    assert verdict_on("relu_phase_one", accepted, alteration) == verdict


def test_unfitted_draws_are_undecided_at_rank_1_and_count_against_at_rank_2():
    """At rank 1 a draw may go on later, as plateaus last long; at rank 2 it has missed the saddle, fitted or not."""
    # the first 20 draws are unfitted: 16 of rank 2, and 4 of the 130 of rank 1
    alteration = plateaus(second_ranks=ranks(two=16) + ranks(one=130), unfitted=16 + 4)
    headline = evaluation_on("relu_phase_one", alteration).judgement.headline
    assert headline.draws_for == 130 - 4
    assert headline.draws_against == 16 + (DRAWS - 16 - 130)  # of rank 2, and without a second plateau
    assert headline.draws_undecided == 4


# at the larger scale 20 draws of 200 go through a saddle of rank 1; at the smallest 120 meet one, of which the first
# six are unfitted, and the first two of these have a loss that counts as fitted when the second plateau begins
AT_LARGER_SCALE = plateaus(second_ranks=ranks(one=20), scale=LARGER)
AT_SMALLEST_SCALE = plateaus(second_ranks=ranks(one=120, two=40), at_zero=190, unfitted=6, fitted_at_second=2)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        pytest.param("value", (120 - 6) / DRAWS, id="go through a saddle of rank 1"),
        pytest.param("smallest_scale", SMALLEST, id="the smallest scale"),
        pytest.param("share_at_zero", 190 / DRAWS, id="start on a plateau"),
        pytest.param("share_with_second_plateau", (120 + 40) / DRAWS, id="meet a second plateau"),
        pytest.param("share_at_rank_one", 120 / DRAWS, id="have rank 1 there"),
        pytest.param("share_at_rank_one_of_those", 120 / (120 + 40), id="have rank 1 of those that meet one"),
        pytest.param("unfitted_at_rank_one", 6, id="have rank 1 and are unfitted"),
        pytest.param("fitted_at_second_plateau", 2, id="have rank 1 at a loss that counts as fitted"),
    ],
)
def test_facts_on_plateaus_at_the_smallest_scale_are_shares_and_counts_of_draws(fact, expected):
    facts = evaluation_on("relu_phase_one", AT_SMALLEST_SCALE, AT_LARGER_SCALE).facts
    assert facts[fact] == pytest.approx(expected)


def test_facts_name_the_share_at_each_scale_and_where_it_is_above_one_half():
    facts = evaluation_on("relu_phase_one", AT_SMALLEST_SCALE, AT_LARGER_SCALE).facts
    assert facts["shares_by_scale"] == "10% at 1e-02, 57% at 1e-07"  # 20 and 114 of 200
    assert facts["where_above_half"] == "from 1e-07 down"


def test_facts_say_that_the_share_is_above_one_half_at_no_scale():
    few_at_smallest_scale = plateaus(second_ranks=ranks(one=20), at_zero=190)
    facts = evaluation_on("relu_phase_one", few_at_smallest_scale, AT_LARGER_SCALE).facts
    assert facts["where_above_half"] == "at no scale tried"


def test_tables_have_as_many_draws_as_these_tests_count_with():
    assert claim_tables(PAPER, "relu_phase_one")["scales"]["seed"].nunique() == DRAWS
    _, most_samples = claim_tables(PAPER, "relu_directions_with_samples")["more_samples"]  # thirty and a hundred
    assert most_samples["seed"].nunique() == MORE_SAMPLES_DRAWS
