"""What the claims on ReLU students accept and refuse: how many of 200 draws must agree.

Most draws must agree: the Wilson interval of their share must be above one half. Of 200 draws 114 is the least number
whose interval is above one half, and 86 the largest whose interval is below it; of 20 draws 15 and 5. Thresholds
are those of the configuration: a loss counts as fitted at a thousandth of its start, a direction as learned from a
cosine of 0.95 on. Verdicts are listed in `doctored`.
"""

import numpy as np
import pandas as pd
import pytest

from tests.papers.spectral_bias.doctored import PAPER, evaluation_on, verdict_on
from tests.support import claim_tables, named_after_its_call

# at smoke scale; with more samples there are fewer draws
DRAWS, MORE_SAMPLES_DRAWS = 200, 20


def set_by_draw(table, rows, values):
    """Set the rows of each draw to its value."""
    table.loc[rows, "value"] = table.loc[rows, "seed"].map(dict(enumerate(values))).to_numpy(float)


@named_after_its_call
def ends(role, ranks, losses=None):
    """Let each draw end at its rank, and its loss at this part of its start, zero if no losses are given."""

    def alter(tables):
        table = tables[role]
        last, first = table["time"] == table["time"].max(), table["time"] == 0
        set_by_draw(table, last & (table["quantity"] == "rank"), ranks)
        table.loc[first & (table["quantity"] == "loss"), "value"] = 1.0
        set_by_draw(table, last & (table["quantity"] == "loss"), losses or [0.0] * DRAWS)

    return alter


# -- Figure 2: the rank at the end, from small weights and from large ones ---------------------------------------------


def ranks(*, one=0, two=0, three=0, four=0):
    """Return ranks of all draws: so many draws of each rank, in this order."""
    return [1] * one + [2] * two + [3] * three + [4] * four


def losses_with(stuck):
    """Return the ends of all losses: a little above what counts as fitted on so many draws, and a little below."""
    return [1.1e-3] * stuck + [0.9e-3] * (DRAWS - stuck)


@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        pytest.param(ranks(two=114, three=86), ranks(four=200), "reproduced", id="rank 2 on just enough draws"),
        pytest.param(ranks(two=113, three=87), ranks(four=200), "undecided", id="rank 2 on one draw fewer"),
        pytest.param(ranks(two=86, three=114), ranks(four=200), "not reproduced", id="rank 3 is the rule"),
        pytest.param(ranks(one=86, two=114), ranks(four=200), "reproduced", id="rank 1 beside rank 2"),
        pytest.param(ranks(one=87, two=113), ranks(four=200), "undecided", id="rank 1 on one draw more"),
        pytest.param(ranks(two=200), ranks(two=86, three=114), "reproduced", id="from large weights just enough"),
        pytest.param(ranks(two=200), ranks(two=87, three=113), "undecided", id="from large weights one draw fewer"),
    ],
)
def test_most_draws_must_end_at_rank_2_from_small_weights_and_above_from_large_ones(small, large, verdict):
    assert verdict_on("relu_low_rank", ends("small", small), ends("large", large)) == verdict


