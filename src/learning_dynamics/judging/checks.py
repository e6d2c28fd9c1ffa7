"""A check: one quantity compared with one criterion, with the rivals, the correction and the fact that go with it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from learning_dynamics.errors import CheckError, check_known

State = Literal["holds", "fails", "undecided"]
# what a sentence is about; "a number" is one that no draws repeat
Quantifier = Literal["all draws", "most draws", "an average", "some setting", "a number"]
NEAREST = "the draw nearest its bound"
# what a check is about, by how the words of its `interval` begin
QUANTIFIERS: Mapping[str, Quantifier] = {
    NEAREST: "all draws",
    "share": "most draws",
    "mean": "an average",
    "median": "an average",
    "geometric mean": "an average",
    "slope": "an average",
}


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
        What the value is of the draws, and how its interval was found: ``the draw nearest its bound, of 60``, ``mean
        (t)``, ``share (Wilson)``.
    criterion : str
        What the quantity must satisfy, with the reason for the bound.
    margin : float
        Factor by which the value stays inside its bound: above 1 inside, below 1 beyond it; nan where bounds have
        no natural unit.
    predicted : float
        What the prediction says of the quantity; nan where it names no number. The bound of a criterion is no
        prediction.
    draws, draws_for, draws_against, draws_undecided : int
        How many draws there are, and what each says by itself.
    excluded : str
        Draws that are not judged, how many and why.
    undecided_reason : str
        Why the check is undecided, where it is.
    is_premise : bool
        Whether this is what the sentence assumes: where it is not met, nothing is decided.
    outermost : float
        The largest value of all draws under an upper bound, the least over a lower one; nan of a check on an estimate.
    facts : mapping from str to float
        Numbers for the fields of the claim's docstring.
    replacements : tuple of str
        Phrases of what may replace what is printed: its rivals, and `CORRECTION` if it has one.
    under : callable, optional
        ``under(phrases, factor)`` returns the check with another prediction: that of the first of `phrases` that is
        among `replacements` and has a number, or is the correction; else the printed one. If it is `scaled` it is
        multiplied by `factor`. It returns None where the prediction is `NOT_CLAIMED`.
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
    replacements: tuple[str, ...] = field(default=(), repr=False)
    under: Callable[[Sequence[str], float], Check | None] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        interval = f" [{self.lower:.4g}, {self.upper:.4g}]" if np.isfinite(self.lower + self.upper) else ""
        reason = f" ({self.undecided_reason})" if self.undecided_reason else ""
        return f"{self.name}: {self.value:.4g}{interval}; {self.criterion}: {self.state}{reason}"

    @property
    def quantifier(self) -> Quantifier | None:
        """What the check is about; None for one number, which fits each quantifier: it may be a single draw's."""
        return quantifier_of(self.interval)

    def as_undecided(self, why: str) -> Check:
        """Return the check as undecided, with the reason beside any that it has."""

        def undecided(check: Check) -> Check:
            return replace(
                check, state="undecided", undecided_reason="; ".join(filter(None, [check.undecided_reason, why]))
            )

        return self.with_change(undecided)

    def with_change(self, change: Callable[[Check], Check]) -> Check:
        """Return what `change` makes of the check, and of the check under each of its replacements."""
        under, changed = self.under, change(self)
        if under is None:
            return changed

        def changed_under(phrases: Sequence[str], factor: float) -> Check | None:
            check = under(phrases, factor)
            return None if check is None else change(check)

        return replace(changed, under=changed_under)


def quantifier_of(interval: str) -> Quantifier | None:
    """Return what a check is about whose interval has these words; None for one number."""
    return next((quantifier for start, quantifier in QUANTIFIERS.items() if interval.startswith(start)), None)


def premise(check: Check) -> Check:
    """Return a check on what the sentence assumes: while it does not hold the claim is undecided.

    Raises
    ------
    CheckError
        If the check has a rival or a correction: what is assumed is not what the claim predicts.
    """
    if check.replacements:
        raise CheckError(f"{check.name}: a premise has no rivals and no correction; give them to a check of the claim")
    return replace(check, is_premise=True)


# -- what goes with a check ----------------------------------------------------------------------------------------


CORRECTION = "the correction"  # what holds instead of a printed prediction, among rivals' phrases
# As `printed`, `corrected` or a rival of a check it says that this prediction is silent about the quantity: the check
# takes no part in judging it. A check whose `printed` and `corrected` both are NOT_CLAIMED is there for its rivals.
NOT_CLAIMED = object()


