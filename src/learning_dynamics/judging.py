"""What a claim is: a prediction, a judge that can refuse it, rivals that it must refuse, and the verdict of all draws.

A claim's function is given metrics tables by role and yields checks, the headline first. Beside the number that a check
is about are its rivals, its correction and the fact that the page prints. A rival that alters several checks has its
phrase beside each of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from learning_dynamics.evidence import Estimate, Optimum, distinct, share

State = Literal["holds", "fails", "undecided"]
Origin = Literal["paper", "ours"]
# of what a sentence speaks; "a number" is one that no draws repeat
Quantifier = Literal["all draws", "most draws", "an average", "some setting", "a number"]
VERDICTS = ("reproduced", "corrected", "contradicted", "not reproduced", "undecided", "untested")


NEAREST = "nearest its bound"  # how an interval's words begin where every draw has its own


class Untested(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a claim that lacks what it needs (a data set, a machine); its text is the reason."""


@dataclass(frozen=True)
class Check:
    """One quantity compared with one criterion.

    Attributes
    ----------
    name : str
        The quantity, in words.
    state : str
        holds, fails or undecided.
    value, lower, upper : float
        What was measured, and its 95 % interval; nan where a number has no interval.
    interval : str
        Of what the interval is, and how it was found.
    criterion : str
        What the quantity must satisfy, with the reason for the bound.
    margin : float
        Factor by which the value stays inside its bound: above 1 inside, below 1 beyond it; nan where bounds have
        no natural unit.
    predicted : float
        What the prediction says of the quantity; nan where it names no number. A criterion's bound is not it.
    draws, draws_for, draws_against, draws_undecided : int
        How many draws there are, and what each says by itself.
    excluded : str
        Draws that are not judged, how many and why.
    undecided_reason : str
        Why the check is undecided, where it is.
    is_premise : bool
        Whether this is what the sentence assumes: where it is not met, nothing is decided.
    outermost : float
        The largest of all draws under an upper bound, the least over a lower one; nan where a check is on one number.
    facts : mapping from str to float
        Numbers for the fields of the claim's docstring.
    others : tuple of str
        The phrases of its rivals, and `CORRECTION` if it has one.
    under : callable, optional
        Returns the check under the first of some of these, its prediction multiplied by a factor; None where that
        claims nothing of the quantity.
    """

    name: str
    state: State
    value: float
    criterion: str
    lower: float = np.nan
    upper: float = np.nan
    interval: str = ""
    margin: float = np.nan
    predicted: float = np.nan
    draws: int = 1
    draws_for: int = 0
    draws_against: int = 0
    draws_undecided: int = 0
    excluded: str = ""
    undecided_reason: str = ""
    is_premise: bool = False
    outermost: float = field(default=np.nan, repr=False)
    facts: Mapping[str, float] = field(default_factory=dict, repr=False)
    others: tuple[str, ...] = field(default=(), repr=False)
    under: Callable[[Sequence[str], float], Check | None] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        interval = f" [{self.lower:.4g}, {self.upper:.4g}]" if np.isfinite(self.lower + self.upper) else ""
        reason = f" ({self.undecided_reason})" if self.undecided_reason else ""
        return f"{self.name}: {self.value:.4g}{interval}; {self.criterion}: {self.state}{reason}"

    def as_undecided(self, why: str) -> Check:
        """Return the check as undecided, with the reason beside any that it has."""

        def undecided(check: Check) -> Check:
            return replace(
                check, state="undecided", undecided_reason="; ".join(filter(None, [check.undecided_reason, why]))
            )

        return self.but(undecided)

    def but(self, change: Callable[[Check], Check]) -> Check:
        """Return the check changed, and under each of its rivals changed likewise."""
        under, changed = self.under, change(self)
        if under is None:
            return changed

        def changed_under(hypothesis: Sequence[str], factor: float) -> Check | None:
            check = under(hypothesis, factor)
            return None if check is None else change(check)

        return replace(changed, under=changed_under)


def premise(check: Check) -> Check:
    """Return a check on what the sentence assumes: while it does not hold the claim is undecided.

    Raises
    ------
    ValueError
        If the check has a rival or a correction: what is assumed is not what the claim predicts.
    """
    if check.others:
        raise ValueError(f"{check.name}: a premise has no rivals and no correction; give them to a check of the claim")
    return replace(check, is_premise=True)


