"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking.

The toy has V classes, features f, a row for each example, in d dimensions, and a classifier W with a column, the
weights, for each class. A class is learned when the mean probability of its own class over its examples passes one
half. The rarest classes begin to be learned just before the first of them passes the probability `lower`, and are
learned when all have passed `upper`; for grids these two are settings of the runs' metrics.

A window is a pair of moments of a flow: DURING_WARM_UP is from the start to the first class learned, BEFORE_RARE from
there to the rarest about to be learned, WHILE_RARE from there to these learned, FIRST_TO_RARE the last two together.
Most rivals of these claims are the check's own quantity in another window.
"""

import itertools
from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    TREATED,
    SmallStarts,
    clause_of,
    most_draws,
    most_small_starts,
    share_true,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.falls import EXPANSION, Windows
from learning_dynamics.papers.softmax_dynamics.falls import windows as windows_of_learning
from learning_dynamics.papers.softmax_dynamics.grids import (
    BEFORE_RARE,
    DURING_WARM_UP,
    FIRST_TO_RARE,
    RANK,
    REACHED,
    SEPARATION_F,
    SEPARATION_W,
    WHILE_RARE,
    Grid,
    Window,
)
from learning_dynamics.papers.softmax_dynamics.phases.quantities import CLASS, FEATURE, PROBABILITY
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml:
# - factor, of `phases_warmup` and `rare_classes_separate`: least factor by which a separation must grow; chosen, `vary`
#   in the configuration tries others
# - factor, of `frequent_classes_gain_confidence`: least factor by which an error must shrink; chosen, `vary` tries
#   others
# - lower, upper, of `frequent_classes_gain_confidence` and `rare_classes_separate`: mean probability of its own class
#   at which a rarest class begins to be learned, and is learned; lower is above the third that three of four classes
#   share once one is learned
# - small_scale, of the first three claims: largest initialisation scale of starts that are judged, whose predictions
#   are near uniform
# - measure, of `warmup_lowers_rank` and `phases_entropy_seeking`: which effective rank is judged: RankMe about the mean
#   (rankme_centred, the paper's) or about zero (rankme), or Roy and Vetterli's of singular values (effective_rank)
# - threshold, of these two claims: least change of the effective rank, a number from 1 to d, that counts as a fall or a
#   rise; far above the integrator's error and below the changes that a figure would show
# - majority_share, of all: least share of draws that makes "most"
# - begins, of `phases_entropy_seeking`: whether the rank must rise from when the first class is learned, or from the
#   trough, where it is lowest until then

SMALL_STARTS = f"{TREATED}, of which those with near-uniform predictions count"


@claim("Section 3.3, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_warmup(grid: Table, *, factor: Positive, small_scale: Positive, majority_share: Fraction) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the features and the weights of the most frequent class
    separate from the others' until the first class is learned.

    Features are the rows of $f$, one for each example; the weights of a class are its column of the classifier $W$.
    Separation is the distance of the class's mean from that of the others, in units of the spread within the two
    groups. A space separates if its separation grows by the factor {factor:g} or more from the start until the first
    class is learned. Both must in most draws: features do in {value:.0%} of the draws, weights in
    {share_with_separating_weights:.0%}. In the median draw the separation of the features grows
    {median_growth_of_features:.2g}-fold, that of the weights {median_growth_of_weights:.2g}-fold. That of the features
    grows least at scale {scale_of_least_growth:g}, {least_growth:.2g}-fold. Starts of scales above {small_scale:g} are
    left out. Alignment of the eigenvectors of both spaces is another claim, `alignment`.
    """
    skewed = Grid(grid, skewed=True)
    starts = SmallStarts(skewed.scale, small_scale)

    def growth(quantity: Quantity, window: Window) -> np.ndarray:
        """Return by which factor a separation grows in each judged draw."""
        begin, end = (skewed.at(moment, quantity)[starts.judged] for moment in window)
        return end / begin

    def separates(quantity: Quantity, window: Window) -> np.ndarray:
        """Return of each judged draw whether a separation grows by the factor: 1 or 0, nan for a failed flow."""
        factors = growth(quantity, window)
        return unless_nan(factors >= factor, factors)

    # the rival alters both checks, and is refused if one of them does not hold
    for name, quantity in (("features", SEPARATION_F), ("weights", SEPARATION_W)):
        yield most_draws(
            f"share of draws in which the most frequent class's {name} separate",
            separates(quantity, DURING_WARM_UP),
            majority_share=majority_share,
            excluded=starts.excluded,
            rivals={"the time in which the rare classes are learned, instead": separates(quantity, WHILE_RARE)},
        )
    features, weights = growth(SEPARATION_F, DURING_WARM_UP), growth(SEPARATION_W, DURING_WARM_UP)
    by_scale = pd.Series(features).groupby(skewed.scale[starts.judged]).median()
    yield Facts(
        factor=factor,
        median_growth_of_features=np.nanmedian(features),
        median_growth_of_weights=np.nanmedian(weights),
        share_with_separating_weights=np.mean(weights >= factor),  # a flow that failed, nan, does not separate
        scale_of_least_growth=by_scale.idxmin(),
        least_growth=by_scale.min(),
        small_scale=small_scale,
    )