def takes_rivals(
    *predictions: str,
    scaled: bool | Callable[[Any, float], Any] = False,
    upper_bound: str = "",
    lower_bound: str = "",
) -> Callable[[Callable[..., Check]], Callable[..., Check]]:
    """Let a function that returns a check take its rivals, correction and fact; name the parameter of the prediction.

    A claim writes a function of its own where a prediction is no argument of the check, but something that arguments
    are computed from::

        @takes_rivals("power", scaled=True)
        def falls_like(power: float) -> Check:
            return equal_on_every_draw("largest error", error, error[0] * time**-power, tolerance=0.01)

        yield falls_like(1.0, corrected=2.0, rivals={"as a root": 0.5})

    The function then takes the five parameters below besides its own. What is `printed`, what is `corrected`, and each
    of the rivals is a prediction; or a mapping from parameter to argument, ``{"values": other}``, where an argument
    other than the prediction differs; or `NOT_CLAIMED` where the paper, the correction or the rival says nothing of the
    quantity.

    printed : object
        What the paper says, where the arguments say something else: they are then the correction's, unless
        `corrected` is given. A check of the correction alone, on what the paper does not claim, is ``every_draw(name,
        ratios, at_most=1.0, printed=NOT_CLAIMED)``.
    corrected : object
        What holds where the printed prediction fails. A check of the paper's sentence alone, on what the correction no
        longer claims, is ``equal(name, power, 2.0, corrected=NOT_CLAIMED)``.
    rivals : mapping from str to object
        Wrong predictions, each under a phrase that the page prints. A phrase that several checks have is one rival,
        which alters them all.
    fact : str
        Field of the docstring that the check's outermost number fills.
    scaled : bool or callable
        Whether this prediction is multiplied by factors, to find its smallest error that would have been refused. A
        callable, ``scaled(prediction, factor)``, multiplies what is no number. The default is the decorator's: true of
        the two equalities, else false.

    Parameters
    ----------
    predictions : str
        The parameter that is the prediction. Of several it is the first that a call gives, as an argument or in the
        mapping of `printed` or `corrected`; if it gives none, the first.
    upper_bound, lower_bound : str
        Which of these parameters is a bound. A bound is only made tighter, whether the factor is above or below 1: a
        number that meets a bound meets every looser one too.
    """

    def decorate(function: Callable[..., Check]) -> Callable[..., Check]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def check(
            *arguments: Any,
            printed: Any = None,
            corrected: Any = None,
            rivals: Mapping[str, Any] | None = None,
            fact: str = "",
            scaled: bool | Callable[[Any, float], Any] = scaled,
            **named: Any,
        ) -> Check:
            title = _title(function.__name__, signature, arguments, named)
            _check_rivals(title, rivals)
            _refuse_not_claimed(title, (*arguments, *named.values()))
            _check_call(title, function, arguments, named, complete=False)

            given = dict(zip(signature.parameters, arguments, strict=False)) | named  # arguments by their parameter
            # the parameter whose argument is what the claim predicts
            named_anywhere = {**given, **_mapping(printed), **_mapping(corrected)}
            prediction = next((name for name in predictions if named_anywhere.get(name) is not None), predictions[0])

            if printed is not None and corrected is None:
                corrected = {}  # the correction's arguments are those given
            replacements = {**(rivals or {}), CORRECTION: corrected}
            replacements = {phrase: other for phrase, other in replacements.items() if other is not None}
            for phrase, other in {"printed": printed, **replacements}.items():
                if other is NOT_CLAIMED:
                    continue
                where = title if other is None else f"{title}: `{phrase}`"
                _refuse_not_claimed(where, _mapping(other).values())
                _check_parameters(signature, other, where)
                _check_call(where, function, (), {**given, **_changes(other, prediction)}, complete=True)

            def multiplied(argument: Any, factor: float) -> Any:
                """Return a prediction times a factor; a bound is tightened by as much, whatever its sign."""
                if callable(scaled):
                    return scaled(argument, factor)
                number = np.asarray(argument)
                if prediction == upper_bound:
                    return number - abs(factor - 1) * np.abs(number)
                if prediction == lower_bound:
                    return number + abs(factor - 1) * np.abs(number)
                return factor * number

            check_as_printed = None
            if printed is not NOT_CLAIMED:
                check_as_printed = function(**{**given, **_changes(printed, prediction)})

            def under(phrases: Sequence[str], factor: float) -> Check | None:
                phrase = _first_applicable(phrases, replacements, prediction)
                other = replacements[phrase] if phrase else printed
                if other is NOT_CLAIMED:
                    return None
                changed = {**given, **_changes(other, prediction)}
                argument = changed.get(prediction)
                can_be_scaled = callable(scaled) or (scaled and _is_numbers(argument))
                if factor != 1 and can_be_scaled:
                    return function(**{**changed, prediction: multiplied(argument, factor)})
                if not phrase:
                    return check_as_printed
                try:
                    return function(**changed)
                except CheckError as error:
                    raise CheckError(f"{error} (under `{phrase}`)") from None

            shown = check_as_printed
            if shown is None:
                # the number of the correction, or else of a rival; of nobody where their draws are not in the tables
                claimed = (under([phrase], 1.0) for phrase in (CORRECTION, *replacements))
                shown = next(filter(None, claimed), Check("not claimed", "undecided", np.nan, "none"))
            if fact:
                value = shown.value if np.isnan(shown.outermost) else shown.outermost
                shown = replace(shown, facts={**shown.facts, fact: value})
            return replace(shown, replacements=tuple(replacements), under=under) if replacements else shown

        return check

    return decorate