# -- what goes with a check ----------------------------------------------------------------------------------------


CORRECTION = "the correction"  # what holds instead of a printed prediction, among rivals' phrases
# an argument of a check, for what is printed, a correction or a rival that says nothing of the check's quantity
NOT_CLAIMED = object()


class Facts(dict[str, Any]):
    """Numbers and words for the fields of a claim's docstring that no check measures; yielded among the checks."""


class Reason(str):
    """Why, in words, a verdict is another than `reproduced`, where that depends on the run; yielded among the checks.

    It replaces the reason that the decorator gives.
    """

    __slots__ = ()


def takes_rivals(
    *prediction: str, scaled: bool = False, upper_bound: str = "", lower_bound: str = ""
) -> Callable[[Callable[..., Check]], Callable[..., Check]]:
    """Let a function that returns a check take its rivals, correction and fact; name the parameter of the prediction.

    Of several names the first that is given is the prediction; if none is, the first. A claim writes a function of its
    own where a prediction is no argument of the check, but something that arguments are computed from::

        @takes_rivals("power", scaled=True)
        def falls_like(power: float) -> Check:
            return equal_on_every_draw("largest error", error, error[0] * time**-power, tolerance=0.01)

        yield falls_like(1.0, rivals={"as a root": 0.5}, corrected=2.0)

    The function then takes besides its own parameters

    rivals : mapping from str to object
        Wrong predictions by a phrase that the page prints; a mapping from parameter to argument (``{"values": other}``)
        where other arguments than the prediction are wrong. A phrase that several checks have is one rival, which
        alters them all.
    corrected : object
        The prediction, or the mapping, that holds where the printed one fails.
    fact : str
        Field of the docstring that the check's outermost number fills.
    scaled : bool
        Whether the smallest error that would have been refused is found by multiplying this prediction; by default as
        the decorator says, of equalities it is.

    Any argument may be `NOT_CLAIMED`: the check is then no part of what is printed, or of the correction or rival that
    has it. A correction that claims more than what is printed is ``every_draw(name, NOT_CLAIMED, at_most=1.0,
    corrected={"values": ratios})``; one that claims less, ``equal(name, power, 2.0, corrected=NOT_CLAIMED)``.

    Parameters
    ----------
    upper_bound, lower_bound : str
        Which of the predictions is a bound. A bound is scaled to one side, that of a tighter one: a number that meets
        a bound meets every looser one too.
    """

    def decorate(function: Callable[..., Check]) -> Callable[..., Check]:
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def check(
            *arguments: Any,
            rivals: Mapping[str, Any] | None = None,
            corrected: Any = None,
            fact: str = "",
            scaled: bool = scaled,
            **named: Any,
        ) -> Check:
            if CORRECTION in (rivals or {}):
                raise ValueError(f"`{CORRECTION}` is no rival's name; choose another")
            given = dict(zip(names, arguments, strict=False)) | named
            predicted = next((name for name in prediction if given.get(name) is not None), prediction[0])
            others = {**(rivals or {}), CORRECTION: corrected}
            others = {name: other for name, other in others.items() if other is not None}

            def multiplied(number: Any, factor: float) -> np.ndarray:
                number = np.asarray(number)
                if predicted == upper_bound:
                    return number - abs(factor - 1) * np.abs(number)
                if predicted == lower_bound:
                    return number + abs(factor - 1) * np.abs(number)
                return factor * number

            # what is printed, with nothing replaced
            printed = None if _has_not_claimed(given) else function(*arguments, **named)

            def under(hypothesis: Sequence[str], factor: float) -> Check | None:
                changes = _changes(hypothesis, others, predicted)
                if _has_not_claimed(changes or given):
                    return None
                changed = {**given, **changes}
                if _has_not_claimed(changed):
                    raise ValueError(f"{hypothesis}: give every argument that is not claimed as printed")
                number = changed.get(predicted)
                if factor != 1 and scaled and (isinstance(number, np.ndarray) or _is_numbers(number)):
                    return function(**{**changed, predicted: multiplied(number, factor)})
                return function(**changed) if changes else printed

            shown = printed
            if shown is None:
                if not others:
                    raise ValueError("what is NOT_CLAIMED as printed needs a correction or a rival that claims it")
                # the number of the correction, or else of a rival; of nobody where their draws are not in the tables
                claimed = (under([name], 1.0) for name in (CORRECTION, *others))
                shown = next(filter(None, claimed), Check("not claimed", "undecided", np.nan, "none"))
            if fact:
                value = shown.value if np.isnan(shown.outermost) else shown.outermost
                shown = replace(shown, facts={**shown.facts, fact: value})
            return replace(shown, others=tuple(others), under=under) if others else shown

        return check

    return decorate


