"""The rank of a ReLU student, at the end and at the first saddle, and the teacher's directions."""

import itertools
from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Checks, Claim, Facts, Finding, Instead, Judgement, claim, share_of_draws
from learning_dynamics.papers.spectral_bias.relu.saddles import (
    first_saddle_ranks,
    fitted_draws,
    last_ranks,
    starts_at_zero,
)
from learning_dynamics.settings import Count, Fraction
from learning_dynamics.tidy import Draws, Table

SCOPE = "ten samples in five dimensions, a Gaussian teacher of two ReLU neurons, a student of twenty"


@claim("Figure 2", quantifier="most draws", scope=SCOPE, empirical=True)
def relu_low_rank(small: Table, large: Table, *, share: Count, loss: Fraction) -> Claim:
    r"""A ReLU student ends at approximately rank 2, the teacher's, from small weights, and at high rank from large
    ones.

    Rank is the number of singular values that carry a share of $|W|^2$, given as a setting in percent. The paper shows
    one draw. From small weights the two largest values carry that share, and the loss has fallen, on {value:.0%} of
    {draws} draws (of all, rank 1 on {one:.0%}, exactly 2 on {two:.0%}, 3 or more on {more:.0%}); {stuck} draws whose
    loss had not fallen far enough are undecided. From large weights {large:.0%} end above rank 2.
    """
    tables = {"small": small, "large": large}
    ranks = {name: last_ranks(table, share) for name, table in tables.items()}
    open_ = {name: ~fitted_draws(table, loss) for name, table in tables.items()}

    def up_to(rank: int, name: str) -> Instead:
        return Instead(holds=ranks[name] <= rank, undecided=open_[name])

    low_too, high_too = "low rank from large weights too", "high rank from small ones"
    yield share_of_draws(
        "share of draws from small weights that end at rank 2 or below",
        **up_to(2, "small"),
        at_least=0.5,
        because="most draws",
        rivals={low_too: up_to(2, "large")},
    )
    yield share_of_draws(
        "share of draws from small weights that end at rank 1",
        **up_to(1, "small"),
        at_most=0.5,
        because="not the rule",
        rivals={low_too: up_to(1, "large")},
    )
    yield share_of_draws(
        "share of draws from large weights that end above rank 2",
        ranks["large"] > 2,
        undecided=open_["large"],
        at_least=0.5,
        because="most draws",
        rivals={high_too: Instead(holds=ranks["small"] > 2, undecided=open_["small"])},
    )
    yield Facts(
        one=float(np.mean(ranks["small"] == 1)),
        two=float(np.mean(ranks["small"] == 2)),
        more=float(np.mean(ranks["small"] > 2)),
        stuck=int(open_["small"].sum()),
        large=float(np.mean(ranks["large"] > 2)),
    )


@claim(
    "Section 4, extension to non-linear activations",
    quantifier="most draws",
    scope=SCOPE,
    empirical=True,
    reason="one direction is learnt on most draws, the second on few",
)
def relu_teacher_directions(small: Table, large: Table, *, cosine: Fraction, loss: Fraction) -> Claim:
    r"""From small weights the ReLU student's hidden layer represents the teacher's two directions; from large weights
    its neurons do not learn them.

    To represent the directions is read as spanning them; by rank alone, which the paper names, `relu_low_rank` judges.
    The span of the first two singular vectors of $W$ is held against that of the teacher's neurons: both principal
    angles have a cosine above the setting `cosine` on {value:.0%} of {draws} draws. The cosines' medians are
    {first:.3f} and {second:.2f}, where spans at random have {chance_first:.2f} and {chance_second:.2f}, and from large
    weights {large_first:.2f} and {large_second:.2f}. Of $|W|^2$, {inside:.0%} lies in the teacher's span (median;
    {chance_inside:.0%} by chance, {large_inside:.0%} from large weights). Ten samples, on about half of which each
    neuron of the teacher is silent, need not fix its directions; more do (`relu_directions_with_samples`).
    """
    few, many = Draws(small), Draws(large)
    cosines, chance, from_large = (
        few.entries("teacher_cosine"),
        few.entries("chance_cosine"),
        many.entries("teacher_cosine"),
    )
    learnt_from_large = Instead(holds=from_large.min(axis=1) >= cosine, undecided=~fitted_draws(large, loss))
    yield share_of_draws(
        "share of draws from small weights that learn both of the teacher's directions",
        cosines.min(axis=1) >= cosine,
        undecided=~fitted_draws(small, loss),
        at_least=0.5,
        because="most draws",
        rivals={
            "spans at random": Instead(holds=chance.min(axis=1) >= cosine, undecided=None),
            "large weights learn them too": learnt_from_large,
        },
    )
    yield share_of_draws(
        "share of draws from large weights that learn both directions",
        **learnt_from_large,
        at_most=0.5,
        because="not the rule",
    )
    for name, values in (("", cosines), ("chance_", chance), ("large_", from_large)):
        first, *_, second = np.median(values, axis=0)
        yield Facts({f"{name}first": first, f"{name}second": second})
    yield Facts(
        inside=float(np.median(few["inside"])),
        chance_inside=float(few["chance_inside"][0]),
        large_inside=float(np.median(many["inside"])),
    )


