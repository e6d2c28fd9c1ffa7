"""What Figures 12 and 13 say without skew, without bottleneck, and under the squared loss."""

from typing import Any, Literal

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate, difference
from learning_dynamics.judging import Check, Claim, Facts, at_least, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import SmallStarts, most_draws, share_difference, unless_nan
from learning_dynamics.papers.softmax_dynamics.falls import FALL, FALL_RARE, GROWTH, LEARNED, WARM_UP
from learning_dynamics.papers.softmax_dynamics.grids import FINAL, TAIL, Grid
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, ascending, settings_of

# Settings of these claims, whose values stand in workflow/config/softmax_dynamics.yaml:
# - measure: which effective rank is judged, by its name in `spectra.RANKS`
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise
# - small: largest initialisation scale of starts that are judged, whose predictions are near uniform
# - typical: least share of draws that makes "most"
# - warm_up: which fall of the rank is the warm-up: one to its trough, or one before any rise
# - exceptions: largest share of draws that may break an "only" or "always"

WarmUp = Literal["to the trough", "first"]

SMALL = "gradient flow from small starts, balanced and Gaussian"


def _monotone_growth(
    control: Grid,
    treated: Grid,
    *,
    measure: str,
    threshold: float,
    small: float,
    typical: float,
    warm_up: WarmUp,
) -> Claim:
    """Yield the check that in most draws from small starts the rank falls, then grows without a fall and saturates.

    One draw must do all of it. The rank is one of `measure`; it falls or rises where it changes by the threshold or
    more. The warm-up is a fall to the trough, as `falls.three_phases` has it, or one before any rise (``first``).
    Starts are small up to the scale `small`; "most" draws are the share `typical`. `control` lacks skew, the bottleneck
    or cross-entropy; `treated` has all three, and gives a number of the text, and no check.
    """
    starts = SmallStarts(control.scale, small)

    def number(quantity: Quantity, threshold: float = 0.0) -> np.ndarray:
        """Return a quantity of the judged draws; those that depend on no threshold have it as zero."""
        return control.number(quantity, measure=measure, threshold=threshold)[starts.judged]

    if warm_up == "first":
        # F is a fall: the course of such a draw begins with one
        warms_up = control.courses(measure, threshold)[starts.judged].str.startswith("F", na=False).to_numpy()
    else:
        warms_up = number(WARM_UP) >= threshold
    rises = number(GROWTH) >= threshold
    fall = number(FALL, threshold)  # the deepest after a rise, 0 where there is none, nan where the flow failed
    tail = number(TAIL)  # change over the last half decade of time
    never_falls, saturates = fall < threshold, np.abs(tail) < threshold
    grows = rises & never_falls & saturates
    yield most_draws(
        "share of draws with a warm-up, then a growth of the rank without a fall, which saturates",
        unless_nan(warms_up & grows, fall, tail),
        typical=typical,
        excluded=starts.excluded,
        rivals={"such a growth from the start, without a warm-up": unless_nan(~warms_up & grows, fall, tail)},
    )
    treated_judged = SmallStarts(treated.scale, small).judged
    fall_of_treated = treated.number(FALL, measure=measure, threshold=threshold)[treated_judged]
    fall_of_rare = number(FALL_RARE, threshold)
    has_failed = np.isnan(fall)
    yield Facts(
        warm=np.mean(warms_up[~has_failed]),
        rises=np.mean(rises[~has_failed]),
        never=np.mean(never_falls[~has_failed]),
        saturates=np.mean(saturates[~has_failed]),
        treated=np.mean(fall_of_treated[~np.isnan(fall_of_treated)] < threshold),
        rare=np.mean(fall_of_rare[~np.isnan(fall_of_rare)] >= threshold),
    )


def _require(setting: str, value: object, **tables: Table) -> None:
    """Refuse tables, by role, with another value of a setting: they have been given to the wrong roles."""
    for role, table in tables.items():
        if settings_of(table)[setting] != value:
            raise ProjectError(f"role `{role}`: {setting} is {settings_of(table)[setting]}, and must be {value}")


