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

# Settings of these claims, whose values are in workflow/config/spectral_bias.yaml:
# - percent, of `relu_low_rank` and `relu_phase_one`: percent of |W|^2; the rank is how many of the largest singular
#   values it takes to carry that much
# - loss, of all claims: a share, and no loss itself. A draw is fitted if its loss at the end is this share of its first
#   value or less. A draw that is not fitted is undecided, and so is one that diverged
# - cosine, of `relu_teacher_directions` and `relu_directions_with_samples`: least cosine of a principal angle to the
#   teacher's span at which one of the teacher's directions is learned

SCOPE = "ten samples in five dimensions, a Gaussian teacher of two ReLU neurons, a student of twenty"


@claim("Figure 2", quantifier="most draws", scope=SCOPE, empirical=True)
def relu_low_rank(small: Table, large: Table, *, percent: Count, loss: Fraction) -> Claim:
    r"""A ReLU student ends at approximately rank 2, the teacher's, from small weights, and at high rank from large
    ones.

    Most draws from small weights must end at rank 2 or below, but not most at rank 1; most draws from large weights
    must end above rank 2. Rank is the number of singular values of the hidden layer $W$ that carry {percent} % of
    $|W|^2$. A draw counts if its loss ends at {loss:g} of the first value or below, and is undecided otherwise. The
    paper shows one draw.

    From small weights {value:.0%} of {draws} draws count and end at rank 2 or below; {unfitted_from_small} are
    undecided. Of all draws from small weights, the undecided ones included, {share_at_rank_one:.0%} have rank 1,
    {share_at_rank_two:.0%} exactly 2, and {share_above_rank_two:.0%} 3 or more. From large weights
    {share_above_rank_two_from_large:.0%} of draws end above rank 2.
    """
    ranks_from_small, ranks_from_large = last_ranks(small, percent), last_ranks(large, percent)
    small_unfitted, large_unfitted = ~fitted_draws(small, loss), ~fitted_draws(large, loss)
    # A rival here is other data: it is judged by the draws from the other weights. This one is a rival of two checks
    low_rank_from_large = "low rank from large weights too"
    yield share_of_draws(
        "share of draws from small weights that end at rank 2 or below",
        ranks_from_small <= 2,
        undecided=small_unfitted,
        at_least=0.5,
        because="most draws",
        rivals={low_rank_from_large: {"holds": ranks_from_large <= 2, "undecided": large_unfitted}},
    )
    # The claim is about the teacher's rank, 2: not most draws may end below it. The rival passes this check, since few
    # draws from large weights end at rank 1; the check above refuses the rival
    yield share_of_draws(
        "share of draws from small weights that end at rank 1",
        ranks_from_small <= 1,
        undecided=small_unfitted,
        at_most=0.5,
        because="not most draws",
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
        share_at_rank_one=float(np.mean(ranks_from_small == 1)),
        share_at_rank_two=float(np.mean(ranks_from_small == 2)),
        share_above_rank_two=float(np.mean(ranks_from_small > 2)),
        unfitted_from_small=int(small_unfitted.sum()),
        share_above_rank_two_from_large=float(np.mean(ranks_from_large > 2)),
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

    A direction is learned if the cosine of a principal angle between two spans is {cosine:g} at least: that of the
    first two right singular vectors of the hidden layer $W$, whose rows are the student's neurons, and that of the
    teacher's two neurons. Not most draws from large weights may learn both directions, and not most one or both.

    From large weights {value:.0%} of {draws} draws learn both directions, and {one_or_both_from_large:.0%} learn one or
    both; from small weights {one_or_both_from_small:.0%} learn one or both. A draw that is not fitted counts as
    learning in the first of these shares, and by its cosines in the others. From large weights the median cosines are
    {first_cosine_from_large:.2f} and {second_cosine_from_large:.2f}; for spans at random they are
    {first_cosine_by_chance:.2f} and {second_cosine_by_chance:.2f}, and {one_or_both_by_chance:.0%} of these learn one
    or both. With a threshold below {first_cosine_by_chance:.2f} most spans at random would learn one or both, and the
    verdict would mean nothing. From large weights {share_inside_from_large:.0%} of $|W|^2$ is in the teacher's span
    (median; {share_inside_by_chance:.0%} by chance). Of small weights the paper says that the layer represents both
    directions, "i.e., a rank 2 hidden layer": `relu_low_rank` tests that, and `relu_directions_with_samples` whether it
    spans them.
    """
    # cosines of the two principal angles to the teacher's span, the larger first, shape (draws, 2): of the span of W's
    # first two right singular vectors, and of a span at random
    cosines = Draws(large).entries(quantities.TEACHER_COSINE)
    chance_cosines = Draws(large).entries(quantities.CHANCE_COSINE)

    def draws_that_learn(table: Table, at_least: int) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether draws learn so many or more."""
        learned = Draws(table).entries(quantities.TEACHER_COSINE) >= cosine
        return {"holds": learned.sum(axis=1) >= at_least, "undecided": ~fitted_draws(table, loss)}

    # Rivals are judged by other data, students from small weights, and are refused if one check fails. From ten samples
    # few of these students learn both directions, so that the first check passes, but most learn one, and the second
    # fails. From a hundred samples most learn both, and the first check fails
    for directions, words in ((2, "both directions"), (1, "one direction or both")):
        yield share_of_draws(
            f"share of draws from large weights that learn {words}",
            **draws_that_learn(large, directions),
            at_most=0.5,
            because="not most draws",
            rivals={
                "large weights learn what small ones learn": draws_that_learn(small, directions),
                "large weights learn what small ones learn from more samples": draws_that_learn(
                    more_samples, directions
                ),
            },
        )
    first_cosine_from_large, second_cosine_from_large = np.median(cosines, axis=0)
    first_cosine_by_chance, second_cosine_by_chance = np.median(chance_cosines, axis=0)
    yield Facts(
        cosine=cosine,
        one_or_both_from_large=float(draws_that_learn(large, 1)["holds"].mean()),
        one_or_both_from_small=float(draws_that_learn(small, 1)["holds"].mean()),
        first_cosine_from_large=first_cosine_from_large,
        second_cosine_from_large=second_cosine_from_large,
        first_cosine_by_chance=first_cosine_by_chance,
        second_cosine_by_chance=second_cosine_by_chance,
        one_or_both_by_chance=float((chance_cosines >= cosine).any(axis=1).mean()),
        # share of |W|^2 in the teacher's span; by chance the teacher's neurons over the inputs, the same for all draws
        share_inside_from_large=float(np.median(Draws(large)[quantities.INSIDE])),
        share_inside_by_chance=float(Draws(large)[quantities.CHANCE_INSIDE][0]),
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

    A draw learns both directions if its loss falls to {loss:g} of its first value or below, and both principal angles
    between the span of the first two right singular vectors of the hidden layer $W$ and that of the teacher's neurons
    have a cosine of {cosine:g} at least. Most draws must do so with the most samples, and not most with the fewest. The
    share of such draws is {shares_by_samples}.

    With the fewest samples {share_of_one_alone:.0%} of draws learn one direction and not the other. There the median
    cosines are {first_cosine:.3f} and {second_cosine:.2f}, and {share_inside:.0%} of $|W|^2$ is in the teacher's span
    (median). Each neuron of the teacher is silent on about half of the samples, so that few of them need not fix its
    direction. The layer ends at the teacher's rank all the same (`relu_low_rank`). Whatever the number of samples,
    students, their scale and the time that they are given are the same.
    """
    # all draws of a table have the same number of samples
    by_samples = {int(Draws(table)[SAMPLES][0]): table for table in (few_samples, *more_samples)}

    # for each draw: how many directions are learned, and whether the data are fitted, by the number of samples
    learned, is_fitted = {}, {}
    for samples, table in by_samples.items():
        learned[samples] = np.sum(Draws(table).entries(quantities.TEACHER_COSINE) >= cosine, axis=1)
        is_fitted[samples] = fitted_draws(table, loss)

    def draws_that_learn_both(samples: int) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether both directions are learned."""
        return {"holds": learned[samples] == 2, "undecided": ~is_fitted[samples]}

    def share_that_learns(directions: int, samples: int) -> float:
        """Return the share of draws that learn so many directions, no more, and fit the data."""
        return float(np.mean((learned[samples] == directions) & is_fitted[samples]))

    fewest, most = min(by_samples), max(by_samples)
    yield share_of_draws(
        "share of draws that learn both directions, with the most samples",
        **draws_that_learn_both(most),
        at_least=0.5,
        because="most draws",
        # other data: the draws with the fewest samples
        rivals={"samples that change nothing": draws_that_learn_both(fewest)},
    )
    yield share_of_draws(
        "share of draws that learn both directions, with the fewest samples",
        **draws_that_learn_both(fewest),
        at_most=0.5,
        because="not most draws",
    )
    shares = [f"{share_that_learns(2, samples):.0%} with {samples} samples" for samples in sorted(by_samples)]
    with_fewest = Draws(by_samples[fewest])
    first_cosine, second_cosine = np.median(with_fewest.entries(quantities.TEACHER_COSINE), axis=0)
    yield Facts(
        cosine=cosine,
        loss=loss,
        shares_by_samples=", ".join(shares),
        share_of_one_alone=share_that_learns(1, fewest),
        first_cosine=first_cosine,
        second_cosine=second_cosine,
        share_inside=float(np.median(with_fewest[quantities.INSIDE])),
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

    At the smallest scale of the run, {smallest_scale:.0e}, most draws must start on a plateau of the loss, the saddle
    at zero, and most must go through a saddle of rank 1. A draw does so if it has rank 1 when its second plateau
    begins, at a loss above {loss:g} of the first value, and its loss ends at that or below: {value:.0%} of {draws}
    draws do. Rank is the number of singular values that carry {percent} % of $|W|^2$, with the hidden layer $W$. On a
    plateau the loss falls more slowly than time to the power of -{slope:g} and is above {floor:g} of its first value,
    while time grows by a factor of {least:g} at least.

    At this scale {share_at_zero:.0%} of the draws start on a plateau, and {share_with_second_plateau:.0%} meet a second
    one. {share_at_rank_one:.0%} have rank 1 when it begins, which is {share_at_rank_one_of_those:.0%} of those that
    meet one.

    Three kinds of draws are undecided. Where a draw does not start on a plateau, its second plateau cannot be
    identified. {unfitted_at_rank_one} draws have rank 1 when the second plateau begins, and their loss ends above
    {loss:g} of the first: a plateau lasts the longer the smaller the start, in proportion to the logarithm of the
    scale. {fitted_at_second_plateau} draws have rank 1 there at a loss of {loss:g} of the first or below: their end
    cannot be told from the plateau.

    The paper gives no scale. Its words are about the limit of small ones, so that the smallest decides. By the scale,
    the share of draws that go through a saddle of rank 1 is {shares_by_scale}. With its whole interval it is above one
    half {where_above_half}. The thresholds of a plateau are our choice; what other thresholds give is on the robustness
    page.
    """
    # a table for each initialisation scale of the sweep, ascending
    by_scale = {float(scale): table for scale, table in scales.groupby("scale")}
    # for each draw: the rank when its second plateau begins, nan without one; whether it starts on a plateau, at zero
    ranks = {scale: first_saddle_ranks(table, percent) for scale, table in by_scale.items()}
    at_zero = {scale: starts_at_zero(table) for scale, table in by_scale.items()}
    saddle_losses = {scale: first_saddle_losses(table) for scale, table in by_scale.items()}
    is_fitted = {scale: fitted_draws(table, loss) for scale, table in by_scale.items()}
    smallest, largest = min(by_scale), max(by_scale)

    def draws_that_go_on(rank: int, scale: float) -> dict[str, np.ndarray]:
        """Return holds and undecided, arguments of `share_of_draws`, on whether draws go on from a saddle of this rank.

        A draw does so if it has the rank, and a loss above `loss` of the first, when its second plateau begins, and is
        fitted at the end. A draw is undecided if it does not start at zero, or has the rank at the second plateau and
        does not go on. A draw that meets no second plateau has no rank there, and counts against the claim.
        """
        has_rank = ranks[scale] == rank
        falls = (saddle_losses[scale] > loss) & is_fitted[scale]
        return {"holds": has_rank & falls, "undecided": ~at_zero[scale] | (has_rank & ~falls)}

    def check_of_going_on(scale: float, where: str, rivals: dict[str, Any] | None = None) -> Check:
        """Return the check that most draws have rank 1 when a second plateau begins and go on from it."""
        return share_of_draws(
            f"share of all draws with rank 1 when a second plateau begins that are fitted at the end, {where}",
            **draws_that_go_on(1, scale),
            at_least=0.5,
            because="most draws",
            rivals=rivals,
        )

    def check_of_start(scale: float, rivals: dict[str, Any] | None = None) -> Check:
        """Return the check that most draws start on a plateau, at zero."""
        return share_of_draws(
            "share of draws that start on a plateau", at_zero[scale], at_least=0.5, because="most draws", rivals=rivals
        )

    # A rival is judged by other draws: the same ones at another rank or without the fall, or those of another scale
    at_largest_too = "so at the largest scale as well"  # a rival of both checks
    at_rank_one = ranks[smallest] == 1
    unfitted_at_rank_one = at_rank_one & ~is_fitted[smallest]
    yield check_of_going_on(
        smallest,
        "at the smallest scale",
        rivals={
            "rank 2 at the first saddle": draws_that_go_on(2, smallest),
            "rank 3 at the first saddle": draws_that_go_on(3, smallest),
            "rank 1 at the first saddle, where the loss stays": {
                "holds": unfitted_at_rank_one,
                "undecided": ~at_zero[smallest],
            },
            at_largest_too: draws_that_go_on(1, largest),
        },
    )
    yield check_of_start(smallest, rivals={at_largest_too: {"holds": at_zero[largest]}})

    def both_checks_hold(scale: float) -> bool:
        """Return whether most draws start on a plateau at a scale, and most go on from rank 1."""
        checks = check_of_going_on(scale, f"at {scale:.0e}"), check_of_start(scale)
        return all(check.state == "holds" for check in checks)

    # from the smallest scale up to the last before one at which they do not hold
    scales_that_hold = list(itertools.takewhile(both_checks_hold, by_scale))
    meets_second = np.isfinite(ranks[smallest])
    at_rank_one_of_those = np.mean(ranks[smallest][meets_second] == 1) if meets_second.any() else np.nan
    fitted_at_second_plateau = at_rank_one & (saddle_losses[smallest] <= loss)
    shares = [f"{draws_that_go_on(1, scale)['holds'].mean():.0%} at {scale:.0e}" for scale in reversed(by_scale)]
    settings = settings_of(scales)
    yield Facts(
        percent=percent,
        loss=loss,
        slope=settings["slope"],
        floor=settings["floor"],
        least=settings["least"],
        smallest_scale=smallest,
        share_at_zero=float(at_zero[smallest].mean()),
        share_with_second_plateau=float(meets_second.mean()),
        share_at_rank_one=float(at_rank_one.mean()),
        share_at_rank_one_of_those=float(at_rank_one_of_those),
        unfitted_at_rank_one=int(unfitted_at_rank_one.sum()),
        fitted_at_second_plateau=int(fitted_at_second_plateau.sum()),
        shares_by_scale=", ".join(shares),
        where_above_half=f"from {scales_that_hold[-1]:.0e} down" if scales_that_hold else "at no scale tried",
    )
