"""The criteria: bounds and equalities that every draw meets, that an estimate meets, or a share of the draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from learning_dynamics.errors import CheckError
from learning_dynamics.evidence import Estimate, Optimum, distinct, share
from learning_dynamics.judging.checks import NEAREST, Check, State, takes_rivals
from learning_dynamics.judging.inputs import measured_and_predicted, one_number, one_per_draw, refuse_negative

# -- criteria that every draw must meet ------------------------------------------------------------------------------


@takes_rivals("at_most", "at_least", upper_bound="at_most", lower_bound="at_least")
def every_draw(
    name: str,
    values: Any,
    *,
    at_most: Any = None,
    at_least: Any = None,
    because: str = "",
    undecided: Any = None,
    excluded: Mapping[str, int] | None = None,
    predicted: float = np.nan,
    different: int | None = None,
) -> Check:
    """Check that a quantity stays within its bound on every draw.

    The check shows the draw that is nearest its bound, or farthest beyond it. Where each draw has its own bound,
    another draw may have the largest value (under a lower bound, the least): the check names this value too. If numbers
    repeat from draw to draw, it says how many differ.

    Parameters
    ----------
    name : str
        The quantity.
    values : array_like, shape (draws,)
        One number a draw; nan or an infinity makes the draw undecided.
    at_most, at_least : float or array_like, shape (draws,)
        Exactly one of the two bounds.
    because : str
        Where the bound comes from.
    undecided : array_like of bool, shape (draws,), optional
        Draws that cannot be judged (an integration that did not get through).
    excluded : mapping from reason to count, optional
        How many draws are left out since the claim is not about them, and why.
    predicted : float
        What the prediction says of the quantity, where it is not the bound.
    different : int, optional
        How many of the draws differ, where the values do not show it: errors of numbers that repeat differ by rounding.

    Raises
    ------
    CheckError
        If there is no draw, not exactly one bound, or an argument of another shape.
    """
    if (at_most is None) == (at_least is None):
        raise CheckError(f"{name}: give one of at_most and at_least")
    measured = one_per_draw(name, "values", values)
    if measured.size == 0:
        raise CheckError(f"{name}: no draws")
    upper = at_most is not None
    bound = one_per_draw(name, "at_most" if upper else "at_least", at_most if upper else at_least, measured.size)
    is_undecided = ~np.isfinite(measured) | ~np.isfinite(bound)
    if undecided is not None:
        is_undecided |= one_per_draw(name, "undecided", undecided, measured.size).astype(bool)
    holds = np.where(is_undecided, False, measured <= bound if upper else measured >= bound)
    n_against = int((~holds & ~is_undecided).sum())
    state: State = "holds"
    if n_against:
        state = "fails"
    elif is_undecided.any():
        state = "undecided"
    nearest = _nearest_its_bound(measured, bound, is_undecided, upper)
    shown = measured if not is_undecided.all() else np.full(measured.shape, np.nan)
    sign = "<=" if upper else ">="
    n_distinct = distinct(measured) if different is None else different
    return Check(
        name=name,
        state=state,
        value=float(shown[nearest]),
        criterion=f"{sign} {bound[nearest]:.4g} on every draw" + (f" ({because})" if because else ""),
        interval=_describe_draws(shown, nearest, upper, n_distinct),
        margin=_factor(float(bound[nearest]), float(shown[nearest]), upper),
        # what only repeats the bound is no prediction; 0 is one, of errors that are allowed no tolerance
        predicted=predicted if predicted != bound[nearest] or predicted == 0 else np.nan,
        draws=measured.size,
        draws_for=int(holds.sum()),
        draws_against=n_against,
        draws_undecided=int(is_undecided.sum()),
        excluded=_describe_excluded(excluded),
        undecided_reason=_cannot_be_judged(int(is_undecided.sum()), measured.size) if state == "undecided" else "",
        outermost=float((np.fmax if upper else np.fmin).reduce(measured)),  # but for nan
    )


@takes_rivals("predicted", scaled=True)
def equal_on_every_draw(
    name: str,
    measured: Any,
    predicted: Any,
    *,
    tolerance: Any,
    relative_to: Any = None,
    because: str = "",
    resolution: float = np.inf,
    undecided: Any = None,
    excluded: Mapping[str, int] | None = None,
) -> Check:
    """Check that measured numbers equal their predictions on every draw.

    The error of a draw is its largest |measured - predicted|, divided by `relative_to`. The check shows the error that
    is nearest its tolerance, or farthest beyond it; what is predicted of an error is 0.

    Parameters
    ----------
    name : str
        The quantity.
    measured : array_like, shape (draws, ...)
        A single number is one draw.
    predicted : array_like
        Of the same shape, or of one that broadcasts to it.
    tolerance : float or array_like, shape (draws,)
        Error that the numerical method is known to make, in units of `relative_to`.
    relative_to : float or array_like, shape (draws,), optional
        What errors are divided by; by default the largest finite |measured| of the draw.
    because, undecided, excluded
        As of `every_draw`.
    resolution : float
        Smallest error that must be visible for the check to mean anything: a larger tolerance leaves it undecided. By
        default every tolerance is accepted.

    Raises
    ------
    CheckError
        If there is no draw, a tolerance is negative, or shapes do not fit.
    """
    # numbers that repeat are reported where each draw has its own prediction; under one for all draws they may agree
    by_draw = np.ndim(predicted) >= np.ndim(measured) and len(np.atleast_1d(predicted)) > 1
    measured, predicted = measured_and_predicted(name, measured, predicted)
    if measured.size == 0:
        raise CheckError(f"{name}: no draws")
    draws = len(measured)
    tolerance = one_per_draw(name, "tolerance", tolerance, draws)
    refuse_negative(name, "tolerance", tolerance)
    errors = np.abs(measured - predicted).reshape(draws, -1).max(axis=1)
    if relative_to is None:
        relative_to = np.where(np.isfinite(measured), np.abs(measured), 0.0).reshape(draws, -1).max(axis=1)
    unit = one_per_draw(name, "relative_to", relative_to, draws)
    has_unit = np.isfinite(unit)  # of draws without one nothing can be said
    errors = np.where(has_unit, errors / np.where(has_unit & (unit > 0), unit, 1.0), np.nan)
    check = every_draw(
        name,
        errors,
        at_most=tolerance,
        because=because,
        undecided=undecided,
        excluded=excluded,
        predicted=0.0,
        different=distinct(measured) if by_draw else draws,
    )
    allowed = float(np.max(tolerance))
    if check.state == "holds" and allowed > resolution:
        return check.as_undecided(f"errors of {allowed:.2g} hide differences of {resolution:.2g}")
    return check


# -- criteria on what draws say together -----------------------------------------------------------------------------


@takes_rivals("bound", upper_bound="bound")
def at_most(name: str, estimate: Estimate | float, bound: float, *, because: str = "", **counts: Any) -> Check:
    """Check that an estimate is below a bound; the check is undecided while the estimate's interval contains the bound.

    Parameters
    ----------
    name : str
        The quantity.
    estimate : Estimate or float
        ``mean(values)`` or ``median(values)`` over draws, ``slope(x, y)``, or one number.
    bound : float
    because : str
        Where the bound comes from.
    counts : optional
        As of `equal`.
    """
    bound = one_number(name, "bound", bound)
    measured = _estimate(name, estimate)
    return _undecided_with_its_draws(_ordered(name, measured, bound, upper=True, because=because, counts=counts))


@takes_rivals("bound", lower_bound="bound")
def at_least(name: str, estimate: Estimate | float, bound: float, *, because: str = "", **counts: Any) -> Check:
    """Check that an estimate is above a bound; the check is undecided while the estimate's interval contains the bound.

    It is undecided too where the bound is 0 and a difference is 0 on every draw, which has no sign. The parameters are
    those of `at_most`.
    """
    measured, bound = _estimate(name, estimate), one_number(name, "bound", bound)
    check = _undecided_with_its_draws(_ordered(name, measured, bound, upper=False, because=because, counts=counts))
    if bound == measured.lower == measured.upper == 0:
        return check.as_undecided("no difference on any draw")
    return check


@takes_rivals("predicted", scaled=True)
def equal(
    name: str,
    estimate: Estimate | float,
    predicted: float,
    *,
    tolerance: float = 0.0,
    resolution: float = np.inf,
    because: str = "",
    **counts: Any,
) -> Check:
    """Check that a prediction is in an estimate's interval, widened by the tolerance of the method.

    Parameters
    ----------
    name : str
        The quantity.
    estimate : Estimate or float
        ``mean(values)`` or ``median(values)`` over draws, ``slope(x, y)``, or one number.
    predicted : float
    tolerance : float
        Error that the numerical method is known to make, in units of the quantity.
    resolution : float
        Smallest difference that must be visible: the check is undecided if interval and tolerance hide it.
    because : str
        Where the tolerance comes from.
    counts : optional
        draws_for, draws_against, draws_undecided, excluded as of `Check`, where the claim counts them itself. Without
        the first three, all draws of the estimate count as the check's state is: for, against or undecided.

    Raises
    ------
    CheckError
        If the tolerance is negative, or an argument is not one number.
    """
    measured, predicted = _estimate(name, estimate), one_number(name, "predicted", predicted)
    tolerance = one_number(name, "tolerance", tolerance)
    refuse_negative(name, "tolerance", tolerance)
    low, high = measured.lower - tolerance, measured.upper + tolerance
    allowed = max(measured.value - low, high - measured.value)
    criterion = f"prediction {predicted:.4g} within {allowed:.2g}" + (f" ({because})" if because else "")
    state: State = "holds" if low <= predicted <= high else "fails"
    margin = allowed / abs(measured.value - predicted) if measured.value != predicted else np.inf
    check = _undecided_with_its_draws(
        _check(name, state, measured, criterion=criterion, margin=margin, predicted=predicted, counts=counts)
    )
    if measured.missing:
        return check
    if not np.isfinite(measured.value) or not np.isfinite(predicted):
        return check.as_undecided("not finite")
    if not np.isfinite(allowed):
        return check.as_undecided("the interval contains everything")
    if allowed > resolution:
        return check.as_undecided(f"errors of {allowed:.2g} hide differences of {resolution:.2g}")
    return check


@takes_rivals("at_least", "at_most", upper_bound="at_most", lower_bound="at_least")
def share_of_draws(
    name: str,
    holds: Any,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    undecided: Any = None,
    because: str = "",
    excluded: Mapping[str, int] | None = None,
) -> Check:
    """Check the share of draws of which something is true; a draw that is undecided counts against the claim.

    Parameters
    ----------
    name : str
        The share, in words.
    holds : array_like of bool, shape (draws,)
        Whether it is true of each draw. As numbers 1 is true, 0 is false, and nan makes the draw undecided.
    at_least, at_most : float
        Exactly one bound on the share. The check is decided where the whole 95 % Wilson interval is on one side of it.
    undecided, because, excluded
        As of `every_draw`.

    Raises
    ------
    CheckError
        If there is not exactly one bound, or `holds` has another shape.
    """
    if (at_most is None) == (at_least is None):
        raise CheckError(f"{name}: give one of at_most and at_least")
    flags = one_per_draw(name, "holds", holds)
    is_undecided = np.isnan(flags)
    if undecided is not None:
        is_undecided |= one_per_draw(name, "undecided", undecided, flags.size).astype(bool)
    holds = flags.astype(bool)
    n_true, n_false = int((holds & ~is_undecided).sum()), int((~holds & ~is_undecided).sum())
    n_undecided = int(is_undecided.sum())
    counts: dict[str, Any] = {"draws_undecided": n_undecided, "excluded": excluded}
    if at_least is not None:
        counts |= {"draws_for": n_true, "draws_against": n_false}
        proportion = share(n_true, holds.size)
        return _ordered(name, proportion, at_least, upper=False, because=because, counts=counts)
    counts |= {"draws_for": n_false, "draws_against": n_true}
    proportion = share(n_true + n_undecided, holds.size)
    return _ordered(name, proportion, float(at_most or 0.0), upper=True, because=because, counts=counts)


def at_optimum(check: Check, *optima: Optimum) -> Check:
    """Return a check on what is best on a grid; its criterion names the grid.

    It is undecided if the best is at the edge of its grid: beyond it something may be better. With several optima, as
    of several grids, one at an edge is enough.
    """
    best_by_grid: dict[tuple[float, ...], list[Optimum]] = {}
    for optimum in optima:
        best_by_grid.setdefault(optimum.grid, []).append(optimum)
    grids = [_describe_best(optima_of_grid) for optima_of_grid in best_by_grid.values()]

    def with_grid(check: Check) -> Check:
        return replace(check, criterion="; ".join([check.criterion, *grids]))

    check = check.with_change(with_grid)
    if any(optimum.at_edge for optimum in optima):
        return check.as_undecided("the best lies at the edge of its grid")
    return check


def _describe_best(optima: Sequence[Optimum]) -> str:
    """Return where several optima are on one grid: the place that they share, or the range of their places."""
    by_place = sorted(optima, key=lambda optimum: optimum.at)
    lowest, highest = by_place[0], by_place[-1]
    if lowest.at == highest.at:
        return str(lowest)
    edge = ", one of them at its edge" if any(optimum.at_edge for optimum in optima) else ""
    return f"{lowest.in_words} at {lowest.at:.3g} to {highest.at:.3g}{edge}"


def _undecided_with_its_draws(check: Check) -> Check:
    """Return a check on an estimate, undecided where draws that the estimate leaves out cannot be judged."""
    if check.state == "holds" and check.draws_undecided:
        return check.as_undecided(_cannot_be_judged(check.draws_undecided, check.draws))
    return check


def _cannot_be_judged(undecided: int, draws: int) -> str:
    return f"{undecided} of {draws} draws cannot be judged" if draws > 1 else "it cannot be judged"


def _estimate(name: str, estimate: Estimate | float) -> Estimate:
    if isinstance(estimate, Estimate):
        return estimate
    if np.size(estimate) != 1:
        raise CheckError(
            f"{name}: the estimate must be one number, or mean(values) or median(values) over draws (has shape "
            f"{np.shape(estimate)}); to compare each draw use every_draw"
        )
    number = one_number(name, "the estimate", estimate)
    return Estimate(number, number, number, 1, "one number")


def _ordered(
    name: str, estimate: Estimate, bound: float, *, upper: bool, because: str, counts: Mapping[str, Any]
) -> Check:
    """Return a check of an estimate against an upper bound, or a lower one: by its interval, all of it on one side."""
    inside = estimate.upper <= bound if upper else estimate.lower >= bound
    beyond = estimate.lower > bound if upper else estimate.upper < bound
    state: State = "undecided"
    if inside:
        state = "holds"
    elif beyond:
        state = "fails"
    criterion = f"{'<=' if upper else '>='} {bound:.4g}" + (f" ({because})" if because else "")
    margin = _factor(bound, estimate.value, upper)
    check = _check(name, state, estimate, criterion=criterion, margin=margin, predicted=np.nan, counts=counts)
    if state != "undecided" or estimate.missing:
        return check
    if np.isnan(estimate.value):
        return check.as_undecided("it cannot be judged")
    reason = "the interval contains the bound, so the data cannot decide"
    n_needed = estimate.draws_to_decide(bound)
    if n_needed:
        reason += f"; about {float(f'{n_needed:.2g}'):,.0f} draws would be needed, there are {estimate.draws}"
    return check.as_undecided(reason)


def _check(
    name: str,
    state: State,
    estimate: Estimate,
    *,
    criterion: str,
    margin: float,
    predicted: float,
    counts: Mapping[str, Any],
) -> Check:
    """Return a check on an estimate, undecided where draws gave no number."""
    draw_counts = dict(counts)
    excluded = draw_counts.pop("excluded", None)
    if not any(key in draw_counts for key in ("draws_for", "draws_against", "draws_undecided")):
        # draws are judged together: all of them count for the answer
        columns: dict[State, str] = {"holds": "draws_for", "fails": "draws_against", "undecided": "draws_undecided"}
        draw_counts[columns["undecided" if estimate.missing else state]] = estimate.draws
    has_interval = estimate.lower < estimate.upper or estimate.draws > 1  # one number repeats nothing
    check = Check(
        name=name,
        state=state,
        value=estimate.value,
        criterion=criterion,
        lower=estimate.lower if has_interval else np.nan,
        upper=estimate.upper if has_interval else np.nan,
        interval=estimate.how,
        margin=margin,
        predicted=predicted,
        draws=estimate.draws,
        excluded=excluded if isinstance(excluded, str) else _describe_excluded(excluded),
        **draw_counts,
    )
    if estimate.missing:
        return check.as_undecided(f"{estimate.missing} of {estimate.draws} draws gave no number")
    return check


def _describe_draws(values: np.ndarray, nearest: int, upper: bool, n_distinct: int) -> str:
    """Return which draw is shown, how many numbers differ, and the outermost value if another draw has it."""
    if values.size == 1:
        return "one number"
    description = f"{NEAREST}, of {values.size}"
    if n_distinct < values.size:
        description += f", with {n_distinct} different numbers" if n_distinct > 1 else ", all with one number"
    if np.isfinite(values).any():
        outermost = np.nanmax(values) if upper else np.nanmin(values)
        if outermost != values[nearest]:
            extreme = "largest" if upper else "least"
            description += f"; each draw has its own bound, and the {extreme} value of any draw is {outermost:.4g}"
    return description


def _nearest_its_bound(measured: np.ndarray, bound: np.ndarray, is_undecided: np.ndarray, upper: bool) -> int:
    """Return the draw nearest its bound by the factor that is left, or beyond it; without such factors, by distance."""
    factors = np.array([_factor(limit, value, upper) for limit, value in zip(bound, measured, strict=True)])
    inside = ~is_undecided & (measured <= bound if upper else measured >= bound)
    factors = np.where(inside & (measured == 0) & (bound != 0), np.inf, factors)
    if np.isnan(factors[~is_undecided]).any():
        factors = bound - measured if upper else measured - bound
    return int(np.argmin(np.where(is_undecided, np.inf, factors)))


def _factor(bound: float, value: float, upper: bool) -> float:
    """Return by which factor a value stays inside a bound of its own sign; nan where signs differ or one is 0."""
    if not np.isfinite(value) or bound == 0 or value == 0 or (bound > 0) != (value > 0):
        return np.nan
    with np.errstate(over="ignore"):  # infinite, where one of them is all but zero
        return float(abs(bound / value) if upper == (bound > 0) else abs(value / bound))


def _describe_excluded(excluded: Mapping[str, int] | None) -> str:
    return "; ".join(f"{count} left out: {why}" for why, count in (excluded or {}).items() if count)