@claim(
    "Section 4, extension to non-linear activations, with more samples",
    quantifier="most draws",
    scope="five dimensions, a Gaussian teacher of two ReLU neurons, a student of twenty from small weights",
    origin="ours",
    empirical=True,
)
def relu_directions_with_samples(few: Table, more: Sequence[Table], *, cosine: Fraction, loss: Fraction) -> Claim:
    r"""With enough samples a ReLU student from small weights learns both of the teacher's directions.

    With ten samples most draws miss the second direction. What they lack is data: both cosines lie above the setting
    `cosine` on {course} of the draws. The students, their scale and the time they are given are the same.
    """
    tables = {int(Draws(table)["samples"][0]): table for table in (few, *more)}
    learnt = {count: Draws(table).least("teacher_cosine") >= cosine for count, table in tables.items()}

    def with_samples(count: int) -> Instead:
        return Instead(holds=learnt[count], undecided=~fitted_draws(tables[count], loss))

    fewest = with_samples(min(tables))
    yield share_of_draws(
        "share of draws that learn both directions, with the most samples",
        **with_samples(max(tables)),
        at_least=0.5,
        because="most draws",
        rivals={"samples that change nothing": fewest},
    )
    yield share_of_draws(
        "share of draws that learn both directions, with the fewest samples",
        **fewest,
        at_most=0.5,
        because="not the rule",
    )
    yield Facts(course=", ".join(f"{learnt[count].mean():.0%} with {count} samples" for count in sorted(tables)))


@claim(
    "Figure 5",
    quantifier="most draws",
    scope=f"{SCOPE}, initial scales down to the smallest of the run",
    empirical=True,
)
def relu_phase_one(scales: Table, *, share: Count) -> Finding:
    r"""From small weights the loss descends from saddle to saddle: from the saddle at zero to one at which the hidden
    layer is approximately of rank 1, and on from there.

    The paper gives no scale; its words are about the limit of small ones, so that the smallest scale of the run
    decides, {smallest:.0e}. A plateau is a stretch on which the loss falls slowly in the logarithm of time (the run's
    measuring settings say how slowly). All draws are counted: {value:.0%} of {draws} meet a second plateau and have
    learnt a single direction when it begins; {second:.0%} meet one at all, and {zero:.0%} start on one, at zero. Which
    plateau of the others is the second cannot be told: they are undecided. Of those that meet a second,
    {conditional:.0%} have rank 1 there. The share rises as the scale falls: {course}. It lies above one half, with
    its interval, {turns}. What counts as a plateau is a choice of ours: with stricter thresholds, a slower fall or a
    longer stretch, the share is smaller, and so is the scale from which it lies above one half (turning checks).
    """
    tables = dict(iter(scales.groupby("scale")))  # ascending
    ranks = {size: first_saddle_ranks(table, share) for size, table in tables.items()}
    zero = {size: starts_at_zero(table) for size, table in tables.items()}
    smallest, largest = min(tables), max(tables)

    def judge(reading: tuple[float, int]) -> Checks:
        size, rank = reading
        yield share_of_draws(
            "share of all draws that reach a second plateau, with rank 1 when it begins, at the smallest scale",
            ranks[size] == rank,
            undecided=~zero[size],
            at_least=0.5,
            because="most draws",
        )
        yield share_of_draws("share of draws that start on a plateau", zero[size], at_least=0.5, because="most draws")

    holding = list(itertools.takewhile(lambda size: Judgement(*judge((size, 1))).state == "holds", tables))
    met = np.isfinite(ranks[smallest])
    return Finding(
        judge,
        (smallest, 1),
        rivals={
            "rank 2 at the first saddle": (smallest, 2),
            "rank 3": (smallest, 3),
            "the same at the largest scale": (largest, 1),
        },
        reason="the paper shows a draw that does so; many meet no second plateau",
        facts={
            "smallest": smallest,
            "second": float(met.mean()),
            "zero": float(zero[smallest].mean()),
            "conditional": float(np.mean(ranks[smallest][met] == 1)) if met.any() else float("nan"),
            "course": ", ".join(f"{np.mean(ranks[size] == 1):.0%} at {size:.0e}" for size in reversed(tables)),
            "turns": f"from {holding[-1]:.0e} down" if holding else "at no scale tried",
        },
    )
