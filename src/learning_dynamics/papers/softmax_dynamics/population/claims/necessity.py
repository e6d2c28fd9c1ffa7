"""That skewed classes and a bottleneck are necessary for compression, under gradient flow and under descent.

Compression is a fall of the effective rank while the rarest classes are learned, or later. The rank is RankMe of the
features: the exponential of the entropy of the eigenvalues of their covariance about the mean. Its population is all
examples (inputs), or the means of classes, each counted once. A fall counts after as large a rise, both since the
trough, where the rank is lowest until the first class is learned. The rarest classes begin to be learned just before
the first of them passes the probability `lower`, and are learned when all have passed `upper`, settings of the runs'
metrics; of equal classes all are rarest. V is the number of classes, d the dimension of the features.

Regions have few rows of features for a large class (`population.class_flows`), grids one an example
(`phases.flow_grid`). Rivals are other data: draws with the condition that the claim says is necessary, which fall.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    clause_of,
    fall_rows,
    narrowest,
    one_in,
    premise_of_falls,
    share_true,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.falls import FALL_RARE
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.population.claims.phases import draws_by_case
from learning_dynamics.papers.softmax_dynamics.population.regions import REGION, small_starts
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Population
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml; the claims under flow are
# `skew_is_necessary` and `bottleneck_is_necessary`:
# - population, of those under flow: what the rank is over: all examples, or the means of classes
# - within, of those under flow: when a fall counts: while the rarest classes are learned (fall_rare), or from when they
#   begin to be learned to the end (fall_since_rare)
# - small_scale, of those under flow: largest initialisation scale of starts that are judged
# - threshold, of all: least fall of the effective rank that counts; far above the integrator's error and below the
#   changes that a figure would show
# - premise_share, of all: the premise, least share of draws that fall (under descent, that show the three phases) with
#   skew and a bottleneck: one start in five; chosen, `vary` in the configuration tries others
# - exceptions, of all: largest share of draws that may fall where the claim says that none does; chosen: one in twenty

Compression = Literal["fall_rare", "fall_since_rare"]  # while the rarest classes are learned, or from then to the end
ONE_RARE = "33, 33, 33 and 1 examples, a row of features for each"
WITH_BOTH = "share of draws that fall with skew and a bottleneck, one class frequent and the others rare"
ONE_FREQUENT = "one class of 200 to 3000 examples, of 16 rows of features, and three of one"


def _region_falls(rows: pd.DataFrame) -> np.ndarray:
    """Return of each row of a region whether the rank falls: 1 or 0, nan where the flow failed."""
    return unless_nan(rows["fallen"], rows["value"])


def _grid_falls(grid: Grid, population: Population, within: Quantity, threshold: float) -> np.ndarray:
    """Return of each draw of a grid whether the rank falls by the threshold: 1 or 0, nan where the flow failed."""
    depth = grid.number(within, measure=MEASURES[population]["rankme_centred"], threshold=threshold)
    return unless_nan(depth >= threshold, depth)


def _check_of_rare_falls(name: str, falls: np.ndarray, exceptions: float, *, rivals: dict[str, np.ndarray]) -> Check:
    """Check that few draws fall; each rival has draws with the condition that the claim says is necessary.

    nan, of a flow that failed, counts against the claim, as if the rank fell.
    """
    return share_of_draws(
        name,
        falls,
        at_most=exceptions,
        because=f"draws cannot show that something never happens; {one_in(exceptions)} may",
        rivals={phrase: {"holds": rival_falls} for phrase, rival_falls in rivals.items()},
    )


def _skewed_small_starts(
    table: Table, population: Population, within: Quantity, threshold: float, small_scale: float
) -> pd.DataFrame:
    """Return by how much the rank of skewed classes falls in a window, from small starts, a row for each draw."""
    rows = small_starts(table, population, within, threshold=threshold, small_scale=small_scale)
    return rows[rows["skewed"]]


def _in_words(counts: str) -> str:
    """Return class sizes, joined by dashes, as a ratio."""
    return counts.replace("-", " : ")


@claim(
    "Section 3.3, necessity of skew",
    scope="four equal classes, cross-entropy, gradient flow, Gaussian starts of small scales: one example each, "
    f"d = 2 and 3, and 25 examples each, d = 2; as the premise and a rival {ONE_FREQUENT}, d = 2; as a rival "
    f"{ONE_RARE}, d = 2",
    empirical=True,
    quantifier="most draws",
)
def skew_is_necessary(
    region: Table,
    one_frequent: Table,
    narrow: Table,
    *,
    population: Population,
    within: Compression,
    threshold: Positive,
    small_scale: Positive,
    premise_share: Fraction,
    exceptions: Fraction,
) -> Claim:
    """Under gradient flow skewed classes are necessary for compression: from small starts the effective rank of four
    equal classes does not fall once they begin to be learned.

    The rank is the paper's, RankMe over all inputs; a fall counts from {threshold:g} on. Draws cannot show that
    something never happens: at most {exceptions} draws of equal classes may fall. {value:.2%} of {draws} do. Starts of
    scales above {small_scale:g} are left out{large_starts}. The claim assumes that the rank falls with skew and a
    bottleneck. The premise is judged where one class is frequent and the others are rare: {share_with_one_frequent:.0%}
    of the draws at sizes from {mildest_sizes} to {most_skewed_sizes} fall, from when the rare classes begin to be
    learned. At 33 : 33 : 33 : 1 {share_with_one_rare:.0%} do. At sizes in powers of a ratio {over_inputs:.1%} of the
    draws fall while the rarest class is learned, and over the means of classes {over_classes:.0%}. Gradient descent is
    another claim, `skew_is_necessary_under_descent`.
    """
    rows = fall_rows(region, within, population, threshold)
    equal = rows[~rows["skewed"]]
    is_small = equal["scale"] <= small_scale
    with_both = _grid_falls(Grid(narrow, skewed=True), population, within, threshold)
    frequent_rows = narrowest(_skewed_small_starts(one_frequent, population, within, threshold, small_scale))
    with_one_frequent = _region_falls(frequent_rows)
    # the phrase of a rival of both checks, which is refused if one of them does not hold
    skewed_instead = "skewed classes with a bottleneck instead"
    yield _check_of_rare_falls(
        "share of draws of equal classes whose rank falls from when they begin to be learned",
        _region_falls(equal[is_small]),
        exceptions,
        rivals={skewed_instead: with_one_frequent},
    )
    yield _check_of_rare_falls(
        "share of draws of equal classes of 25 examples, a row for each, whose rank falls",
        _grid_falls(Grid(narrow, skewed=False), population, within, threshold),
        exceptions,
        rivals={skewed_instead: with_both},
    )
    yield premise_of_falls(WITH_BOTH, with_one_frequent, premise_share)

    def share_at_powers(over: Population) -> float:
        """Return the share that falls while the rarest class is learned, at powers of a ratio, in two dimensions."""
        return narrowest(_skewed_small_starts(region, over, FALL_RARE, threshold, small_scale))["fallen"].mean()

    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        exceptions=one_in(exceptions),
        share_with_one_frequent=share_true(with_one_frequent),
        mildest_sizes=_in_words(min(frequent_rows["counts"], key=ratio)),
        most_skewed_sizes=_in_words(max(frequent_rows["counts"], key=ratio)),
        share_with_one_rare=share_true(with_both),
        over_inputs=share_at_powers("examples"),
        over_classes=share_at_powers("classes"),
        # a flow that failed, nan, does not fall
        large_starts=clause_of("; {:.1%} of the draws from these fall", equal[~is_small]["fallen"].mean()),
    )


@claim(
    "Section 3.3, necessity of skew under descent",
    scope="four classes of four examples, d = 2, cross-entropy, full-batch gradient descent at learning rates of a "
    "tenth to 1.6, Gaussian starts of small scales, a row of features for each example; as the premise and the rival "
    "the sizes, scale and rate of `three_phases_exist`",
    empirical=True,
    quantifier="most draws",
)
def skew_is_necessary_under_descent(
    descents: Table, best: Table, *, threshold: Positive, premise_share: Fraction, exceptions: Fraction
) -> Claim:
    """Under gradient descent skewed classes are necessary for the three phases: at no learning rate does the effective
    rank of four equal classes fall, rise, and fall again while they are learned.

    The rank is the paper's, RankMe over all inputs; a fall or a rise counts from {threshold:g} on. At each of
    {rates_tried} learning rates at most {exceptions} draws of equal classes may show the phases; a draw that explodes,
    or has not learned, shows none. At the largest rate, {largest_rate:g}, {value:.1%} of the draws show them:
    {share_of_learned:.0%} of the {share_learned:.0%} that have learned.{smaller_rates} The claim assumes that the
    phases show with skew and a bottleneck. They do at the setting of `three_phases_exist`, in {with_both:.0%} of the
    draws that have learned their examples. The paper states no learning rate. Under gradient flow the necessity of skew
    is another claim, `skew_is_necessary`. A draw has learned if each example's own class ends with a probability above
    one half.
    """
    # equal classes are repeated under the name of each of the skewed sizes
    equal = draws_by_case(descents, threshold)["equal"].drop_duplicates(["scale", "learning_rate", "seed"])
    # The share is of all draws: the few that learn at the edge of stability are not typical. nan, of a draw that has
    # not learned, is here no phases, in favour of the claim.
    shows_by_rate = equal["shows"].fillna(0.0).groupby(equal["learning_rate"])  # ascending
    # equal seeds are equal starts, whatever the run: those with which the setting was chosen are left out
    of_best = draws_by_case(best[~best["seed"].isin(descents["seed"].unique())], threshold)["treated"]
    with_both = of_best["shows"].dropna().to_numpy()
    # The largest rate first, so that it is the headline. The rival gives every rate the draws with skew and a
    # bottleneck.
    for rate, shows in reversed(list(shows_by_rate)):
        yield share_of_draws(
            f"share of draws of equal classes with warm-up, growth and compression, at a learning rate of {rate:g}",
            shows.to_numpy(),
            at_most=exceptions,
            because=f"draws cannot show that something never happens; {one_in(exceptions)} may",
            rivals={"skewed classes with a bottleneck instead": {"holds": with_both}},
        )
    yield premise_of_falls("share of draws that show the phases with skew and a bottleneck", with_both, premise_share)
    shares = shows_by_rate.mean()  # by rate, ascending
    largest_rate, smallest_rate = shares.index.max(), shares.index.min()
    of_largest = equal.loc[equal["learning_rate"] == largest_rate, "shows"]
    yield Facts(
        threshold=threshold,
        with_both=share_true(with_both),
        rates_tried=len(shares),
        largest_rate=largest_rate,
        share_of_learned=of_largest.mean(),
        share_learned=of_largest.notna().mean(),
        exceptions=one_in(exceptions),
        smaller_rates=clause_of(
            " At smaller rates at most {:.1%} do, at the smallest, {:g}, {:.1%}.",
            shares[shares.index < largest_rate].max(),
            smallest_rate,
            shares[smallest_rate],
        ),
    )


@claim(
    "Section 3.3, necessity of a bottleneck",
    scope=f"{REGION} of small scales, up to 16 rows of features a class, d = 3 and 4; {ONE_FREQUENT}, d = 4 and 3, "
    f"and, as the premise and the rival, d = 2; {ONE_RARE}, d = 3",
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
    """Under gradient flow a bottleneck is necessary for compression: from small starts, with as many dimensions as
    there are classes or one less, the effective rank does not fall once the rare classes begin to be learned.

    The rank is the paper's, RankMe over all inputs; a fall counts from {threshold:g} on. Starts up to scale
    {small_scale:g} are judged. At most {exceptions} draws without a bottleneck may fall, at each of three kinds of
    sizes. The paper's control has three dimensions for four classes, fewer than there are classes (errata 7); three and
    four dimensions are therefore both judged. The claim assumes that the rank falls with skew and a bottleneck. It does
    where one class is frequent and the others are all rare, in {with_both:.0%} of the draws in two dimensions. At these
    sizes it falls in {in_three:.0%} of the draws in three dimensions, and in {value:.0%} in four. If only falls while
    the rare classes are learned count, it falls in {while_rare_in_two:.0%} in two dimensions, {while_rare_in_three:.0%}
    in three and {while_rare_in_four:.0%} in four. At 33 : 33 : 33 : 1 {one_rare_in_three:.1%} of the draws fall in
    three dimensions ({one_rare_in_two:.0%} in two). At sizes in powers of a ratio {share_at_powers:.1%} fall in three
    and four together.

    Over the means of classes (`population`), at sizes in powers of a ratio, {share_over_classes:.0%} of the draws
    without a bottleneck fall while the rarest class is learned. How much skew such a fall needs depends on the scale.
    With {most_dimensions:g} dimensions, from starts of scale {smallest_scale:g}, {where_most_fall}; from starts of
    scale {largest_scale:g} {where_most_fall_at_largest_scale}. Without a bottleneck the rank can fall where the other
    directions are not used in time.
    """

    def skewed_rows(over: Population, window: Quantity) -> pd.DataFrame:
        """Return how far a rank falls in a window with skewed classes, in all regions, from small starts."""
        return pd.concat([_skewed_small_starts(region, over, window, threshold, small_scale) for region in regions])

    # one frequent class, by dimensions
    frequent_rows = _skewed_small_starts(one_frequent, population, within, threshold, small_scale)
    falls_in = {d: _region_falls(of_dimension) for d, of_dimension in frequent_rows.groupby("dimension")}
    with_both = falls_in[2]
    # sizes with one rare class, in two dimensions and in three
    with_one_rare = _grid_falls(Grid(narrow, skewed=True), population, within, threshold)
    with_one_rare_in_three = _grid_falls(Grid(wide, skewed=True), population, within, threshold)
    # sizes in powers of a ratio, in all regions together: three dimensions and four, without the bottleneck of two
    rows_at_powers = skewed_rows(population, within)
    is_wide = rows_at_powers["dimension"] > rows_at_powers["dimension"].min()
    falls_at_powers = _region_falls(rows_at_powers[is_wide])
    # The phrase of a rival of all four checks. It gives the first three the draws in two dimensions with one frequent
    # class, and the last one the draws in two dimensions with one rare class.
    narrow_instead = "a bottleneck of two dimensions"
    yield _check_of_rare_falls(
        "share of draws in four dimensions, with one frequent class and rare others, that fall from when the rare "
        "ones begin to be learned",
        falls_in[4],
        exceptions,
        rivals={narrow_instead: with_both},
    )
    yield _check_of_rare_falls(
        "share of draws in three dimensions, with one frequent class and rare others, that fall",
        falls_in[3],
        exceptions,
        rivals={narrow_instead: with_both},
    )
    yield _check_of_rare_falls(
        "share of draws without a bottleneck that fall, at sizes in powers of a ratio",
        falls_at_powers,
        exceptions,
        rivals={narrow_instead: with_both},
    )
    yield _check_of_rare_falls(
        "share of draws without a bottleneck that fall, with one rare class",
        with_one_rare_in_three,
        exceptions,
        rivals={narrow_instead: with_one_rare},
    )
    yield premise_of_falls(WITH_BOTH, with_both, premise_share)
    # numbers of the text: the rank over class means, at sizes in powers of a ratio; a flow that failed has not fallen
    over_classes = skewed_rows("classes", FALL_RARE)
    fewest_dimensions, most_dimensions = over_classes["dimension"].min(), over_classes["dimension"].max()
    shares = over_classes.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales = over_classes[over_classes["dimension"] == most_dimensions]["scale"]
    smallest_scale, largest_scale = scales.min(), scales.max()

    def where_most_fall(scale: float) -> str:
        """Return the least ratio of sizes at which most draws of the most dimensions fall, in words, from one scale."""
        by_ratio = shares[scale, most_dimensions]  # indexed by the ratio
        least_ratio = min(by_ratio.index[by_ratio > 0.5], default=np.nan)  # most: more than half
        if np.isnan(least_ratio):
            return "most draws fall at no ratio that was tried"
        in_fewest = clause_of(
            "; in {:d} dimensions {:.0%}",
            fewest_dimensions,
            shares.get((scale, fewest_dimensions, least_ratio), np.nan),
        )
        shares_there = f"({by_ratio[least_ratio]:.0%}{in_fewest})"
        return f"the least ratio at which most draws fall is {least_ratio:.0f} : 1 {shares_there}"

    rows_while_rare = _skewed_small_starts(one_frequent, population, FALL_RARE, threshold, small_scale)
    shares_while_rare = rows_while_rare.groupby("dimension")["fallen"].mean()
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        exceptions=one_in(exceptions),
        with_both=share_true(with_both),
        in_three=share_true(falls_in[3]),
        while_rare_in_two=shares_while_rare[2],
        while_rare_in_three=shares_while_rare[3],
        while_rare_in_four=shares_while_rare[4],
        one_rare_in_two=share_true(with_one_rare),
        one_rare_in_three=share_true(with_one_rare_in_three),
        share_at_powers=share_true(falls_at_powers),
        share_over_classes=over_classes[over_classes["dimension"] > fewest_dimensions]["fallen"].mean(),
        most_dimensions=most_dimensions,
        smallest_scale=smallest_scale,
        largest_scale=largest_scale,
        where_most_fall=where_most_fall(smallest_scale),
        where_most_fall_at_largest_scale=where_most_fall(largest_scale),
    )
