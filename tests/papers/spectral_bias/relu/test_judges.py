"""What the claims on ReLU students accept and refuse: shares of draws, counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.papers.spectral_bias.doctored import PAPER, evaluation_on, verdict_on
from tests.support import claim_tables

DRAWS = 60


def ends(role, ranks, losses=None):
    """Let draws end at these ranks, for all shares, and losses at these parts of their start."""

    def alter(tables):
        table = tables[role]
        last = table["time"] == table["time"].max()
        for seed, rank in enumerate(ranks):
            mine = last & (table["seed"] == seed)
            table.loc[mine & (table["quantity"] == "rank"), "value"] = rank
            table.loc[mine & (table["quantity"] == "loss"), "value"] = 0.0
        table.loc[(table["time"] == 0) & (table["quantity"] == "loss"), "value"] = 1.0
        for seed, loss in enumerate(losses if losses is not None else []):
            table.loc[last & (table["seed"] == seed) & (table["quantity"] == "loss"), "value"] = loss

    return alter


def mixed(**counts):
    """Return ranks of all draws: so many of each."""
    return [int(rank[1:]) for rank, count in counts.items() for _ in range(count)]


# of 60 draws, 38 is the least share whose Wilson interval lies above one half, and 59 above nine tenths
@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        (mixed(r2=60), mixed(r4=60), "reproduced"),
        (mixed(r2=38, r3=22), mixed(r4=60), "reproduced"),
        (mixed(r2=37, r3=23), mixed(r4=60), "not reproduced"),
        (mixed(r1=22, r2=38), mixed(r4=60), "reproduced"),
        (mixed(r1=23, r2=37), mixed(r4=60), "not reproduced"),
        (mixed(r2=60), mixed(r3=59, r2=1), "reproduced"),
        (mixed(r2=60), mixed(r3=58, r2=2), "not reproduced"),
    ],
)
def test_the_rank_at_the_end(small, large, verdict):
    assert verdict_on("relu_low_rank", ends("small", small), ends("large", large)) == verdict


@pytest.mark.parametrize(("stuck", "verdict"), [(22, "reproduced"), (23, "not reproduced")])
def test_draws_that_are_stuck_count_against(stuck, verdict):
    losses = [0.9e-3] * (60 - stuck) + [1.1e-3] * stuck
    found = evaluation_on("relu_low_rank", ends("small", mixed(r2=60), losses), ends("large", mixed(r4=60)))
    assert found.verdict == verdict
    assert found.facts["stuck"] == stuck


def test_the_shares_that_are_told():
    found = evaluation_on(
        "relu_low_rank", ends("small", mixed(r1=6, r2=48, r3=6)), ends("large", mixed(r2=3, r3=57))
    ).facts
    assert [found[name] for name in ("value", "one", "two", "more", "large")] == pytest.approx(
        [0.9, 0.1, 0.8, 0.1, 0.95]
    )


def cosines(role, low, count, quantity="teacher_cosine"):
    """Let so many draws have both cosines at one, and the others a second one of `low`."""

    def alter(tables):
        table = tables[role]
        rows = table["quantity"] == quantity
        table.loc[rows, "value"] = 1.0
        table.loc[rows & (table["index"] == 2) & (table["seed"] >= count), "value"] = low

    return alter


ARRIVED = [ends("small", mixed(r2=60)), ends("large", mixed(r2=60))]


@pytest.mark.parametrize(
    ("small", "low", "large", "verdict"),
    [
        (38, 0.94, 1, "reproduced"),
        (37, 0.94, 1, "not reproduced"),
        (37, 0.96, 1, "reproduced"),
        (38, 0.94, 2, "not reproduced"),
        (38, 0.94, 60, "not reproduced"),
    ],
)
def test_directions(small, low, large, verdict):
    learnt = [cosines("small", low, small), cosines("large", 0.5, large), cosines("small", 0.0, 0, "chance_cosine")]
    assert verdict_on("relu_teacher_directions", *ARRIVED, *learnt) == verdict


def plateaus(at_zero, ranks, late=0):
    """Let so many draws start on a plateau, and the first ones meet a second at these ranks; some start late."""

    def alter(tables):
        table = tables["small"]
        starts = table["quantity"].isin(["plateau_start", "plateau_end"])
        template = table[table["quantity"] == "loss"].iloc[:1]
        times = np.sort(table["time"].unique())
        kept = table[~starts].copy()
        added = []
        for seed in range(at_zero):
            added.append((seed, 1, times[1] if seed >= late else 0.5 * times[-1]))
        for seed, rank in enumerate(ranks):
            when = times[len(times) // 2]
            added.append((seed, 2, when))
            rows = (kept["quantity"] == "rank") & (kept["seed"] == seed) & (kept["time"] == when)
            kept.loc[rows, "value"] = rank

        rows = [
            template.assign(seed=seed, quantity="plateau_start", index=number, time=0.0, value=value)
            for seed, number, value in added
        ]
        new = pd.concat([kept, *rows], ignore_index=True)
        new.attrs = table.attrs
        tables["small"] = new

    return alter


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        (plateaus(60, mixed(r1=38)), "reproduced"),
        (plateaus(60, mixed(r1=37)), "not reproduced"),
        (plateaus(60, mixed(r1=37, r2=23)), "not reproduced"),
        (plateaus(59, mixed(r1=38)), "reproduced"),
        (plateaus(58, mixed(r1=50)), "not reproduced"),
        (plateaus(60, mixed(r1=40), late=1), "reproduced"),
        (plateaus(60, mixed(r1=40), late=2), "not reproduced"),
    ],
)
def test_the_first_saddle(alteration, verdict):
    assert verdict_on("relu_phase_one", alteration) == verdict


def test_what_is_told_of_plateaus():
    found = evaluation_on("relu_phase_one", plateaus(54, mixed(r1=30, r2=10))).facts
    assert [found[name] for name in ("value", "second", "zero", "conditional")] == pytest.approx(
        [0.5, 40 / 60, 0.9, 0.75]
    )


def test_there_are_as_many_draws_as_these_counts_suppose():
    assert claim_tables(PAPER, "relu_phase_one")["small"]["seed"].nunique() == DRAWS
