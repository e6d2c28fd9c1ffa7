"""That the three phases emerge, over all inputs and over the means of classes.

The three phases are a fall of the effective rank to its trough, the lowest value until the first class is learned, then
a rise, and a fall while the rarest classes are learned. The rank is of the features, by default RankMe: the exponential
of the entropy of the eigenvalues of their covariance about the mean. Its population is all examples (inputs), or the
means of classes, each counted once; columns call these populations `examples` and `classes`. V is the number of
classes, d the dimension of the features. Cases are skewed classes in two dimensions (treated), equal classes (equal)
and three dimensions (wide).
"""

import numpy as np
import pandas as pd

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import Check, Claim, Facts, at_least, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.draws import (
    clause_of,
    fall_rows,
    most_draws,
    narrowest,
    one_in,
    share_difference,
    share_true,
)
from learning_dynamics.papers.softmax_dynamics.falls import END, PEAK, PHASES
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml:
# - threshold, of both: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise; far
#   above the integrator's error and below the changes that a figure would show
# - emerging_share, of `three_phases_exist`: least share of draws that show the phases if they "can emerge": one start
#   in five, so that somebody who tries a handful sees them; chosen, `vary` in the configuration tries others
# - measure, of `three_phases_over_classes`: which effective rank is judged: RankMe about the mean (rankme_centred, the
#   paper's) or about zero (rankme), or Roy and Vetterli's of singular values (effective_rank)
# - majority_share, of `three_phases_over_classes`: least share of draws that makes "most"

# Roles of tables: `descents` has every setting that was tried; `best` more draws of the one that was chosen by them,
# the first of which are those of `descents`; `region` gradient flow from sizes in powers of a ratio.

# columns that tell the settings of full-batch descent apart
SETTING = ["counts", "scale", "learning_rate"]


