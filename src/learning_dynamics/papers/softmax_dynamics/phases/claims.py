"""What section 3.3 and Figure 4 say of the first two phases: warm-up and entropy-seeking."""

import itertools

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
from learning_dynamics.papers.softmax_dynamics.falls import Windows
from learning_dynamics.papers.softmax_dynamics.falls import windows as windows_of_learning
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
from learning_dynamics.papers.softmax_dynamics.phases.quantities import CLASS, FEATURE, PROBABILITY
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select, settings_of

# Settings of these claims, whose values stand in workflow/config/softmax_dynamics.yaml:
# - factor, of `frequent_classes_gain_confidence`: least factor by which an error must shrink
# - factor, of the other claims: least factor by which a separation must grow
# - lower, upper: mean probability of its own class at which a rarest class begins to be learned, and is learned
# - small: largest initialisation scale of starts that are judged, whose predictions are near uniform
# - typical: least share of draws that makes "most"
# - measure: which effective rank is judged, by its name in `spectra.RANKS`
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise

SMALL_STARTS = f"{TREATED}, of which those with near-uniform predictions count"


@claim("Section 3.3, warm-up", scope=SMALL_STARTS, empirical=True, quantifier="most draws")
def phases_warmup(grid: Table, *, factor: Positive, small: Positive, typical: Fraction) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the features and the weights of the most frequent class
    separate from the others' until the first class is learned.

    Separation is the distance of the class's mean from that of the others, in units of the spread within. A space
    separates if this grows by the factor {factor:g} or more: that of the features does in {value:.0%} of the draws,
    that of the weights in {share_w:.0%}. In the median draw the separation of the features grows {features:.2g}-fold,
    that of the weights {weights:.2g}-fold; at scale {at:g}, where it grows least, that of the features grows
    {least:.2g}-fold. That the eigenvectors of both spaces align meanwhile is a claim of its own.
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
            rivals={"the time in which the rare classes are learned, instead": separates(quantity, WHILE_RARE)},
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

    Of the draws that do not fall first {later:.0%} rise and then fall. Starts of larger scale are left out; {large:.0%}
    of them fall first.
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

    The rank is compared when the first class is learned and when all of the rarest are. It rises by the threshold or
    more in {value:.0%} of the draws, least often at scale {at:g} ({lowest:.0%}). Starts of larger scale are left out;
    of them {large:.0%} do. Most of the rise comes late: it is as large before the rarest classes begin to be learned in
    {before:.0%}, and while they are learned in {meanwhile:.0%}. Where one class outweighs the others, these share the
    probability that it leaves, and count as begun as soon as it is learned.
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

    the_time_before = "the time before, instead"
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


EXPANSION = "4, 2, 1 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from small Gaussian starts"