@claim("Figure 4, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def warmup_lowers_rank(
    grid: Table, *, measure: Measure, threshold: Positive, small_scale: Positive, majority_share: Fraction
) -> Claim:
    """With skewed classes, a bottleneck and cross-entropy, from small starts, the effective rank first falls.

    The rank is RankMe, the exponential of the entropy of the eigenvalues of the features' covariance. It falls first if
    its first change by {threshold:g} or more is a fall; it must in most draws.{other_draws} Starts of scales above
    {small_scale:g} are left out{large_starts}.
    """
    skewed = Grid(grid, skewed=True)
    starts = SmallStarts(skewed.scale, small_scale)
    # F is a fall and R a rise: FRF falls first, RF after a rise; missing where the flow failed
    courses = skewed.courses(measure, threshold)

    def falls_in_place(place: int) -> pd.Series:
        """Return of each draw whether the swing at a place of its course is a fall: 1 or 0, nan for a failed flow."""
        return courses.str[place].eq("F").astype(float).mask(courses.isna())

    falls_first, falls_second = falls_in_place(0), falls_in_place(1)
    yield from most_small_starts(
        "share of draws whose rank falls first",
        falls_first.to_numpy(),
        starts,
        majority_share=majority_share,
        rivals={"the rank falls after a rise, not first": falls_second.to_numpy()},
    )
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        # without flows that failed
        large_starts=clause_of("; from {:.0%} of them it falls first", falls_first[~starts.judged].mean()),
        other_draws=clause_of(
            " Of the other draws {:.0%} rise and then fall.",
            courses[starts.judged & (falls_first == 0)].str.startswith("RF").mean(),
        ),
    )


