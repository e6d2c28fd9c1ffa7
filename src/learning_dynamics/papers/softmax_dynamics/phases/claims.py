"""The toy model's phases, and its controls."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, all_of, at_most, claim, share_at_least
from learning_dynamics.papers.softmax_dynamics.phases.detection import share_interval, shows
from learning_dynamics.papers.softmax_dynamics.selections import chosen
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tables import Tables


@claim("Toy model, warm-up", "share of members over the grid of skews and scales whose effective rank falls first")
def phases_warmup(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """With skewed classes and a bottleneck, cross-entropy first lowers the effective rank of the features.

    The main text shows one run of the toy; its class sizes, scale and learning rate are not stated. Here the
    share of seeds is counted over a stated grid, for gradient flow and for gradient descent, and the claim
    is taken to hold if more than every other member shows the phase. Members that do not fall first mostly
    start with a small singular value in the direction that grows fastest, and rise before they fall.
    """
    return _phase_outcome(tables, "warm-up", measure, threshold, typical)


@claim("Toy model, entropy-seeking", "share of members whose effective rank falls, then rises")
def phases_entropy_seeking(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """After the warm-up the effective rank rises again.

    The rise comes when the first direction has fitted its examples and its gain g falls below the second's.
    It ends close to the largest value that two dimensions allow.
    """
    return _phase_outcome(tables, "entropy-seeking", measure, threshold, typical)


@claim("Toy model, compression-seeking", "share of members whose effective rank falls, rises, and falls again")
def phases_compression_seeking(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """After the entropy-seeking phase the effective rank falls again.

    In two dimensions there is little room for it: the rise ends within a few hundredths of the maximum, and
    the direction in which the factors then grow without bound, that of largest margin, has two nearly equal
    singular values. Single members do fall late, most of them on the way from one plateau to the next, and
    rise again.
    """
    return _phase_outcome(tables, "compression-seeking", measure, threshold, typical)


def _phase_outcome(tables: Tables, phase: str, measure: str, threshold: float, typical: float) -> Outcome:
    checks, notes, members = [], [], 0
    for name, table in tables.items():
        rows = chosen(table, measure, threshold, skewed=True)
        shown = shows(rows, phase)
        checks.append(share_at_least(int(shown.sum()), len(rows), typical, because="typical: every other member"))
        members += len(rows)
        cells = shown.groupby([rows["counts"], rows["init"], rows["scale"]]).mean()
        notes.append(
            f"{name}: {shown.mean():.1%} of members, between {cells.min():.0%} and {cells.max():.0%} in a cell"
        )
        skewed = table[table["largest"] > table["smallest"]]
        others = shows(skewed, phase).groupby([skewed["measure"], skewed["threshold"]]).mean()
        (low, lowest), (high, highest) = ((others.idxmin(), others.min()), (others.idxmax(), others.max()))
        notes.append(
            f"over other measures and thresholds from {lowest:.1%} ({low[0]} at {low[1]:g}) "
            f"to {highest:.1%} ({high[0]} at {high[1]:g})"
        )
        if phase == "compression-seeking":
            lasting = shown & (rows["fourth"] == 0)
            notes.append(f"in {lasting.mean():.1%} the late fall is the last change; the others rise again")
        notes.append(f"median {measure} at the end {rows['end'].median():.3f}")
    return Outcome(all_of(*checks), members, reason=". ".join(notes))


@claim(
    "Toy model, control: uniform classes", "share of members with two examples per class whose rank falls, then rises"
)
def controls_uniform(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """Without class skew the effective rank does not fall and rise.

    It does. With equal classes A has V − 1 equal singular values at uniform predictions. The first, linear
    stage projects the features, random directions of as many dimensions as there are examples, on to
    those few, and in so few dimensions random features spread less evenly: the rank falls without any
    dominant class, though less far than with one. It rises when the larger direction saturates first.
    """
    grid = tables["cross_entropy_grid"]
    return _control_outcome(grid, grid, measure, threshold, skewed=False)


@claim("Toy model, control: no bottleneck", "share of members with d = V − 1 whose rank falls, then rises")
def controls_no_bottleneck(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """Without a bottleneck the effective rank does not fall and rise.

    Three dimensions hold four classes at the vertices of a tetrahedron. The directions still grow one after
    the other, so the rank falls and rises as it does in two.
    """
    return _control_outcome(tables["cross_entropy_grid"], tables["no_bottleneck_grid"], measure, threshold, skewed=True)


@claim("Toy model, control: squared loss", "share of members trained on the squared loss whose rank falls, then rises")
def controls_squared_loss(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """With the squared loss instead of the cross-entropy the effective rank does not fall and rise.

    Linear networks under the squared loss learn direction after direction as well, the larger class first:
    a fall while the first grows, a rise while the second follows.
    """
    return _control_outcome(tables["cross_entropy_grid"], tables["squared_grid"], measure, threshold, skewed=True)


def _control_outcome(
    treated: pd.DataFrame, control: pd.DataFrame, measure: str, threshold: float, *, skewed: bool
) -> Outcome:
    """Hold the control's share of members that fall and then rise against half of the treated share."""
    with_cause = chosen(treated, measure, threshold, skewed=True)
    without = chosen(control, measure, threshold, skewed=skewed)
    treated_share, low, high = share_interval(shows(with_cause, "entropy-seeking"))
    share, lower, upper = share_interval(shows(without, "entropy-seeking"))
    error = np.hypot(max(share - lower, upper - share), max(treated_share - low, high - treated_share) / 2)
    check = at_most(
        share, treated_share / 2, uncertainty=float(error), because="half of the share with the cause present"
    )
    late = [float(shows(rows, "compression-seeking").mean()) for rows in (without, with_cause)]
    lowest = [float(rows["lowest"].median()) for rows in (without, with_cause)]
    reason = (
        f"the effective rank falls and then rises in {share:.1%} of the control's members and in "
        f"{treated_share:.1%} of those with skew, bottleneck and cross-entropy; a late fall follows in {late[0]:.1%} "
        f"and {late[1]:.1%}; the median of the lowest value is {lowest[0]:.2f} and {lowest[1]:.2f}"
    )
    return Outcome(check, len(without) + len(with_cause), reason=reason)