@claim(
    "Figure 12, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, cross-entropy, {SMALL}",
    empirical=True,
    quantifier="most draws",
)
def controls_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small: Positive,
    typical: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Without class skew, from small starts, the warm-up is followed by a monotone, saturating growth of the effective
    rank.

    Most draws must do all of this, and {value:.1%} do. The rank is RankMe of the covariance about the mean. It falls to
    its lowest value until the first class is learned, the warm-up's trough, in {warm:.0%}, and rises from there in
    {rises:.0%}. Once it has risen it does not fall in {never:.1%} of the draws, and with skew, a bottleneck and
    cross-entropy it does not in {treated:.1%}. It hardly changes over the last half decade of time in {saturates:.0%}.
    In {rare:.1%} it falls while classes are learned. Whether control and treated case differ is another claim,
    `controls_differ`.
    """
    _require("loss", "cross_entropy", control=control)
    return _monotone_growth(
        Grid(control, skewed=False),
        Grid(treated, skewed=True),
        measure=measure,
        threshold=threshold,
        small=small,
        typical=typical,
        warm_up=warm_up,
    )


@claim(
    "Figure 12, no bottleneck",
    scope=f"skewed classes of 8 examples, V = 4, d = 3, cross-entropy, {SMALL}",
    empirical=True,
    quantifier="most draws",
)
def controls_no_bottleneck(
    control: Table,
    treated: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small: Positive,
    typical: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Without a bottleneck, from small starts, the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    Most draws must do all of this, and {value:.1%} do. The rank is RankMe of the covariance about the mean. It falls to
    its lowest value until the first class is learned, the warm-up's trough, in {warm:.0%}, and rises from there in
    {rises:.0%}. Once it has risen it does not fall in {never:.1%} of the draws, and with skew, a bottleneck and
    cross-entropy it does not in {treated:.1%}. It hardly changes over the last half decade of time in {saturates:.0%}.
    In {rare:.1%} it falls while the rarest classes are learned.
    """
    _require("loss", "cross_entropy", control=control)
    # V - 1 for V = 4: logits do not change with their mean, so that three dimensions are no bottleneck
    _require("dimension", 3, control=control)
    return _monotone_growth(
        Grid(control, skewed=True),
        Grid(treated, skewed=True),
        measure=measure,
        threshold=threshold,
        small=small,
        typical=typical,
        warm_up=warm_up,
    )


