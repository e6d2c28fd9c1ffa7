"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking."""

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    FIRST,
    NOT_UNIFORM,
    RARE_BEGIN,
    RARE_LEARNED,
    START,
    TREATED,
    learning_times,
    most_draws,
    most_small_starts,
    scales,
    shapes,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

SMALL_STARTS = f"{TREATED}, of which those with near-uniform predictions count"


@claim("Section 3.3, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_warmup(grid: Table, *, factor: Positive, small: Positive, typical: Fraction) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the features and the weights of the most frequent class
    separate from the others' until the first class is learned.

    Separation is the distance of the class's mean from that of the others, in units of the spread within; what grows
    by the factor {factor:g} separates: features do in {value:.0%} of the draws, weights in {share_w:.0%}. In the median
    draw the separation of the features grows {features:.2g}-fold, that of the weights {weights:.2g}-fold; at scale
    {at:g}, where it grows least, that of the features grows {least:.2g}-fold. That the eigenvectors of both spaces
    align meanwhile is a claim of its own.
    """
    scale = scales(grid, skewed=True)
    is_small = scale <= small

    def separation_growth(quantity: Quantity, begin: int, end: int) -> np.ndarray:
        before, after = (values(grid, quantity, place, skewed=True)[is_small] for place in (begin, end))
        return after / before

    growths = {}
    for name, quantity in (("features", "separation_f"), ("weights", "separation_w")):
        growths[name] = separation_growth(quantity, START, FIRST)
        late = separation_growth(quantity, RARE_BEGIN, RARE_LEARNED)
        yield most_draws(
            f"draws in which the most frequent class's {name} separate",
            growths[name] >= factor,
            np.isnan(growths[name]),
            typical,
            {NOT_UNIFORM: int((~is_small).sum())},
            rivals={"while the rare classes are learned, in its place": late >= factor},
        )
        yield Facts({name: np.nanmedian(growths[name])})
    by_scale = pd.Series(growths["features"]).groupby(scale[is_small]).median()
    share_w = np.mean(growths["weights"] >= factor)
    yield Facts(factor=factor, share_w=share_w, at=by_scale.idxmin(), least=by_scale.min())


@claim("Figure 4, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def warmup_lowers_rank(
    grid: Table, *, measure: Measure, threshold: Positive, small: Positive, typical: Fraction
) -> Claim:
    """With skewed classes, a bottleneck and cross-entropy, from small starts, the effective rank first falls.

    Of the draws that do not fall first {later:.0%} rise and then fall. Of the starts of larger scale, which are left
    out, {large:.0%} fall first.
    """
    courses = shapes(grid, measure, threshold, skewed=True)
    scale, undecided = scales(grid, skewed=True), courses.isna()
    falls_first, falls_later = courses.str[0] == "F", courses.str[1] == "F"
    yield from most_small_starts(
        "draws whose rank falls first",
        falls_first,
        undecided,
        typical,
        scale,
        small,
        {"it falls, but after a rise": falls_later},
    )
    others = courses[(scale <= small) & ~undecided & ~falls_first]
    yield Facts(large=falls_first[(scale > small) & ~undecided].mean(), later=others.str.startswith("RF").mean())


@claim("Section 3.3, entropy-seeking", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_entropy_seeking(
    grid: Table, *, measure: Measure, threshold: Positive, small: Positive, typical: Fraction
) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the features expand after the warm-up, their effective
    rank rises, and the most frequent class is learned before the last of the others.

    Compared are the moment at which the first class is learned and that at which the rarest all are: the rank rises by
    as much as the threshold in {value:.0%} of the draws, least often at scale {at:g} ({lowest:.0%}); of the starts of
    larger scale, which are left out, in {large:.0%}. Most of the rise comes late: before the rarest classes begin to be
    learned there is one in {before:.0%}, while they are in {meanwhile:.0%}. Where one class outweighs the
    others, these share what probability it leaves and count as begun as soon as it is learned.
    """
    rank = values(grid, "rank", None, measure, skewed=True)
    sizes = [values(grid, f"sigma_{k}", None, skewed=True) for k in (1, 2)]
    undecided = np.isnan(rank).any(axis=1)
    times, scale = learning_times(grid, skewed=True), scales(grid, skewed=True)
    is_small = scale <= small
    out = {NOT_UNIFORM: int((~is_small).sum())}

    def rises(begin: int, end: int) -> pd.Series:
        return pd.Series(rank[:, end - 1] - rank[:, begin - 1] >= threshold)

    def both_grow(begin: int, end: int) -> np.ndarray:
        return np.all([size[:, end - 1] > size[:, begin - 1] for size in sizes], axis=0)[is_small]

    name, rival = "draws whose rank rises from the first class learned to the last", "the time before, in its place"
    rising, rising_before = rises(FIRST, RARE_LEARNED), rises(START, FIRST)
    yield from most_small_starts(name, rising, undecided, typical, scale, small, {rival: rising_before})
    yield most_draws(
        "draws in which both singular values grow meanwhile",
        both_grow(FIRST, RARE_LEARNED),
        undecided[is_small],
        typical,
        out,
        rivals={rival: both_grow(START, FIRST)},
    )
    yield share_of_draws(
        "draws in which the most frequent class is learned before the last of the others",
        (times[:, 0] < times[:, 1:].max(axis=1))[is_small],
        # an order of learning that does not know the sizes puts any one class last as often as any other
        at_least=1 - 1 / times.shape[1],
        undecided=undecided[is_small],
        because="more often than in an order that does not know the sizes",
        excluded=out,
    )
    by_scale = rising[is_small].groupby(scale[is_small]).mean()
    yield Facts(
        at=by_scale.idxmin(),
        lowest=by_scale.min(),
        large=rising[~is_small].mean(),
        before=rises(FIRST, RARE_BEGIN)[is_small].mean(),
        meanwhile=rises(RARE_BEGIN, RARE_LEARNED)[is_small].mean(),
    )