@claim(
    "Abstract and section 3.3, three phases",
    scope="four classes of up to 85 examples, V = 4, d = 2; equal classes; d = 3; cross-entropy, full-batch gradient "
    "descent from Gaussian starts at learning rates of a tenth to 1.6, and gradient flow; RankMe as in section 2.1, "
    "over all inputs",
    empirical=True,
    quantifier="some setting",
)
def three_phases_exist(
    descents: Table, best: Table, region: Table, *, threshold: Positive, emerging_share: Fraction
) -> Claim:
    """Under cross-entropy and gradient descent three phases can emerge with skewed classes and a bottleneck: the
    effective rank falls, rises, and falls again while the rare classes are learned.

    The rank is the paper's own, RankMe over all inputs; a fall or a rise counts from {threshold:g} on. "Can emerge" is
    read as: in some setting {emerging} starts or more show the phases, so that somebody who tries a handful of starts
    sees them. Besides, a smaller share of the draws shows them with equal classes, and a smaller share in three
    dimensions. The paper states neither learning rate nor sizes: {settings_tried} settings of sizes, scale and learning
    rate were tried. One is judged, on draws that did not choose it: {setting}. {value:.0%} of its draws show the
    phases, where a draw that has not learned its examples, or has exploded on the way, shows none. Of the draws that
    have learned {learned:.0%} show them, with equal classes {equal:.0%}, in three dimensions {wide:.0%}. A setting
    exceeds its controls by its share of draws with the phases, less the larger share of the two controls. The judged
    setting is number {place} of all settings by this excess, on the draws with which all were tried.

    Other settings show whether the phases need large steps. At the smallest learning rate, {smallest_rate:g}, which
    follows the flow, no setting shows the phases in more than {largest_share_at_smallest_rate:.1%} of the draws. Under
    gradient flow no sizes in powers of a ratio show them in more than {largest_share_under_flow:.0%}. At
    {most_skewed_sizes} they show in at most {largest_share_at_most_skewed:.1%} of the draws, whatever the rate and
    scale.{lasting_falls} Where one class is frequent and the others are rare, or one is rare, gradient flow is judged
    by `three_phases_under_flow`. The rank over the means of classes is judged by `three_phases_over_classes`.
    """
    # The setting was chosen by seeds of `descents`. Equal seeds are equal starts, whatever the run: these seeds are
    # left out, so that what is judged does not depend on the choice.
    has_chosen = best["seed"].isin(descents["seed"].unique())
    excluded = {"seeds with which all settings were tried": best["seed"][has_chosen].nunique()}
    judged_draws = draws_by_case(best[~has_chosen], threshold)  # by case, a row for each draw
    # 1 where a draw shows the phases, 0 where it does not, nan where it has not learned
    shows = {case: draws["shows"].to_numpy() for case, draws in judged_draws.items()}
    # Draws that have not learned, nan, count against the claim in the headline. The differences leave them out: a
    # control in which fewer draws learn would otherwise show fewer phases for that reason alone.
    shows_if_learned = {case: flags[~np.isnan(flags)] for case, flags in shows.items()}

    def excess(case: str, other_case: str) -> Estimate:
        """Return by how much more often a case shows the phases than another, of the draws that have learned.

        Starts of different cases are independent.
        """
        first, second = shows_if_learned[case], shows_if_learned[other_case]
        if not (first.size and second.size):
            # nothing is known of the difference but that it is one of shares, from -1 to 1
            return Estimate(value=np.nan, lower=-1.0, upper=1.0, draws=0, how="no draw has learned")
        return share_difference(first == 1, second == 1)

    # Phrases of rivals. Each exchanges skewed classes in two dimensions with one of the controls, in all three checks,
    # and is refused if one of these does not hold. In the check of the other control a control then exceeds a control.
    equal_instead, wide_instead = "equal classes instead of skewed ones", "three dimensions instead of two"
    yield share_of_draws(
        "share of draws with warm-up, growth and compression, in this order",
        shows["treated"],
        at_least=emerging_share,
        because=f"{one_in(emerging_share)} starts",
        excluded=excluded,
        rivals={equal_instead: {"holds": shows["equal"]}, wide_instead: {"holds": shows["wide"]}},
    )
    yield at_least(
        "share of draws that show the phases, minus that with equal classes",
        excess("treated", "equal"),
        0.0,
        because="what emerges from skew is rarer without it",
        rivals={
            equal_instead: {"estimate": excess("equal", "treated")},
            wide_instead: {"estimate": excess("wide", "equal")},
        },
    )
    yield at_least(
        "share of draws that show the phases, minus that in three dimensions",
        excess("treated", "wide"),
        0.0,
        because="what emerges from a bottleneck is rarer without it",
        rivals={
            equal_instead: {"estimate": excess("equal", "wide")},
            wide_instead: {"estimate": excess("wide", "treated")},
        },
    )
    # facts of all settings that were tried, whose shares are indexed by setting
    tried_draws = draws_by_case(descents, threshold)
    shares, shares_of_equal, shares_of_wide = (
        _share_by_setting(tried_draws[case]) for case in ("treated", "equal", "wide")
    )
    excesses = shares - pd.concat([shares_of_equal, shares_of_wide], axis=1).max(axis=1)
    largest_share_by_rate = shares.groupby("learning_rate").max()  # over sizes and scales
    smallest_rate = largest_share_by_rate.index.min()
    most_skewed = max(tried_draws["treated"]["counts"].unique(), key=ratio)
    draws_with_phases = judged_draws["treated"][judged_draws["treated"]["shows"] == 1]
    (setting,) = _share_by_setting(judged_draws["treated"]).index  # all judged draws have one setting
    counts, scale, rate = setting
    yield Facts(
        threshold=threshold,
        emerging=one_in(emerging_share),
        settings_tried=len(shares),
        place=int((excesses > excesses.get(setting, np.nan)).sum()) + 1,
        setting=f"sizes {counts.replace('-', ' : ')}, scale {scale:g} and rate {rate:g}",
        learned=_mean_or_nan(shows_if_learned["treated"]),
        equal=_mean_or_nan(shows_if_learned["equal"]),
        wide=_mean_or_nan(shows_if_learned["wide"]),
        smallest_rate=smallest_rate,
        largest_share_at_smallest_rate=largest_share_by_rate[smallest_rate],
        largest_share_under_flow=_share_by_setting(draws_by_case(region, threshold)["treated"]).max(),
        lasting_falls=clause_of(
            " Of the judged draws that show the phases {:.0%} end below their highest rank after the warm-up by "
            "{:g} or more; the fall of the others was an overshoot.",
            share_true(draws_with_phases["drop"] >= threshold),
            threshold,
        ),
        most_skewed_sizes=most_skewed.replace("-", " : "),
        largest_share_at_most_skewed=shares[most_skewed].max(),  # over scales and rates
    )


def draws_by_case(table: Table, threshold: float) -> dict[str, pd.DataFrame]:
    """Return the draws of flows or trainings by case: treated (skew and a bottleneck), equal, and wide (d = 3).

    Columns: counts, scale, learning_rate (0 of a flow) and seed; ratio, the largest class over the smallest; shows,
    whether the rank over all inputs shows the phases, nan where a training has not learned its examples; drop, by how
    much the rank ends below its highest. Equal classes are repeated for all sizes, whose control they are. By contrast
    `cases.case_draws` returns one case, in which a training that has not learned shows no phases.
    """
    keys = ["counts", "dimension", "scale", "learning_rate", "seed"]

    def by_draw(quantity: Quantity, population: str, at: float) -> pd.Series:
        """Return a quantity at a threshold, 0 for what needs none, indexed by the keys."""
        rows = select(table, quantity, population=population, threshold=at)
        rows = rows.assign(learning_rate=rows.get("learning_rate", 0.0))
        return rows.set_index(keys)["value"]

    draws = by_draw(PHASES, "examples", threshold).rename("shows").to_frame()
    draws["drop"] = by_draw(PEAK, "examples", 0.0) - by_draw(END, "examples", 0.0)
    if "learning_rate" in table:
        draws["shows"] = draws["shows"].where(by_draw(HAS_LEARNED, "", 0.0) == 1)
    draws = draws.reset_index()
    draws = draws.assign(ratio=draws["counts"].map(ratio))
    is_skewed, is_narrow = draws["ratio"] > 1, draws["dimension"] == draws["dimension"].min()
    # equal classes are repeated under the name of each of the skewed sizes
    equal = draws[~is_skewed & is_narrow].drop(columns="counts")
    skewed_sizes = draws[is_skewed][["counts"]].drop_duplicates()
    # three dimensions are the paper's control without a bottleneck for four classes
    wide = draws[is_skewed & ~is_narrow & (draws["dimension"] == 3)]
    return {
        "treated": draws[is_skewed & is_narrow],
        "equal": equal.merge(skewed_sizes, how="cross"),
        "wide": wide,
    }


