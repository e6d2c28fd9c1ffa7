"""That skewed classes and a bottleneck are necessary for compression."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, Claim, Facts, claim, premise, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import fall_rows, narrowest, share_true, unless_nan
from learning_dynamics.papers.softmax_dynamics.falls import FALL_RARE
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.population.regions import REGION, small_starts
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Population
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

# Settings of these claims, whose values stand in workflow/config/softmax_dynamics.yaml:
# - population: what the rank is over: all examples, or the means of classes
# - within: when a fall counts: while the rarest classes are learned (fall_rare), or from when they begin to be
#   learned to the end (fall_since_rare)
# - threshold: least fall of the effective rank that counts; far above the integrator's error and below the changes
#   that a figure would show
# - small_scale: largest initialisation scale of starts that are judged
# - premise_share: least share of draws that fall with skew and a bottleneck, the premise: one start in five
# - exceptions: largest share of draws that may fall where the claim says that none does

Compression = Literal["fall_rare", "fall_since_rare"]  # while the rarest classes are learned, or from then to the end
ONE_RARE = "33, 33, 33 and 1 examples, a row of features for each"


def _region_falls(rows: pd.DataFrame) -> np.ndarray:
    """Return of each row of a region whether the rank falls: 1 or 0, nan where the flow failed."""
    return unless_nan(rows["fallen"], rows["value"])


def _grid_falls(grid: Grid, population: Population, within: Quantity, threshold: float) -> np.ndarray:
    """Return of each draw of a grid whether the rank falls by the threshold: 1 or 0, nan where the flow failed."""
    depth = grid.number(within, measure=MEASURES[population]["rankme_centred"], threshold=threshold)
    return unless_nan(depth >= threshold, depth)


def _rarely_falls(name: str, falls: np.ndarray, exceptions: float, *, rivals: dict[str, np.ndarray]) -> Check:
    """Check that few draws fall; a rival has other draws, with what is necessary."""
    return share_of_draws(
        name,
        falls,
        at_most=exceptions,
        because="draws cannot show that something never happens; one in twenty may",
        rivals={phrase: {"holds": other} for phrase, other in rivals.items()},
    )


def _can_fall(falls: np.ndarray, premise_share: float) -> Check:
    """Check what necessity takes for granted: with skew and a bottleneck the rank can be seen to fall."""
    return premise(
        share_of_draws(
            "share of draws that fall with skew and a bottleneck",
            falls,
            at_least=premise_share,
            because="one start in five",
        )
    )


@claim(
    "Section 3.3, necessity of skew",
    scope="four equal classes, cross-entropy, gradient flow, Gaussian starts of small scales: one row of features a "
    f"class, d = 2 and 3, and 25 examples each, d = 2; as the premise and the rival {ONE_RARE}, d = 2",
    empirical=True,
    quantifier="most draws",
)
def skew_is_necessary(
    region: Table,
    narrow: Table,
    *,
    population: Population,
    within: Compression,
    threshold: Positive,
    small_scale: Positive,
    premise_share: Fraction,
    exceptions: Fraction,
) -> Claim:
    """Skewed classes are necessary for compression: from small starts the effective rank of four equal classes does not
    fall once they begin to be learned.

    The rank is the paper's, over all inputs; a fall counts from {threshold:g} on. The claim assumes that the rank falls
    with skew and a bottleneck. It does where one class is rare: at 33 : 33 : 33 : 1 in {with_both:.0%} of the draws,
    from when the rare class begins to be learned. At sizes in powers of a ratio it does not under gradient flow
    ({over_inputs:.1%} of the draws fall while the rarest class is learned); over the means of classes it does
    ({over_classes:.0%}). With equal classes {value:.2%} of {draws} draws fall. Starts of scales above {small_scale:g}
    are left out; {large:.1%} of them fall. Draws cannot show that something never happens: the check is that few do.
    Large steps of descent are left out: under them equal classes fall as well (`three_phases_exist`).
    """
    rows = fall_rows(region, within, population, threshold)
    equal = rows[~rows["skewed"]]
    is_small = equal["scale"] <= small_scale
    with_both = _grid_falls(Grid(narrow, skewed=True), population, within, threshold)
    rivals = {"skewed classes with a bottleneck instead": with_both}
    yield _rarely_falls(
        "share of draws of equal classes whose rank falls from when they begin to be learned",
        _region_falls(equal[is_small]),
        exceptions,
        rivals=rivals,
    )
    yield _rarely_falls(
        "share of draws of equal classes of 25 examples, a row for each, whose rank falls",
        _grid_falls(Grid(narrow, skewed=False), population, within, threshold),
        exceptions,
        rivals=rivals,
    )
    yield _can_fall(with_both, premise_share)

    def share_at_powers(over: Population) -> float:
        """Return the share that falls while the rarest class is learned, at powers of a ratio, in two dimensions."""
        rows = small_starts(region, over, FALL_RARE, threshold=threshold, small_scale=small_scale)
        return narrowest(rows[rows["skewed"]])["fallen"].mean()

    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        with_both=share_true(with_both),
        over_inputs=share_at_powers("examples"),
        over_classes=share_at_powers("classes"),
        large=equal[~is_small]["fallen"].mean(),
    )


@claim(
    "Section 3.3, necessity of a bottleneck",
    scope=f"{REGION} of small scales, one row of features a class, d = 3 and 4; the same with one class of 200 or 512 "
    f"and three of one, d = 3; {ONE_RARE}, d = 3, and, as the premise and the rival, d = 2",
    empirical=True,
    quantifier="most draws",
)
def bottleneck_is_necessary(
    regions: Sequence[Table],
    one_frequent: Table,
    narrow: Table,
    wide: Table,
    *,
    population: Population,
    within: Compression,
    threshold: Positive,
    small_scale: Positive,
    premise_share: Fraction,
    exceptions: Fraction,
) -> Claim:
    """A bottleneck is necessary for compression: from small starts, with as many dimensions as there are classes or one
    less, the effective rank does not fall once the rare classes begin to be learned.

    The rank is the paper's, over all inputs; a fall counts from {threshold:g} on. Starts up to scale {small_scale:g}
    are judged. The claim assumes that the rank falls with skew and a bottleneck. It does where one class is rare: at 33
    : 33 : 33 : 1 in {with_both:.0%} of the draws. Without a bottleneck {same_sizes:.1%} of the draws fall at these
    sizes, and {powers:.1%} at sizes in powers of a ratio. But where one class is frequent and the others are all rare,
    {one_frequent:.0%} fall in three dimensions. The paper's control has three dimensions for four classes, fewer than
    there are classes (errata 7): three and four are judged. Over the means of classes (`population`) a bottleneck is
    not necessary at sizes in powers of a ratio either: {fallen:.0%} of the draws without one fall while the rarest
    class is learned. How much skew a fall over class means needs depends on the scale. With {dimensions:g} dimensions
    and starts of scale {smallest_scale:g} most draws fall if the largest class is {least_ratio:.0f} times the smallest
    ({share_at_least_ratio:.0%}; with two dimensions {share_in_two_dimensions:.0%}): the other directions are not used
    in time. From a scale of {largest_scale:g} the least ratio tried at which most draws fall is
    {least_ratio_at_largest_scale:.0f} : 1. Skew alone, if large enough for the start, makes the rank of the class means
    fall.
    """

    def skewed_rows(over: Population, window: Quantity) -> pd.DataFrame:
        """Return how far a rank falls in a window with skewed classes, in all regions, from small starts."""
        of_regions = [
            small_starts(region, over, window, threshold=threshold, small_scale=small_scale) for region in regions
        ]
        rows = pd.concat(of_regions)
        return rows[rows["skewed"]]

    # sizes with one rare class, in two dimensions and in three
    with_both = _grid_falls(Grid(narrow, skewed=True), population, within, threshold)
    same_sizes = _grid_falls(Grid(wide, skewed=True), population, within, threshold)
    # sizes in powers of a ratio, in three dimensions and in four, without the bottleneck of two
    rows = skewed_rows(population, within)
    of_powers = _region_falls(rows[rows["dimension"] > rows["dimension"].min()])
    of_one_frequent = _region_falls(
        small_starts(one_frequent, population, within, threshold=threshold, small_scale=small_scale)
    )
    rivals = {"a bottleneck of two dimensions": with_both}
    yield _rarely_falls(
        "share of draws without a bottleneck, with one frequent class and rare others, that fall from when the rare "
        "ones begin to be learned",
        of_one_frequent,
        exceptions,
        rivals=rivals,
    )
    yield _rarely_falls(
        "share of draws without a bottleneck that fall, at sizes in powers of a ratio",
        of_powers,
        exceptions,
        rivals=rivals,
    )
    yield _rarely_falls(
        "share of draws without a bottleneck that fall, at the sizes that fall with one",
        same_sizes,
        exceptions,
        rivals=rivals,
    )
    yield _can_fall(with_both, premise_share)
    over_classes = skewed_rows("classes", FALL_RARE)
    fewest_dimensions, most_dimensions = over_classes["dimension"].min(), over_classes["dimension"].max()
    shares = over_classes.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales = over_classes[over_classes["dimension"] == most_dimensions]["scale"]
    smallest_scale, largest_scale = scales.min(), scales.max()

    def least_ratio(scale: float) -> float:
        """Return the least ratio of sizes at which most draws of the most dimensions fall, from starts of one scale."""
        by_ratio = shares[scale, most_dimensions]  # indexed by the ratio
        return min(by_ratio.index[by_ratio > 0.5], default=np.nan)

    ratio = least_ratio(smallest_scale)
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        with_both=share_true(with_both),
        same_sizes=share_true(same_sizes),
        powers=share_true(of_powers),
        one_frequent=share_true(of_one_frequent),
        fallen=over_classes[over_classes["dimension"] > fewest_dimensions]["fallen"].mean(),
        dimensions=most_dimensions,
        smallest_scale=smallest_scale,
        largest_scale=largest_scale,
        least_ratio=ratio,
        least_ratio_at_largest_scale=least_ratio(largest_scale),
        share_at_least_ratio=shares.get((smallest_scale, most_dimensions, ratio), np.nan),
        share_in_two_dimensions=shares.get((smallest_scale, fewest_dimensions, ratio), np.nan),
    )
