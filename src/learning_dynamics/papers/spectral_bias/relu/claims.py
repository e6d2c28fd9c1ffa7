"""The rank of a ReLU student, at the end and at the first saddle, and the teacher's directions."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.spectral_bias.quantities import SAMPLES
from learning_dynamics.papers.spectral_bias.relu import quantities
from learning_dynamics.papers.spectral_bias.relu.saddles import (
    first_saddle_ranks,
    fitted_draws,
    last_ranks,
    starts_at_zero,
)
from learning_dynamics.settings import Count, Fraction
from learning_dynamics.tidy import Draws, Table, settings_of

# Settings of these claims, whose values stand in workflow/config/spectral_bias.yaml:
# - percent: of |W|^2; the rank is how many of the largest singular values it takes to carry that much
# - loss: share of its first value to which a draw's loss must have fallen at the end; others are undecided
# - cosine: least cosine of both principal angles to the teacher's span at which both its directions are learnt

SCOPE = "ten samples in five dimensions, a Gaussian teacher of two ReLU neurons, a student of twenty"


@claim("Figure 2", quantifier="most draws", scope=SCOPE, empirical=True)
def relu_low_rank(small: Table, large: Table, *, percent: Count, loss: Fraction) -> Claim:
    r"""A ReLU student ends at approximately rank 2, the teacher's, from small weights, and at high rank from large
    ones.

    Rank is the number of singular values that carry {percent} % of $|W|^2$. The paper shows one draw. A draw agrees if
    the two largest values carry that share and the loss has fallen to {loss:g} of its first value or below. From small
    weights {value:.0%} of {draws} draws agree; {stuck}, whose loss has not fallen so far, are undecided. Of all these
    draws {one:.0%} have rank 1, {two:.0%} exactly 2, and {three_or_more:.0%} 3 or more. From large weights {large:.0%}
    of draws end above rank 2.
    """
    ranks_from_small, ranks_from_large = last_ranks(small, percent), last_ranks(large, percent)
    small_unfitted, large_unfitted = ~fitted_draws(small, loss), ~fitted_draws(large, loss)
    low_rank_from_large = "low rank from large weights too"  # this rival alters two checks
    yield share_of_draws(
        "share of draws from small weights that end at rank 2 or below",
        ranks_from_small <= 2,
        undecided=small_unfitted,
        at_least=0.5,
        because="most draws",
        rivals={low_rank_from_large: {"holds": ranks_from_large <= 2, "undecided": large_unfitted}},
    )
    yield share_of_draws(
        "share of draws from small weights that end at rank 1",
        ranks_from_small <= 1,
        undecided=small_unfitted,
        at_most=0.5,
        because="not the rule",
        rivals={low_rank_from_large: {"holds": ranks_from_large <= 1, "undecided": large_unfitted}},
    )
    yield share_of_draws(
        "share of draws from large weights that end above rank 2",
        ranks_from_large > 2,
        undecided=large_unfitted,
        at_least=0.5,
        because="most draws",
        rivals={"high rank from small ones": {"holds": ranks_from_small > 2, "undecided": small_unfitted}},
    )
    yield Facts(
        percent=percent,
        loss=loss,
        one=float(np.mean(ranks_from_small == 1)),
        two=float(np.mean(ranks_from_small == 2)),
        three_or_more=float(np.mean(ranks_from_small > 2)),
        stuck=int(small_unfitted.sum()),
        large=float(np.mean(ranks_from_large > 2)),
    )


@claim(
    "Section 4, extension to non-linear activations",
    quantifier="most draws",
    scope=SCOPE,
    empirical=True,
    reason="one direction is learnt on most draws, the second on few; the rank, by which the paper explains "
    "'represent', is that of the teacher (`relu_low_rank`)",
)
def relu_teacher_directions(small: Table, large: Table, *, cosine: Fraction, loss: Fraction) -> Claim:
    r"""From small weights the ReLU student's hidden layer represents the teacher's two directions, here read as: its
    leading singular vectors span them. From large weights its neurons do not learn them.

    The paper allows two readings of "represents". It adds "i.e., a rank 2 hidden layer"; read so, the sentence is
    `relu_low_rank`. It also says that from large weights the teacher's directions are not learnt, which says more than
    a rank. So the span of the first two singular vectors of $W$ is compared with that of the teacher's neurons. Both
    principal angles have a cosine of {cosine:g} at least on {value:.0%} of {draws} draws. The median cosines are
    {first:.3f} and {second:.2f}. For spans at random they are {chance_first:.2f} and {chance_second:.2f}, from large
    weights {large_first:.2f} and {large_second:.2f}. Of $|W|^2$, {inside:.0%} is in the teacher's span (median;
    {chance_inside:.0%} by chance, {large_inside:.0%} from large weights). Each neuron of the teacher is silent on about
    half of the ten samples, so that these need not fix its direction; more samples do (`relu_directions_with_samples`).
    """
    from_small, from_large = Draws(small), Draws(large)
    # cosines of both principal angles to the teacher's span, the larger first, shape (draws, 2)
    small_cosines = from_small.entries(quantities.TEACHER_COSINE)
    large_cosines = from_large.entries(quantities.TEACHER_COSINE)
    chance_cosines = from_small.entries(quantities.CHANCE_COSINE)
    # both directions are learnt where the smaller cosine is large enough
    large_learns = {"holds": large_cosines.min(axis=1) >= cosine, "undecided": ~fitted_draws(large, loss)}
    yield share_of_draws(
        "share of draws from small weights that learn both of the teacher's directions",
        small_cosines.min(axis=1) >= cosine,
        undecided=~fitted_draws(small, loss),
        at_least=0.5,
        because="most draws",
        rivals={
            "spans at random": {"holds": chance_cosines.min(axis=1) >= cosine, "undecided": None},
            "large weights learn them too": large_learns,
        },
    )
    yield share_of_draws(
        "share of draws from large weights that learn both directions",
        **large_learns,
        at_most=0.5,
        because="not the rule",
    )
    first, second = np.median(small_cosines, axis=0)
    chance_first, chance_second = np.median(chance_cosines, axis=0)
    large_first, large_second = np.median(large_cosines, axis=0)
    yield Facts(
        cosine=cosine,
        first=first,
        second=second,
        chance_first=chance_first,
        chance_second=chance_second,
        large_first=large_first,
        large_second=large_second,
        inside=float(np.median(from_small[quantities.INSIDE])),
        chance_inside=float(from_small[quantities.CHANCE_INSIDE][0]),
        large_inside=float(np.median(from_large[quantities.INSIDE])),
    )


@claim(
    "Section 4, extension to non-linear activations, with more samples",
    quantifier="most draws",
    scope="ten, thirty and a hundred samples in five dimensions, a Gaussian teacher of two ReLU neurons, a student of "
    "twenty from small weights",
    origin="ours",
    empirical=True,
)
def relu_directions_with_samples(
    few_samples: Table, more_samples: Sequence[Table], *, cosine: Fraction, loss: Fraction
) -> Claim:
    r"""With enough samples a ReLU student from small weights learns both of the teacher's directions.

    With ten samples most draws miss the second direction, for lack of data. A draw learns both if its loss falls to
    {loss:g} of its first value or below, and both principal angles to the teacher's span have a cosine of {cosine:g} at
    least. The share of such draws is {course}. The students, their scale and the time they are given are the same.
    """
    by_samples = {int(Draws(table)[SAMPLES][0]): table for table in (few_samples, *more_samples)}
    # for each draw, by the number of samples
    learns_both, is_fitted = {}, {}
    for samples, table in by_samples.items():
        learns_both[samples] = Draws(table).smallest(quantities.TEACHER_COSINE) >= cosine
        is_fitted[samples] = fitted_draws(table, loss)

    def draws_with(samples: int) -> dict[str, np.ndarray]:
        return {"holds": learns_both[samples], "undecided": ~is_fitted[samples]}

    fewest, most = min(by_samples), max(by_samples)
    yield share_of_draws(
        "share of draws that learn both directions, with the most samples",
        **draws_with(most),
        at_least=0.5,
        because="most draws",
        rivals={"samples that change nothing": draws_with(fewest)},
    )
    yield share_of_draws(
        "share of draws that learn both directions, with the fewest samples",
        **draws_with(fewest),
        at_most=0.5,
        because="not the rule",
    )
    shares = {samples: np.mean(learns_both[samples] & is_fitted[samples]) for samples in sorted(by_samples)}
    course = [f"{share:.0%} with {samples} samples" for samples, share in shares.items()]
    yield Facts(cosine=cosine, loss=loss, course=", ".join(course))


@claim(
    "Figure 5",
    quantifier="most draws",
    scope=f"{SCOPE}, initial scales down to the smallest of the run",
    empirical=True,
    reason="the paper shows a draw that does so; many meet no second plateau",
)
def relu_phase_one(scales: Table, *, percent: Count) -> Claim:
    r"""From small weights the loss descends from saddle to saddle: from the saddle at zero to one at which the hidden
    layer is approximately of rank 1, and on from there.

    The paper gives no scale, but its words are about the limit of small ones: the smallest scale of the run decides,
    {smallest:.0e}. On a plateau the loss falls more slowly than time to the power of -{slope:g} and is above {floor:g}
    of its first value; over it time grows by a factor of {least:g} at least. Rank is the number of singular values that
    carry {percent} % of $|W|^2$. All {draws} draws are counted. {zero:.0%} start on a plateau, at zero; a draw that
    does not is undecided, since its second plateau cannot be identified. {second:.0%} meet a second plateau, and
    {value:.0%} have rank 1 when it begins, which is {conditional:.0%} of those that meet one. The share of all draws
    with rank 1 there rises as the scale falls: {course}. With its interval it is above one half {turns}. The thresholds
    of a plateau are our choice. With stricter ones, a slower fall or a longer stretch, the share is smaller, and so is
    the scale from which it is above one half (variations of both are on the robustness page).
    """
    by_scale = dict(iter(scales.groupby("scale")))  # initialisation scales, ascending
    # for each draw: the rank when its second plateau begins, nan without one; whether it starts on a plateau, at zero
    ranks = {scale: first_saddle_ranks(table, percent) for scale, table in by_scale.items()}
    at_zero = {scale: starts_at_zero(table) for scale, table in by_scale.items()}
    smallest, largest = min(by_scale), max(by_scale)

    def has_rank(rank: int, scale: float) -> dict[str, np.ndarray]:
        return {"holds": ranks[scale] == rank, "undecided": ~at_zero[scale]}

    def reaches_rank_one(scale: float, rivals: dict[str, Any] | None = None) -> Check:
        return share_of_draws(
            "share of all draws that reach a second plateau, with rank 1 when it begins, at the smallest scale",
            **has_rank(1, scale),
            at_least=0.5,
            because="most draws",
            rivals=rivals,
        )

    def starts_on_plateau(scale: float, rivals: dict[str, Any] | None = None) -> Check:
        return share_of_draws(
            "share of draws that start on a plateau", at_zero[scale], at_least=0.5, because="most draws", rivals=rivals
        )

    at_largest = "so at the largest scale as well"
    yield reaches_rank_one(
        smallest,
        rivals={
            "rank 2 at the first saddle": has_rank(2, smallest),
            "rank 3 at the first saddle": has_rank(3, smallest),
            at_largest: has_rank(1, largest),
        },
    )
    yield starts_on_plateau(smallest, rivals={at_largest: {"holds": at_zero[largest]}})

    def holds_at(scale: float) -> bool:
        return reaches_rank_one(scale).state == starts_on_plateau(scale).state == "holds"

    # from the smallest scale up to the first at which it does not hold
    scales_that_hold = list(itertools.takewhile(holds_at, by_scale))
    turns = f"from {scales_that_hold[-1]:.0e} down" if scales_that_hold else "at no scale tried"
    meets_second = np.isfinite(ranks[smallest])
    ranks_of_those = ranks[smallest][meets_second]
    rank_one_share = {scale: np.mean(of_draws == 1) for scale, of_draws in ranks.items()}
    course = [f"{rank_one_share[scale]:.0%} at {scale:.0e}" for scale in reversed(by_scale)]
    settings = settings_of(scales)
    yield Facts(
        percent=percent,
        slope=settings["slope"],
        floor=settings["floor"],
        least=settings["least"],
        smallest=smallest,
        second=float(meets_second.mean()),
        zero=float(at_zero[smallest].mean()),
        conditional=float(np.mean(ranks_of_those == 1)) if meets_second.any() else float("nan"),
        course=", ".join(course),
        turns=turns,
    )