def _changes(hypothesis: Sequence[str], others: Mapping[str, Any], predicted: str) -> Mapping[str, Any]:
    """Return the arguments that the first of some rivals or the correction replaces, of those that say anything."""
    for name in hypothesis:
        other = others.get(name)
        changes = other if isinstance(other, Mapping) else {predicted: other}
        if name in others and not _says_nothing(changes.get(predicted)):
            return changes
    return {}


def _has_not_claimed(arguments: Mapping[str, Any]) -> bool:
    return any(value is NOT_CLAIMED for value in arguments.values())


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
    ValueError
        If there is no draw, or not exactly one bound.
    """
    if (at_most is None) == (at_least is None):
        raise ValueError(f"{name}: give one of at_most and at_least")
    measured = np.atleast_1d(np.asarray(values, dtype=float))
    if measured.size == 0:
        raise ValueError(f"{name}: no draws")
    upper = at_most is not None
    bound = np.broadcast_to(np.asarray(at_most if upper else at_least, dtype=float), measured.shape)
    is_undecided = ~np.isfinite(measured) | ~np.isfinite(bound)
    if undecided is not None:
        is_undecided |= np.broadcast_to(np.asarray(undecided, dtype=bool), measured.shape)
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
    measured, predicted = np.broadcast_arrays(np.asarray(measured, dtype=float), np.asarray(predicted, dtype=float))
    measured, predicted = np.atleast_1d(measured), np.atleast_1d(predicted)
    draws = len(measured)
    errors = np.abs(measured - predicted).reshape(draws, -1).max(axis=1)
    if relative_to is None:
        relative_to = np.where(np.isfinite(measured), np.abs(measured), 0.0).reshape(draws, -1).max(axis=1)
    unit = np.broadcast_to(np.asarray(relative_to, dtype=float), (draws,))
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
    return _counting(_ordered(name, _estimate(estimate), bound, True, because, counts))


@takes_rivals("bound", lower_bound="bound")
def at_least(name: str, estimate: Estimate | float, bound: float, *, because: str = "", **counts: Any) -> Check:
    """Check that an estimate lies above a bound; undecided while its interval covers the bound.

    Nothing but zeros does not decide a sign: a difference that is none on every draw is not above zero.
    """
    measured = _estimate(estimate)
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
    measured = _estimate(estimate)
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
        raise ValueError(f"{name}: give one of at_most and at_least")
    flags = np.atleast_1d(np.asarray(holds))
    is_undecided = np.isnan(flags) if np.issubdtype(flags.dtype, np.floating) else np.zeros(flags.shape, bool)
    if undecided is not None:
        is_undecided = is_undecided | np.asarray(undecided, dtype=bool)
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
    check = check.but(lambda one: replace(one, criterion="; ".join([one.criterion, *map(str, optima)])))
    at_edge = any(optimum.at_edge for optimum in optima)
    return check.as_undecided("the best lies at the edge of its grid") if at_edge else check


def _counting(check: Check) -> Check:
    """Return a check on an estimate, undecided where draws that the estimate leaves out cannot be judged."""
    if check.state == "holds" and check.draws_undecided:
        return check.as_undecided(_cannot_be_judged(check.draws_undecided, check.draws))
    return check


def _cannot_be_judged(undecided: int, draws: int) -> str:
    return f"{undecided} of {draws} draws cannot be judged" if draws > 1 else "it cannot be judged"


def _estimate(number: Estimate | float) -> Estimate:
    return (
        number
        if isinstance(number, Estimate)
        else Estimate(float(number), float(number), float(number), 1, "one number")
    )


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
    hint = (
        f"; about {n_needed:,} draws would decide instead of {estimate.draws}, if they were alike" if n_needed else ""
    )
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
    description = f"{NEAREST} of {values.size} draws"
    if np.isfinite(values).any():
        outermost = np.nanmax(values) if upper else np.nanmin(values)
        if outermost != values[nearest]:
            description += f"; the {'largest' if upper else 'least'} is {outermost:.4g}"
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


# -- judgements and verdicts ------------------------------------------------------------------------------------------

Checks = Iterable[Check]
Claim = Iterable[Check | Facts | Reason]  # what a claim's function yields, the headline first


@dataclass(frozen=True)
class Judgement:
    """What the checks say of one prediction: all of them must hold. The headline is no premise.

    The headline is the quantity that the claim is about. The card shows the check that decides: the headline if all
    hold, else the first that is as the judgement is.
    """

    headline: Check
    parts: tuple[Check, ...] = ()

    def __init__(self, headline: Check, *parts: Check) -> None:
        if headline.is_premise:
            raise ValueError(f"{headline.name}: is a premise; yield the check that the claim is about before it")
        object.__setattr__(self, "headline", headline)
        object.__setattr__(self, "parts", parts)

    @property
    def state(self) -> State:
        """Undecided while a premise does not hold; else fails if a check fails, and holds if all do."""
        if self.unmet:
            return "undecided"
        states = [check.state for check in self.checks]
        if "fails" in states:
            return "fails"
        return "undecided" if "undecided" in states else "holds"

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, the headline first."""
        return (self.headline, *self.parts)

    @property
    def unmet(self) -> tuple[Check, ...]:
        """The premises that do not hold."""
        return tuple(check for check in self.parts if check.is_premise and check.state != "holds")

    @property
    def deciding(self) -> Check:
        """The check that decides: a premise only while it does not hold."""
        return next(iter(self.unmet or [check for check in self.checks if check.state == self.state]))


