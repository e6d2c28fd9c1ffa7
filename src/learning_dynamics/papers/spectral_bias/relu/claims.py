"""The rank of a ReLU student, at the end and at the first saddle, and the teacher's directions.

Teacher and student are networks f(x) = sum_j a_j relu(w_j . x). W is the student's hidden layer, with the neurons w_j
as rows, and |W| its Frobenius norm. The teacher's span is that of its neurons. Labels are the teacher's, and the loss
is the mean of (f(x_i) - y_i)^2 / 2 over samples. Small and large weights are Gaussian ones, in both layers, times a
small and a large scale. A draw is one random teacher, data set and start.

A plateau is a stretch of time on which the loss hardly falls: more slowly than time to the power of minus `slope`,
above `floor` of its first value, and while time grows `least`-fold (settings of the run's metrics). A saddle shows as a
plateau: the first is at the saddle at zero, where all weights are small, and the second is called the first saddle.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.spectral_bias.quantities import SAMPLES
from learning_dynamics.papers.spectral_bias.relu import quantities
from learning_dynamics.papers.spectral_bias.relu.saddles import (
    first_saddle_losses,
    first_saddle_ranks,
    fitted_draws,
    last_ranks,
    starts_at_zero,
)
from learning_dynamics.settings import Count, Fraction
from learning_dynamics.tidy import Draws, Table, settings_of

# Settings of these claims, whose values stand in workflow/config/spectral_bias.yaml:
# - percent, of `relu_low_rank` and `relu_phase_one`: percent of |W|^2; the rank is how many of the largest singular
#   values it takes to carry that much
# - loss, of all claims: a number, the share of its first value to which a draw's loss must have fallen at the end for
#   the draw to count as fitted; a draw that is not fitted is undecided, and so is one that diverged
# - cosine, of the two claims on directions: least cosine of a principal angle to the teacher's span at which one of its
#   directions is learned

SCOPE = "ten samples in five dimensions, a Gaussian teacher of two ReLU neurons, a student of twenty"


@claim("Figure 2", quantifier="most draws", scope=SCOPE, empirical=True)
def relu_low_rank(small: Table, large: Table, *, percent: Count, loss: Fraction) -> Claim:
    r"""A ReLU student ends at approximately rank 2, the teacher's, from small weights, and at high rank from large
    ones.

    Rank is the number of singular values of the hidden layer $W$ that carry {percent} % of $|W|^2$. The paper shows one
    draw. A draw agrees if the two largest values carry that share and its loss ends at {loss:g} of the first value or
    below. From small weights {value:.0%} of {draws} draws agree; {stuck}, whose loss stays above that, are undecided.
    Of all draws from small weights, the undecided ones included, {one:.0%} have rank 1, {two:.0%} exactly 2, and
    {three_or_more:.0%} 3 or more. From large weights {large:.0%} of draws end above rank 2.
    """
    ranks_from_small, ranks_from_large = last_ranks(small, percent), last_ranks(large, percent)
    small_unfitted, large_unfitted = ~fitted_draws(small, loss), ~fitted_draws(large, loss)
    # A rival here is other data: a check is judged by what the draws from the other weights give
    rival_of_two_checks = "low rank from large weights too"
    yield share_of_draws(
        "share of draws from small weights that end at rank 2 or below",
        ranks_from_small <= 2,
        undecided=small_unfitted,
        at_least=0.5,
        because="most draws",
        rivals={rival_of_two_checks: {"holds": ranks_from_large <= 2, "undecided": large_unfitted}},
    )
    # The claim is about the teacher's rank, 2: most draws must not end below it. The rival passes here, since few draws
    # from large weights end at rank 1, and the check above refuses it
    yield share_of_draws(
        "share of draws from small weights that end at rank 1",
        ranks_from_small <= 1,
        undecided=small_unfitted,
        at_most=0.5,
        because="not most draws",
        rivals={rival_of_two_checks: {"holds": ranks_from_large <= 1, "undecided": large_unfitted}},
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
)
def relu_teacher_directions(
    small: Table, large: Table, more_samples: Table, *, cosine: Fraction, loss: Fraction
) -> Claim:
    r"""From large weights the neurons of a ReLU student do not learn the teacher's directions.

    The rows of the hidden layer $W$ are the student's neurons. The span of its first two right singular vectors is
    compared with that of the teacher's two neurons, by the two principal angles between them. A direction is learned if
    the cosine of an angle is {cosine:g} at least. From large weights {value:.0%} of {draws} draws learn both
    directions, and {large_one:.0%} learn one or both; from small weights {small_one:.0%} learn one or both. A draw that
    is not fitted counts as learning in the first of these shares, and by its cosines in the others. From large weights
    the median cosines are {large_first:.2f} and {large_second:.2f}; for spans at random they are {chance_first:.2f} and
    {chance_second:.2f}, and {chance_one:.0%} of these learn one or both. With a threshold below {chance_first:.2f} most
    spans at random would learn one or both, and the verdict would mean nothing. From large weights {large_inside:.0%}
    of $|W|^2$ is in the teacher's span (median; {chance_inside:.0%} by chance). Of small weights the paper says that
    the layer represents both directions, "i.e., a rank 2 hidden layer": `relu_low_rank` tests that, and
    `relu_directions_with_samples` whether it spans them.
    """
    # cosines of the two principal angles to the teacher's span, the larger first, shape (draws, 2): of the span of W's
    # first two right singular vectors, and of a span at random
    cosines = Draws(large).entries(quantities.TEACHER_COSINE)
    chance_cosines = Draws(large).entries(quantities.CHANCE_COSINE)

    def learn(table: Table, at_least: int) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether at least so many are learned."""
        learned = Draws(table).entries(quantities.TEACHER_COSINE) >= cosine
        return {"holds": learned.sum(axis=1) >= at_least, "undecided": ~fitted_draws(table, loss)}

    # Rivals are other data, of students from small weights; one check that fails refuses a rival. From ten samples few
    # of these learn both directions, so that the first check passes, but most learn one, and the second fails. From a
    # hundred samples most learn both, and the first check fails.
    for directions, words in ((2, "both directions"), (1, "one direction or both")):
        yield share_of_draws(
            f"share of draws from large weights that learn {words}",
            **learn(large, directions),
            at_most=0.5,
            because="not most draws",
            rivals={
                "large weights learn what small ones learn": learn(small, directions),
                "large weights learn what small ones learn from more samples": learn(more_samples, directions),
            },
        )
    large_first, large_second = np.median(cosines, axis=0)
    chance_first, chance_second = np.median(chance_cosines, axis=0)
    yield Facts(
        cosine=cosine,
        large_one=float(learn(large, 1)["holds"].mean()),
        small_one=float(learn(small, 1)["holds"].mean()),
        large_first=large_first,
        large_second=large_second,
        chance_first=chance_first,
        chance_second=chance_second,
        chance_one=float((chance_cosines >= cosine).any(axis=1).mean()),
        # share of |W|^2 in the teacher's span; by chance the teacher's neurons over the inputs, the same for all draws
        large_inside=float(np.median(Draws(large)[quantities.INSIDE])),
        chance_inside=float(Draws(large)[quantities.CHANCE_INSIDE][0]),
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
    r"""With enough samples a ReLU student from small weights learns both of the teacher's directions; with ten, most
    draws do not.

    Each neuron of the teacher is silent on about half of the ten samples, so that these need not fix its direction. The
    layer ends at the teacher's rank all the same (`relu_low_rank`). A draw learns both directions if its loss falls to
    {loss:g} of its first value or below, and both principal angles between the span of the first two right singular
    vectors of the hidden layer $W$ and that of the teacher's neurons have a cosine of {cosine:g} at least. The share of
    such draws is {course}. With the fewest samples {one:.0%} of draws learn one direction and not the other. There the
    median cosines are {first:.3f} and {second:.2f}, and {inside:.0%} of $|W|^2$ is in the teacher's span (median).
    Whatever the number of samples, students, their scale and the time that they are given are the same.
    """
    # all draws of a table have the same number of samples
    by_samples = {int(Draws(table)[SAMPLES][0]): table for table in (few_samples, *more_samples)}

    # for each draw: how many directions are learned, and whether the data are fitted, by the number of samples
    learned, is_fitted = {}, {}
    for samples, table in by_samples.items():
        learned[samples] = np.sum(Draws(table).entries(quantities.TEACHER_COSINE) >= cosine, axis=1)
        is_fitted[samples] = fitted_draws(table, loss)

    def learn_both(samples: int) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether both directions are learned."""
        return {"holds": learned[samples] == 2, "undecided": ~is_fitted[samples]}

    def share_that_learns(directions: int, samples: int) -> float:
        """Return the share of draws that learn so many directions, no more, and fit the data."""
        return float(np.mean((learned[samples] == directions) & is_fitted[samples]))

    fewest, most = min(by_samples), max(by_samples)
    yield share_of_draws(
        "share of draws that learn both directions, with the most samples",
        **learn_both(most),
        at_least=0.5,
        because="most draws",
        rivals={"samples that change nothing": learn_both(fewest)},  # other data: the draws with the fewest samples
    )
    yield share_of_draws(
        "share of draws that learn both directions, with the fewest samples",
        **learn_both(fewest),
        at_most=0.5,
        because="not most draws",
    )
    course = [f"{share_that_learns(2, samples):.0%} with {samples} samples" for samples in sorted(by_samples)]
    few = Draws(by_samples[fewest])
    first, second = np.median(few.entries(quantities.TEACHER_COSINE), axis=0)
    yield Facts(
        cosine=cosine,
        loss=loss,
        course=", ".join(course),
        one=share_that_learns(1, fewest),
        first=first,
        second=second,
        inside=float(np.median(few[quantities.INSIDE])),
    )


@claim(
    "Figure 5",
    quantifier="most draws",
    scope=f"{SCOPE}, initial scales down to the smallest of the run",
    empirical=True,
    reason="the paper shows a draw that does so; many meet no second plateau",
)
def relu_phase_one(scales: Table, *, percent: Count, loss: Fraction) -> Claim:
    r"""From small weights the loss descends from saddle to saddle: from the saddle at zero to one at which the hidden
    layer is approximately of rank 1, and from there to zero.

    The paper gives no scale, but its words are about the limit of small ones: the smallest scale of the run decides,
    {smallest:.0e}. A saddle shows as a plateau. There the loss falls more slowly than time to the power of -{slope:g}
    and is above {floor:g} of its first value, while time grows by a factor of {least:g} at least. Rank is the number of
    singular values that carry {percent} % of $|W|^2$, with the hidden layer $W$. All {draws} draws are counted.
    {zero:.0%} start on a plateau, at zero; a draw that does not is undecided, since its second plateau cannot be
    identified. {second:.0%} meet a second plateau; {rank_one:.0%} have rank 1 when it begins, which is
    {conditional:.0%} of those that meet one. {value:.0%} have rank 1 there and go on, from a loss above {loss:g} of its
    first value to that or below. {stuck} of {draws} have rank 1 there and end at a loss above that. These are
    undecided, because a plateau lasts the longer the smaller the start, in proportion to the logarithm of the scale.
    {low} have rank 1 and a loss at {loss:g} of the first or below when the second plateau begins. These are undecided
    too, because their end cannot be told from the plateau. The share of all draws that have rank 1 there and go on is
    {course}. With its whole interval it is above one half {turns}. The thresholds of a plateau are our choice. With
    stricter ones, a slower fall or a longer stretch, the share is smaller (variations of both are on the robustness
    page).
    """
    # a table for each initialisation scale of the sweep, ascending
    by_scale = dict(iter(scales.groupby("scale")))
    # for each draw: the rank when its second plateau begins, nan without one; whether it starts on a plateau, at zero
    ranks = {scale: first_saddle_ranks(table, percent) for scale, table in by_scale.items()}
    at_zero = {scale: starts_at_zero(table) for scale, table in by_scale.items()}
    saddle_losses = {scale: first_saddle_losses(table) for scale, table in by_scale.items()}
    is_fitted = {scale: fitted_draws(table, loss) for scale, table in by_scale.items()}
    smallest, largest = min(by_scale), max(by_scale)

    def goes_on(rank: int, scale: float) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether draws go on from a saddle of this rank.

        Such a draw has the rank, and a loss above `loss` of the first, when its second plateau begins, and is fitted at
        the end. It is undecided if it does not start at zero, or has the rank there and does not go on. A draw that
        meets no second plateau has no rank there, and counts against the claim.
        """
        has_rank = ranks[scale] == rank
        falls = (saddle_losses[scale] > loss) & is_fitted[scale]
        return {"holds": has_rank & falls, "undecided": ~at_zero[scale] | (has_rank & ~falls)}

    def goes_on_from_rank_one(scale: float, rivals: dict[str, Any] | None = None) -> Check:
        """Return the check that most draws have rank 1 when a second plateau begins and go on from it."""
        return share_of_draws(
            "share of all draws with rank 1 when a second plateau begins that are fitted at the end, at the smallest "
            "scale",
            **goes_on(1, scale),
            at_least=0.5,
            because="most draws",
            rivals=rivals,
        )

    def starts_on_plateau(scale: float, rivals: dict[str, Any] | None = None) -> Check:
        """Return the check that most draws start on a plateau, at zero."""
        return share_of_draws(
            "share of draws that start on a plateau", at_zero[scale], at_least=0.5, because="most draws", rivals=rivals
        )

    # Rivals are what a check would get of the same draws at another rank or without the fall, or of another scale
    at_largest = "so at the largest scale as well"  # a rival of both checks
    rank_one_at_smallest = ranks[smallest] == 1
    stuck = rank_one_at_smallest & ~is_fitted[smallest]
    yield goes_on_from_rank_one(
        smallest,
        rivals={
            "rank 2 at the first saddle": goes_on(2, smallest),
            "rank 3 at the first saddle": goes_on(3, smallest),
            "rank 1 at the first saddle, where the loss stays": {"holds": stuck, "undecided": ~at_zero[smallest]},
            at_largest: goes_on(1, largest),
        },
    )
    yield starts_on_plateau(smallest, rivals={at_largest: {"holds": at_zero[largest]}})

    def holds_at(scale: float) -> bool:
        """Return whether both checks hold at a scale."""
        return goes_on_from_rank_one(scale).state == starts_on_plateau(scale).state == "holds"

    # from the smallest scale up to the last before one at which they do not hold
    scales_that_hold = list(itertools.takewhile(holds_at, by_scale))
    turns = f"from {scales_that_hold[-1]:.0e} down" if scales_that_hold else "at no scale tried"
    meets_second = np.isfinite(ranks[smallest])
    rank_one_of_those = np.mean(ranks[smallest][meets_second] == 1) if meets_second.any() else np.nan
    low_when_it_begins = rank_one_at_smallest & (saddle_losses[smallest] <= loss)
    course = [f"{goes_on(1, scale)['holds'].mean():.0%} at {scale:.0e}" for scale in reversed(by_scale)]
    settings = settings_of(scales)
    yield Facts(
        percent=percent,
        loss=loss,
        slope=settings["slope"],
        floor=settings["floor"],
        least=settings["least"],
        smallest=smallest,
        second=float(meets_second.mean()),
        zero=float(at_zero[smallest].mean()),
        rank_one=float(rank_one_at_smallest.mean()),
        conditional=float(rank_one_of_those),
        stuck=int(stuck.sum()),
        low=int(low_when_it_begins.sum()),
        course=", ".join(course),
        turns=turns,
    )
