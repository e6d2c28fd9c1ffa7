"""What the claims on ReLU students accept and refuse: shares of draws, counted."""

import numpy as np
import pandas as pd
import pytest

from tests.papers.spectral_bias.doctored import PAPER, evaluation_on, verdict_on
from tests.support import claim_tables, named_after_its_call

DRAWS = 200


def by_seed(table, rows, values):
    """Give the rows of each draw its value."""
    table.loc[rows, "value"] = table.loc[rows, "seed"].map(dict(enumerate(values))).to_numpy(float)


@named_after_its_call
def ends(role, ranks, losses=None):
    """Let draws end at these ranks, for all shares, and losses at these parts of their start."""

    def alter(tables):
        table = tables[role]
        last, first = table["time"] == table["time"].max(), table["time"] == 0
        by_seed(table, last & (table["quantity"] == "rank"), ranks)
        table.loc[first & (table["quantity"] == "loss"), "value"] = 1.0
        by_seed(table, last & (table["quantity"] == "loss"), losses or [0.0] * DRAWS)

    return alter


def mixed(**counts):
    """Return ranks of all draws: so many of each."""
    return [int(rank[1:]) for rank, count in counts.items() for _ in range(count)]


ALL = {"r2": 200}


# of 200 draws 114 is the least number whose Wilson interval lies above one half, 86 the largest below it
@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        pytest.param(mixed(r2=114, r3=86), mixed(r4=200), "reproduced", id="rank 2 on just enough draws"),
        pytest.param(mixed(r2=113, r3=87), mixed(r4=200), "undecided", id="rank 2 on one draw fewer"),
        pytest.param(mixed(r2=86, r3=114), mixed(r4=200), "not reproduced", id="rank 3 is the rule"),
        pytest.param(mixed(r1=86, r2=114), mixed(r4=200), "reproduced", id="rank 1 beside rank 2"),
        pytest.param(mixed(r1=87, r2=113), mixed(r4=200), "undecided", id="rank 1 on one draw more"),
        pytest.param(mixed(r2=200), mixed(r3=114, r2=86), "reproduced", id="from large weights just enough"),
        pytest.param(mixed(r2=200), mixed(r3=113, r2=87), "undecided", id="from large weights one draw fewer"),
    ],
)
def test_low_rank_is_decided_by_wilsons_interval_about_one_half(small, large, verdict):
    assert verdict_on("relu_low_rank", ends("small", small), ends("large", large)) == verdict


@pytest.mark.parametrize(("stuck", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_draws_that_are_stuck_count_against(stuck, verdict):
    losses = [0.9e-3] * (DRAWS - stuck) + [1.1e-3] * stuck
    found = evaluation_on("relu_low_rank", ends("small", mixed(**ALL), losses), ends("large", mixed(r4=200)))
    assert found.verdict == verdict
    assert found.facts["stuck"] == stuck


def test_the_shares_that_are_shown():
    ranks = ends("small", mixed(r1=20, r2=160, r3=20)), ends("large", mixed(r2=10, r3=190))
    found = evaluation_on("relu_low_rank", *ranks).facts
    shown = [found[name] for name in ("value", "one", "two", "three_or_more", "large")]
    assert shown == pytest.approx([0.9, 0.1, 0.8, 0.1, 0.95])


@named_after_its_call
def cosines(role, low, count, quantity="teacher_cosine"):
    """Let so many draws have both cosines at one, and the others a second one of `low`."""

    def alter(tables):
        for table in tables[role] if isinstance(tables[role], list) else [tables[role]]:
            rows = table["quantity"] == quantity
            table.loc[rows, "value"] = 1.0
            table.loc[rows & (table["index"] == 2) & (table["seed"] >= count), "value"] = low

    return alter


@named_after_its_call
def learned(role, both, one, low=0.94):
    """Let so many draws learn both directions, so many one or both; other cosines are `low`, all losses have fallen."""

    def alter(tables):
        fallen(role)(tables)
        table = tables[role]
        cosine = table["quantity"] == "teacher_cosine"
        table.loc[cosine, "value"] = low
        table.loc[cosine & (table["index"] == 1) & (table["seed"] < one), "value"] = 1.0
        table.loc[cosine & (table["index"] == 2) & (table["seed"] < both), "value"] = 1.0

    return alter


# from small weights one direction is learned, and both from more samples; of these there are twenty draws
CONTRAST = [learned("small", 0, 200), learned("more_samples", 20, 20)]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([learned("large", 0, 86)], "reproduced"),
        ([learned("large", 0, 87)], "undecided"),
        ([learned("large", 0, 114)], "not reproduced"),
        ([learned("large", 86, 86)], "reproduced"),
        ([learned("large", 114, 114)], "not reproduced"),
        ([learned("large", 0, 86, low=0.96)], "not reproduced"),
        # what small weights do as well, or what more samples do as well, says nothing of large ones
        ([learned("large", 0, 0), learned("small", 0, 86)], "undecided"),
        ([learned("large", 0, 0), learned("more_samples", 0, 5)], "undecided"),
    ],
)
def test_from_large_weights_directions_are_not_learned(alterations, verdict):
    assert verdict_on("relu_teacher_directions", *CONTRAST, *alterations) == verdict