def judgement_under(checks: Sequence[Check], hypothesis: Sequence[str] = (), factor: float = 1.0) -> Judgement:
    """Return what a claim's checks say under a hypothesis, by default of what is printed.

    Parameters
    ----------
    hypothesis : sequence of str
        Phrases of rivals, or `CORRECTION`. Each check takes the prediction of the first that it has, or else what is
        printed.
    factor : float
        What the predictions of checks that are `scaled` are multiplied by.
    """
    changed = [check.under(hypothesis, factor) if check.under else check for check in checks]
    claimed = [check for check in changed if check is not None]
    if not claimed:
        raise ValueError(f"nothing is checked of {hypothesis or 'what is printed'}: every check is NOT_CLAIMED")
    return Judgement(*claimed)


@dataclass(frozen=True)
class About:
    """What a claim's decorator says of it."""

    reference: str
    scope: str
    origin: Origin
    empirical: bool
    correction: str
    quantifier: Quantifier | None
    reason: str


def claim(
    reference: str,
    *,
    scope: str,
    origin: Origin = "paper",
    empirical: bool = False,
    correction: str = "",
    quantifier: Quantifier | None = None,
    reason: str = "",
) -> Callable:
    """Mark a function of a topic's claims as a claim.

    The first paragraph of its docstring is the statement, with its hypotheses; the rest is its explanation on the
    page. Numbers that depend on a run are ``{fields}``, filled from the headline (``value``, ``predicted``, ``lower``,
    ``upper``, ``draws``, ``draws_for``, ``draws_against``, ``draws_undecided`` and, of a claim that is corrected, its
    ``printed`` value), from checks with a ``fact`` and from `Facts`.

    Parameters
    ----------
    reference : str
        Where it stands: ``Corollary 3.1``, ``Figure 2``, ``section 3.3``.
    scope : str
        A theorem's hypotheses as tested; of an empirical statement, what it was tested on.
    origin : str
        ``paper``, or ``ours`` for what is no sentence of the paper.
    empirical : bool
        Whether the statement is about experiments: one that fails here is *not reproduced at this scale*,
        never corrected or contradicted.
    correction : str
        What holds instead, for claims that fail as printed.
    quantifier : str
        Of what the statement speaks: all draws, most draws, an average, some setting ("can happen"), or one number that
        no draws repeat. The headline must check that: a "for all" is not judged by a share, nor a mean by every draw.
    reason : str, optional
        Why, in words, for a verdict other than `reproduced`.

    Raises
    ------
    ValueError
        If an empirical statement has a correction, the scope is empty, or the quantifier is unknown.
    """
    if not scope.strip():
        raise ValueError(f"{reference}: say for what it was tested (scope)")
    if quantifier is not None and quantifier not in get_args(Quantifier):
        raise ValueError(f"{reference}: quantifier `{quantifier}` is not one of {', '.join(get_args(Quantifier))}")
    if empirical and correction:
        raise ValueError(f"{reference}: an empirical statement is not corrected by another scale")

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        about = About(reference, scope, origin, empirical, correction, quantifier, reason)
        function.claim = about  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True)
