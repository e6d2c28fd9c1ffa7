"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.claims import Check, Finding, Judgement, at_least, claim, share_of_draws
from learning_dynamics.evidence import median
from learning_dynamics.papers.softmax_dynamics.draws import (
    FIRST,
    MORE,
    NOT_UNIFORM,
    RARE_BEGIN,
    RARE_LEARNED,
    START,
    TREATED,
    learning_times,
    members,
    shapes,
    values,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table


@claim("Section 3.3, warm-up", scope=f"{TREATED}, of which those with near-uniform predictions count", empirical=True)
def phases_warmup(grid: Table, *, factor: Positive, small: Positive, typical: Fraction) -> Finding:
    """At first the features and the weights of the frequent classes separate from the others'.

    Separation is the distance of the most frequent class's mean from that of the others, in units of the spread
    within; compared are the start and the moment at which the first class is learned. In the median draw that
    of the features grows {value:.2g}-fold, that of the weights {weights:.2g}-fold; at scale {at:g}, where it grows
    least, that of the features grows {least:.2g}-fold. That the eigenvectors of both spaces align meanwhile is a claim
    of its own.
    """
    scale = members(grid, skewed=True)["scale"].to_numpy()
    kept = scale <= small

    def grown(quantity: str, places: tuple[int, int]) -> np.ndarray:
        before, after = (values(grid, quantity, place, skewed=True)[kept] for place in places)
        return after / before

    def judge(places: tuple[int, int]) -> Judgement:
        features, weights = grown("separation_f", places), grown("separation_w", places)
        return Judgement(
            at_least(
                "factor by which the frequent class's features separate (median)",
                median(features),
                factor,
                because="what counts as separating",
                left_out={NOT_UNIFORM: int((~kept).sum())},
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
    features = grown("separation_f", (START, FIRST))
    by_scale = {float(one): float(np.nanmedian(features[scale[kept] == one])) for one in np.unique(scale[kept])}
    at = min(by_scale, key=by_scale.__getitem__)
    facts = {
        "weights": float(np.nanmedian(grown("separation_w", (START, FIRST)))),
        "at": at,
        "least": by_scale[at],
    }
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

    Of the draws that do not fall first {later:.0%} rise and then fall. Of the starts of larger scale, which are left
    out, {large:.0%} fall first.
    """
    found = shapes(grid, measure, threshold, skewed=True)
    scale = members(grid, skewed=True)["scale"].to_numpy()
    undecided = np.array([word is None for word in found])

    def starts_with(letter: str, chosen: np.ndarray, name: str, left_out: dict[str, int] | None = None) -> Check:
        return share_of_draws(
            name,
            np.array([bool(word) and word[0] == letter for word in found[chosen]]),
            at_least=typical,
            undecided=undecided[chosen],
            because=MORE,
            left_out=left_out,
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
    others = [word for word in found[scale <= small] if word is not None and word[:1] != "F"]
    facts = {
        "large": float(np.mean(large)) if large else np.nan,
        "later": float(np.mean([word.startswith("RF") for word in others])) if others else np.nan,
    }
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
    more than the threshold in {value:.0%} of the draws, least often at scale {at:g} ({lowest:.0%}), and in {before:.0%}
    already when the rarest begin to be learned.
    At that moment the second singular value grows faster in ratio in {overtaken:.0%}, when the first class is learned
    in {ahead:.0%}. A fall, then a rise, counted from the start whatever is learned, is the course of {course:.0%}.
    """
    rank = values(grid, "rank", None, measure, skewed=True)
    change = rank[:, RARE_LEARNED - 1] - rank[:, FIRST - 1]
    undecided = np.isnan(change)
    grown = [
        values(grid, name, RARE_LEARNED, skewed=True) > values(grid, name, FIRST, skewed=True)
        for name in ("sigma_1", "sigma_2")
    ]
    times = learning_times(grid, skewed=True)
    # an order of learning that does not know the sizes puts any one class last as often as any other
    not_last = 1 - 1 / times.shape[1]

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
                at_least=not_last,
                undecided=undecided,
                because="more often than in an order that does not know the sizes",
            ),
        )

    found = shapes(grid, measure, threshold, skewed=True)

    scale = members(grid, skewed=True)["scale"].to_numpy()
    by_scale = {float(one): float(np.mean(change[scale == one] > threshold)) for one in np.unique(scale)}
    at = min(by_scale, key=by_scale.__getitem__)

    def overtaken(place: int) -> float:
        gains = [
            values(grid, f"rate_{i}", place, skewed=True) / values(grid, f"sigma_{i}", place, skewed=True)
            for i in (1, 2)
        ]
        return float(np.mean(gains[1] > gains[0]))

    facts = {
        "course": float(np.mean([word is not None and word.startswith("FR") for word in found])),
        "at": at,
        "lowest": by_scale[at],
        "before": float(np.mean(rank[:, RARE_BEGIN - 1] - rank[:, FIRST - 1] > threshold)),
        "overtaken": overtaken(RARE_BEGIN),
        "ahead": overtaken(FIRST),
    }
    return Finding(judge, 1, {"the rank falls meanwhile": -1}, facts=facts)