@claim("Section 3.3, entropy-seeking: confidence", scope=EXPANSION, empirical=True, quantifier="most draws")
def frequent_classes_gain_confidence(
    course: Table, *, factor: Positive, lower: Fraction, upper: Fraction, typical: Fraction
) -> Claim:
    """While the features expand, predictions for the most frequent class become more confident, and by more than those
    for the rare ones.

    The error of a class is one minus the probability of its own class. The time is that from when the first class is
    learned to just before the first of the rarest begins to be. In it the error of the most frequent class shrinks by
    the factor {factor:g} or more in {value:.0%} of the draws, {frequent:.2g}-fold in the median; that of the rarest
    shrinks {rarest:.2g}-fold. It shrinks by more than that of the rarest in {more:.0%}; from then to when the rarest
    are learned it does in {later:.0%}. Until the first class is learned it shrinks {before:.2g}-fold.
    """
    probabilities = _probabilities(course)
    windows = _windows(course, probabilities, lower, upper)
    sizes = np.array(settings_of(course)["counts"])
    frequent = 1 - probabilities[:, :, 0]  # the first class listed is the largest
    rarest = 1 - probabilities[:, :, sizes == sizes.min()].mean(axis=2)
    first_learned, _ = windows.learning
    begin, end = windows.rare
    start = np.zeros_like(first_learned)

    def shrinks(error: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return by which factor an error shrinks in each draw."""
        members = np.arange(len(error))
        return error[members, begin] / error[members, end]

    def shrinks_more(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        of_frequent, of_rarest = shrinks(frequent, begin, end), shrinks(rarest, begin, end)
        return unless_nan(of_frequent > of_rarest, of_frequent, of_rarest)

    while_expanding, before = shrinks(frequent, first_learned, begin), shrinks(frequent, start, first_learned)
    while_rare = shrinks_more(begin, end)
    yield most_draws(
        "draws in which the error of the most frequent class shrinks while the features expand",
        unless_nan(while_expanding >= factor, while_expanding),
        typical=typical,
        rivals={"the warm-up instead": unless_nan(before >= factor, before)},
    )
    yield most_draws(
        "draws in which it shrinks by more than the error of the rarest classes",
        shrinks_more(first_learned, begin),
        typical=typical,
        rivals={"the time in which the rare classes are learned, instead": while_rare},
    )
    yield Facts(
        factor=factor,
        frequent=np.nanmedian(while_expanding),
        rarest=np.nanmedian(shrinks(rarest, first_learned, begin)),
        more=share_true(shrinks_more(first_learned, begin)),
        later=share_true(while_rare),
        before=np.nanmedian(before),
    )


@claim("Section 3.3, compression-seeking: clusters", scope=EXPANSION, empirical=True, quantifier="most draws")
def rare_classes_separate(
    course: Table, *, factor: Positive, lower: Fraction, upper: Fraction, typical: Fraction
) -> Claim:
    """After the expansion the rare classes separate into clusters of their own, in features and in weights.

    The separation of a rare class is the smallest distance of its mean from that of another class. Its unit is the root
    mean square distance of all means from their centre. The rarest classes separate if their average separation grows
    by the factor {factor:g} or more while they are learned. Features do in {value:.0%} of the draws,
    {features:.2g}-fold in the median, and weights in {share_w:.0%}, {weights:.2g}-fold. From when the first class is
    learned until then the separation of features grows {before:.2g}-fold, that of weights {before_w:.2g}-fold.
    """
    probabilities = _probabilities(course)
    windows = _windows(course, probabilities, lower, upper)
    sizes = np.array(settings_of(course)["counts"])
    first_learned, _ = windows.learning
    begin, end = windows.rare
    spaces = {"features": _feature_means(course, sizes), "weights": _in_plane(course, CLASS)}
    apart = {name: _distance_of_rarest(points, sizes) for name, points in spaces.items()}
    members = np.arange(len(apart["features"]))
    growth = {name: one[members, end[members]] / one[members, begin[members]] for name, one in apart.items()}
    earlier = {name: one[members, begin[members]] / one[members, first_learned[members]] for name, one in apart.items()}
    excluded = {"draws of which no paths are written down": len(probabilities) - len(members)}
    for name in spaces:
        yield most_draws(
            f"draws in which the rare classes' {name} separate while they are learned",
            unless_nan(growth[name] >= factor, growth[name]),
            typical=typical,
            excluded=excluded,
            rivals={
                "before they are learned, instead of while they are": unless_nan(earlier[name] >= factor, earlier[name])
            },
        )
    yield Facts(
        factor=factor,
        features=np.nanmedian(growth["features"]),
        weights=np.nanmedian(growth["weights"]),
        share_w=np.mean(growth["weights"] >= factor),
        before=np.nanmedian(earlier["features"]),
        before_w=np.nanmedian(earlier["weights"]),
    )


def _entries(course: Table, quantity: Quantity) -> np.ndarray:
    """Return a quantity that a flow has by class or example, shape (members, times, entries)."""
    rows = select(course, quantity)
    shape = (rows["seed"].nunique(), rows["time"].nunique(), rows["index"].nunique())
    return rows.sort_values(["seed", "time", "index"])["value"].to_numpy().reshape(shape)


def _probabilities(course: Table) -> np.ndarray:
    """Return the mean probability of its own class, shape (members, times, classes)."""
    return _entries(course, PROBABILITY)


def _windows(course: Table, probabilities: np.ndarray, lower: float, upper: float) -> Windows:
    """Return when classes are learned in each draw."""
    sizes = np.broadcast_to(settings_of(course)["counts"], probabilities[:, 0].shape)
    return windows_of_learning(np.where(np.isnan(probabilities), 0.0, probabilities), sizes, lower, upper)


def _in_plane(course: Table, coordinates: tuple[Quantity, Quantity]) -> np.ndarray:
    """Return points in a plane by the names of their coordinates, shape (members, times, points, 2)."""
    return np.stack([_entries(course, coordinate) for coordinate in coordinates], axis=-1)


def _feature_means(course: Table, sizes: np.ndarray) -> np.ndarray:
    """Return the means of each class's features, shape (members, times, classes, 2)."""
    points = _in_plane(course, FEATURE)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    return np.stack([points[:, :, a:b].mean(axis=2) for a, b in itertools.pairwise(edges)], axis=2)


def _distance_of_rarest(points: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return how far the rarest classes are from the nearest other one, shape (members, times).

    In units of the root mean square distance of all classes from their centre, mean over the rarest.
    """
    distances = np.linalg.norm(points[:, :, :, None] - points[:, :, None], axis=-1)
    distances = np.where(np.eye(len(sizes), dtype=bool), np.inf, distances).min(axis=-1)
    centred = points - points.mean(axis=2, keepdims=True)
    unit = np.sqrt(np.mean(np.sum(centred**2, axis=-1), axis=-1))
    return distances[:, :, sizes == sizes.min()].mean(axis=-1) / unit
