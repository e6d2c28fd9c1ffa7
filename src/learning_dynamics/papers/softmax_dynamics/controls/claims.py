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
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise; far above the
#   integrator's error and below the changes that a figure would show
# - small_scale: largest initialisation scale of starts that are judged, whose predictions are near uniform
# - majority_share: least share of draws that makes "most"
# - warm_up: which fall of the rank is the warm-up: one to its trough, or one before any rise
# - exceptions: largest share of draws that may break an "only" or "always"

WarmUp = Literal["to the trough", "first"]

FROM_SMALL_STARTS = "gradient flow from small starts, balanced and Gaussian"


def _monotone_growth(
    control: Grid,
    with_all_three: Grid,
    *,
    measure: str,
    threshold: float,
    small_scale: float,
    majority_share: float,
    warm_up: WarmUp,
) -> Claim:
    """Yield the check that in most draws from small starts the rank falls, then grows without a fall and saturates.

    One draw must do all of it. The rank is one of `measure`; it falls or rises where it changes by the threshold or
    more. The warm-up is a fall to the trough, as `falls.three_phases` has it, or one before any rise (``first``).
    Starts are small up to `small_scale`; "most" draws are `majority_share` of them. `control` lacks skew, the
    bottleneck or cross-entropy; `with_all_three` gives a number of the text, and no check.
    """
    starts = SmallStarts(control.scale, small_scale)

    def number(quantity: Quantity, **where: float) -> np.ndarray:
        """Return a quantity of the judged draws, shape (draws,); give `threshold=` where it depends on one."""
        return control.number(quantity, measure=measure, **where)[starts.judged]

    if warm_up == "first":
        # courses are strings of F (fall) and R (rise): it must begin with a fall
        warms_up = control.courses(measure, threshold)[starts.judged].str.startswith("F", na=False).to_numpy()
    else:
        warms_up = number(WARM_UP) >= threshold  # from its highest before the trough to the trough
    rises = number(GROWTH) >= threshold  # from the trough to its highest later
    # the deepest fall after a rise, since the trough; 0 for none, nan where the flow failed
    deepest_fall = number(FALL, threshold=threshold)
    late_change = number(TAIL)  # over the last half decade of time
    never_falls, saturates = deepest_fall < threshold, np.abs(late_change) < threshold
    grows = rises & never_falls & saturates
    # By rival, the draws that take its course: one part of the claim's is missing, and the others are there. If most
    # draws took such a course, the claim would fail and this rival hold, which says what is wrong
    other_courses = {
        "such a growth from the start, without a warm-up": ~warms_up & grows,
        "a growth that falls again": warms_up & rises & ~never_falls & saturates,
        "a growth that goes on to the end": warms_up & rises & never_falls & ~saturates,
    }
    yield most_draws(
        "share of draws with a warm-up, then a growth of the rank without a fall, which saturates",
        unless_nan(warms_up & grows, deepest_fall, late_change),
        majority_share=majority_share,
        excluded=starts.excluded,
        rivals={phrase: unless_nan(takes, deepest_fall, late_change) for phrase, takes in other_courses.items()},
    )
    is_small = SmallStarts(with_all_three.scale, small_scale).judged
    fall_with_all_three = with_all_three.number(FALL, measure=measure, threshold=threshold)[is_small]
    fall_while_rare = number(FALL_RARE, threshold=threshold)
    has_failed = np.isnan(deepest_fall)
    yield Facts(
        small_scale=small_scale,
        threshold=threshold,
        majority=majority_share,
        warm=np.mean(warms_up[~has_failed]),
        rises=np.mean(rises[~has_failed]),
        never=np.mean(never_falls[~has_failed]),
        saturates=np.mean(saturates[~has_failed]),
        never_with_all_three=np.mean(fall_with_all_three[~np.isnan(fall_with_all_three)] < threshold),
        falls_while_rare=np.mean(fall_while_rare[~np.isnan(fall_while_rare)] >= threshold),
    )


def _require(setting: str, value: object, **tables: Table) -> None:
    """Refuse tables, by role, with another value of a setting: they have been given to the wrong roles."""
    for role, table in tables.items():
        if settings_of(table)[setting] != value:
            raise ProjectError(f"role `{role}`: {setting} is {settings_of(table)[setting]}, and must be {value}")


