"""What Figures 12 and 13 say without skew, without bottleneck, and under the squared loss.

The toy has V classes, features f in d dimensions and a classifier W. Skew is class sizes that differ; d = 2 is a
bottleneck for V = 4, and d = 3, by Figure 12, is none. Balanced starts have f^T f = W W^T. The effective rank is of the
features, by default RankMe: the exponential of the entropy of the eigenvalues of their covariance. A class is learned
when the mean probability of its own class over its examples passes one half. The trough, where the rank is lowest until
the first class is learned, ends the warm-up. The rarest classes are learned from just before the first of them passes
the probability `lower` to where all have passed `upper`, settings of the runs' metrics; of equal classes all are
rarest.

Every check takes `rivals` besides its own parameters (`judging.takes_rivals`). Those of this module are other data:
what the check would get if the rival were right.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate, difference
from learning_dynamics.judging import Check, Claim, Facts, at_least, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    SmallStarts,
    most_draws,
    one_in,
    premise_of_falls,
    share_difference,
    share_true,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.falls import (
    FALL,
    FALL_RARE,
    GROWTH,
    LEARNED,
    PHASES,
    PHASES_SINCE,
    WARM_UP,
)
from learning_dynamics.papers.softmax_dynamics.grids import FINAL, TAIL, Grid
from learning_dynamics.papers.softmax_dynamics.population.regions import small_starts
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml. The controls are the first four
# claims, the contrasts `controls_differ` and `controls_differ_squared_loss`:
# - threshold, of both: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise; far
#   above the integrator's error and below the changes that a figure would show
# - small_scale, of both: largest initialisation scale of starts that are judged, whose predictions are near uniform
# - measure, of the controls and of `controls_differ_squared_loss`: which effective rank is judged: RankMe about the
#   mean (rankme_centred, the paper's) or about zero (rankme), or Roy and Vetterli's of singular values (effective_rank)
# - majority_share, of the controls: least share of draws that makes "most"
# - warm_up, of the controls: which fall of the rank is the warm-up: one to its trough, or one before any rise
# - within, of `controls_differ`: when the last fall of the three phases counts: while the rarest classes are learned
#   (phases), or from when they begin to be learned to the end (phases_since_rare)
# - premise_share, of the contrasts: least share of draws that fall, or show the phases, with nothing left out: one
#   start in five, so that somebody who tries a handful sees it; chosen, `vary` in the configuration tries others
# - exceptions, of `squared_loss_learns_frequent_classes`: largest share of draws in which other classes than the most
#   frequent may be learned; chosen: one in twenty

WarmUp = Literal["to the trough", "first"]
Phases = Literal["phases", "phases_since_rare"]  # the last fall while the rarest classes are learned, or later as well

FROM_SMALL_STARTS = "gradient flow from small starts, balanced and Gaussian"


def _checks_of_growth(
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

    A draw agrees only if its rank does all of this. The rank is that of `measure`; it falls or rises where it changes
    by `threshold` or more. The warm-up is the fall to the trough, or (``first``) a fall before any rise. Starts are
    small up to `small_scale`; "most" draws are `majority_share` of them. `control` has the flows without skew, without
    the bottleneck, or under the squared loss. `with_all_three` has those with skew, a bottleneck and cross-entropy, and
    gives one number of the text, but no check. The facts that are yielded fill the texts of the four claims that call
    this function. A flow that failed counts against the claim in the check; the facts leave it out.
    """
    starts = SmallStarts(control.scale, small_scale)

    def number(grid: Grid, quantity: Quantity, **where: float) -> np.ndarray:
        """Return a quantity of a grid's draws from small starts, shape (draws,); nan where the flow failed.

        Give `threshold=` for a quantity that is measured at several thresholds.
        """
        return grid.number(quantity, measure=measure, **where)[SmallStarts(grid.scale, small_scale).judged]

    # below, a comparison with nan is False, and its negation True; `unless_nan` makes both nan in the check
    if warm_up == "first":
        # courses are strings of F (fall) and R (rise): it must begin with a fall; that of a failed flow is missing
        warms_up = control.courses(measure, threshold)[starts.judged].str.startswith("F", na=False).to_numpy()
    else:
        warms_up = number(control, WARM_UP) >= threshold  # from its highest before the trough to the trough
    rises = number(control, GROWTH) >= threshold  # from the trough to its highest later
    # the deepest of the falls after a rise, since the trough, both by the threshold or more: 0 where there is none
    deepest_fall = number(control, FALL, threshold=threshold)
    never_falls = deepest_fall < threshold
    late_change = number(control, TAIL)  # over the last half decade of time, a factor of root ten
    saturates = np.abs(late_change) < threshold
    grows_and_saturates = rises & never_falls & saturates
    # By rival, whether a draw takes another course: it lacks one part of the claim's course, and has the others. A draw
    # takes at most one of these courses and the claim's. So a rival holds of most draws only where the claim does not.
    # The rival then says which part of the claim is wrong.
    other_courses = {
        "such a growth from the start, without a warm-up": ~warms_up & grows_and_saturates,
        "a growth that falls again": warms_up & rises & ~never_falls & saturates,
        "a growth that goes on to the end": warms_up & rises & never_falls & ~saturates,
    }
    yield most_draws(
        "share of draws with a warm-up, then a growth of the rank without a fall, which saturates",
        unless_nan(warms_up & grows_and_saturates, deepest_fall, late_change),
        majority_share=majority_share,
        excluded=starts.excluded,
        rivals={phrase: unless_nan(takes, deepest_fall, late_change) for phrase, takes in other_courses.items()},
    )
    # the part of such a fall that happens while the rarest classes are learned, which may be below the threshold
    fall_while_rare = number(control, FALL_RARE, threshold=threshold)
    fall_with_all_three = number(with_all_three, FALL, threshold=threshold)
    has_failed, has_failed_with_all_three = np.isnan(deepest_fall), np.isnan(fall_with_all_three)
    yield Facts(
        small_scale=small_scale,
        threshold=threshold,
        majority_share=majority_share,
        share_warming_up=np.mean(warms_up[~has_failed]),
        share_rising=np.mean(rises[~has_failed]),
        share_never_falling=np.mean(never_falls[~has_failed]),
        share_saturating=np.mean(saturates[~has_failed]),
        share_never_falling_with_all_three=np.mean(fall_with_all_three[~has_failed_with_all_three] < threshold),
        share_falling_while_rare=np.mean(fall_while_rare[~has_failed] >= threshold),
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

    The share of draws that agree is {value:.1%}; its 95 % interval must not reach below {majority_share:.0%}. A draw
    agrees if its rank does four things, of which the shares in brackets are of the flows that did not fail. It falls to
    the trough, its lowest value until the first class is learned ({share_warming_up:.0%}). It rises from there
    ({share_rising:.0%}). It does not fall after such a rise ({share_never_falling:.1%}; draws that never rise count
    among these). Over the last half decade of time (a factor of √10) it changes by less than a fall or a rise
    ({share_saturating:.0%}). A fall or a rise counts from {threshold:g} on; flows that failed count against the claim.
    Starts are small up to scale {small_scale:g}. The rank is RankMe, the exponential of the entropy of the eigenvalues
    of the features' covariance about the mean. With skew, a bottleneck and cross-entropy together the rank does not
    fall after a rise in {share_never_falling_with_all_three:.1%} of the flows. Of the flows without skew
    {share_falling_while_rare:.1%} fall by as much while classes are learned. Whether the three phases are rarer in this
    control is another claim, `controls_differ`.
    """
    _require("loss", "cross_entropy", control=control, with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _checks_of_growth(
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

    The share of draws that agree is {value:.1%}; its 95 % interval must not reach below {majority_share:.0%}. A draw
    agrees if its rank does four things, of which the shares in brackets are of the flows that did not fail. It falls to
    the trough, its lowest value until the first class is learned ({share_warming_up:.0%}). It rises from there
    ({share_rising:.0%}). It does not fall after such a rise ({share_never_falling:.1%}; draws that never rise count
    among these). Over the last half decade of time (a factor of √10) it changes by less than a fall or a rise
    ({share_saturating:.0%}). A fall or a rise counts from {threshold:g} on; flows that failed count against the claim.
    Starts are small up to scale {small_scale:g}. The rank is RankMe, the exponential of the entropy of the eigenvalues
    of the features' covariance about the mean. The paper draws one run; here most draws must agree. Section 3.3 calls
    $d < V$ a bottleneck, with $d$ feature dimensions and $V$ classes; but Figure 12 shows $d = 3$ at $V = 4$ as the
    case without one. (Our reason: one number added to all logits changes no probability, so that $V - 1$ dimensions
    suffice.) With skew, a bottleneck and cross-entropy together the rank does not fall after a rise in
    {share_never_falling_with_all_three:.1%} of the flows. Of the flows without a bottleneck
    {share_falling_while_rare:.1%} fall by as much while the rarest classes are learned. Whether the three phases are
    rarer in this control is another claim, `controls_differ`.
    """
    _require("loss", "cross_entropy", control=control, with_all_three=with_all_three)
    # V - 1 for V = 4: one number added to all logits changes no probability, so that three dimensions are no bottleneck
    _require("dimension", 3, control=control)
    _require("dimension", 2, with_all_three=with_all_three)
    return _checks_of_growth(
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

    The share of draws that agree is {value:.1%}; its 95 % interval must not reach below {majority_share:.0%}. A draw
    agrees if its rank does four things, of which the shares in brackets are of the flows that did not fail. It falls to
    the trough, its lowest value until the first class is learned, its mean output above one half
    ({share_warming_up:.0%}). It rises from there ({share_rising:.0%}). It does not fall after such a rise
    ({share_never_falling:.1%}; draws that never rise count among these). Over the last half decade of time (a factor of
    √10) it changes by less than a fall or a rise ({share_saturating:.0%}). A fall or a rise counts from {threshold:g}
    on; flows that failed count against the claim. Starts are small up to scale {small_scale:g}. The rank is RankMe, the
    exponential of the entropy of the eigenvalues of the features' covariance about the mean. With skew, a bottleneck
    and cross-entropy together the rank does not fall after a rise in {share_never_falling_with_all_three:.1%} of the
    flows. Of the flows under the squared loss {share_falling_while_rare:.1%} fall by as much while the rarest classes
    are learned. How soon the rank saturates, which is quickly in the paper's figure, is not judged. Whether the rank
    falls less often in this control is another claim, `controls_differ_squared_loss`.
    """
    _require("loss", "squared", control=control)
    _require("loss", "cross_entropy", with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _checks_of_growth(
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

    The share of draws that agree is {value:.1%}; its 95 % interval must not reach below {majority_share:.0%}. A draw
    agrees if its rank does four things, of which the shares in brackets are of the flows that did not fail. It falls to
    the trough, its lowest value until the first class is learned, its mean output above one half
    ({share_warming_up:.0%}). It rises from there ({share_rising:.0%}). It does not fall after such a rise
    ({share_never_falling:.1%}; draws that never rise count among these). Over the last half decade of time (a factor of
    √10) it changes by less than a fall or a rise ({share_saturating:.0%}). A fall or a rise counts from {threshold:g}
    on; flows that failed count against the claim. Starts are small up to scale {small_scale:g}. The rank is RankMe, the
    exponential of the entropy of the eigenvalues of the features' covariance about the mean. With skew, a bottleneck
    and cross-entropy together the rank does not fall after a rise in {share_never_falling_with_all_three:.1%} of the
    flows. Of the flows of this control {share_falling_while_rare:.1%} fall by as much while classes are learned.
    Whether the rank falls less often in this control is another claim, `controls_differ_squared_loss`.
    """
    _require("loss", "squared", control=control)
    _require("loss", "cross_entropy", with_all_three=with_all_three)
    _require("dimension", 2, control=control, with_all_three=with_all_three)
    return _checks_of_growth(
        Grid(control, skewed=False),
        Grid(with_all_three, skewed=True),
        measure=measure,
        threshold=threshold,
        small_scale=small_scale,
        majority_share=majority_share,
        warm_up=warm_up,
    )


# -- contrasts: a control compared with draws that have skew, a bottleneck and cross-entropy ---------------------------


def _grid_falls(grid: Grid, *, measure: str, threshold: float, small_scale: float) -> pd.Series:
    """Return of each draw from a small start whether its rank falls after a rise: 1 or 0, nan for a failed flow.

    Both are by the threshold or more, since the trough. Indexed by counts, init, scale and seed.
    """
    depth = grid.number(FALL, measure=measure, threshold=threshold)
    by_draw = pd.Series(unless_nan(depth >= threshold, depth), pd.MultiIndex.from_frame(grid.members))
    return by_draw[SmallStarts(grid.scale, small_scale).judged]


def _region_falls(region: Table, dimension: int, *, skewed: bool, threshold: float, small_scale: float) -> pd.Series:
    """Return what `_grid_falls` does, of a region, whose flows have few rows of features for a large class.

    Draws are those in one `dimension` from small starts: of all skewed sizes together, or of equal classes. Indexed by
    counts, scale and seed.
    """
    rows = small_starts(region, "examples", FALL, threshold=threshold, small_scale=small_scale)
    rows = rows[(rows["dimension"] == dimension) & (rows["skewed"] == skewed)]
    falls = unless_nan(rows["fallen"], rows["value"])
    return pd.Series(falls, pd.MultiIndex.from_frame(rows[["counts", "scale", "seed"]]))


def _excess(first: pd.Series, second: pd.Series) -> Estimate:
    """Return how much larger the share of draws that fall is in `first` than in `second`, of independent starts.

    Flows that failed, whose entries are nan, count against the difference: in `first` as 0, in `second` as 1.
    """
    return share_difference((first == 1).to_numpy(), (second != 0).to_numpy())


def _paired_excess(first: pd.Series, second: pd.Series) -> Estimate:
    """Return what `_excess` returns, for pairs of draws with the same start.

    A pair has the same index in both series; draws whose index is in one of them alone are left out.
    """
    pairs = pd.concat([first == 1, second != 0], axis=1, join="inner", keys=["first", "second"])
    return difference(pairs["first"], pairs["second"])


def _check_of_rarer_falls(change: str, excess: Estimate) -> Check:
    """Check that fewer draws fall after growth with something changed; `change` says what, in words.

    `excess` is the share of draws that fall without the change, minus that with it.
    """
    return at_least(
        f"share of draws that fall after growth, minus that with {change}",
        excess,
        0.0,
        because="falls are rarer without what they need",
        # the roles of the two shares exchanged
        rivals={"falls are more frequent with the change, not rarer": {"estimate": -excess}},
    )


@claim(
    "Section 3.3 and Figure 12, the contrast",
    scope="one class of 200 to 3000 examples, of 16 rows of features, and three of one, d = 2; four equal classes; "
    "d = 3 and 4; cross-entropy, gradient flow from small Gaussian starts; RankMe as in section 2.1, over all inputs",
    empirical=True,
    quantifier="an average",
)
def controls_differ(
    one_frequent: Table,
    narrow: Table,
    wide: Table,
    *,
    within: Phases,
    threshold: Positive,
    small_scale: Positive,
    premise_share: Fraction,
) -> Claim:
    """Under cross-entropy, from small starts, the three phases are more frequent with skewed classes and a bottleneck
    than without one of them.

    The share of draws that show the phases, less that of each control, must be above zero. By Figure 12, removing the
    skew or the bottleneck gets rid of the three phases; it draws one run of each case, which we read as rarer phases.
    The phases are a fall of the effective rank to its trough, the lowest value until the first class is learned, then a
    rise, and a fall while the rare classes are learned, each of {threshold:g} or more. Only sizes that show the phases
    can tell whether they are rarer in a control. These are the sizes with one frequent class, from {mildest_sizes} to
    {most_skewed_sizes}, all together. The phases show in {with_both:.0%} of the draws with skew and the bottleneck of
    two dimensions, with equal classes in {equal:.1%}, in three dimensions in {in_three:.0%} and in four in
    {in_four:.0%}. The verdict depends on when the third phase ends, which the paper does not say. If a fall after the
    rare classes are learned counts as well, the shares are {with_later_falls:.0%}, {equal_with_later_falls:.1%},
    {in_three_with_later_falls:.0%} and {in_four_with_later_falls:.0%}. At 33 : 33 : 33 : 1 the phases show in
    {one_rare:.1%} of the draws. If later falls count, they show in {one_rare_with_later_falls:.0%}, with equal classes
    in {one_rare_equal_with_later_falls:.1%} and in three dimensions in {one_rare_in_three_with_later_falls:.1%}. A flow
    that failed counts against the claim. Starts up to scale {small_scale:g} are judged. That the rank of a control
    never falls is what `controls_uniform` and `controls_no_bottleneck` test.
    """
    _require("loss", "cross_entropy", one_frequent=one_frequent, narrow=narrow, wide=wide)
    _require("dimension", 2, narrow=narrow)
    _require("dimension", 3, wide=wide)

    def shows(dimension: int, *, skewed: bool, quantity: Quantity = within) -> np.ndarray:
        """Return of each draw of `one_frequent` whether it shows the phases, shape (draws,); nan if the flow failed.

        Draws are those in one dimension from small starts: of all sizes with one frequent class together, or of equal
        classes.
        """
        rows = small_starts(one_frequent, "examples", quantity, threshold=threshold, small_scale=small_scale)
        return rows[(rows["dimension"] == dimension) & (rows["skewed"] == skewed)]["value"].to_numpy()

    def shows_with_one_rare(grid: Grid, quantity: Quantity) -> np.ndarray:
        """Return whether each draw of a grid with 33, 33, 33 and 1 examples, or four times 25, shows the phases."""
        flags = grid.number(quantity, measure=MEASURES["examples"]["rankme_centred"], threshold=threshold)
        return flags[SmallStarts(grid.scale, small_scale).judged]

    with_both = shows(2, skewed=True)
    controls = {
        "with equal classes": shows(2, skewed=False),
        "in three dimensions": shows(3, skewed=True),
        "in four dimensions": shows(4, skewed=True),
    }
    # other classes, or another dimension, have other starts: the shares are independent
    for in_words, control in controls.items():
        # nan, a failed flow, counts against the claim: `with_both == 1` is then False, and `control != 0` True
        excess = share_difference(with_both == 1, control != 0)
        yield at_least(
            f"share of draws that show the phases, minus that {in_words}",
            excess,
            0.0,
            because="the phases are rarer without what they need",
            # the roles of the two shares exchanged
            rivals={"the phases are more frequent in the control, not rarer": {"estimate": -excess}},
        )
    yield premise_of_falls("share of draws that show the phases with nothing left out", with_both, premise_share)
    skewed_sizes = one_frequent.loc[one_frequent["skewed"], "counts"].unique()
    one_rare, one_rare_equal = Grid(narrow, skewed=True), Grid(narrow, skewed=False)
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        mildest_sizes=min(skewed_sizes, key=ratio).replace("-", " : "),
        most_skewed_sizes=max(skewed_sizes, key=ratio).replace("-", " : "),
        with_both=share_true(with_both),
        equal=share_true(controls["with equal classes"]),
        in_three=share_true(controls["in three dimensions"]),
        in_four=share_true(controls["in four dimensions"]),
        with_later_falls=share_true(shows(2, skewed=True, quantity=PHASES_SINCE)),
        equal_with_later_falls=share_true(shows(2, skewed=False, quantity=PHASES_SINCE)),
        in_three_with_later_falls=share_true(shows(3, skewed=True, quantity=PHASES_SINCE)),
        in_four_with_later_falls=share_true(shows(4, skewed=True, quantity=PHASES_SINCE)),
        one_rare=share_true(shows_with_one_rare(one_rare, PHASES)),
        one_rare_with_later_falls=share_true(shows_with_one_rare(one_rare, PHASES_SINCE)),
        one_rare_equal_with_later_falls=share_true(shows_with_one_rare(one_rare_equal, PHASES_SINCE)),
        one_rare_in_three_with_later_falls=share_true(shows_with_one_rare(Grid(wide, skewed=True), PHASES_SINCE)),
    )


# sizes at which the rank is seen to fall with skew, a bottleneck and cross-entropy, in the words of checks' names
ONE_RARE, ONE_FREQUENT = "33 : 33 : 33 : 1", "one frequent class"
CONTRASTED = (
    "V = 4, 33, 33, 33 and 1 examples with a row of features each, balanced and Gaussian starts; one class of 200 to "
    "3000 examples, of 16 rows of features, and three of one, Gaussian starts; gradient flow from small starts; the "
    "rank over all examples"
)


@claim(
    "Section 3.3 and Figure 13, the contrast",
    scope=f"cross-entropy and the squared loss, d = 2; {CONTRASTED}",
    empirical=True,
    quantifier="an average",
)
def controls_differ_squared_loss(
    cross_entropy: Table,
    squared: Table,
    one_frequent: Table,
    one_frequent_squared: Table,
    eight: Table,
    eight_squared: Table,
    *,
    measure: Measure,
    threshold: Positive,
    small_scale: Positive,
    premise_share: Fraction,
) -> Claim:
    """With skewed classes and a bottleneck, from small starts, the effective rank falls after its growth more often
    under cross-entropy than under the squared loss, both with the same skewed classes and with equal ones.

    The share of draws that fall under cross-entropy, less that under the squared loss, must be above zero, with the
    same skewed classes and with equal ones. The paper draws one run of each case, which we read as rarer falls under
    the squared loss. Only sizes at which the rank falls under cross-entropy can tell whether falls are rarer under
    another loss. They are those where one class is rare and those where one is frequent. A fall is one of {threshold:g}
    or more, after as large a rise since the trough, the rank's lowest value until the first class is learned. It counts
    whenever it happens, not only as the last of three phases, as in `controls_differ`. At 33 : 33 : 33 : 1 the rank
    falls in {one_rare:.1%} of the draws under cross-entropy, in {one_rare_squared:.1%} under the squared loss and in
    {one_rare_squared_equal:.1%} under the squared loss with equal classes. At 200 to 3000 : 1 : 1 : 1 together, where
    one class is frequent, the shares are {one_frequent:.1%}, {one_frequent_squared:.1%} and
    {one_frequent_squared_equal:.1%}. A flow that failed counts against the claim. Starts up to scale {small_scale:g}
    are judged. The paper's controls have eight examples: from 3, 2, 2, 1 to 5, 1, 1, 1 the share is
    {eight_examples:.1%} under cross-entropy, under the squared loss {eight_examples_squared:.1%}, and under it with
    equal classes {eight_examples_squared_equal:.1%}. The rank is RankMe about the mean: the exponential of the entropy
    of the eigenvalues of the features' covariance.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy, one_frequent=one_frequent, eight=eight)
    _require("loss", "squared", squared=squared, one_frequent_squared=one_frequent_squared, eight_squared=eight_squared)
    _require("dimension", 2, cross_entropy=cross_entropy, squared=squared)
    # settings of `_region_falls`, whose rank is always RankMe about the mean, and of `_grid_falls`
    of_region: dict[str, Any] = {"threshold": threshold, "small_scale": small_scale}
    of_grid: dict[str, Any] = of_region | {"measure": measure}
    with_all_three = {
        ONE_RARE: _grid_falls(Grid(cross_entropy, skewed=True), **of_grid),
        ONE_FREQUENT: _region_falls(one_frequent, 2, skewed=True, **of_region),
    }
    skewed = {
        ONE_RARE: _grid_falls(Grid(squared, skewed=True), **of_grid),
        ONE_FREQUENT: _region_falls(one_frequent_squared, 2, skewed=True, **of_region),
    }
    equal = {
        ONE_RARE: _grid_falls(Grid(squared, skewed=False), **of_grid),
        ONE_FREQUENT: _region_falls(one_frequent_squared, 2, skewed=False, **of_region),
    }
    # with the same classes both losses have the same starts, so that draws are paired; equal classes have other starts
    for sizes, falls in with_all_three.items():
        yield _check_of_rarer_falls(f"the squared loss, at {sizes}", _paired_excess(falls, skewed[sizes]))
        yield _check_of_rarer_falls(f"the squared loss and equal classes, at {sizes}", _excess(falls, equal[sizes]))
    for sizes, falls in with_all_three.items():
        name = f"share of draws that fall after growth with nothing left out, at {sizes}"
        yield premise_of_falls(name, falls.to_numpy(), premise_share)
    yield Facts(
        threshold=threshold,
        small_scale=small_scale,
        one_rare=share_true(with_all_three[ONE_RARE]),
        one_rare_squared=share_true(skewed[ONE_RARE]),
        one_rare_squared_equal=share_true(equal[ONE_RARE]),
        one_frequent=share_true(with_all_three[ONE_FREQUENT]),
        one_frequent_squared=share_true(skewed[ONE_FREQUENT]),
        one_frequent_squared_equal=share_true(equal[ONE_FREQUENT]),
        eight_examples=share_true(_grid_falls(Grid(eight, skewed=True), **of_grid)),
        eight_examples_squared=share_true(_grid_falls(Grid(eight_squared, skewed=True), **of_grid)),
        eight_examples_squared_equal=share_true(_grid_falls(Grid(eight_squared, skewed=False), **of_grid)),
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

    A draw counts if some classes are learned and some are not, and if no learned class is rarer than one that is not
    learned; at most {exceptions} draws may differ. A class is learned if the mean output of its own class over its
    examples is above one half at the end. In two dimensions the flow ends at outputs that are a best approximation of
    rank two of the labels. This has the two most frequent classes or, where several share the second place, the most
    frequent one and a mixture of these. Under cross-entropy, where probabilities are read instead of outputs, all
    classes are learned in {share_learning_all_classes:.0%} of the draws.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy)
    _require("loss", "squared", squared=squared)

    def only_the(frequency: Literal["most frequent", "rarest"], table: Table) -> np.ndarray:
        """Return of each draw whether some classes are learned and some not, and the learned ones are the `frequency`.

        A class that is learned may be as large as one that is not. The array has shape (draws,); nan for a failed flow.
        """
        grid = Grid(table, skewed=True)
        final = grid.entries(FINAL)  # shape (draws, classes)
        learned = final > LEARNED  # False for nan, which `unless_nan` replaces below
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
        because=f"draws cannot show that something always happens; {one_in(exceptions)} may differ",
        # of each draw, whether what the rival says holds; the second has draws under the other loss
        rivals={
            "only the rarest classes are learned": {"holds": only_the("rarest", squared)},
            "cross-entropy instead of the squared loss": {"holds": only_the("most frequent", cross_entropy)},
        },
    )
    final = Grid(cross_entropy, skewed=True).entries(FINAL)
    has_learned_all = (final > LEARNED).all(axis=1)  # false in a flow that failed, which is nan
    yield Facts(exceptions=one_in(exceptions), share_learning_all_classes=np.mean(has_learned_all))
