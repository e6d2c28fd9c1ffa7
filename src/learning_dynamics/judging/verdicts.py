"""From the checks that a claim yields to its verdict: what is printed, the correction and every rival are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from learning_dynamics.errors import CheckError
from learning_dynamics.judging.checks import CORRECTION, Check, Claim, Quantifier, Reason, State, Untested

Origin = Literal["paper", "ours"]
VERDICTS = ("reproduced", "corrected", "contradicted", "not reproduced", "undecided", "untested")


@dataclass(frozen=True)
class Judgement:
    """What the checks say of one prediction: all of them must hold.

    The headline, which is no premise, is the check of the quantity that the claim is about. The card shows the check
    that decides: a premise that does not hold; else the first check whose state is the judgement's, which is the
    headline if all hold.
    """

    checks: tuple[Check, ...]

    def __init__(self, headline: Check, *others: Check) -> None:
        if headline.is_premise:
            raise CheckError(f"{headline.name}: is a premise; yield the check that the claim is about before it")
        object.__setattr__(self, "checks", (headline, *others))

    @property
    def headline(self) -> Check:
        """The check that the claim is about."""
        return self.checks[0]

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
    def unmet(self) -> tuple[Check, ...]:
        """The premises that do not hold."""
        return tuple(check for check in self.checks if check.is_premise and check.state != "holds")

    @property
    def deciding(self) -> Check:
        """The check that decides: a premise only while it does not hold."""
        return next(iter(self.unmet or [check for check in self.checks if check.state == self.state]))


def judgement_under(checks: Sequence[Check], phrases: Sequence[str] = (), factor: float = 1.0) -> Judgement:
    """Return what a claim's checks say under rivals or the correction, by default of what is printed.

    Parameters
    ----------
    phrases : sequence of str
        Phrases of rivals, or `CORRECTION`. Each check takes the prediction of the first that it has, or else what is
        printed.
    factor : float
        What the predictions of checks that are `scaled` are multiplied by.

    Raises
    ------
    CheckError
        If every check is `NOT_CLAIMED`.
    """
    changed = [check.under(phrases, factor) if check.under else check for check in checks]
    claimed = [check for check in changed if check is not None]
    if not claimed:
        raise CheckError(f"nothing is checked of {phrases or 'what is printed'}: every check is NOT_CLAIMED")
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
        Where the paper has it: ``Corollary 3.1``, ``Figure 2``, ``section 3.3``.
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
        What the statement is about: all draws, most draws, an average, some setting ("can happen"), or one number that
        no draws repeat. The headline must check that: a "for all" is not judged by a share, nor a mean by every draw.
    reason : str, optional
        Why, in words, for a verdict other than `reproduced`.

    Raises
    ------
    CheckError
        If an empirical statement has a correction, the scope is empty, or the quantifier is unknown.
    """
    if not scope.strip():
        raise CheckError(f"{reference}: say for what it was tested (scope)")
    if quantifier is not None and quantifier not in get_args(Quantifier):
        raise CheckError(f"{reference}: quantifier `{quantifier}` is not one of {', '.join(get_args(Quantifier))}")
    if empirical and correction:
        raise CheckError(f"{reference}: an empirical statement is not corrected by another scale")

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        about = About(
            reference=reference,
            scope=scope,
            origin=origin,
            empirical=empirical,
            correction=correction,
            quantifier=quantifier,
            reason=reason,
        )
        function.claim = about  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True)
class Evaluation:
    """A claim's verdict, with the judgements that it follows from.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    judgement, corrected : Judgement, optional
        What the checks say of what is printed, and of the correction; None of an untested claim, and where there is no
        correction.
    rivals : mapping from str to str
        The verdict that each rival would get, by its phrase.
    min_detectable_error : float
        The smallest relative error of the prediction that would have been refused; nan where none was found or sought.
    reason : str
        Why the verdict is another than `reproduced`.
    facts : mapping
        What fills the fields of the claim's docstring.
    quantifier : str
        What the statement is about; see `claim`.
    """

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
        """The judgement to show: that of the correction if the claim is corrected, else that of what is printed."""
        return self.corrected if self.verdict == "corrected" else self.judgement