@claim(
    "Section 3.3 and Figure 12, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, cross-entropy, {FROM_SMALL_STARTS}",
    empirical=True,
    quantifier="most draws",
)
def controls_uniform(
    control: Table,
    with_all_three: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    majority_share: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Without class skew, from small starts, the warm-up is followed by a monotone, saturating growth of the effective
    rank.

    Starts are small up to scale {small_scale:g}. The rank is RankMe of the covariance about the mean. A fall or a rise
    counts from {threshold:g} on. A draw agrees if its rank does four things. It falls to the trough, its lowest value
    until the first class is learned ({warm:.0%} of the draws). It rises from there ({rises:.0%}). It does not fall
    after a rise ({never:.1%}, with draws that never rise). Over the last half decade of time (a factor of √10) it
    changes by less than {threshold:g} ({saturates:.0%}). The 95 % interval of the share that agrees must not reach
    below {majority:.0%}; the share is {value:.1%}. With skew, a bottleneck and cross-entropy the rank does not fall
    after a rise in {never_with_all_three:.1%}. Of the draws without skew {falls_while_rare:.1%} fall while classes are
    learned. The difference of the two cases is another claim, `controls_differ`.
    """
    _require("loss", "cross_entropy", control=control, with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _monotone_growth(
        Grid(control, skewed=False),
        Grid(with_all_three, skewed=True),
        measure=measure,
        threshold=threshold,
        small_scale=small_scale,
        majority_share=majority_share,
        warm_up=warm_up,
    )


@claim(
    "Section 3.3 and Figure 12, no bottleneck",
    scope=f"skewed classes of 8 examples, V = 4, d = 3, cross-entropy, {FROM_SMALL_STARTS}",
    empirical=True,
    quantifier="most draws",
)
def controls_no_bottleneck(
    control: Table,
    with_all_three: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    majority_share: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Without a bottleneck, from small starts, the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    Section 3.3 calls $d < V$ a bottleneck; Figure 12 takes $d = 3$ at $V = 4$ for none. (Our reason: one number added
    to all logits changes no probability, so that $V - 1$ dimensions suffice.) The paper draws one run; here most draws
    must agree. Starts are small up to scale {small_scale:g}. The rank is RankMe of the covariance about the mean. A
    fall or a rise counts from {threshold:g} on. A draw agrees if its rank does four things. It falls to the trough, its
    lowest value until the first class is learned ({warm:.0%} of the draws). It rises from there ({rises:.0%}). It does
    not fall after a rise ({never:.1%}, with draws that never rise). Over the last half decade of time (a factor of √10)
    it changes by less than {threshold:g} ({saturates:.0%}). The 95 % interval of the share that agrees must not reach
    below {majority:.0%}; the share is {value:.1%}. With skew, a bottleneck and cross-entropy the rank does not fall
    after a rise in {never_with_all_three:.1%}. Of the draws without a bottleneck {falls_while_rare:.1%} fall while the
    rarest classes are learned. The difference of the two cases is another claim, `controls_differ`.
    """
    _require("loss", "cross_entropy", control=control, with_all_three=with_all_three)
    # V - 1 for V = 4: adding one number to all logits changes no probability, so that three dimensions are no
    # bottleneck
    _require("dimension", 3, control=control)
    _require("dimension", 2, with_all_three=with_all_three)
    return _monotone_growth(
        Grid(control, skewed=True),
        Grid(with_all_three, skewed=True),
        measure=measure,
        threshold=threshold,
        small_scale=small_scale,
        majority_share=majority_share,
        warm_up=warm_up,
    )


@claim(
    "Section 3.3 and Figure 13, squared loss",
    scope=f"skewed classes of 8 examples, V = 4, d = 2, squared loss, {FROM_SMALL_STARTS}",
    empirical=True,
    quantifier="most draws",
)
def controls_squared_loss(
    control: Table,
    with_all_three: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    majority_share: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Under the squared loss with skewed classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Starts are small up to scale {small_scale:g}. The rank is RankMe of the covariance about the mean. A fall or a rise
    counts from {threshold:g} on. A draw agrees if its rank does four things. It falls to the trough, its lowest value
    until the first class is learned ({warm:.0%} of the draws). It rises from there ({rises:.0%}). It does not fall
    after a rise ({never:.1%}, with draws that never rise). Over the last half decade of time (a factor of √10) it
    changes by less than {threshold:g} ({saturates:.0%}). The 95 % interval of the share that agrees must not reach
    below {majority:.0%}; the share is {value:.1%}. With skew, a bottleneck and cross-entropy the rank does not fall
    after a rise in {never_with_all_three:.1%}. Of the draws under the squared loss {falls_while_rare:.1%} fall while
    the rarest classes are learned. How soon the rank saturates, which is quickly in the paper's figure, is not judged.
    The difference of the two cases is another claim, `controls_differ_squared_loss`.
    """
    _require("loss", "squared", control=control)
    _require("loss", "cross_entropy", with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _monotone_growth(
        Grid(control, skewed=True),
        Grid(with_all_three, skewed=True),
        measure=measure,
        threshold=threshold,
        small_scale=small_scale,
        majority_share=majority_share,
        warm_up=warm_up,
    )


@claim(
    "Section 3.3 and Figure 13, squared loss, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, squared loss, {FROM_SMALL_STARTS}",
    empirical=True,
    quantifier="most draws",
)
def controls_squared_loss_uniform(
    control: Table,
    with_all_three: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    majority_share: Fraction,
    warm_up: WarmUp,
) -> Claim:
    """Under the squared loss with equal classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Starts are small up to scale {small_scale:g}. The rank is RankMe of the covariance about the mean. A fall or a rise
    counts from {threshold:g} on. A draw agrees if its rank does four things. It falls to the trough, its lowest value
    until the first class is learned ({warm:.0%} of the draws). It rises from there ({rises:.0%}). It does not fall
    after a rise ({never:.1%}, with draws that never rise). Over the last half decade of time (a factor of √10) it
    changes by less than {threshold:g} ({saturates:.0%}). The 95 % interval of the share that agrees must not reach
    below {majority:.0%}; the share is {value:.1%}. With skew, a bottleneck and cross-entropy the rank does not fall
    after a rise in {never_with_all_three:.1%}. Of the draws of this control {falls_while_rare:.1%} fall while classes
    are learned. The difference of the two cases is another claim, `controls_differ_squared_loss`.
    """
    _require("loss", "squared", control=control)
    _require("loss", "cross_entropy", with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _monotone_growth(
        Grid(control, skewed=False),
        Grid(with_all_three, skewed=True),
        measure=measure,
        threshold=threshold,
        small_scale=small_scale,
        majority_share=majority_share,
        warm_up=warm_up,
    )


def _falls_after_growth(grid: Grid, *, measure: str, threshold: float, small_scale: float) -> pd.Series:
    """Return whether the rank of each draw from a small start falls after its growth; of a failed flow it does not.

    The index has the draw's counts, kind of start, scale and seed.
    """
    fallen = grid.number(FALL, measure=measure, threshold=threshold) >= threshold
    by_draw = pd.Series(fallen, pd.MultiIndex.from_frame(grid.members))
    return by_draw[SmallStarts(grid.scale, small_scale).judged]


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
        because="falls are rarer without what they need",
        rivals={"falls are more frequent with the change, not rarer": {"estimate": -excess}},
    )


@claim(
    "Section 3.3 and Figure 12, the contrast",
    scope=f"8 examples, V = 4, cross-entropy, {FROM_SMALL_STARTS}; the rank over all examples",
    empirical=True,
    quantifier="an average",
)
def controls_differ(
    narrow: Table, wide: Table, *, measure: Measure, threshold: Positive, small_scale: Positive
) -> Claim:
    """Under cross-entropy, from small starts, the effective rank falls after its growth more often with skewed classes
    and a bottleneck than without one of them.

    The paper draws one run of each case, which we read as rarer falls without skew or bottleneck. A fall is one of
    {threshold:g} or more, after as large a rise since the trough of the warm-up. The rank falls in {with_both:.1%} of
    the draws with both, in {equal:.1%} with equal classes and in {wide:.1%} without a bottleneck; a flow that failed
    counts as no fall. Starts up to scale {small_scale:g} are judged. The rank is over all examples, of class sizes from
    3, 2, 2, 1 to 5, 1, 1, 1. Class means and larger skews are other claims, `skew_is_necessary` and
    `bottleneck_is_necessary`.
    """
    _require("loss", "cross_entropy", narrow=narrow, wide=wide)
    ascending("dimension", narrow=narrow, wide=wide)
    settings: dict[str, Any] = {"measure": measure, "threshold": threshold, "small_scale": small_scale}
    with_both = _falls_after_growth(Grid(narrow, skewed=True), **settings)
    equal_classes = _falls_after_growth(Grid(narrow, skewed=False), **settings)
    no_bottleneck = _falls_after_growth(Grid(wide, skewed=True), **settings)
    # other classes, or another dimension, have other starts: the shares are independent
    yield _more_falls("equal classes", share_difference(with_both, equal_classes))
    yield _more_falls("no bottleneck", share_difference(with_both, no_bottleneck))
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        with_both=with_both.mean(),
        equal=equal_classes.mean(),
        wide=no_bottleneck.mean(),
    )


@claim(
    "Section 3.3 and Figure 13, the contrast",
    scope=f"8 examples, V = 4, d = 2, {FROM_SMALL_STARTS}; the rank over all examples",
    empirical=True,
    quantifier="an average",
)
def controls_differ_squared_loss(
    cross_entropy: Table, squared: Table, *, measure: Measure, threshold: Positive, small_scale: Positive
) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the effective rank falls after its growth more often
    under cross-entropy than under the squared loss, both with the same skewed classes and with equal ones.

    The paper draws one run of each case, which we read as rarer falls under the squared loss. A fall is one of
    {threshold:g} or more, after as large a rise since the trough of the warm-up. The rank falls in {cross_entropy:.1%}
    of the draws under cross-entropy, in {squared:.1%} under the squared loss and in {squared_equal:.1%} under the
    squared loss with equal classes; a flow that failed counts as no fall. Starts up to scale {small_scale:g} are
    judged. The rank is over all examples, of class sizes from 3, 2, 2, 1 to 5, 1, 1, 1.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy)
    _require("loss", "squared", squared=squared)
    _require("dimension", 2, cross_entropy=cross_entropy, squared=squared)
    settings: dict[str, Any] = {"measure": measure, "threshold": threshold, "small_scale": small_scale}
    with_all_three = _falls_after_growth(Grid(cross_entropy, skewed=True), **settings)
    skewed = _falls_after_growth(Grid(squared, skewed=True), **settings)
    equal = _falls_after_growth(Grid(squared, skewed=False), **settings)
    # with the same classes both losses have the same starts, so that draws are paired; equal classes have other starts
    yield _more_falls("the squared loss", _paired_difference(with_all_three, skewed))
    yield _more_falls("the squared loss and equal classes", share_difference(with_all_three, equal))
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        cross_entropy=with_all_three.mean(),
        squared=skewed.mean(),
        squared_equal=equal.mean(),
    )


@claim(
    "Section 3.3 and Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged; balanced and Gaussian starts of "
    "four scales",
    empirical=True,
    quantifier="most draws",
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table, *, exceptions: Fraction) -> Claim:
    """Under the squared loss with skewed classes and a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at a best approximation of rank two of the labels. It has the two most frequent classes or,
    where several share the second place, the most frequent one and a mixture of these. A draw counts if some classes
    are learned and some are not, and if no learned class is rarer than one that is not learned. Under cross-entropy all
    classes are learned in {all_learned:.0%} of the draws.
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
        because="draws cannot show that something always happens; one in twenty may differ",
        rivals={
            "only the rarest classes are learned": {"holds": only_the("rarest", squared)},
            "cross-entropy instead of the squared loss": {"holds": only_the("most frequent", cross_entropy)},
        },
    )
    final = Grid(cross_entropy, skewed=True).entries(FINAL)
    yield Facts(all_learned=np.mean((final > LEARNED).all(axis=1)))