def _title(function: str, signature: inspect.Signature, arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return the quantity of a check in words, or else the function's name.

    Raises
    ------
    CheckError
        If what is given for the quantity is no text.
    """
    is_named = bool(arguments) and next(iter(signature.parameters)) == "name"
    title = arguments[0] if is_named else named.get("name", function)
    if not isinstance(title, str):
        raise CheckError(f"{function}: give the quantity in words first (is {type(title).__name__})")
    return title


def _check_rivals(title: str, rivals: Any) -> None:
    if not isinstance(rivals, Mapping | None):
        raise CheckError(
            f"{title}: rivals must be a mapping from words to wrong predictions (is {type(rivals).__name__})"
        )
    for phrase in rivals or {}:
        if not phrase or phrase in (CORRECTION, "printed") or not isinstance(phrase, str):
            raise CheckError(f"{title}: `{phrase}` is no rival's name; say in words what is wrong")


def _refuse_not_claimed(where: str, arguments: Iterable[Any]) -> None:
    if any(argument is NOT_CLAIMED for argument in arguments):
        raise CheckError(f"{where}: give NOT_CLAIMED as printed=, as corrected= or as a rival, and not as an argument")


def _check_call(
    title: str, function: Callable[..., Check], arguments: Sequence[Any], named: Mapping[str, Any], *, complete: bool
) -> None:
    """Refuse arguments that a check does not take and, of a complete call, that it lacks; say what it takes.

    The check itself refuses arguments whose values it cannot use.
    """
    signature = inspect.signature(function)
    try:
        (signature.bind if complete else signature.bind_partial)(*arguments, **named)
    except TypeError as error:
        raise CheckError(f"{title}: {error}; {function.__name__} takes {', '.join(signature.parameters)}") from None


def _check_parameters(signature: inspect.Signature, other: Any, where: str) -> None:
    """Refuse a rival or correction that replaces an argument that the check does not take."""
    parameters = signature.parameters.values()
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    if isinstance(other, Mapping) and not takes_any:
        for parameter in other:
            check_known(parameter, list(signature.parameters), "parameter", where)


def _first_applicable(phrases: Sequence[str], replacements: Mapping[str, Any], prediction: str) -> str:
    """Return the phrase of the first of some replacements that a check has and can use; "" if there is none.

    A rival whose prediction has no number, as where its draws are not in the tables, is passed over. A correction that
    has none is used, and leaves its check undecided.
    """
    for phrase in phrases:
        if phrase not in replacements:
            continue
        other = replacements[phrase]
        if phrase == CORRECTION or other is NOT_CLAIMED:
            return phrase
        if not _has_no_number(_changes(other, prediction).get(prediction)):
            return phrase
    return ""


def _changes(other: Any, prediction: str) -> Mapping[str, Any]:
    """Return the arguments, by parameter, that a replacement changes; none where there is no replacement."""
    if other is None or isinstance(other, Mapping):
        return other or {}
    return {prediction: other}


def _mapping(other: Any) -> Mapping[str, Any]:
    """Return a replacement that is a mapping, or else an empty one."""
    return other if isinstance(other, Mapping) else {}


def _has_no_number(prediction: Any) -> bool:
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


# -- what a claim yields --------------------------------------------------------------------------------------------


class Facts(dict[str, Any]):
    """Numbers and words for the fields of a claim's docstring that no check measures; yielded among the checks."""


class Reason(str):
    """Why, in words, a verdict is another than `reproduced`, where that depends on the run; yielded among the checks.

    It replaces the reason that the decorator gives.
    """

    __slots__ = ()


class Untested(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a claim that lacks what it needs (a data set, a machine); its text is the reason."""


Checks = Iterable[Check]
Claim = Iterable[Check | Facts | Reason]  # what a claim's function yields, the headline first