def _mean_or_nan(flags: np.ndarray) -> float:
    """Return the share of flags that are 1; nan where there are none. No flag is nan, as one of `share_true` may be."""
    return float(np.mean(flags)) if flags.size else np.nan


def _share_by_setting(draws: pd.DataFrame) -> pd.Series:
    """Return the share of all draws that show the phases, by setting; those that have not learned, nan, show none."""
    return (draws["shows"] == 1).groupby([draws[name] for name in SETTING]).mean()


@claim(
    "Section 3.3, three phases over class means",
    scope="64, 16, 4 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from balanced and "
    "Gaussian starts of scale 1e-3",
    origin="ours",
    empirical=True,
    quantifier="most draws",
)
def three_phases_over_classes(
    grid: Table, region: Table, *, measure: Measure, threshold: Positive, majority_share: Fraction
) -> Claim:
    """At class sizes 64, 16, 4 and 1, in two dimensions and from starts of scale $10^{-3}$, RankMe of the means of
    classes falls, rises, and falls again while the rare classes are learned.

    A draw counts if it shows a fall, a rise and a fall in this order, each of {threshold:g} or more; most draws must.
    RankMe is the exponential of the entropy of the eigenvalues of a covariance, here of the classes' mean features.
    {value:.0%} of the draws show them at scale {smallest_scale:g}, {share_at_largest_scale:.0%} at scale
    {largest_scale:g}. Over all examples, of which the rarest class has one in 85, {share_over_examples:.0%} do at scale
    {smallest_scale:g}. The setting is one of a region. With sizes in powers of a ratio, up to 16 rows of features a
    class and starts of scale {smallest_scale:g}, {where_most_show} Far smaller starts need a larger skew (errata 6).
    """
    draws = Grid(grid)
    scale, init = draws.scale, draws.members["init"].to_numpy()  # shape (draws,)
    # 1 where a draw shows the phases, 0 where it does not, nan where its flow failed
    over_examples = draws.number(PHASES, measure=MEASURES["examples"][measure], threshold=threshold)
    over_classes = draws.number(PHASES, measure=MEASURES["classes"][measure], threshold=threshold)

    def check_of_phases(name: str, judged: np.ndarray) -> Check:
        """Check that most of the draws that the mask `judged` selects show the phases."""
        # other data of the same draws; it alters all checks of this claim
        rivals = {"the rank over all examples": over_examples[judged]}
        return most_draws(name, over_classes[judged], majority_share=majority_share, rivals=rivals)

    is_small = scale == scale.min()
    yield check_of_phases("share of draws with warm-up, growth and compression, in this order", is_small)
    for kind in np.unique(init):
        name = f"share of draws with all three phases, from {kind.capitalize()} starts"
        yield check_of_phases(name, is_small & (init == kind))

    rows = narrowest(fall_rows(region, PHASES, "classes", threshold))
    rows = rows[rows["scale"] == scale.min()]
    yield Facts(
        threshold=threshold,
        smallest_scale=scale.min(),
        largest_scale=scale.max(),
        share_at_largest_scale=share_true(over_classes[scale == scale.max()]),
        share_over_examples=share_true(over_examples[is_small]),
        where_most_show=_where_most_show((rows["value"] == 1).groupby(rows["ratio"]).mean()),
    )


def _where_most_show(shares: pd.Series) -> str:
    """Return, in words, at which ratios of sizes most draws show the phases.

    `shares` are those of the draws that show them, by the ratio of the largest class to the smallest, ascending.
    """
    # ratios from which on most draws, more than half, show the phases at every ratio tried
    enough = [ratio_tried for ratio_tried in shares.index if (shares.loc[ratio_tried:] > 0.5).all()]
    if not enough:
        return "fewer than most draws show the phases at the largest ratio that was tried."
    least = min(enough)
    smaller = shares[shares.index < least]
    next_smaller = ""
    if len(smaller):
        next_ratio = smaller.index.max()
        next_smaller = f" At a ratio of {next_ratio:.0f} to 1 {smaller[next_ratio]:.0%} do."
    return (
        f"most draws show the phases if the largest class has {least:.0f} times as many examples as the smallest, or "
        f"more.{next_smaller}"
    )