@pytest.mark.parametrize(("stuck", "verdict"), [(86, "reproduced"), (87, "undecided")])
def test_draws_from_large_weights_whose_loss_has_not_fallen_count_against(stuck, verdict):
    losses = ends("large", mixed(**ALL), [0.9e-3] * (DRAWS - stuck) + [1.1e-3] * stuck)
    assert verdict_on("relu_teacher_directions", *CONTRAST, learned("large", 0, 0), losses) == verdict


def test_shares_that_are_shown_of_directions():
    facts = evaluation_on("relu_teacher_directions", learned("small", 10, 150), learned("large", 20, 50)).facts
    assert [facts[name] for name in ("value", "large_one", "small_one")] == pytest.approx([0.1, 0.25, 0.75])
    few = [learned("few_samples", 10, 150), fallen("more_samples")]
    assert evaluation_on("relu_directions_with_samples", *few).facts["one"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("few", "more", "verdict"),
    # of 20 draws 15 is the least number whose interval lies above one half
    [(86, 15, "reproduced"), (86, 14, "undecided"), (87, 15, "undecided"), (86, 0, "not reproduced")],
)
def test_directions_with_more_samples(few, more, verdict):
    arrived = [fallen("few_samples"), fallen("more_samples")]
    learnt = [cosines("few_samples", 0.94, few), cosines("more_samples", 0.94, more)]
    assert verdict_on("relu_directions_with_samples", *arrived, *learnt) == verdict


@named_after_its_call
def fallen(role):
    """Let all losses have fallen."""

    def alter(tables):
        for table in tables[role] if isinstance(tables[role], list) else [tables[role]]:
            table.loc[(table["quantity"] == "loss") & (table["time"] > 0), "value"] = 1e-9

    return alter


