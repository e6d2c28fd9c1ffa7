"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking."""

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    TREATED,
    SmallStarts,
    most_draws,
    most_small_starts,
    share_true,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.grids import (
    BEFORE_RARE,
    FIRST_TO_RARE,
    RANK,
    SEPARATION_F,
    SEPARATION_W,
    WARM_UP,
    WHILE_RARE,
    Grid,
    Window,
)
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA, Measure
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
    skewed = Grid(grid, skewed=True)
    starts = SmallStarts(skewed.scale, small)

    def growth(quantity: Quantity, window: Window) -> np.ndarray:
        """Return by which factor a separation grows in each judged draw."""
        begin, end = (skewed.at(moment, quantity)[starts.judged] for moment in window)
        return end / begin

    def separates(quantity: Quantity, window: Window) -> np.ndarray:
        factors = growth(quantity, window)
        return unless_nan(factors >= factor, factors)

    for name, quantity in (("features", SEPARATION_F), ("weights", SEPARATION_W)):
        yield most_draws(
            f"draws in which the most frequent class's {name} separate",
            separates(quantity, WARM_UP),
            typical=typical,
            excluded=starts.excluded,
            rivals={"while the rare classes are learned, in its place": separates(quantity, WHILE_RARE)},
        )
    features, weights = growth(SEPARATION_F, WARM_UP), growth(SEPARATION_W, WARM_UP)
    by_scale = pd.Series(features).groupby(skewed.scale[starts.judged]).median()
    yield Facts(
        factor=factor,
        features=np.nanmedian(features),
        weights=np.nanmedian(weights),
        share_w=np.mean(weights >= factor),
        at=by_scale.idxmin(),
        least=by_scale.min(),
    )


@claim("Figure 4, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def warmup_lowers_rank(
    grid: Table, *, measure: Measure, threshold: Positive, small: Positive, typical: Fraction
) -> Claim:
    """With skewed classes, a bottleneck and cross-entropy, from small starts, the effective rank first falls.

    Of the draws that do not fall first {later:.0%} rise and then fall. Of the starts of larger scale, which are left
    out, {large:.0%} fall first.
    """
    skewed = Grid(grid, skewed=True)
    starts, courses = SmallStarts(skewed.scale, small), skewed.courses(measure, threshold)
    failed = courses.isna()
    # F is a fall and R a rise: FRF falls first, RF after a rise
    falls_first, falls_second = (courses.str[place].eq("F").astype(float).mask(failed) for place in (0, 1))
    yield from most_small_starts(
        "draws whose rank falls first",
        falls_first.to_numpy(),
        starts,
        typical=typical,
        rivals={"it falls, but after a rise": falls_second.to_numpy()},
    )
    yield Facts(
        large=falls_first[~starts.judged].mean(),
        later=courses[starts.judged & (falls_first == 0)].str.startswith("RF").mean(),
    )


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
    skewed = Grid(grid, skewed=True)
    starts, times, spectrum = SmallStarts(skewed.scale, small), skewed.learning_times(), SPECTRA["examples"]
    judged = starts.judged

    def rises(window: Window) -> np.ndarray:
        change = skewed.change(window, RANK, measure=measure)
        return unless_nan(change >= threshold, change)

    def both_grow(window: Window) -> np.ndarray:
        first, second = skewed.change(window, spectrum.sigma_1), skewed.change(window, spectrum.sigma_2)
        return unless_nan((first > 0) & (second > 0), first, second)

    the_time_before = "the time before, in its place"
    yield from most_small_starts(
        "draws whose rank rises from the first class learned to the last",
        rises(FIRST_TO_RARE),
        starts,
        typical=typical,
        rivals={the_time_before: rises(WARM_UP)},
    )
    yield most_draws(
        "draws in which both singular values grow meanwhile",
        both_grow(FIRST_TO_RARE)[judged],
        typical=typical,
        excluded=starts.excluded,
        rivals={the_time_before: both_grow(WARM_UP)[judged]},
    )
    others_last = times[:, 1:].max(axis=1)
    yield share_of_draws(
        "draws in which the most frequent class is learned before the last of the others",
        unless_nan(times[:, 0] < others_last, times[:, 0], others_last)[judged],
        # an order of learning that does not know the sizes puts any one class last as often as any other
        at_least=1 - 1 / times.shape[1],
        because="more often than in an order that does not know the sizes",
        excluded=starts.excluded,
    )
    by_scale = pd.Series(rises(FIRST_TO_RARE)[judged] == 1).groupby(skewed.scale[judged]).mean()
    yield Facts(
        at=by_scale.idxmin(),
        lowest=by_scale.min(),
        large=share_true(rises(FIRST_TO_RARE)[~judged]),
        before=share_true(rises(BEFORE_RARE)[judged]),
        meanwhile=share_true(rises(WHILE_RARE)[judged]),
    )
