"""The criteria: bounds and equalities that every draw meets, that an estimate meets, or a share of the draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from learning_dynamics.errors import CheckError
from learning_dynamics.evidence import Estimate, Optimum, distinct, share
from learning_dynamics.judging.checks import NEAREST, Check, State, takes_rivals
from learning_dynamics.judging.inputs import alike, one_number, one_per_draw, refuse_negative

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
    """Check that a quantity stays within its bound on every draw; the draw nearest its bound, or beyond it, is shown.

    Where bounds differ from draw to draw another may have the largest value (the least, under a bound from below):
    the check says so. It also reports numbers that repeat from draw to draw.

    Parameters
    ----------
    name : str
        The quantity.
    values : array_like, shape (draws,)
        One number a draw; nan or an infinity that the bound does not decide makes the draw undecided.
    at_most, at_least : float or array_like, shape (draws,)
        Exactly one of the two bounds.
    because : str
        Where the bound comes from.
    undecided : array_like of bool, shape (draws,), optional
        Draws that cannot be judged (an integration that did not get through).
    excluded : mapping from reason to count, optional
        Draws that the claim is not about.
    different : int, optional
        How many of the draws differ, where the values do not tell (errors of what repeats differ by rounding).

    Raises
    ------
    CheckError
        If there is no draw, or not exactly one bound.
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
    return Check(
        name,
        state,
        float(shown[nearest]),
        f"{sign} {bound[nearest]:.4g} on every draw" + (f" ({because})" if because else ""),
        interval=_of_draws(shown, nearest, upper, distinct(measured) if different is None else different),
        margin=_factor(float(bound[nearest]), float(shown[nearest]), upper),
        # a bound is no prediction, whoever passes it as one
        predicted=predicted if predicted != bound[nearest] or predicted == 0 else np.nan,
        draws=measured.size,
        draws_for=int(holds.sum()),
        draws_against=n_against,
        draws_undecided=int(is_undecided.sum()),
        excluded=_reasons(excluded),
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
    """Check that measured numbers equal their predictions on every draw; the largest error is shown, predicted 0.

    Parameters
    ----------
    measured, predicted : array_like, shape (draws, ...)
        Errors are taken as the largest over everything but draws. A single number is one draw.
    tolerance : float or array_like, shape (draws,)
        Error that the numerical method is known to make, in units of `relative_to`.
    relative_to : float or array_like, shape (draws,), optional
        What errors are divided by; by default the largest finite |measured| of the draw.
    resolution : float
        Smallest error that must be visible for the check to mean anything: a larger tolerance leaves it undecided.
    """
    # of what is predicted to be the same on every draw, numbers may agree
    by_draw = np.ndim(predicted) >= np.ndim(measured) and len(np.atleast_1d(predicted)) > 1
    measured, predicted = alike(name, measured, predicted)
    if measured.size == 0:
        raise CheckError(f"{name}: no draws")
    draws = len(measured)
    tolerance = one_per_draw(name, "tolerance", tolerance, draws)
    refuse_negative(name, "tolerance", tolerance)
    errors = np.abs(measured - predicted).reshape(draws, -1).max(axis=1)
    if relative_to is None:
        relative_to = np.where(np.isfinite(measured), np.abs(measured), 0.0).reshape(draws, -1).max(axis=1)
    unit = one_per_draw(name, "relative_to", relative_to, draws)
    # an error in units of nothing finite says nothing
    errors = np.where(np.isfinite(unit), errors / np.where(np.isfinite(unit) & (unit > 0), unit, 1.0), np.nan)
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
    """Check that an estimate lies below a bound; undecided while its interval covers the bound."""
    bound = one_number(name, "bound", bound)
    return _counting(_ordered(name, _estimate(name, estimate), bound, True, because, counts))


@takes_rivals("bound", lower_bound="bound")
def at_least(name: str, estimate: Estimate | float, bound: float, *, because: str = "", **counts: Any) -> Check:
    """Check that an estimate lies above a bound; undecided while its interval covers the bound.

    Nothing but zeros does not decide a sign: a difference that is none on every draw is not above zero.
    """
    measured, bound = _estimate(name, estimate), one_number(name, "bound", bound)
    check = _counting(_ordered(name, measured, bound, False, because, counts))
    return check.as_undecided("no difference on any draw") if bound == measured.lower == measured.upper == 0 else check


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
    resolution : float
        Smallest difference that must be visible: undecided if interval and tolerance hide it.
    counts : optional
        draws_for, draws_against, draws_undecided, excluded as in `Check`.
    """
    measured, predicted = _estimate(name, estimate), one_number(name, "predicted", predicted)
    tolerance = one_number(name, "tolerance", tolerance)
    refuse_negative(name, "tolerance", tolerance)
    low, high = measured.lower - tolerance, measured.upper + tolerance
    allowed = max(measured.value - low, high - measured.value)
    criterion = f"prediction {predicted:.4g} within {allowed:.2g}" + (f" ({because})" if because else "")
    state: State = "holds" if low <= predicted <= high else "fails"
    margin = allowed / abs(measured.value - predicted) if measured.value != predicted else np.inf
    check = _counting(_check(name, state, measured, criterion, margin, predicted, counts))
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
    holds : array_like of bool, shape (draws,)
        Of each draw, whether it is so; of numbers, nan is undecided.
    at_least, at_most : float
        Exactly one bound on the share; the 95 % Wilson interval must lie on its side.
    """
    if (at_most is None) == (at_least is None):
        raise CheckError(f"{name}: give one of at_most and at_least")
    flags = one_per_draw(name, "holds", holds)
    is_undecided = np.isnan(flags)
    if undecided is not None:
        is_undecided |= one_per_draw(name, "undecided", undecided, flags.size).astype(bool)
    holds = flags.astype(bool)
    n_true, n_false = int((holds & ~is_undecided).sum()), int((~holds & ~is_undecided).sum())
    proportion = share(n_true if at_least is not None else n_true + int(is_undecided.sum()), holds.size)
    counts = {
        "draws_for": n_true if at_least is not None else n_false,
        "draws_against": n_false if at_least is not None else n_true,
        "draws_undecided": int(is_undecided.sum()),
        "excluded": excluded,
    }
    if at_least is not None:
        return _ordered(name, proportion, at_least, False, because, counts)
    return _ordered(name, proportion, float(at_most or 0.0), True, because, counts)


def at_optimum(check: Check, *optima: Optimum) -> Check:
    """Return a check on the best of a grid: the grid in its criterion, and undecided if the best is at its edge."""
    check = check.with_change(lambda one: replace(one, criterion="; ".join([one.criterion, *map(str, optima)])))
    at_edge = any(optimum.at_edge for optimum in optima)
    return check.as_undecided("the best lies at the edge of its grid") if at_edge else check


def _counting(check: Check) -> Check:
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
    name: str, estimate: Estimate, bound: float, upper: bool, because: str, counts: Mapping[str, Any]
) -> Check:
    inside = estimate.upper <= bound if upper else estimate.lower >= bound
    beyond = estimate.lower > bound if upper else estimate.upper < bound
    state: State = "undecided"
    if inside:
        state = "holds"
    elif beyond:
        state = "fails"
    criterion = f"{'<=' if upper else '>='} {bound:.4g}" + (f" ({because})" if because else "")
    check = _check(name, state, estimate, criterion, _factor(bound, estimate.value, upper), np.nan, counts)
    if state != "undecided" or estimate.missing:
        return check
    if np.isnan(estimate.value):
        return check.as_undecided("it cannot be judged")
    n_needed = estimate.draws_to_decide(bound)
    hint = f"; about {n_needed:,} such draws would be needed instead of {estimate.draws}" if n_needed else ""
    return check.as_undecided(f"the interval covers the bound{hint}")