@pytest.mark.parametrize(("stuck", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_draws_from_small_weights_whose_loss_has_not_fallen_are_undecided(stuck, verdict):
    """Beside 87 of them the other 113 are too few to decide the claim."""
    alterations = ends("small", ranks(two=200), losses_with(stuck)), ends("large", ranks(four=200))
    evaluation = evaluation_on("relu_low_rank", *alterations)
    assert evaluation.verdict == verdict
    assert evaluation.facts["stuck"] == stuck


def test_facts_are_the_shares_of_draws_of_each_rank():
    alterations = ends("small", ranks(one=20, two=160, three=20)), ends("large", ranks(two=10, three=190))
    facts = evaluation_on("relu_low_rank", *alterations).facts
    assert (facts["one"], facts["two"], facts["three_or_more"]) == pytest.approx((0.1, 0.8, 0.1))
    assert facts["value"] == pytest.approx(0.9)  # rank 2 or below
    assert facts["large"] == pytest.approx(0.95)  # above rank 2


# -- section 4: directions of the teacher ------------------------------------------------------------------------------


def tables_of(tables, role):
    """Return the tables of a role as a list; some roles have one table, some a list."""
    return tables[role] if isinstance(tables[role], list) else [tables[role]]


@named_after_its_call
def losses_have_fallen(role):
    """Let all losses be far below what counts as fitted, but at the start."""

    def alter(tables):
        for table in tables_of(tables, role):
            table.loc[(table["quantity"] == "loss") & (table["time"] > 0), "value"] = 1e-9

    return alter


@named_after_its_call
def learn(role, *, both, one_or_both, other_cosines=0.94):
    """Let so many draws learn both directions, and so many one or both, with a cosine of one; all losses have fallen.

    A cosine of 0.94 is just below what counts as learned.
    """

    def alter(tables):
        losses_have_fallen(role)(tables)
        for table in tables_of(tables, role):
            cosine = table["quantity"] == "teacher_cosine"
            table.loc[cosine, "value"] = other_cosines
            table.loc[cosine & (table["index"] == 1) & (table["seed"] < one_or_both), "value"] = 1.0
            table.loc[cosine & (table["index"] == 2) & (table["seed"] < both), "value"] = 1.0

    return alter


# small weights learn one direction, and both from more samples, on all draws
SMALL_WEIGHTS_LEARN = [
    learn("small", both=0, one_or_both=200),
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
        # cosines of 0.96 count as learned, so that all draws learn both
        ([learn("large", both=0, one_or_both=86, other_cosines=0.96)], "not reproduced"),
        # where most draws from small weights learn no direction either, or none from more samples, a rival passes
        ([learn("large", both=0, one_or_both=0), learn("small", both=0, one_or_both=86)], "undecided"),
        ([learn("large", both=0, one_or_both=0), learn("more_samples", both=0, one_or_both=5)], "undecided"),
    ],
)
def test_from_large_weights_most_draws_may_not_learn_a_direction(alterations, verdict):
    assert verdict_on("relu_teacher_directions", *SMALL_WEIGHTS_LEARN, *alterations) == verdict


@pytest.mark.parametrize(("stuck", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_draws_from_large_weights_whose_loss_has_not_fallen_are_undecided(stuck, verdict):
    """Beside 87 of them the other 113 are too few to decide the claim."""
    large = learn("large", both=0, one_or_both=0), ends("large", ranks(two=200), losses_with(stuck))
    assert verdict_on("relu_teacher_directions", *SMALL_WEIGHTS_LEARN, *large) == verdict


def test_facts_are_the_shares_of_draws_that_learn_one_direction_or_both():
    alterations = learn("small", both=10, one_or_both=150), learn("large", both=20, one_or_both=50)
    facts = evaluation_on("relu_teacher_directions", *alterations).facts
    assert facts["value"] == pytest.approx(20 / DRAWS)  # both, from large weights
    assert (facts["large_one"], facts["small_one"]) == pytest.approx((50 / DRAWS, 150 / DRAWS))


@pytest.mark.parametrize(
    ("few", "more", "verdict"),
    [(86, 15, "reproduced"), (86, 14, "undecided"), (87, 15, "undecided"), (86, 0, "not reproduced")],
)
def test_most_draws_must_learn_both_directions_with_many_samples_and_not_with_few(few, more, verdict):
    """So many draws learn both with the fewest samples, of 200, and with the most, of 20; the others learn one."""
    alterations = (
        learn("few_samples", both=few, one_or_both=DRAWS),
        learn("more_samples", both=more, one_or_both=MORE_SAMPLES_DRAWS),
    )
    assert verdict_on("relu_directions_with_samples", *alterations) == verdict


def test_the_share_that_learns_one_direction_alone_with_the_fewest_samples_is_a_fact():
    alterations = learn("few_samples", both=10, one_or_both=150), losses_have_fallen("more_samples")
    facts = evaluation_on("relu_directions_with_samples", *alterations).facts
    assert facts["one"] == pytest.approx((150 - 10) / DRAWS)


# -- Figure 5: the first saddle ----------------------------------------------------------------------------------------


@named_after_its_call
def plateaus(at_zero, second_ranks, scale=1e-7, late=0, unfitted=0, low=0):
    """Let draws of one scale start on a plateau, and meet a second one.

    Parameters
    ----------
    at_zero : int
        How many draws, the first ones, have a first plateau; it is at the saddle at zero, from the first time on.
    second_ranks : list of int
        Ranks at the second plateau, of as many draws, the first ones.
    scale : float
        The initial scale whose draws are altered; 1e-7, the smallest, decides.
    late : int
        How many draws, the first ones, enter their first plateau only halfway: it is not at zero.
    unfitted : int
        How many draws, the first ones, end a little above the loss that counts as fitted; the others end below it.
    low : int
        How many draws, the first ones, are below that loss when the second plateau begins; the others are above it.
    """

    def alter(tables):
        table = tables["scales"]
        mine = table["scale"] == scale
        starts = mine & table["quantity"].isin(["plateau_start", "plateau_end"])
        times = np.sort(table.loc[mine, "time"].unique())
        when = times[len(times) // 2]
        met = mine & (table["quantity"] == "rank") & (table["time"] == when) & (table["seed"] < len(second_ranks))
        set_by_draw(table, met, second_ranks)
        losses = mine & (table["quantity"] == "loss")
        table.loc[losses & (table["time"] == 0), "value"] = 1.0
        set_by_draw(table, losses & (table["time"] == when), [0.95e-3] * low + [1.05e-3] * (DRAWS - low))
        set_by_draw(table, losses & (table["time"] == times[-1]), losses_with(unfitted))
        first_starts = [0.5 * times[-1] if seed < late else times[1] for seed in range(at_zero)]
        first = pd.DataFrame({"seed": range(at_zero), "index": 1, "value": first_starts})
        second = pd.DataFrame({"seed": range(len(second_ranks)), "index": 2, "value": when})
        added = pd.concat([first, second]).assign(time=0.0, quantity="plateau_start", scale=scale)
        new = pd.concat([table[~starts], added], ignore_index=True)
        new.attrs = table.attrs
        tables["scales"] = new

    return alter


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        # 114 draws must have rank 1 at a second plateau
        (plateaus(200, ranks(one=113)), "undecided"),
        (plateaus(200, ranks(one=86, two=87)), "not reproduced"),
        # 114 draws must start on a plateau
        (plateaus(114, ranks(one=114)), "reproduced"),
        (plateaus(113, ranks(one=150)), "undecided"),
        # of 130 draws of rank 1 as many as 16 may enter their first plateau late
        (plateaus(200, ranks(one=130), late=16), "reproduced"),
        (plateaus(200, ranks(one=130), late=17), "undecided"),
        # as many may not have fitted the data: such a draw of rank 1 is undecided; one of rank 2 counts against
        (plateaus(200, ranks(one=130), unfitted=16), "reproduced"),
        (plateaus(200, ranks(one=130), unfitted=17), "undecided"),
        (plateaus(200, ranks(two=16) + ranks(one=130), unfitted=16), "reproduced"),
        (plateaus(200, ranks(one=200), unfitted=200), "not reproduced"),
        # as many may meet the second plateau at a loss that counts as fitted, from which it cannot go on
        (plateaus(200, ranks(one=130), low=16), "reproduced"),
        (plateaus(200, ranks(one=130), low=17), "undecided"),
        # a larger scale at which it is so as well is a rival
        (plateaus(200, ranks(one=114), scale=1e-2), "undecided"),
    ],
)
def test_most_draws_must_pass_a_saddle_of_rank_1_and_go_on_until_they_are_fitted(alteration, verdict):
    assert verdict_on("relu_phase_one", plateaus(200, ranks(one=114)), alteration) == verdict


def test_unfitted_draws_are_undecided_at_rank_1_and_count_against_at_rank_2():
    # the first 20 draws have not fitted the data: 16 of rank 2, and 4 of the 130 of rank 1
    alteration = plateaus(200, ranks(two=16) + ranks(one=130), unfitted=20)
    headline = evaluation_on("relu_phase_one", alteration).judgement.headline
    # against are those of rank 2, and 200 - 16 - 130 = 54 without a second plateau
    assert (headline.draws_for, headline.draws_against, headline.draws_undecided) == (126, 16 + 54, 4)


# at the larger scale 20 draws of 200 go through a saddle of rank 1; at the smallest 120 meet one, of which 114 fit the
# data at the end
AT_LARGER_SCALE = plateaus(200, ranks(one=20), scale=1e-2)
AT_SMALLEST_SCALE = plateaus(190, ranks(one=120, two=40), unfitted=6, low=2)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        pytest.param("value", 114 / 200, id="go through a saddle of rank 1"),
        pytest.param("smallest", 1e-7, id="the smallest scale"),
        pytest.param("zero", 190 / 200, id="start on a plateau"),
        pytest.param("second", 160 / 200, id="meet a second plateau"),
        pytest.param("rank_one", 120 / 200, id="have rank 1 there"),
        pytest.param("conditional", 120 / 160, id="have rank 1 of those that meet one"),
        pytest.param("stuck", 6, id="have rank 1 and are not fitted"),
        pytest.param("low", 2, id="have rank 1 at a loss that counts as fitted"),
    ],
)
def test_facts_on_plateaus_at_the_smallest_scale_are_shares_and_counts_of_draws(fact, expected):
    facts = evaluation_on("relu_phase_one", AT_SMALLEST_SCALE, AT_LARGER_SCALE).facts
    assert facts[fact] == pytest.approx(expected)


def test_facts_name_the_share_at_each_scale_and_where_it_is_above_one_half():
    facts = evaluation_on("relu_phase_one", AT_SMALLEST_SCALE, AT_LARGER_SCALE).facts
    assert facts["course"] == "10% at 1e-02, 57% at 1e-07"
    assert facts["turns"] == "from 1e-07 down"


def test_facts_say_that_the_share_is_above_one_half_at_no_scale():
    few_at_smallest_scale = plateaus(190, ranks(one=20))
    facts = evaluation_on("relu_phase_one", few_at_smallest_scale, AT_LARGER_SCALE).facts
    assert facts["turns"] == "at no scale tried"


def test_tables_have_as_many_draws_as_these_tests_count_with():
    assert claim_tables(PAPER, "relu_phase_one")["scales"]["seed"].nunique() == DRAWS
    most_samples = claim_tables(PAPER, "relu_directions_with_samples")["more_samples"][1]
    assert most_samples["seed"].nunique() == MORE_SAMPLES_DRAWS