@named_after_its_call
def plateaus(at_zero, ranks, scale=1e-7, late=0, unfitted=0, low=0):
    """Let so many draws start on a plateau, and the first ones meet a second at these ranks; some start late.

    Of all draws the first `unfitted` end a little above the loss that counts as fitted, the others a little below. The
    first `low` draws are a little below it when the second plateau begins, the others a little above.
    """

    def alter(tables):
        table = tables["scales"]
        mine = table["scale"] == scale
        starts = mine & table["quantity"].isin(["plateau_start", "plateau_end"])
        times = np.sort(table.loc[mine, "time"].unique())
        when = times[len(times) // 2]
        at = mine & (table["quantity"] == "rank") & (table["time"] == when) & (table["seed"] < len(ranks))
        by_seed(table, at, ranks)
        losses = mine & (table["quantity"] == "loss")
        table.loc[losses & (table["time"] == 0), "value"] = 1.0
        by_seed(table, losses & (table["time"] == when), [0.95e-3] * low + [1.05e-3] * (DRAWS - low))
        by_seed(table, losses & (table["time"] == times[-1]), [1.1e-3] * unfitted + [0.9e-3] * (DRAWS - unfitted))
        first = [times[1] if seed >= late else 0.5 * times[-1] for seed in range(at_zero)]
        added = pd.DataFrame({"seed": [*range(at_zero), *range(len(ranks))], "value": first + [when] * len(ranks)})
        added["index"] = [1] * at_zero + [2] * len(ranks)
        added = added.assign(time=0.0, quantity="plateau_start", scale=scale)
        new = pd.concat([table[~starts], added], ignore_index=True)
        new.attrs = table.attrs
        tables["scales"] = new

    return alter


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        (plateaus(200, mixed(r1=113)), "undecided"),
        (plateaus(200, mixed(r1=86, r2=87)), "not reproduced"),
        (plateaus(114, mixed(r1=114)), "reproduced"),
        (plateaus(113, mixed(r1=150)), "undecided"),
        (plateaus(200, mixed(r1=130), late=16), "reproduced"),
        (plateaus(200, mixed(r1=130), late=17), "undecided"),
        # a draw that has not fitted the data is undecided, whose rank is 1; of others the rank decides
        (plateaus(200, mixed(r1=130), unfitted=16), "reproduced"),
        (plateaus(200, mixed(r1=130), unfitted=17), "undecided"),
        (plateaus(200, mixed(r2=16, r1=130), unfitted=16), "reproduced"),
        (plateaus(200, mixed(r1=200), unfitted=200), "not reproduced"),
        # a plateau at a loss that counts as fitted is no saddle from which the loss goes on
        (plateaus(200, mixed(r1=130), low=16), "reproduced"),
        (plateaus(200, mixed(r1=130), low=17), "undecided"),
        # what happens at larger scales does not decide, unless it is the same there
        (plateaus(200, mixed(r1=114), scale=1e-2), "undecided"),
    ],
)
def test_the_first_saddle(alteration, verdict):
    assert verdict_on("relu_phase_one", plateaus(200, mixed(r1=114)), alteration) == verdict


def test_draws_of_another_rank_are_decided_before_their_loss_has_fallen():
    headline = evaluation_on("relu_phase_one", plateaus(200, mixed(r2=16, r1=130), unfitted=20)).judgement.headline
    # of 200 draws 4 have rank 1 and have not fitted the data, and 126 have; 16 have rank 2, 54 no second plateau
    assert (headline.draws_for, headline.draws_against, headline.draws_undecided) == (126, 70, 4)


def test_what_is_shown_of_plateaus():
    large = plateaus(200, mixed(r1=20), scale=1e-2)
    found = evaluation_on("relu_phase_one", plateaus(190, mixed(r1=120, r2=40), unfitted=6, low=2), large).facts
    shown = [found[name] for name in ("value", "smallest", "second", "zero", "rank_one", "conditional", "stuck", "low")]
    assert shown == pytest.approx([0.57, 1e-7, 0.8, 0.95, 0.6, 0.75, 6, 2])
    assert found["course"] == "10% at 1e-02, 57% at 1e-07"
    assert found["turns"] == "from 1e-07 down"
    none = evaluation_on("relu_phase_one", plateaus(190, mixed(r1=20)), large)
    assert none.facts["turns"] == "at no scale tried"


def test_there_are_as_many_draws_as_these_counts_suppose():
    assert claim_tables(PAPER, "relu_phase_one")["scales"]["seed"].nunique() == DRAWS
    assert claim_tables(PAPER, "relu_directions_with_samples")["more_samples"][1]["seed"].nunique() == 20