def _check(
    name: str,
    state: State,
    estimate: Estimate,
    criterion: str,
    margin: float,
    predicted: float,
    counts: Mapping[str, Any],
) -> Check:
    draw_counts = dict(counts)
    excluded = draw_counts.pop("excluded", None)
    if not any(key in draw_counts for key in ("draws_for", "draws_against", "draws_undecided")):
        # draws are judged together: all stand behind the answer
        column = {"holds": "draws_for", "fails": "draws_against", "undecided": "draws_undecided"}[
            "undecided" if estimate.missing else state
        ]
        draw_counts[column] = estimate.draws
    has_interval = estimate.lower < estimate.upper or estimate.draws > 1  # one number repeats nothing
    check = Check(
        name,
        state,
        estimate.value,
        criterion,
        estimate.lower if has_interval else np.nan,
        estimate.upper if has_interval else np.nan,
        estimate.how,
        margin,
        predicted,
        estimate.draws,
        excluded=excluded if isinstance(excluded, str) else _reasons(excluded),
        **draw_counts,
    )
    return (
        check.as_undecided(f"{estimate.missing} of {estimate.draws} draws gave no number")
        if estimate.missing
        else check
    )


def _of_draws(values: np.ndarray, nearest: int, upper: bool, n_distinct: int) -> str:
    """Return which of the draws is shown; the one that lies farthest out, if it is another; how many draws differ."""
    if values.size == 1:
        return "one number"
    description = f"{NEAREST}, of {values.size}"
    if np.isfinite(values).any():
        outermost = np.nanmax(values) if upper else np.nanmin(values)
        if outermost != values[nearest]:
            description += f"; the {'largest' if upper else 'least'} of all is {outermost:.4g}"
    return description + (f"; {n_distinct} of the numbers differ" if n_distinct < values.size else "")


def _nearest_its_bound(measured: np.ndarray, bound: np.ndarray, is_undecided: np.ndarray, upper: bool) -> int:
    """Return the draw nearest its bound by the factor that is left, or beyond it; without such factors, by distance."""
    factors = np.array([_factor(*pair, upper) for pair in zip(bound, measured, strict=True)])
    inside = ~is_undecided & (measured <= bound if upper else measured >= bound)
    factors = np.where(inside & (measured == 0) & (bound != 0), np.inf, factors)
    if np.isnan(factors[~is_undecided]).any():
        factors = bound - measured if upper else measured - bound
    return int(np.argmin(np.where(is_undecided, np.inf, factors)))


def _factor(bound: float, value: float, upper: bool) -> float:
    """Return by which factor a value stays inside a bound of its own sign; nan where there is none."""
    if not np.isfinite(value) or bound == 0 or value == 0 or (bound > 0) != (value > 0):
        return np.nan
    return float(abs(bound / value) if upper == (bound > 0) else abs(value / bound))


def _reasons(excluded: Mapping[str, int] | None) -> str:
    return "; ".join(f"{count} left out: {why}" for why, count in (excluded or {}).items() if count)