@claim("Section 3.3, entropy-seeking", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_entropy_seeking(
    grid: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    majority_share: Fraction,
    begins: Literal["first_learned", "trough"],
) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the features expand after the warm-up, their effective
    rank rises, and the most frequent class is learned before the last of the others.

    The paper says that after this phase the rare classes start to separate. The phase is therefore taken to last from
    when the first class is learned to just before the first of the rarest begins to be. Where it begins the paper does
    not say; a variant begins at the trough, where the rank is lowest until the first class is learned. In this time the
    rank, RankMe of the features, must rise by {threshold:g} or more in most draws; it does in {value:.0%}. It does so
    least often at scale {scale_of_lowest_share:g} ({lowest_share:.0%}). There, in {share_without_phase:.0%} of the
    draws, the rare classes begin before the first class is learned, or at most one record after. Such a draw has no
    phase of expansion, and its rank does not count as risen. Features expand if both singular values of $f$ grow.
    Starts of scales above {small_scale:g} are left out{large_starts}. In {share_rising_until_learned:.0%} of the judged
    draws it rises by as much until all of the rarest classes are learned, and in {share_rising_while_rare:.0%} while
    they are.
    """
    skewed = Grid(grid, skewed=True)
    starts = SmallStarts(skewed.scale, small_scale)
    judged = starts.judged
    spectrum = SPECTRA["examples"]

    def rises(window: Window) -> np.ndarray:
        """Return of each draw whether the rank rises by the threshold, in a window that has a length."""
        change, duration = skewed.change(window, RANK, measure=measure), skewed.change(window, REACHED)
        return unless_nan((change >= threshold) & (duration > 0), change)

    def both_grow(window: Window) -> np.ndarray:
        """Return of each draw whether both singular values grow, in a window that has a length."""
        growth_1, growth_2 = skewed.change(window, spectrum.sigma_1), skewed.change(window, spectrum.sigma_2)
        duration = skewed.change(window, REACHED)
        return unless_nan((growth_1 > 0) & (growth_2 > 0) & (duration > 0), growth_1, growth_2)

    if begins == "first_learned":
        rises_before_rare = rises(BEFORE_RARE)
    else:
        expansion = skewed.number(EXPANSION, measure=measure)
        rises_before_rare = unless_nan(expansion >= threshold, expansion)
    # the phrase of a rival of all checks but the last, which gives them the warm-up
    the_time_before = "the time before, instead"
    yield from most_small_starts(
        "share of draws whose rank rises from the first class learned to when the rarest begin to be",
        rises_before_rare,
        starts,
        majority_share=majority_share,
        rivals={the_time_before: rises(DURING_WARM_UP)},
    )
    yield most_draws(
        "share of draws in which both singular values grow meanwhile",
        both_grow(BEFORE_RARE)[judged],
        majority_share=majority_share,
        excluded=starts.excluded,
        rivals={the_time_before: both_grow(DURING_WARM_UP)[judged]},
    )
    times = skewed.learning_times()  # shape (draws, classes), the largest class first
    frequent, last_of_others = times[:, 0], times[:, 1:].max(axis=1)
    # no rival alters this check
    yield share_of_draws(
        "share of draws in which the most frequent class is learned before the last of the others",
        unless_nan(frequent < last_of_others, frequent, last_of_others)[judged],
        # An order of learning that does not know the sizes puts any one class last as often as any other: the most
        # frequent one is last in a share of 1 / V of the draws, with V classes.
        at_least=1 - 1 / times.shape[1],
        because="more often than in an order that does not depend on the sizes",
        excluded=starts.excluded,
    )
    by_scale = pd.Series(rises_before_rare[judged] == 1).groupby(skewed.scale[judged]).mean()
    scale_of_lowest = by_scale.idxmin()
    duration = skewed.change(BEFORE_RARE, REACHED)[skewed.scale == scale_of_lowest]
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        scale_of_lowest_share=scale_of_lowest,
        lowest_share=by_scale.min(),
        share_without_phase=np.mean(duration <= 0),
        large_starts=clause_of(
            "; from {:.0%} of them the rank rises by as much", share_true(rises_before_rare[~judged])
        ),
        share_rising_until_learned=share_true(rises(FIRST_TO_RARE)[judged]),
        share_rising_while_rare=share_true(rises(WHILE_RARE)[judged]),
    )


FOUR_TWO_ONE_ONE = (
    "4, 2, 1 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from small Gaussian starts"
)


@claim("Section 3.3, entropy-seeking: confidence", scope=FOUR_TWO_ONE_ONE, empirical=True, quantifier="most draws")
def frequent_classes_gain_confidence(
    course: Table, *, factor: Positive, lower: Fraction, upper: Fraction, majority_share: Fraction
) -> Claim:
    """While the features expand, predictions for the most frequent class become more confident, and by more than those
    for the rare ones.

    The error of a class is one minus the mean probability that its examples give their own class. The features are
    taken to expand from when the first class is learned to just before the first of the rarest has a probability of
    {lower_probability:g}. In this time the error of the most frequent class must shrink by the factor {factor:g} or
    more in most draws; it does in {value:.0%}. In the median it shrinks {shrinkage_of_frequent:.2g}-fold, that of the
    rarest, a mean over them, {shrinkage_of_rarest:.2g}-fold. The error of the most frequent class shrinks by more than
    that of the rarest in {share_shrinking_more:.0%} of the draws. In the time after, until the rarest have a
    probability of {upper_probability:g}, it does so in {share_shrinking_more_later:.0%}. From the start until the first
    class is learned the error of the most frequent shrinks {shrinkage_in_warm_up:.2g}-fold in the median.
    """
    probabilities = _probabilities(course)
    sizes = np.array(settings_of(course)["counts"])
    # errors, shape (draws, times); nan where the flow failed
    frequent = 1 - probabilities[:, :, 0]  # the first class listed is the largest
    rarest = 1 - probabilities[:, :, sizes == sizes.min()].mean(axis=2)
    # places along times, shape (draws,)
    windows = _windows(course, probabilities, lower, upper)
    first_learned, _ = windows.learning
    rare_begin, rare_learned = windows.rare
    start = np.zeros_like(first_learned)

    def shrinkage(error: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return by which factor an error shrinks in each draw."""
        return _at_place(error, begin) / _at_place(error, end)

    def frequent_shrinks_more(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return of each draw whether the error of the most frequent class shrinks by more than the rarest's."""
        of_frequent, of_rarest = shrinkage(frequent, begin, end), shrinkage(rarest, begin, end)
        return unless_nan(of_frequent > of_rarest, of_frequent, of_rarest)

    # the claim's own windows, and those of the two rivals: the warm-up, and the time in which rare classes are learned
    while_expanding = shrinkage(frequent, first_learned, rare_begin)
    in_warm_up = shrinkage(frequent, start, first_learned)
    more_while_expanding = frequent_shrinks_more(first_learned, rare_begin)
    more_while_rare = frequent_shrinks_more(rare_begin, rare_learned)
    yield most_draws(
        "share of draws in which the error of the most frequent class shrinks while the features expand",
        unless_nan(while_expanding >= factor, while_expanding),
        majority_share=majority_share,
        rivals={"the warm-up instead": unless_nan(in_warm_up >= factor, in_warm_up)},
    )
    yield most_draws(
        "share of draws in which it shrinks by more than the error of the rarest classes",
        more_while_expanding,
        majority_share=majority_share,
        rivals={"the time in which the rare classes are learned, instead": more_while_rare},
    )
    yield Facts(
        factor=factor,
        lower_probability=lower,
        upper_probability=upper,
        shrinkage_of_frequent=np.nanmedian(while_expanding),
        shrinkage_of_rarest=np.nanmedian(shrinkage(rarest, first_learned, rare_begin)),
        share_shrinking_more=share_true(more_while_expanding),
        share_shrinking_more_later=share_true(more_while_rare),
        shrinkage_in_warm_up=np.nanmedian(in_warm_up),
    )


@claim("Section 3.3, compression-seeking: clusters", scope=FOUR_TWO_ONE_ONE, empirical=True, quantifier="most draws")
def rare_classes_separate(
    course: Table, *, factor: Positive, lower: Fraction, upper: Fraction, majority_share: Fraction
) -> Claim:
    """After the expansion the rare classes separate into clusters of their own, in features and in weights.

    The separation of a rare class is the smallest distance of its mean feature from that of another class; in weights,
    of its column of the classifier $W$ from another. Its unit is the root mean square distance of all these points from
    their centre. The rarest classes separate if their average separation grows by the factor {factor:g} or more while
    they are learned, from just before the first of them has a probability of {lower_probability:g} until all have
    {upper_probability:g}. They must in most draws. In features they separate in {value:.0%} of the draws,
    {growth_of_features:.2g}-fold in the median; in weights in {share_with_separating_weights:.0%},
    {growth_of_weights:.2g}-fold. Before that, from when the first class is learned, the separation of features grows
    {earlier_growth_of_features:.2g}-fold, that of weights {earlier_growth_of_weights:.2g}-fold.
    """
    probabilities = _probabilities(course)
    sizes = np.array(settings_of(course)["counts"])
    # places along times, shape (draws,)
    windows = _windows(course, probabilities, lower, upper)
    first_learned, _ = windows.learning
    rare_begin, rare_learned = windows.rare
    separations = {
        "features": _distance_of_rarest(_feature_means(course, sizes), sizes),
        "weights": _distance_of_rarest(_in_plane(course, CLASS), sizes),
    }
    growth: dict[str, np.ndarray] = {}  # while the rare classes are learned
    growth_before: dict[str, np.ndarray] = {}  # from when the first class is learned to when the rare ones begin to be
    for space, separation in separations.items():
        at_begin = _at_place(separation, rare_begin)
        growth[space] = _at_place(separation, rare_learned) / at_begin
        growth_before[space] = at_begin / _at_place(separation, first_learned)
    # coordinates are recorded of the first draws alone, as many as the metrics' setting `coordinates`
    without_paths = len(probabilities) - len(separations["features"])

    def separate(factors: np.ndarray) -> np.ndarray:
        """Return of each draw whether its separation grows by the factor: 1 or 0, nan for a failed flow."""
        return unless_nan(factors >= factor, factors)

    for space in separations:
        yield most_draws(
            f"share of draws in which the rare classes' {space} separate while they are learned",
            separate(growth[space]),
            majority_share=majority_share,
            excluded={"draws of which no paths are written down": without_paths},
            rivals={"before they are learned, instead of while they are": separate(growth_before[space])},
        )
    weights_separate = growth["weights"] >= factor  # false of a flow that failed, whose growth is nan
    yield Facts(
        factor=factor,
        lower_probability=lower,
        upper_probability=upper,
        growth_of_features=np.nanmedian(growth["features"]),
        growth_of_weights=np.nanmedian(growth["weights"]),
        share_with_separating_weights=np.mean(weights_separate),
        earlier_growth_of_features=np.nanmedian(growth_before["features"]),
        earlier_growth_of_weights=np.nanmedian(growth_before["weights"]),
    )


def _probabilities(course: Table) -> np.ndarray:
    """Return the mean probability of its own class, shape (draws, times, classes)."""
    return Draws(course).entries(PROBABILITY, "time")


def _at_place(series: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return a series, shape (draws, times), at one place of each draw, shape (draws,).

    `series` may have the first draws alone: those whose paths are written down. It then takes the first of `places`.
    """
    draws = np.arange(len(series))
    return series[draws, places[draws]]


def _windows(course: Table, probabilities: np.ndarray, lower: float, upper: float) -> Windows:
    """Return when classes are learned in each draw."""
    sizes = np.broadcast_to(settings_of(course)["counts"], probabilities[:, 0].shape)
    # a flow that failed learns nothing: what is read at its windows is nan, and it is undecided
    finite = np.where(np.isnan(probabilities), 0.0, probabilities)
    return windows_of_learning(finite, sizes, lower, upper)


def _in_plane(course: Table, coordinates: tuple[Quantity, Quantity]) -> np.ndarray:
    """Return points in a plane by the names of their coordinates, shape (draws, times, points, 2)."""
    return np.stack([Draws(course).entries(coordinate, "time") for coordinate in coordinates], axis=-1)


def _feature_means(course: Table, sizes: np.ndarray) -> np.ndarray:
    """Return the means of each class's features, shape (draws, times, classes, 2)."""
    points = _in_plane(course, FEATURE)  # examples are sorted by class
    edges = np.concatenate([[0], np.cumsum(sizes)])
    means = [points[:, :, begin:end].mean(axis=2) for begin, end in itertools.pairwise(edges)]
    return np.stack(means, axis=2)


def _distance_of_rarest(points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return how far the rarest classes are from the nearest other one, shape (draws, times).

    In units of the root mean square distance of all classes from their centre, mean over the rarest.

    Parameters
    ----------
    points : ndarray, shape (draws, times, classes, 2)
    sizes : ndarray, shape (classes,)
    """
    differences = points[:, :, :, None] - points[:, :, None]  # shape (draws, times, classes, classes, 2)
    distances = np.linalg.norm(differences, axis=-1)
    is_itself = np.eye(len(sizes), dtype=bool)
    # infinite from itself, so that the nearest one is another
    to_nearest = np.where(is_itself, np.inf, distances).min(axis=-1)  # shape (draws, times, classes)
    centred = points - points.mean(axis=2, keepdims=True)
    unit = np.sqrt(np.mean(np.sum(centred**2, axis=-1), axis=-1))  # shape (draws, times)
    return to_nearest[:, :, sizes == sizes.min()].mean(axis=-1) / unit
