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
# - threshold: least fall of the effective rank that counts
# - small: largest initialisation scale of starts that are judged
# - seen: least share of draws that fall with skew and a bottleneck, the premise: who tries five starts sees one
# - exceptions: largest share of draws that may fall where the claim says that none does

Compression = Literal["fall_rare", "fall_since_rare"]  # while the rarest classes are learned, or from then to the end
ONE_RARE = "33, 33, 33 and 1 examples, a row of features for each"


def _fallen(rows: pd.DataFrame) -> np.ndarray:
    """Return which draws of a region's rows fall, nan where a flow failed."""
    return unless_nan(rows["fallen"], rows["value"])


def _rarely_falls(name: str, holds: np.ndarray, exceptions: float, *, rivals: dict[str, np.ndarray]) -> Check:
    """Check that few draws fall; draws with what is necessary are the rivals."""
    return share_of_draws(
        name,
        holds,
        at_most=exceptions,
        because="a never cannot be measured; one draw in twenty is let pass",
        rivals={phrase: {"holds": other} for phrase, other in rivals.items()},
    )


def _with_both(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with skew and a bottleneck."""
    return narrowest(rows[rows["skewed"]])


def _falls_of(grid: Grid, population: Population, within: Quantity, threshold: float) -> np.ndarray:
    """Return which draws of a grid fall by the threshold in a window of learning, nan for those that failed."""
    depth = grid.number(within, measure=MEASURES[population]["rankme_centred"], threshold=threshold)
    return unless_nan(depth >= threshold, depth)


def _falls_with_both(holds: np.ndarray, seen: float) -> Check:
    """Check what necessity takes for granted: with skew and a bottleneck the rank can be seen to fall."""
    return premise(
        share_of_draws(
            "draws that fall with skew and a bottleneck", holds, at_least=seen, because="who tries five starts sees one"
        )
    )


@claim(
    "Section 3.3, necessity of skew",
    scope=f"equal classes, of {REGION} of small scales, d = 2 and 3, one row of features a class, and of 25 examples "
    f"each, d = 2; {ONE_RARE}, d = 2",
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
    small: Positive,
    seen: Fraction,
    exceptions: Fraction,
) -> Claim:
    """Skewed classes are necessary for compression: with four equal classes the effective rank does not fall, from
    small starts, from when they begin to be learned.

    The rank is the paper's, over all inputs. The claim assumes that it falls with skew and a bottleneck. It does where
    one class is rare: at 33 : 33 : 33 : 1 in {with_both:.0%} of the draws, from when the rare class begins to be
    learned. At sizes in powers of a ratio it does not under gradient flow ({over_inputs:.1%} of the draws fall while
    the rarest class is learned); over the means of classes it does ({over_classes:.0%}). With equal classes {value:.2%}
    of {draws} draws fall. Starts of larger scale are left out; {large:.1%} of them fall. Draws cannot show that
    something never happens, and with more draws some equal classes do fall: the check is that few do. Large steps of
    descent are left out: under them equal classes fall as well.
    """
    rows = small_starts(region, population, within, threshold=threshold, small=small)
    of_all_scales = fall_rows(region, within, population, threshold)
    larger = of_all_scales[(of_all_scales["scale"] > small) & ~of_all_scales["skewed"]]
    with_both = _falls_of(Grid(narrow, skewed=True), population, within, threshold)
    rivals = {"skewed classes with a bottleneck instead": with_both}
    yield _rarely_falls(
        "draws of equal classes whose rank falls from when they begin to be learned",
        _fallen(rows[~rows["skewed"]]),
        exceptions,
        rivals=rivals,
    )
    yield _rarely_falls(
        "draws of equal classes of 25 examples, a row for each, whose rank falls",
        _falls_of(Grid(narrow, skewed=False), population, within, threshold),
        exceptions,
        rivals=rivals,
    )
    yield _falls_with_both(with_both, seen)
    over_inputs, over_classes = (
        _with_both(small_starts(region, name, threshold=threshold, small=small)) for name in ("examples", "classes")
    )
    yield Facts(
        with_both=share_true(with_both),
        over_inputs=over_inputs["fallen"].mean(),
        over_classes=over_classes["fallen"].mean(),
        large=larger["fallen"].mean(),
    )


@claim(
    "Section 3.3, necessity of a bottleneck",
    scope=f"{REGION} of small scales, d = 3 and 4, and one class of 200 or 512 and three of one, d = 3, one row of "
    f"features a class; {ONE_RARE}, d = 2 and 3",
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
    small: Positive,
    seen: Fraction,
    exceptions: Fraction,
) -> Claim:
    """A bottleneck is necessary for compression: with as many dimensions as there are classes, or one less, the
    effective rank does not fall, from small starts, from when the rare classes begin to be learned.

    The rank is the paper's, over all inputs. The claim assumes that it falls with skew and a bottleneck. It does where
    one class is rare: at 33 : 33 : 33 : 1 in {with_both:.0%} of the draws, and in three dimensions in {same:.1%}. At
    sizes in powers of a ratio {powers:.1%} of the draws without a bottleneck fall. But in three dimensions, where one
    class is frequent and the others are all rare, {frequent:.0%} do. Three dimensions for four classes are the paper's
    control, though fewer than there are classes (errata 7): both are judged. Over the means of classes (`population`) a
    bottleneck is not necessary at sizes in powers of a ratio either: {fallen:.0%} of the draws without one fall while
    the rarest class is learned. How much skew is needed depends on the scale. With {wide} dimensions and starts of
    scale {at:g} most draws fall if the largest class is {turns:.0f} times the smallest, or more ({share:.0%} at that
    ratio; with two dimensions {narrow:.0%}): the other directions are not used in time. From a scale of {larger:g} they
    need {turns_larger:.0f} : 1. Skew alone, if large enough for the start, makes the rank of the class means fall.
    """

    def skewed(name: Population, quantity: Quantity) -> pd.DataFrame:
        """Return how far the rank falls with skewed classes, of small starts."""
        of_regions = [small_starts(region, name, quantity, threshold=threshold, small=small) for region in regions]
        rows = pd.concat(of_regions)
        return rows[rows["skewed"]]

    rows = skewed(population, within)
    with_both, same_sizes = (
        _falls_of(Grid(table, skewed=True), population, within, threshold) for table in (narrow, wide)
    )
    of_powers = _fallen(rows[rows["dimension"] > rows["dimension"].min()])
    of_one_frequent = _fallen(small_starts(one_frequent, population, within, threshold=threshold, small=small))
    rivals = {"two dimensions instead": with_both}
    yield _rarely_falls(
        "draws without a bottleneck that fall from when rare classes begin to be learned, where one is frequent",
        of_one_frequent,
        exceptions,
        rivals=rivals,
    )
    yield _rarely_falls(
        "draws without a bottleneck that fall, at sizes in powers of a ratio", of_powers, exceptions, rivals=rivals
    )
    yield _rarely_falls(
        "draws without a bottleneck that fall, at the sizes that fall with one", same_sizes, exceptions, rivals=rivals
    )
    yield _falls_with_both(with_both, seen)
    over_classes = skewed("classes", FALL_RARE)
    narrowest_dimension, widest = over_classes["dimension"].min(), over_classes["dimension"].max()
    shares = over_classes.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales_of_widest = over_classes[over_classes["dimension"] == widest]["scale"]
    at, larger = scales_of_widest.min(), scales_of_widest.max()

    def smallest_ratio_of_most(scale: float) -> float:
        """Return the least skew at which most draws of the most dimensions fall, from starts of one scale."""
        return min((size for size, share in shares[scale, widest].items() if share > 0.5), default=np.nan)

    turns = smallest_ratio_of_most(at)
    yield Facts(
        with_both=share_true(with_both),
        same=share_true(same_sizes),
        powers=share_true(of_powers),
        frequent=share_true(of_one_frequent),
        fallen=over_classes[over_classes["dimension"] > narrowest_dimension]["fallen"].mean(),
        wide=widest,
        at=at,
        larger=larger,
        turns=turns,
        turns_larger=smallest_ratio_of_most(larger),
        share=shares.get((at, widest, turns), np.nan),
        narrow=shares.get((at, narrowest_dimension, turns), np.nan),
    )
