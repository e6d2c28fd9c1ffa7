"""What Figures 12 and 13 say without skew, without bottleneck, and under the squared loss."""

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate, difference
from learning_dynamics.judging import Check, Claim, Facts, Instead, at_least, claim, every_draw
from learning_dynamics.papers.softmax_dynamics.draws import (
    NOT_UNIFORM,
    class_sizes,
    members,
    scales,
    shapes,
    share_difference,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, ascending, settings_of

SMALL = "gradient flow from small starts of two kinds"
NEVER = "what counts as a change; what always grows falls on no draw"


def _monotone_growth(
    control: Table, treated: Table, skewed: bool, measure: str, threshold: float, small: float
) -> Claim:
    """Test whether the rank's growth after the warm-up is monotone and saturates, on every draw from a small start."""

    def of(table: Table, quantity: Quantity, skewed: bool, at: float = 0.0) -> np.ndarray:
        return values(table, quantity, 0, measure, at, skewed=skewed)[scales(table, skewed=skewed) <= small]

    is_small = scales(control, skewed=skewed) <= small
    out, beyond = {NOT_UNIFORM: int((~is_small).sum())}, Instead(at_most=None, at_least=threshold)
    fall, tail = of(control, "fall", skewed, threshold), np.abs(of(control, "tail", skewed))
    yield every_draw(
        "fall of the rank once it has risen from the warm-up's trough",
        fall,
        at_most=threshold,
        because=NEVER,
        excluded=out,
        rivals={"a fall after the growth: compression": beyond},
    )
    rises = shapes(control, measure, threshold, skewed=skewed)[is_small].str.contains("R").astype(float)
    yield every_draw("whether the rank rises, 1 if so", rises, at_least=1.0, excluded=out)
    yield every_draw(
        "change of the rank over the last half decade of time",
        tail,
        at_most=threshold,
        because=NEVER,
        excluded=out,
        rivals={"growth that does not saturate": beyond},
    )
    yield Facts(
        monotone=np.mean(fall < threshold),
        treated=np.mean(of(treated, "fall", True, threshold) < threshold),
        rare=np.mean(of(control, "fall_rare", skewed, threshold) >= threshold),
    )


def _require(setting: str, value: object, **tables: Table) -> None:
    """Refuse tables whose roles are swapped."""
    for role, table in tables.items():
        if settings_of(table)[setting] != value:
            raise ProjectError(f"role `{role}`: {setting} is {settings_of(table)[setting]}, and must be {value}")


@claim(
    "Figure 12, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, cross-entropy, {SMALL}",
    empirical=True,
    quantifier="all draws",
)
def controls_uniform(
    control: Table, treated: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """Without class skew, from small starts, the warm-up is followed by a monotone, saturating growth of the effective
    rank.

    Judged is every draw, as what is necessary for compression leaves none with it. After the warm-up's trough, the
    lowest rank until the first class is learned, nothing falls in {monotone:.1%} of the draws, and in {treated:.1%} of
    those with skew, a bottleneck and cross-entropy. What comes of a fall while the rarest classes are learned is a fall
    in {rare:.1%}.
    """
    _require("loss", "cross_entropy", control=control)
    return _monotone_growth(control, treated, False, measure, threshold, small)


@claim(
    "Figure 12, no bottleneck",
    scope=f"skewed classes of 8 examples, V = 4, d = 3, cross-entropy, {SMALL}",
    empirical=True,
    quantifier="all draws",
)
def controls_no_bottleneck(
    control: Table, treated: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """Without a bottleneck, from small starts, the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    Judged is every draw, as what is necessary for compression leaves none with it. After the warm-up's trough, the
    lowest rank until the first class is learned, nothing falls in {monotone:.1%} of the draws, and in {treated:.1%} of
    those with skew, a bottleneck and cross-entropy. What comes of a fall while the rarest classes are learned is a fall
    in {rare:.1%}.
    """
    _require("loss", "cross_entropy", control=control)
    _require("dimension", 3, control=control)
    return _monotone_growth(control, treated, True, measure, threshold, small)


@claim(
    "Figure 13, squared loss",
    scope=f"skewed classes of 8 examples, V = 4, d = 2, squared loss, {SMALL}",
    empirical=True,
    quantifier="all draws",
)
def controls_squared_loss(
    control: Table, treated: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """Under the squared loss with skewed classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Judged is every draw, as what is necessary for compression leaves none with it. After the warm-up's trough, the
    lowest rank until the first class is learned, nothing falls in {monotone:.1%} of the draws, and in {treated:.1%} of
    those with skew, a bottleneck and cross-entropy. What comes of a fall while the rarest classes are learned is a fall
    in {rare:.1%}.
    """
    _require("loss", "squared", control=control)
    return _monotone_growth(control, treated, True, measure, threshold, small)


@claim(
    "Figure 13, squared loss, equal classes",
    scope=f"2 examples in each of 4 classes, d = 2, squared loss, {SMALL}",
    empirical=True,
    quantifier="all draws",
)
def controls_squared_loss_uniform(
    control: Table, treated: Table, *, measure: Measure, threshold: Positive, small: Positive
) -> Claim:
    """Under the squared loss with equal classes, from small starts, the warm-up is followed by a monotone, saturating
    growth of the effective rank.

    Judged is every draw, as what is necessary for compression leaves none with it. After the warm-up's trough, the
    lowest rank until the first class is learned, nothing falls in {monotone:.1%} of the draws, and in {treated:.1%} of
    those with skew, a bottleneck and cross-entropy. What comes of a fall while the rarest classes are learned is a fall
    in {rare:.1%}.
    """
    _require("loss", "squared", control=control)
    return _monotone_growth(control, treated, False, measure, threshold, small)


def _falls(table: Table, skewed: bool, measure: str, threshold: float, small: float) -> pd.Series:
    """Return which draws from small starts fall after their growth, by counts, kind of start, scale and seed."""
    fallen = values(table, "fall", 0, measure, threshold, skewed=skewed) >= threshold
    by_draw = pd.Series(fallen, pd.MultiIndex.from_frame(members(table, skewed=skewed)))
    return by_draw[by_draw.index.get_level_values("scale") <= small]


def _from_equal_starts(first: pd.Series, second: pd.Series) -> Estimate:
    pairs = pd.concat([first, second], axis=1, join="inner")
    return difference(pairs[0], pairs[1])


def _more_falls(name: str, excess: Estimate) -> Check:
    return at_least(
        f"share of draws that fall after growth, less that with {name}",
        excess,
        0.0,
        because="what is needed for a fall shows in how often there is one",
        rivals={"fewer falls than without": Instead(estimate=-excess)},
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
    and in {wide:.1%} without a bottleneck. Counted are all examples of classes as skewed as eight examples allow. Over
    class means, and at larger skews, equal classes differ, and three dimensions do up to some skew.
    """
    _require("loss", "cross_entropy", treated=treated, no_bottleneck=no_bottleneck)
    ascending("dimension", treated=treated, no_bottleneck=no_bottleneck)
    with_both = _falls(treated, True, measure, threshold, small)
    equal, wide = (
        _falls(table, skew, measure, threshold, small) for table, skew in [(treated, False), (no_bottleneck, True)]
    )
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
    the squared loss and in {squared_equal:.1%} under it with equal classes. Counted are all examples of classes as
    skewed as eight examples allow.
    """
    _require("loss", "cross_entropy", treated=treated)
    _require("loss", "squared", squared=squared)
    with_all = _falls(treated, True, measure, threshold, small)
    skewed, equal = (_falls(squared, skew, measure, threshold, small) for skew in (True, False))
    yield _more_falls("the squared loss", _from_equal_starts(with_all, skewed))
    yield _more_falls("the squared loss and equal classes", share_difference(with_all, equal))
    yield Facts(treated=with_all.mean(), squared=skewed.mean(), squared_equal=equal.mean())


@claim(
    "Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged; four scales, two kinds of starts",
    empirical=True,
    quantifier="all draws",
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table) -> Claim:
    """Under the squared loss with skewed classes and a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at a best approximation of rank two of the labels: the two most frequent classes, or,
    where the second place is shared, the most frequent one and a mixture of those that share it. Counted are draws in
    which something is learned, something is not, and nothing learned is rarer than anything that is not. Under
    cross-entropy all classes are learned in {all_learned:.0%} of the draws.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy)
    _require("loss", "squared", squared=squared)

    def in_order(table: Table, sign: int) -> Instead:
        sizes = class_sizes(table, skewed=True)
        final = values(table, "final", None, skewed=True)
        learned = final > 0.5
        rarest_learned = np.where(learned, sign * sizes, np.inf).min(axis=1)
        frequent = rarest_learned >= np.where(learned, -np.inf, sign * sizes).max(axis=1)
        some = learned.any(axis=1) & ~learned.all(axis=1)
        return Instead(values=some & frequent, undecided=np.isnan(final).any(axis=1))

    yield every_draw(
        "whether only the most frequent classes are learned, 1 if so",
        **in_order(squared, 1),
        at_least=1.0,
        rivals={
            "only the rarest classes": in_order(squared, -1),
            "cross-entropy in its place": in_order(cross_entropy, 1),
        },
    )
    final = values(cross_entropy, "final", None, skewed=True)
    yield Facts(all_learned=np.mean((final > 0.5).all(axis=1)))
