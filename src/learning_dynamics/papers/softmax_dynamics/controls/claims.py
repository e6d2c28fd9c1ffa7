"""What Figures 12 and 13 say without skew, without bottleneck, and under the squared loss."""

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate, difference
from learning_dynamics.judging import Checks, Claim, Facts, Finding, Instead, at_least, claim
from learning_dynamics.papers.softmax_dynamics.draws import (
    members,
    monotone,
    most_draws,
    shapes,
    share_difference,
    sizes_of,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, ascending, settings_of


def _growth_finding(control: Table, skewed: bool, measure: str, threshold: float, typical: float) -> Finding:
    """Test whether the rank's growth after the warm-up is monotone and saturates."""
    undecided = np.isnan(values(control, "fall", 0, measure, threshold, skewed=skewed))
    grows = monotone(control, measure, threshold, skewed=skewed)
    courses = shapes(control, measure, threshold, skewed=skewed)
    tail = np.abs(values(control, "tail", 0, measure, skewed=skewed))

    def judge(reading: tuple[bool, bool]) -> Checks:
        keeps, saturates = reading
        rises = np.array([course is not None and "R" in course for course in courses])
        for name, holds in (
            (f"{'does not fall' if keeps else 'falls'} once it has risen from the warm-up's trough", grows == keeps),
            ("rises", rises),
            (
                f"changes by {'less' if saturates else 'more'} than the threshold over the last half decade of time",
                (tail < threshold) == saturates,
            ),
        ):
            yield most_draws(f"draws whose rank {name}", holds, undecided, typical)

    rare = values(control, "fall_rare", 0, measure, threshold, skewed=skewed)
    rivals = {"a fall after the growth: compression": (False, True), "growth that does not saturate": (True, False)}
    return Finding(judge, (True, True), rivals, facts={"rare": float(np.mean(rare >= threshold))})


def _require(setting: str, value: object, **tables: Table) -> None:
    """Refuse tables whose roles are swapped."""
    for role, table in tables.items():
        if settings_of(table)[setting] != value:
            raise ProjectError(f"role `{role}`: {setting} is {settings_of(table)[setting]}, and must be {value}")


@claim(
    "Figure 12, equal classes",
    scope="2 examples in each of 4 classes, d = 2, cross-entropy, four scales, two kinds of starts",
    empirical=True,
)
def controls_uniform(control: Table, *, measure: Measure, threshold: Positive, typical: Fraction) -> Finding:
    """Without class skew the warm-up is followed by a monotone, saturating growth of the effective rank.

    After the warm-up's trough, the lowest rank until the first class is learned, nothing falls in {value:.0%} of the
    draws. What of a fall comes while the rarest classes are learned is a fall in {rare:.1%}.
    """
    _require("loss", "cross_entropy", control=control)
    return _growth_finding(control, False, measure, threshold, typical)


@claim(
    "Figure 12, no bottleneck",
    scope="skewed classes of 8 examples, V = 4, d = 3, cross-entropy, four scales, two kinds of starts",
    empirical=True,
)
def controls_no_bottleneck(control: Table, *, measure: Measure, threshold: Positive, typical: Fraction) -> Finding:
    """Without a bottleneck the warm-up is followed by a monotone, saturating growth of the effective rank.

    After the warm-up's trough, the lowest rank until the first class is learned, nothing falls in {value:.0%} of the
    draws. What of a fall comes while the rarest classes are learned is a fall in {rare:.1%}.
    """
    _require("loss", "cross_entropy", control=control)
    _require("dimension", 3, control=control)
    return _growth_finding(control, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, four scales, two kinds of starts",
    empirical=True,
)
def controls_squared_loss(control: Table, *, measure: Measure, threshold: Positive, typical: Fraction) -> Finding:
    """Under the squared loss with skewed classes the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    After the warm-up's trough, the lowest rank until the first class is learned, nothing falls in {value:.0%} of the
    draws. What of a fall comes while the rarest classes are learned is a fall in {rare:.1%}.
    """
    _require("loss", "squared", control=control)
    return _growth_finding(control, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss, equal classes",
    scope="2 examples in each of 4 classes, d = 2, squared loss, four scales, two kinds of starts",
    empirical=True,
)
def controls_squared_loss_uniform(
    control: Table, *, measure: Measure, threshold: Positive, typical: Fraction
) -> Finding:
    """Under the squared loss with equal classes the warm-up is followed by a monotone, saturating growth of the
    effective rank.

    After the warm-up's trough, the lowest rank until the first class is learned, nothing falls in {value:.0%} of the
    draws. What of a fall comes while the rarest classes are learned is a fall in {rare:.1%}.
    """
    _require("loss", "squared", control=control)
    return _growth_finding(control, False, measure, threshold, typical)


@claim(
    "Figures 12 and 13, the contrast",
    scope="8 examples, V = 4, gradient flow from four scales, two kinds of starts; the rank over all examples",
    empirical=True,
)
def controls_differ(
    treated: Table, no_bottleneck: Table, squared: Table, *, measure: Measure, threshold: Positive
) -> Claim:
    """With skewed classes, a bottleneck and cross-entropy the effective rank falls after its growth, and more often
    than without one of them.

    It falls, at any time after the warm-up, in {treated:.1%} of the draws with all three; in {equal:.1%} with equal
    classes, {wide:.1%} without a bottleneck, {squared:.1%} under the squared loss and {squared_equal:.1%} under it
    with equal classes. Counted are all examples of classes as skewed as eight examples allow. Over class means, and at
    larger skews, equal classes differ, and three dimensions do up to some skew; the squared loss is not judged there.
    """
    _require("loss", "cross_entropy", treated=treated, no_bottleneck=no_bottleneck)
    _require("loss", "squared", squared=squared)
    ascending("dimension", treated=treated, no_bottleneck=no_bottleneck)

    def falls(table: Table, skewed: bool) -> pd.Series:
        fallen = values(table, "fall", 0, measure, threshold, skewed=skewed) >= threshold
        return pd.Series(fallen, pd.MultiIndex.from_frame(members(table, skewed=skewed)))

    def from_equal_starts(first: pd.Series, second: pd.Series) -> Estimate:
        pairs = pd.concat([first, second], axis=1, join="inner")
        return difference(pairs[0], pairs[1])

    lacking = {
        "equal": ("equal classes", falls(treated, False), share_difference),
        "wide": ("no bottleneck", falls(no_bottleneck, True), share_difference),
        "squared": ("the squared loss", falls(squared, True), from_equal_starts),
        "squared_equal": ("the squared loss and equal classes", falls(squared, False), share_difference),
    }
    treated_falls = falls(treated, True)
    for key, (name, fallen, compare) in lacking.items():
        excess = compare(treated_falls, fallen)
        yield at_least(
            f"share of draws that fall after growth, less that with {name}",
            excess,
            0.0,
            because="what is needed for a fall shows in how often there is one",
            rivals={"fewer falls than without": Instead(estimate=-excess)},
        )
        yield Facts({key: float(np.mean(fallen))})
    yield Facts(treated=float(np.mean(treated_falls)))


@claim(
    "Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged",
    empirical=True,
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table, *, typical: Fraction) -> Claim:
    """Under the squared loss with a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at a best approximation of rank two of the labels: the two most frequent classes, or,
    where the second place is shared, the most frequent one and a mixture of those that share it. Counted are draws in
    which something is learned, something is not, and nothing learned is rarer than anything that is not. Under
    cross-entropy all classes are learned in {all_learned:.0%} of the draws.
    """
    _require("loss", "cross_entropy", cross_entropy=cross_entropy)
    _require("loss", "squared", squared=squared)

    def in_order(table: Table, sign: int) -> Instead:
        rows = members(table, skewed=True)
        sizes = np.array(list(map(sizes_of, rows["counts"])))
        final = values(table, "final", None, skewed=True)
        learned = final > 0.5
        rarest_learned = np.where(learned, sign * sizes, np.inf).min(axis=1)
        frequent = rarest_learned >= np.where(learned, -np.inf, sign * sizes).max(axis=1)
        some = learned.any(axis=1) & ~learned.all(axis=1)
        return Instead(holds=some & frequent, undecided=np.isnan(final).any(axis=1))

    yield most_draws(
        "draws in which only the most frequent classes are learned",
        **in_order(squared, 1),
        typical=typical,
        rivals={
            "only the rarest classes": in_order(squared, -1),
            "cross-entropy in its place": in_order(cross_entropy, 1),
        },
    )
    final = values(cross_entropy, "final", None, skewed=True)
    yield Facts(all_learned=float(np.mean((final > 0.5).all(axis=1))))