class Evaluation:
    """A claim's verdict, with the judgements that it follows from."""

    verdict: str
    judgement: Judgement | None = None
    corrected: Judgement | None = None
    rivals: Mapping[str, str] = field(default_factory=dict)
    min_detectable_error: float = np.nan
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    quantifier: str = ""

    @property
    def decisive(self) -> Judgement | None:
        """The judgement to show: the correction's where it is what holds, else the printed one's."""
        return self.corrected if self.verdict == "corrected" else self.judgement


def evaluate(
    function: Callable[..., Claim],
    tables: Mapping[str, Any],
    settings: Mapping[str, Any],
    *,
    verdict_alone: bool = False,
) -> Evaluation:
    """Call a claim's function with tables by role and settings, and judge its checks.

    A rival that would get the same verdict leaves the claim undecided: such a verdict would say nothing. Half of the
    time goes into the smallest error that would have been refused, which is not sought for a `verdict_alone`.

    Raises
    ------
    TypeError
        If the function yields no check.
    ValueError
        If the headline checks another quantifier than the statement has, or a rival changes whether a premise holds.
    """
    about: About = function.claim  # type: ignore[attr-defined]
    try:
        checks, facts, run_reason = _read(function(**tables, **settings))
    except Untested as lacking:
        return Evaluation("untested", reason=str(lacking))
    members = _members(tables)
    printed = _of_all_members(judgement_under(checks), members)

    def judged(name: str, hypothesis: Sequence[str]) -> Judgement:
        judgement = _of_all_members(judgement_under(checks, hypothesis), members)
        if [check.name for check in judgement.unmet] != [check.name for check in printed.unmet]:
            raise ValueError(f"{about.reference}: {name} changes whether a premise holds, which no prediction may do")
        return judgement

    replacements = list(dict.fromkeys(name for check in checks for name in check.others))
    corrected = judged(CORRECTION, [CORRECTION]) if CORRECTION in replacements else None
    verdict = _verdict(about, printed.state, corrected.state if corrected else None)

    rivals = {}
    for name in replacements:
        if name == CORRECTION:
            continue
        # a rival alters some checks; the others are as printed where that holds, else as corrected
        hypothesis = [name] if verdict == "reproduced" else [name, CORRECTION]
        state = judged(f"the rival `{name}`", hypothesis).state
        if verdict == "corrected":
            rivals[name] = _verdict(about, "fails", state)
        else:
            corrected_state = corrected.state if corrected and printed.state == state == "fails" else None
            rivals[name] = _verdict(about, state, corrected_state)

    undetected = [name for name, rival_verdict in rivals.items() if rival_verdict == verdict]
    known = run_reason or about.reason
    reason = [known] if verdict != "reproduced" and known else []
    if not rivals:
        verdict, reason = "undecided", [*reason, "no rival was tried"]
    elif undetected and verdict in ("reproduced", "corrected"):
        reason.append(f"{' and '.join(undetected)} would get the same verdict ({verdict})")
        verdict = "undecided"
    elif verdict == "undecided":
        reason.append(_undecided_reason(printed))
    elif verdict == "not reproduced":
        reason.append("does not show at this scale")

    min_detectable_error = np.nan
    if verdict in ("reproduced", "corrected") and not verdict_alone:
        min_detectable_error = _min_detectable_error(checks, [CORRECTION] if verdict == "corrected" else [])
    facts = {**_numbers(printed, corrected if verdict == "corrected" else None), **facts}
    quantifiers = [_quantifier(about, judgement.headline) for judgement in (printed, corrected) if judgement]
    return Evaluation(
        verdict, printed, corrected, rivals, min_detectable_error, "; ".join(reason), facts, quantifiers[0]
    )


