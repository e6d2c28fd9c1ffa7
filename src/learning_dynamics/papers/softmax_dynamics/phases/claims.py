"""What section 3.3 and Figures 4, 12 and 13 say of the toy model before its third phase, and of its controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from learning_dynamics.claims import Check, Finding, Judgement, at_least, claim, share_of_draws
from learning_dynamics.evidence import mean, median
from learning_dynamics.papers.softmax_dynamics.draws import (
    learning_times,
    members,
    monotone,
    shapes,
    share_difference,
    values,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select

START, FIRST, RARE_BEGIN, RARE_LEARNED, END = 1, 2, 3, 4, 5  # places of metrics.MOMENTS
TREATED = "skewed classes of 8 examples, V = 4, d = 2, cross-entropy, gradient flow from four scales"
MORE = "more often than not"
NOT_UNIFORM = "starts of larger scale, whose predictions are not near uniform"


@claim("Section 3.3, warm-up", scope=f"{TREATED}; Gaussian and balanced starts", empirical=True)
def phases_warmup(grid: Table, *, factor: Positive, typical: Fraction) -> Finding:
    """At first the features and the weights of the frequent classes separate from the others'.

    Separation is the distance of the most frequent class's mean from that of the others, in units of the spread
    within; compared are the start and the moment at which the first class is learned. In the median draw that
    of the features grows {value:.2g}-fold, that of the weights {weights:.2g}-fold. That the eigenvectors of both spaces
    align meanwhile is a claim of its own.
    """

    def grown(quantity: str, places: tuple[int, int]) -> np.ndarray:
        before, after = (values(grid, quantity, place, skewed=True) for place in places)
        return after / before

    def judge(places: tuple[int, int]) -> Judgement:
        features, weights = grown("separation_f", places), grown("separation_w", places)
        return Judgement(
            at_least(
                "factor by which the frequent class's features separate (median)",
                median(features),
                factor,
                because="what counts as separating",
            ),
            share_of_draws(
                "draws in which the weights separate",
                weights > 1,
                at_least=typical,
                undecided=np.isnan(weights),
                because=MORE,
            ),
        )

    rivals = {"the other way: separated at the start": (FIRST, START)}
    facts = {"weights": float(np.nanmedian(grown("separation_w", (START, FIRST))))}
    return Finding(judge, (START, FIRST), rivals, facts=facts)


@claim("Figure 4, warm-up", scope=f"{TREATED}, of which those with near-uniform predictions count", empirical=True)
def warmup_lowers_rank(
    grid: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    small: Positive,
    typical: Fraction,
) -> Finding:
    """With skewed classes, a bottleneck and cross-entropy the effective rank first falls.

    Draws that do not fall first mostly start with a small singular value in the direction that grows fastest, and
    rise before they fall. Of the starts of larger scale, which are left out, {large:.0%} fall first.
    """
    found = shapes(grid, measure, threshold, skewed=True)
    scale = members(grid, skewed=True)["scale"].to_numpy()
    undecided = np.array([word is None for word in found])

    def starts_with(letter: str, chosen: np.ndarray, name: str, **left_out: dict[str, int]) -> Check:
        return share_of_draws(
            name,
            np.array([bool(word) and word[0] == letter for word in found[chosen]]),
            at_least=typical,
            undecided=undecided[chosen],
            because=MORE,
            **left_out,
        )

    def judge(letter: str) -> Judgement:
        kept = scale <= small
        return Judgement(
            starts_with(letter, kept, "draws whose rank falls first", left_out={NOT_UNIFORM: int((~kept).sum())}),
            *(
                starts_with(letter, scale == one, f"of those that start at scale {one:g}")
                for one in np.unique(scale[kept])
            ),
        )

    large = [word[:1] == "F" for word, one in zip(found, scale, strict=True) if word is not None and one > small]
    facts = {"large": float(np.mean(large)) if large else np.nan}
    return Finding(judge, "F", {"the rank rises first": "R"}, facts=facts)


@claim("Section 3.3, entropy-seeking", scope=TREATED, empirical=True)
def phases_entropy_seeking(
    grid: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """After the warm-up the features expand, their effective rank rises, and the frequent classes are predicted
    confidently.

    Compared are the moment at which the first class is learned and that at which the rarest are: the rank rises by
    more than the threshold in {value:.0%} of the draws. It comes when the first direction has fitted its examples and
    its gain falls below the second's. A fall, then a rise, counted from the start whatever is learned, is the course
    of {course:.0%}.
    """
    rank = values(grid, "rank", None, measure, skewed=True)
    change = rank[:, RARE_LEARNED - 1] - rank[:, FIRST - 1]
    undecided = np.isnan(change)
    grown = [
        values(grid, name, RARE_LEARNED, skewed=True) > values(grid, name, FIRST, skewed=True)
        for name in ("sigma_1", "sigma_2")
    ]
    times = learning_times(grid, skewed=True)

    def judge(direction: int) -> Judgement:
        return Judgement(
            share_of_draws(
                "draws whose rank rises between the first class learned and the rarest learned",
                direction * change > threshold,
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            share_of_draws(
                "draws in which both singular values grow meanwhile",
                grown[0] & grown[1],
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            share_of_draws(
                "draws in which the most frequent class is learned before the last of the others",
                times[:, 0] < times[:, 1:].max(axis=1),
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
        )

    found = shapes(grid, measure, threshold, skewed=True)
    facts = {"course": float(np.mean([word is not None and word.startswith("FR") for word in found]))}
    return Finding(judge, 1, {"the rank falls meanwhile": -1}, facts=facts)


@claim(
    "Section 3.3, primacy bias", scope=f"{TREATED}, of which those with near-uniform predictions count", empirical=True
)
def primacy_bias(grid: Table, *, small: Positive, chance: Fraction) -> Finding:
    """More frequent classes are learned earlier.

    A class is learned when the mean probability of its own class over its examples passes one half for good. Of the
    pairs of classes of different size, the more frequent one comes first in {value:.1%}; in {first:.0%} of the draws
    the most frequent class is learned before all others, in {ordered:.0%} all pairs are in order. Of the starts of
    larger scale, which are left out since predictions are not uniform there, pairs are in order in {large:.0%}.
    """
    times = learning_times(grid, skewed=True)
    cells = members(grid, skewed=True)
    sizes = np.array([[int(size) for size in counts.split("-")] for counts in cells["counts"]])
    scale = cells["scale"].to_numpy()
    kept = scale <= small

    def in_order(sizes: np.ndarray) -> np.ndarray:
        """Share of pairs of different size learned in the order of size; pairs never learned are not in order."""
        larger = sizes[:, :, None] > sizes[:, None, :]
        earlier = times[:, :, None] < times[:, None, :]
        shares = (larger & earlier).sum(axis=(1, 2)) / larger.sum(axis=(1, 2))
        return np.where(np.isnan(times).any(axis=1), np.nan, shares)

    def judge(reorder: Sequence[int]) -> Judgement:
        shares = in_order(sizes[:, list(reorder)])
        because = "that of an order that does not know the sizes"
        return Judgement(
            at_least(
                "share of pairs in which the more frequent class is learned first (mean over draws)",
                mean(shares[kept]),
                chance,
                because=because,
                left_out={NOT_UNIFORM: int((~kept).sum())},
            ),
            *(
                at_least(f"the same at scale {one:g}", mean(shares[scale == one]), chance, because=because)
                for one in np.unique(scale[kept])
            ),
        )

    own = list(range(sizes.shape[1]))
    rivals = {"rare classes first": own[::-1], "sizes handed to other classes": [*own[1:], 0]}
    facts = {
        "first": float(np.mean(times[kept, 0] < times[kept, 1:].min(axis=1))),
        "ordered": float(np.mean(in_order(sizes)[kept] == 1)),
        "large": float(np.mean(in_order(sizes)[~kept])) if (~kept).any() else np.nan,
    }
    return Finding(judge, own, rivals, facts=facts)


@claim(
    "Section 3.3, selection bias",
    scope="random balanced starts of four scales; flows from Gaussian starts until the last class is learned",
    empirical=True,
)
def selection_bias(starts: Table, course: Table, *, chance: Fraction) -> Finding:
    r"""Dominant directions are more likely to take in new information: of two singular values the larger one
    changes faster more often than not.

    It is a tendency of random starts ({value:.1%} of them) and of the course as a whole, not of each of its moments:
    among draws the share goes from {highest:.0%} (time {when_highest:.3g}) to {lowest:.0%} (time {when_lowest:.3g}),
    where the first direction has fitted its examples and the second one grows. In ratios the larger one grows faster,
    $\dot\sigma_1 / \sigma_1 > \dot\sigma_2 / \sigma_2$, for {relative:.0%} of the course.
    """
    wide = starts.pivot_table(index=["scale", "seed"], columns="index", values="rate").abs()
    sigma, rate = (
        select(course, name, index=[1, 2]).pivot_table(index=["seed", "time"], columns="index", values="value")
        for name in ("sigma", "rate")
    )
    faster = (rate[1] > rate[2]).unstack("time")
    relative = (rate[1] / sigma[1] > rate[2] / sigma[2]).unstack("time")
    # up to the last class learned
    worst = select(course, "probability").groupby(["seed", "time"])["value"].min().unstack("time")
    ongoing = worst.to_numpy() <= 0.5
    over_time = faster.mean()

    def judge(larger: bool) -> Judgement:
        shares = np.array(
            [np.mean(row[open_] == larger) for row, open_ in zip(faster.to_numpy(), ongoing, strict=True)]
        )
        return Judgement(
            share_of_draws(
                "random starts at which the larger singular value changes faster",
                ((wide[1] > wide[2]) == larger).to_numpy(),
                at_least=chance,
                because="a coin's",
            ),
            at_least(
                "share of recorded times, until the last class is learned, at which the larger one grows faster (mean)",
                mean(shares),
                chance,
                because="a coin's",
            ),
        )

    learning = over_time[(ongoing.mean(axis=0) > 0) & (over_time.index > 0)]
    facts = {
        "highest": learning.max(),
        "when_highest": learning.idxmax(),
        "lowest": learning.min(),
        "when_lowest": learning.idxmin(),
        "relative": float(np.mean([np.mean(r[o]) for r, o in zip(relative.to_numpy(), ongoing, strict=True)])),
    }
    return Finding(judge, True, {"the smaller one changes faster": False}, facts=facts)


@claim("Section 3.3, alignment", scope=f"{TREATED}; Gaussian starts", empirical=True)
def alignment(grid: Table, *, cosine: Fraction, small: Positive, typical: Fraction) -> Finding:
    r"""During the warm-up the eigenvectors of the feature space and of the weight space align.

    Measured from Gaussian starts, whose two factors know nothing of each other: the leading eigenvectors of $f^T f$
    and $W W^T$ at the start and when the first class is learned. Directions drawn at random are as close as this in
    {random:.0%} of draws; at the starts {before:.0%} are. The flow conserves $f^T f - W W^T$ while both grow, so they
    must align from small starts; of those at larger scales, which are left out, {large:.0%} do.
    """
    scale = members(grid, skewed=True, init="gaussian")["scale"].to_numpy()
    kept = scale <= small

    def close(place: int) -> np.ndarray:
        found = values(grid, "alignment", place, skewed=True, init="gaussian")
        return np.where(np.isnan(found), np.nan, found >= cosine)

    def share(place: int, chosen: np.ndarray, name: str, left_out: dict[str, int] | None = None) -> Check:
        found = close(place)[chosen]
        return share_of_draws(
            name, found == 1, at_least=typical, undecided=np.isnan(found), because=MORE,
            left_out=left_out,
        )  # fmt: skip

    def judge(place: int) -> Judgement:
        out = {"starts of larger scale, whose conserved difference is not small": int((~kept).sum())}
        return Judgement(
            share(place, kept, r"draws whose leading eigenvectors are aligned when the first class is learned", out),
            *(share(place, scale == one, f"of those that start at scale {one:g}") for one in np.unique(scale[kept])),
        )

    facts = {
        "random": 2 * float(np.arccos(cosine)) / np.pi,
        "before": float(np.nanmean(close(START)[kept])),
        "large": float(np.nanmean(close(FIRST)[~kept])) if (~kept).any() else np.nan,
    }
    return Finding(judge, FIRST, {"aligned from the start": START}, facts=facts)


def _control(control: Table, treated: Table, skewed: bool, measure: str, threshold: float, typical: float) -> Finding:
    """Hold the rank's course in a control against growth, beside the treated case by the same measure."""
    found, other = shapes(control, measure, threshold, skewed=skewed), shapes(treated, measure, threshold, skewed=True)
    undecided = np.array([word is None for word in found])
    rising = np.array([word is not None and "R" in word for word in found])
    tail = np.abs(values(control, "tail", 0, measure, skewed=skewed))

    def judge(course: tuple[bool, bool]) -> Judgement:
        keeps, rises = course
        return Judgement(
            share_of_draws(
                f"draws whose rank {'does not fall' if keeps else 'falls'} once it has risen",
                monotone(found) == keeps,
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            share_of_draws(
                f"draws whose rank {'rises' if rises else 'does not rise'}",
                rising == rises,
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            share_of_draws(
                "draws whose rank has saturated: it changes less than the threshold over the last half decade",
                tail < threshold,
                at_least=typical,
                undecided=np.isnan(tail),
                because=MORE,
            ),
        )

    difference = share_difference(monotone(found), monotone(other))
    facts = {
        "treated": float(np.mean(monotone(other))),
        "difference": difference.value,
        "least": difference.lower,
        "most": difference.upper,
        "late": float(np.mean([word is not None and word.startswith("FRF") for word in found])),
        "treated_late": float(np.mean([word is not None and word.startswith("FRF") for word in other])),
    }
    rivals = {"a fall after the rise: compression": (False, True), "no growth": (True, False)}
    return Finding(judge, (True, True), rivals, facts=facts)


@claim(
    "Figure 12, equal classes",
    scope="2 examples in each of 4 classes, d = 2, cross-entropy, the treated grid's starts",
    empirical=True,
)
def controls_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Without class skew the warm-up is followed by a monotone, saturating growth of the effective rank.

    It is in {value:.0%} of the draws. With skew it is in {treated:.0%} too: what the control shows is a difference of
    {difference:+.0%} ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here,
    {treated_late:.1%} with skew.
    """
    return _control(control, treated, False, measure, threshold, typical)


@claim(
    "Figure 12, no bottleneck",
    scope="skewed classes of 8 examples, V = 4, d = 3, cross-entropy, the treated grid's starts",
    empirical=True,
)
def controls_no_bottleneck(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Without a bottleneck the warm-up is followed by a monotone, saturating growth of the effective rank.

    It is in {value:.0%} of the draws. In two dimensions it is in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here, {treated_late:.1%} with the
    bottleneck.
    """
    return _control(control, treated, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, the treated grid's starts",
    empirical=True,
)
def controls_squared_loss(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Under the squared loss, with skewed classes, the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    It is in {value:.0%} of the draws; under cross-entropy in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here, {treated_late:.1%} there.
    """
    return _control(control, treated, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss, equal classes",
    scope="2 examples in each of 4 classes, d = 2, squared loss, the treated grid's starts",
    empirical=True,
)
def controls_squared_loss_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Under the squared loss, with equal classes, the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    It is in {value:.0%} of the draws; under cross-entropy with skew in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here, {treated_late:.1%} there.
    """
    return _control(control, treated, False, measure, threshold, typical)


@claim(
    "Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged",
    empirical=True,
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table, *, typical: Fraction) -> Finding:
    """Under the squared loss with a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at the best approximation of rank two of the labels, which are the two most frequent
    classes. Counted are draws in which something is learned, something is not, and nothing learned is rarer than
    anything that is not. Under cross-entropy all classes are learned in {all_learned:.0%} of the draws.
    """
    rows = members(squared, skewed=True)
    sizes = np.array([[int(size) for size in counts.split("-")] for counts in rows["counts"]])

    def judge(reading: tuple[Table, int]) -> Judgement:
        table, sign = reading
        final = values(table, "final", None, skewed=True)
        learned = final > 0.5
        known, unknown = np.where(learned, sign * sizes, np.inf), np.where(learned, -np.inf, sign * sizes)
        frequent = learned.any(axis=1) & ~learned.all(axis=1) & (known.min(axis=1) >= unknown.max(axis=1))
        return Judgement(
            share_of_draws(
                "draws in which only the most frequent classes are learned",
                frequent,
                at_least=typical,
                undecided=np.isnan(final).any(axis=1),
                because=MORE,
            )
        )

    rivals = {"only the rarest classes": (squared, -1), "cross-entropy in its place": (cross_entropy, 1)}
    final = values(cross_entropy, "final", None, skewed=True)
    facts = {"all_learned": float(np.mean((final > 0.5).all(axis=1)))}
    return Finding(judge, (squared, 1), rivals, facts=facts)
