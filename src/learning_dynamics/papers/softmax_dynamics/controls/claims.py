"""What Figures 12 and 13 say without skew, without bottleneck, and under the squared loss."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.claims import Finding, Judgement, at_least, claim, share_of_draws
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.draws import MORE, members, monotone, shapes, share_difference, values
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, ascending, settings_of


def _control(control: Table, treated: Table, skewed: bool, measure: str, threshold: float, typical: float) -> Finding:
    """Hold the rank's course in a control against growth, and against the treated case's by the same measure."""
    found, other = shapes(control, measure, threshold, skewed=skewed), shapes(treated, measure, threshold, skewed=True)

    def judge(reading: tuple[Table, bool, bool]) -> Judgement:
        table, skew, keeps = reading
        words = shapes(table, measure, threshold, skewed=skew)
        undecided = np.array([word is None for word in words])
        tail = np.abs(values(table, "tail", 0, measure, skewed=skew))
        return Judgement(
            share_of_draws(
                f"draws whose rank {'does not fall' if keeps else 'falls'} once it has risen",
                monotone(words) == keeps,
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            at_least(
                "the same, less the share of the treated draws",
                share_difference(monotone(words) == keeps, monotone(other) == keeps),
                0.0,
                because="a control that behaves as the treated case does shows nothing of what it lacks",
            ),
            share_of_draws(
                "draws whose rank rises",
                np.array([word is not None and "R" in word for word in words]),
                at_least=typical,
                undecided=undecided,
                because=MORE,
            ),
            share_of_draws(
                "draws whose rank has saturated: it changes less than the threshold over the last half decade",
                tail < threshold,
                at_least=typical,
                undecided=np.isnan(tail),
                because=MORE,
            ),
        )

    difference = share_difference(monotone(found), monotone(other))
    facts = {
        "treated": float(np.mean(monotone(other))),
        "difference": difference.value,
        "least": difference.lower,
        "most": difference.upper,
        "late": float(np.mean([word is not None and word.startswith("FRF") for word in found])),
        "treated_late": float(np.mean([word is not None and word.startswith("FRF") for word in other])),
    }
    rivals = {
        "a fall after the rise: compression": (control, skewed, False),
        "the treated case in the control's place": (treated, True, True),
    }
    return Finding(judge, (control, skewed, True), rivals, facts=facts)


def _losses(*, cross_entropy: Table, squared: Table) -> None:
    """Refuse tables whose roles are swapped."""
    for expected, table in (("cross_entropy", cross_entropy), ("squared", squared)):
        if settings_of(table)["loss"] != expected:
            raise ProjectError(f"a table of `{expected}` is expected, and its loss is {settings_of(table)['loss']}")


@claim(
    "Figure 12, equal classes",
    scope="2 examples in each of 4 classes, d = 2, cross-entropy, the treated grid's starts",
    empirical=True,
)
def controls_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Without class skew, unlike with it, the warm-up is followed by a monotone, saturating growth of the effective
    rank.

    It is in {value:.0%} of the draws. With skew it is in {treated:.0%}: what the control shows is a difference of
    {difference:+.0%} ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here,
    {treated_late:.1%} with skew.
    """
    return _control(control, treated, False, measure, threshold, typical)


@claim(
    "Figure 12, no bottleneck",
    scope="skewed classes of 8 examples, V = 4, d = 3, cross-entropy, the treated grid's starts",
    empirical=True,
)
def controls_no_bottleneck(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Without a bottleneck, unlike with it, the warm-up is followed by a monotone, saturating growth of the effective
    rank.

    It is in {value:.0%} of the draws. In two dimensions it is in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). Where there is none, growth without a bottleneck says nothing of what a bottleneck
    does. A fall, a rise and another fall: {late:.1%} here, {treated_late:.1%} with the bottleneck.
    """
    ascending("dimension", treated=treated, control=control)
    return _control(control, treated, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, the treated grid's starts",
    empirical=True,
)
def controls_squared_loss(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Under the squared loss, unlike under cross-entropy, with skewed classes the warm-up is followed by a monotone,
    saturating growth of the effective rank.

    It is in {value:.0%} of the draws; under cross-entropy in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). A fall, a rise and another fall: {late:.1%} here, {treated_late:.1%} there.
    """
    _losses(cross_entropy=treated, squared=control)
    return _control(control, treated, True, measure, threshold, typical)


@claim(
    "Figure 13, squared loss, equal classes",
    scope="2 examples in each of 4 classes, d = 2, squared loss, the treated grid's starts",
    empirical=True,
)
def controls_squared_loss_uniform(
    control: Table,
    treated: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Under the squared loss with equal classes, unlike under cross-entropy with skewed ones, the warm-up is followed
    by a monotone, saturating growth of the effective rank.

    It is in {value:.0%} of the draws; under cross-entropy with skew in {treated:.0%}: a difference of {difference:+.0%}
    ({least:+.0%} to {most:+.0%}). Where there is none, growth here says nothing of the loss or the skew. A fall, a rise
    and another fall: {late:.1%} here, {treated_late:.1%} there.
    """
    _losses(cross_entropy=treated, squared=control)
    return _control(control, treated, False, measure, threshold, typical)


@claim(
    "Figure 13, what is learned",
    scope="skewed classes of 8 examples, V = 4, d = 2, squared loss, until converged",
    empirical=True,
)
def squared_loss_learns_frequent_classes(squared: Table, cross_entropy: Table, *, typical: Fraction) -> Finding:
    """Under the squared loss with a bottleneck only the most frequent classes are learned.

    A class is learned if the mean output of its own class over its examples is above one half at the end. In two
    dimensions the flow ends at a best approximation of rank two of the labels: the two most frequent classes, or,
    where the second place is shared, the most frequent one and a mixture of those that share it. Counted are draws in
    which something is learned, something is not, and nothing learned is rarer than anything that is not. Under
    cross-entropy all classes are learned in {all_learned:.0%} of the draws.
    """
    _losses(cross_entropy=cross_entropy, squared=squared)

    def judge(reading: tuple[Table, int]) -> Judgement:
        table, sign = reading
        rows = members(table, skewed=True)
        sizes = np.array([[int(size) for size in counts.split("-")] for counts in rows["counts"]])
        final = values(table, "final", None, skewed=True)
        learned = final > 0.5
        known, unknown = np.where(learned, sign * sizes, np.inf), np.where(learned, -np.inf, sign * sizes)
        frequent = learned.any(axis=1) & ~learned.all(axis=1) & (known.min(axis=1) >= unknown.max(axis=1))
        return Judgement(
            share_of_draws(
                "draws in which only the most frequent classes are learned",
                frequent,
                at_least=typical,
                undecided=np.isnan(final).any(axis=1),
                because=MORE,
            )
        )

    rivals = {"only the rarest classes": (squared, -1), "cross-entropy in its place": (cross_entropy, 1)}
    final = values(cross_entropy, "final", None, skewed=True)
    facts = {"all_learned": float(np.mean((final > 0.5).all(axis=1)))}
    return Finding(judge, (squared, 1), rivals, facts=facts)