def _read(yields: Claim) -> tuple[list[Check], dict[str, Any], str]:
    """Return the checks that a claim yields, its facts by the fields that they fill, and the reasons that it gives."""
    if not isinstance(yields, Iterable):
        raise TypeError(f"returns {type(yields).__name__}; yield its checks")
    checks: list[Check] = []
    facts: dict[str, Any] = {}
    reasons: list[str] = []
    for yielded in yields:
        if isinstance(yielded, Check):
            checks.append(yielded)
            facts |= yielded.facts
        elif isinstance(yielded, Reason):
            reasons.append(yielded)
        else:
            facts |= yielded
    if not checks:
        raise TypeError("yields no check")
    return checks, facts, "; ".join(reasons)


def _quantifier(about: About, check: Check) -> Quantifier:
    """Return of what a statement speaks, which the check must do too; one number may be that of a single draw."""
    beginnings: dict[str, Quantifier] = {
        NEAREST: "all draws",
        "share": "most draws",
        "mean": "an average",
        "median": "an average",
        "geometric mean": "an average",
        "slope": "an average",
    }
    checked = next((speaks for start, speaks in beginnings.items() if check.interval.startswith(start)), None)
    stated = about.quantifier or checked or "a number"
    if checked and stated not in (checked, "some setting"):
        raise ValueError(f"{about.reference}: is about {stated}, and its headline checks {checked}: {check.name}")
    return stated


def _undecided_reason(judgement: Judgement) -> str:
    """Return why a judgement is undecided, by the check that decides."""
    check = judgement.deciding
    why = check.undecided_reason or ("" if check.is_premise else "it cannot be judged")
    premise = f"the premise is not met ({check.value:.4g}; {check.criterion})" if check.is_premise else ""
    return f"{check.name}: {'; '.join(filter(None, [premise, why]))}"


def _says_nothing(prediction: Any) -> bool:
    """Return whether a prediction is numbers of which none is finite; an empty list of draws is a mistake instead."""
    return _is_numbers(prediction) and np.size(prediction) > 0 and not np.isfinite(np.asarray(prediction)).any()


def _is_numbers(prediction: Any) -> bool:
    """Return whether a prediction is a number, or an array, a list or a column of them."""
    if not isinstance(prediction, int | float | list) and not hasattr(prediction, "dtype"):
        return False
    try:
        return np.issubdtype(np.asarray(prediction).dtype, np.number)
    except ValueError:  # a list of unequal lists
        return False


def _members(tables: Mapping[str, Any]) -> int:
    """Return the number of ensemble members that every table has; 0 where tables have no seeds."""
    listed = [table for value in tables.values() for table in (value if isinstance(value, list | tuple) else [value])]
    counts = [table["seed"].nunique() for table in listed if "seed" in getattr(table, "columns", ())]
    return min(counts, default=0)


def _of_all_members(judgement: Judgement, members: int) -> Judgement:
    """Return a judgement that says so where fewer draws are judged than there are, and no reason is given."""

    def with_missing(check: Check) -> Check:
        by_draw = check.interval.startswith((NEAREST, "share", "mean", "median"))
        if check.excluded or not by_draw or not 1 < check.draws < members:
            return check
        return replace(check, excluded=f"{check.draws} judged of an ensemble of {members}: no reason given")

    return Judgement(*map(with_missing, (judgement.headline, *judgement.parts)))


def _verdict(about: About, printed: State, corrected: State | None) -> str:
    if printed == "holds":
        return "reproduced"
    if printed == "undecided":
        return "undecided"
    if about.empirical:
        return "not reproduced"
    return "corrected" if corrected == "holds" else "contradicted"


def _min_detectable_error(checks: Sequence[Check], hypothesis: Sequence[str]) -> float:
    """Return the smallest relative error of the prediction that would have been refused, within a factor 10^(1/4)."""
    for error in np.logspace(-16, 0, 65):
        if all(judgement_under(checks, hypothesis, 1 + side * error).state != "holds" for side in (1, -1)):
            return float(error)
    return np.nan


def _numbers(printed: Judgement, corrected: Judgement | None) -> dict[str, Any]:
    check = (corrected or printed).headline
    return {
        "value": check.value,
        "predicted": check.predicted,
        "lower": check.lower,
        "upper": check.upper,
        "draws": check.draws,
        "draws_for": check.draws_for,
        "draws_against": check.draws_against,
        "draws_undecided": check.draws_undecided,
        "printed": printed.headline.value,
    }
