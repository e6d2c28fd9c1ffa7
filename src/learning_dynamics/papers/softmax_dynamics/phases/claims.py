"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking."""

import numpy as np

from learning_dynamics.judging import Checks, Finding, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    FIRST,
    NOT_UNIFORM,
    RARE_BEGIN,
    RARE_LEARNED,
    START,
    TREATED,
    by_scale,
    learning_times,
    members,
    most_draws,
    most_small_starts,
    shapes,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

SMALL_STARTS = f"{TREATED}, of which those with near-uniform predictions count"


@claim("Section 3.3, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_warmup(grid: Table, *, factor: Positive, small: Positive, typical: Fraction) -> Finding:
    """With skewed classes and a bottleneck, from small starts, the features and the weights of the most frequent class
    separate from the others' until the first class is learned.

    Separation is the distance of the class's mean from that of the others, in units of the spread within; what grows
    by the factor {factor:g} separates: features do in {value:.0%} of the draws, weights in {share_w:.0%}. In the median
    draw the separation of the features grows {features:.2g}-fold, that of the weights {weights:.2g}-fold; at scale
    {at:g}, where it grows least, that of the features grows {least:.2g}-fold. That the eigenvectors of both spaces
    align meanwhile is a claim of its own.
    """
    scale = members(grid, skewed=True)["scale"].to_numpy()
    small_scale = scale <= small

    def separation_growth(quantity: Quantity, places: tuple[int, int]) -> np.ndarray:
        before, after = (values(grid, quantity, place, skewed=True)[small_scale] for place in places)
        return after / before

    def judge(places: tuple[int, int]) -> Checks:
        out = {NOT_UNIFORM: int((~small_scale).sum())}
        for name, quantity in (("features", "separation_f"), ("weights", "separation_w")):
            grown = separation_growth(quantity, places)
            description = f"draws in which the most frequent class's {name} separate"
            yield most_draws(description, grown >= factor, np.isnan(grown), typical, out)

    rivals = {"while the rare classes are learned, in its place": (RARE_BEGIN, RARE_LEARNED)}
    features, weights = (separation_growth(name, (START, FIRST)) for name in ("separation_f", "separation_w"))
    growth = by_scale(features, scale[small_scale], np.nanmedian)
    at = min(growth, key=growth.__getitem__)
    facts = {
        "factor": factor,
        "share_w": float(np.mean(weights >= factor)),
        "features": float(np.nanmedian(features)),
        "weights": float(np.nanmedian(weights)),
        "at": at,
        "least": growth[at],
    }
    return Finding(judge, (START, FIRST), rivals, facts=facts)


@claim("Figure 4, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def warmup_lowers_rank(
    grid: Table, *, measure: Measure, threshold: Positive, small: Positive, typical: Fraction
) -> Finding:
    """With skewed classes, a bottleneck and cross-entropy, from small starts, the effective rank first falls.

    Of the draws that do not fall first {later:.0%} rise and then fall. Of the starts of larger scale, which are left
    out, {large:.0%} fall first.
    """
    courses = shapes(grid, measure, threshold, skewed=True)
    scale = members(grid, skewed=True)["scale"].to_numpy()
    undecided = np.array([course is None for course in courses])

    def judge(turn: int) -> Checks:
        falls = np.array([course is not None and course[turn : turn + 1] == "F" for course in courses])
        yield from most_small_starts("draws whose rank falls first", falls, undecided, typical, scale, small)

    large = [
        course[:1] == "F"
        for course, start_scale in zip(courses, scale, strict=True)
        if course is not None and start_scale > small
    ]
    not_falling = [course for course in courses[scale <= small] if course is not None and course[:1] != "F"]
    facts = {
        "large": float(np.mean(large)) if large else np.nan,
        "later": float(np.mean([course.startswith("RF") for course in not_falling])) if not_falling else np.nan,
    }
    return Finding(judge, 0, {"it falls, but after a rise": 1}, facts=facts)


@claim("Section 3.3, entropy-seeking", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_entropy_seeking(
    grid: Table, *, measure: Measure, threshold: Positive, small: Positive, typical: Fraction
) -> Finding:
    """With skewed classes and a bottleneck, from small starts, the features expand after the warm-up, their effective
    rank rises, and the most frequent class is learned before the last of the others.

    Compared are the moment at which the first class is learned and that at which the rarest all are: the rank rises by
    as much as the threshold in {value:.0%} of the draws, least often at scale {at:g} ({lowest:.0%}); of the starts of
    larger scale, which are left out, in {large:.0%}. Most of the rise comes late: before the rarest classes begin to be
    learned there is one in {before:.0%}, while they are in {meanwhile:.0%}. Where one class outweighs the
    others, these share what probability it leaves and count as begun as soon as it is learned.
    """
    rank = values(grid, "rank", None, measure, skewed=True)
    sizes = [values(grid, "sigma_1", None, skewed=True), values(grid, "sigma_2", None, skewed=True)]
    undecided = np.isnan(rank).any(axis=1)
    times = learning_times(grid, skewed=True)
    scale = members(grid, skewed=True)["scale"].to_numpy()
    small_scale = scale <= small
    # an order of learning that does not know the sizes puts any one class last as often as any other
    not_last = 1 - 1 / times.shape[1]

    def rises(begin: int, end: int) -> np.ndarray:
        return rank[:, end - 1] - rank[:, begin - 1] >= threshold

    def judge(places: tuple[int, int]) -> Checks:
        begin, end = places
        name = "draws whose rank rises from the first class learned to the last"
        yield from most_small_starts(name, rises(begin, end), undecided, typical, scale, small)
        out = {NOT_UNIFORM: int((~small_scale).sum())}
        grown = np.all([size[:, end - 1] > size[:, begin - 1] for size in sizes], axis=0)[small_scale]
        name = "draws in which both singular values grow meanwhile"
        yield most_draws(name, grown, undecided[small_scale], typical, out)
        yield share_of_draws(
            "draws in which the most frequent class is learned before the last of the others",
            (times[:, 0] < times[:, 1:].max(axis=1))[small_scale],
            at_least=not_last,
            undecided=undecided[small_scale],
            because="more often than in an order that does not know the sizes",
            left_out=out,
        )

    whole = rises(FIRST, RARE_LEARNED)
    shares = by_scale(whole[small_scale], scale[small_scale])
    at = min(shares, key=shares.__getitem__)
    facts = {
        "at": at,
        "lowest": shares[at],
        "large": float(np.mean(whole[~small_scale])) if (~small_scale).any() else np.nan,
        "before": float(np.mean(rises(FIRST, RARE_BEGIN)[small_scale])),
        "meanwhile": float(np.mean(rises(RARE_BEGIN, RARE_LEARNED)[small_scale])),
    }
    return Finding(judge, (FIRST, RARE_LEARNED), {"the time before, in its place": (START, FIRST)}, facts=facts)