@claim(
    "Figure 13, squared loss",
    scope=f"skewed classes of 8 examples, V = 4, d = 2, squared loss, {SMALL}",
    empirical=True,
    quantifier="most draws",
)
def controls_squared_loss(
    control: Table,
    treated: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small: Positive,
    typical: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Under the squared loss with skewed classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Most draws must do all of this, and {value:.1%} do. The rank is RankMe of the covariance about the mean. It falls to
    its lowest value until the first class is learned, the warm-up's trough, in {warm:.0%}, and rises from there in
    {rises:.0%}. Once it has risen it does not fall in {never:.1%} of the draws, and with skew, a bottleneck and
    cross-entropy it does not in {treated:.1%}. It hardly changes over the last half decade of time in {saturates:.0%}.
    In {rare:.1%} it falls while the rarest classes are learned.
    """
    _require("loss", "squared", control=control)
    return _monotone_growth(
        Grid(control, skewed=True),
        Grid(treated, skewed=True),
        measure=measure,
        threshold=threshold,
        small=small,
        typical=typical,
        warm_up=warm_up,
    )


@claim(
    "Figure 13, squared loss, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, squared loss, {SMALL}",
    empirical=True,
    quantifier="most draws",
)
def controls_squared_loss_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small: Positive,
    typical: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Under the squared loss with equal classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Most draws must do all of this, and {value:.1%} do. The rank is RankMe of the covariance about the mean. It falls to
    its lowest value until the first class is learned, the warm-up's trough, in {warm:.0%}, and rises from there in
    {rises:.0%}. Once it has risen it does not fall in {never:.1%} of the draws, and with skew, a bottleneck and
    cross-entropy it does not in {treated:.1%}. It hardly changes over the last half decade of time in {saturates:.0%}.
    In {rare:.1%} it falls while classes are learned.
    """
    _require("loss", "squared", control=control)
    return _monotone_growth(
        Grid(control, skewed=False),
        Grid(treated, skewed=True),
        measure=measure,
        threshold=threshold,
        small=small,
        typical=typical,
        warm_up=warm_up,
    )


def _falls_after_growth(grid: Grid, *, measure: str, threshold: float, small: float) -> pd.Series:
    """Return whether the rank of each draw from a small start falls after its growth; of a failed flow it does not.

    The index has the draw's counts, kind of start, scale and seed.
    """
    fallen = grid.number(FALL, measure=measure, threshold=threshold) >= threshold
    by_draw = pd.Series(fallen, pd.MultiIndex.from_frame(grid.members))
    return by_draw[SmallStarts(grid.scale, small).judged]


def _paired_difference(first: pd.Series, second: pd.Series) -> Estimate:
    """Return the difference of two shares of draws, paired by their index, over the draws that both have."""
    pairs = pd.concat([first, second], axis=1, join="inner", keys=["first", "second"])
    return difference(pairs["first"], pairs["second"])


def _more_falls(name: str, excess: Estimate) -> Check:
    """Check that more draws fall after growth than with one thing changed, which `name` says."""
    return at_least(
        f"share of draws that fall after growth, minus that with {name}",
        excess,
        0.0,
        because="what is needed for a fall shows in how often there is one",
        rivals={"fewer falls than without": {"estimate": -excess}},
    )


@claim(
    "Figure 12, the contrast",
    scope=f"8 examples, V = 4, cross-entropy, {SMALL}; the rank over all examples",
    empirical=True,
    quantifier="an average",
)
def controls_differ(
    treated: Table, no_bottleneck: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """Under cross-entropy, from small starts, the effective rank falls after its growth more often with skewed classes
    and a bottleneck than without one of them.

    It falls, at any time after the warm-up, in {treated:.1%} of the draws with both, in {equal:.1%} with equal classes
    and in {wide:.1%} without a bottleneck. The rank is over all examples, of classes as skewed as eight examples allow.
    Class means and larger skews are other claims, `skew_is_necessary` and `bottleneck_is_necessary`.
    """
    _require("loss", "cross_entropy", treated=treated, no_bottleneck=no_bottleneck)
    ascending("dimension", treated=treated, no_bottleneck=no_bottleneck)
    settings: dict[str, Any] = {"measure": measure, "threshold": threshold, "small": small}
    with_both = _falls_after_growth(Grid(treated, skewed=True), **settings)
    equal = _falls_after_growth(Grid(treated, skewed=False), **settings)
    wide = _falls_after_growth(Grid(no_bottleneck, skewed=True), **settings)
    # other classes, or another dimension, have other starts: the shares are independent
    yield _more_falls("equal classes", share_difference(with_both, equal))
    yield _more_falls("no bottleneck", share_difference(with_both, wide))
    yield Facts(treated=with_both.mean(), equal=equal.mean(), wide=wide.mean())


@claim(
    "Figure 13, the contrast",
    scope=f"8 examples, V = 4, d = 2, {SMALL}; the rank over all examples",
    empirical=True,
    quantifier="an average",
)
def controls_differ_squared_loss(
    treated: Table, squared: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the effective rank falls after its growth more often
    under cross-entropy than under the squared loss, with skewed classes or with equal ones.

    It falls, at any time after the warm-up, in {treated:.1%} of the draws under cross-entropy, in {squared:.1%} under
    the squared loss and in {squared_equal:.1%} under it with equal classes. The rank is over all examples, of classes
    as skewed as eight examples allow.
    """
    _require("loss", "cross_entropy", treated=treated)
    _require("loss", "squared", squared=squared)
    settings: dict[str, Any] = {"measure": measure, "threshold": threshold, "small": small}
    with_all = _falls_after_growth(Grid(treated, skewed=True), **settings)
    skewed = _falls_after_growth(Grid(squared, skewed=True), **settings)
    equal = _falls_after_growth(Grid(squared, skewed=False), **settings)
    # with the same classes both losses have the same starts, so that draws are paired; equal classes have other starts
    yield _more_falls("the squared loss", _paired_difference(with_all, skewed))
    yield _more_falls("the squared loss and equal classes", share_difference(with_all, equal))
    yield Facts(treated=with_all.mean(), squared=skewed.mean(), squared_equal=equal.mean())


@claim(
    "Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged; balanced and Gaussian starts of "
    "four scales",
    empirical=True,
    quantifier="most draws",
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table, *, exceptions: Fraction) -> Claim:
    """Under the squared loss with skewed classes and a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at a best approximation of rank two of the labels: the two most frequent classes, or, where
    the second place is shared, the most frequent one and a mixture of those that share it. A draw counts if some
    classes are learned and some are not, and if no learned class is rarer than one that is not learned. Under
    cross-entropy all classes are learned in {all_learned:.0%} of the draws.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy)
    _require("loss", "squared", squared=squared)

    def only_the(frequency: Literal["most frequent", "rarest"], table: Table) -> np.ndarray:
        """Return of each draw whether some classes are learned and some not, and the learned ones are the `frequency`.

        A class that is learned may be as large as one that is not. The array has shape (draws,); nan for a failed flow.
        """
        grid = Grid(table, skewed=True)
        final = grid.entries(FINAL)  # shape (draws, classes)
        learned = final > LEARNED
        # the larger, the earlier a class should be learned
        priority = grid.class_sizes if frequency == "most frequent" else -grid.class_sizes
        lowest_learned = np.where(learned, priority, np.inf).min(axis=1)
        highest_not_learned = np.where(learned, -np.inf, priority).max(axis=1)
        only_some = learned.any(axis=1) & ~learned.all(axis=1)
        return unless_nan(only_some & (lowest_learned >= highest_not_learned), *final.T)

    yield share_of_draws(
        "share of draws in which only the most frequent classes are learned",
        only_the("most frequent", squared),
        at_least=1 - exceptions,
        because="an always cannot be measured; one draw in twenty is let pass",
        rivals={
            "only the rarest classes": {"holds": only_the("rarest", squared)},
            "cross-entropy instead of the squared loss": {"holds": only_the("most frequent", cross_entropy)},
        },
    )
    final = Grid(cross_entropy, skewed=True).entries(FINAL)
    yield Facts(all_learned=np.mean((final > LEARNED).all(axis=1)))