def evaluate(
    function: Callable[..., Claim],
    tables: Mapping[str, Any],
    settings: Mapping[str, Any],
    *,
    verdict_alone: bool = False,
) -> Evaluation:
    """Call a claim's function with tables by role and settings, and judge its checks.

    A rival that would get the same verdict leaves the claim undecided: such a verdict would say nothing. With
    `verdict_alone` the smallest error that would have been refused is not sought, which saves half of the time.

    Raises
    ------
    CheckError
        If the function yields no check, the headline checks another quantifier than the statement has, or a rival
        changes whether a premise holds.
    """
    about: About = function.claim  # type: ignore[attr-defined]
    try:
        checks, facts, run_reason = _read(function(**tables, **settings))
    except Untested as lacking:
        return Evaluation("untested", reason=str(lacking))
    n_draws = _draws_in(tables)
    printed = _with_missing_draws(judgement_under(checks), n_draws)

    def judge_under(name: str, phrases: Sequence[str]) -> Judgement:
        judgement = _with_missing_draws(judgement_under(checks, phrases), n_draws)
        if [check.name for check in judgement.unmet] != [check.name for check in printed.unmet]:
            raise CheckError(f"{about.reference}: {name} changes whether a premise holds, which no prediction may do")
        return judgement

    replacements = list(dict.fromkeys(name for check in checks for name in check.replacements))
    corrected = judge_under(CORRECTION, [CORRECTION]) if CORRECTION in replacements else None
    verdict = _verdict(about, printed.state, corrected.state if corrected else None)

    rivals = {}
    for name in replacements:
        if name == CORRECTION:
            continue
        # a rival alters some checks; the others are as printed where that holds, else as corrected
        phrases = [name] if verdict == "reproduced" else [name, CORRECTION]
        state = judge_under(f"the rival `{name}`", phrases).state
        if verdict == "corrected":
            rivals[name] = _verdict(about, "fails", state)
        else:
            corrected_state = corrected.state if corrected and printed.state == state == "fails" else None
            rivals[name] = _verdict(about, state, corrected_state)

    undetected = [name for name, rival_verdict in rivals.items() if rival_verdict == verdict]
    stated_reason = run_reason or about.reason
    reason = [stated_reason] if verdict != "reproduced" and stated_reason else []
    if not rivals:
        verdict = "undecided"
        reason.append("no rival was tried")
    elif undetected and verdict in ("reproduced", "corrected"):
        rivals_named = " and ".join(f"the rival “{name}”" for name in undetected)
        reason.append(f"{rivals_named} would get the same verdict ({verdict})")
        verdict = "undecided"
    elif verdict == "undecided" and corrected and printed.state == "fails":
        reason.append(f"it fails as printed, and the correction is undecided: {_undecided_reason(corrected)}")
    elif verdict == "undecided":
        reason.append(_undecided_reason(printed))
    elif verdict == "not reproduced":
        reason.append("does not show at this scale")

    min_detectable_error = np.nan
    if verdict in ("reproduced", "corrected") and not verdict_alone:
        min_detectable_error = _min_detectable_error(checks, [CORRECTION] if verdict == "corrected" else [])
    facts = {**_numbers(printed, corrected if verdict == "corrected" else None), **facts}
    quantifier = _quantifier(about, printed.headline)
    if corrected:
        _quantifier(about, corrected.headline)  # refuses a correction that is about something else
    return Evaluation(
        verdict=verdict,
        judgement=printed,
        corrected=corrected,
        rivals=rivals,
        min_detectable_error=min_detectable_error,
        reason="; ".join(reason),
        facts=facts,
        quantifier=quantifier,
    )


def _read(yields: Claim) -> tuple[list[Check], dict[str, Any], str]:
    """Return the checks that a claim yields, its facts by the fields that they fill, and the reasons that it gives."""
    if not isinstance(yields, Iterable):
        raise CheckError(f"returns {type(yields).__name__}; yield its checks")
    checks: list[Check] = []
    facts: dict[str, Any] = {}
    reasons: list[str] = []
    for yielded in yields:
        if isinstance(yielded, Check):
            checks.append(yielded)
            facts |= yielded.facts
        elif isinstance(yielded, Reason):
            reasons.append(yielded)
        elif isinstance(yielded, Mapping):
            facts |= yielded
        else:
            raise CheckError(f"yields {type(yielded).__name__}; yield checks, Facts or a Reason")
    if not checks:
        raise CheckError("yields no check")
    return checks, facts, "; ".join(reasons)


def _quantifier(about: About, check: Check) -> Quantifier:
    """Return what a statement is about; the check must be about the same."""
    checked = check.quantifier
    stated = about.quantifier or checked or "a number"
    if checked and stated not in (checked, "some setting"):
        raise CheckError(f"{about.reference}: is about {stated}, and its headline checks {checked}: {check.name}")
    return stated


def _undecided_reason(judgement: Judgement) -> str:
    """Return why a judgement is undecided, by the check that decides."""
    check = judgement.deciding
    why = check.undecided_reason or ("" if check.is_premise else "it cannot be judged")
    premise = f"the premise is not met ({check.value:.4g}; {check.criterion})" if check.is_premise else ""
    return f"{check.name}: {'; '.join(filter(None, [premise, why]))}"


def _draws_in(tables: Mapping[str, Any]) -> int:
    """Return the number of draws that every table has; 0 where tables have no seeds."""
    every_table: list[Any] = []
    for value in tables.values():
        every_table += value if isinstance(value, list | tuple) else [value]
    counts = [table["seed"].nunique() for table in every_table if "seed" in getattr(table, "columns", ())]
    return min(counts, default=0)


def _with_missing_draws(judgement: Judgement, n_draws: int) -> Judgement:
    """Return a judgement that says so where fewer draws are judged than there are, and no reason is given."""

    def with_missing(check: Check) -> Check:
        by_draw = check.quantifier is not None and not check.interval.startswith("slope")  # whose draws are points
        if check.excluded or not by_draw or not 1 < check.draws < n_draws:
            return check
        return replace(check, excluded=f"{check.draws} judged of an ensemble of {n_draws}: no reason given")

    return Judgement(*map(with_missing, judgement.checks))


def _verdict(about: About, printed: State, corrected: State | None) -> str:
    """Return the verdict that follows from what the checks say of the printed prediction and of its correction."""
    if printed == "holds":
        return "reproduced"
    if printed == "undecided":
        return "undecided"
    if about.empirical:
        return "not reproduced"
    if corrected == "undecided":
        return "undecided"
    return "corrected" if corrected == "holds" else "contradicted"


def _min_detectable_error(checks: Sequence[Check], phrases: Sequence[str]) -> float:
    """Return the smallest relative error of the prediction that would have been refused, within a factor 10^(1/4)."""
    # four errors a decade, from double's rounding to the size of the prediction
    for error in np.logspace(-16, 0, 65):
        if all(judgement_under(checks, phrases, 1 + side * error).state != "holds" for side in (1, -1)):
            return float(error)
    return np.nan


def _numbers(printed: Judgement, corrected: Judgement | None) -> dict[str, Any]:
    """Return what fills the fields of a docstring that every claim has; `corrected` of a corrected claim alone."""
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
