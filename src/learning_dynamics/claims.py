"""What a claim is, how a measurement is held against it, and how that becomes a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.tables import Column

State = Literal["holds", "fails", "undecided"]
VERDICTS = ("reproduced", "corrected", "contradicted", "not reproduced", "untested")
COLUMNS = (
    Column("paper", "str", "the paper's name in the configuration"),
    Column("claim", "str", "the claim's id: paper and theorem, lemma or observation"),
    Column("reference", "str", "where the claim stands in the paper"),
    Column("statement", "str", "the claim in our words"),
    Column("correction", "str", "what holds instead, for claims that fail as printed"),
    Column("quantity", "str", "what is measured"),
    Column("predicted", "float", "what the claim says of the quantity", nullable=True),
    Column("measured", "float", "what was measured", nullable=True),
    Column("uncertainty", "float", "half-width of the 95 % interval, or numerical error, of the measurement"),
    Column("criterion", "str", "what the measurement must satisfy"),
    Column("samples", "int", "ensemble members, seeds or paths behind the measurement"),
    Column("verdict", "str", " · ".join(VERDICTS)),
    Column("expected", "str", "the verdict recorded in the configuration, or several joined by `or`"),
    Column("figure", "str", "the figure that shows it", nullable=True),
    Column("evidence", "str", "the parquet files it was computed from"),
    Column("reason", "str", "why the verdict is not `reproduced`"),
)
SENSITIVITY_COLUMNS = (
    Column("paper", "str", "the paper's name in the configuration"),
    Column("claim", "str", "the claim's id"),
    Column("run", "str", "the run whose setting was varied"),
    Column("setting", "str", "the setting that was varied"),
    Column("value", "str", "what it was set to"),
    Column("measured", "float", "the claim's quantity at that value", nullable=True),
    Column("verdict", "str", "the claim's verdict at that value"),
)


class Untested(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a claim that lacks what it needs (a data set, a machine); its text is the reason."""


@dataclass(frozen=True)
class Check:
    """One measurement held against one prediction."""

    state: State
    predicted: float
    measured: float
    uncertainty: float
    criterion: str
    detail: str = ""
    slack: float = 0.0  # distance to the bound in units of the bound; negative beyond it

    def __str__(self) -> str:
        margin = f" ± {self.uncertainty:.2g}" if self.uncertainty else ""
        return f"measured {self.measured:.4g}{margin}; {self.criterion}{'; ' + self.detail if self.detail else ''}"


@dataclass(frozen=True)
class Outcome:
    """What a claim's function returns.

    Attributes
    ----------
    printed : Check
        The claim as the paper states it.
    samples : int
        Ensemble members, seeds or paths behind the measurement.
    corrected : Check, optional
        The claim as corrected, for claims known to fail as printed.
    reason : str
        Why, in words, for a verdict other than `reproduced`.
    """

    printed: Check
    samples: int
    corrected: Check | None = None
    reason: str = ""

    @property
    def verdict(self) -> str:
        """The verdict, from the states of the checks alone."""
        if self.printed.state == "holds":
            return "reproduced"
        if self.printed.state == "undecided":
            return "not reproduced"
        if self.corrected is not None and self.corrected.state == "holds":
            return "corrected"
        return "contradicted"


def as_expected(verdict: str, expected: str) -> bool:
    """Return whether a verdict is the one recorded in the configuration, or one of those."""
    return verdict in expected.split(" or ")


def equal(
    measured: float,
    predicted: float,
    tolerance: float,
    *,
    uncertainty: float = 0.0,
    resolution: float = np.inf,
    because: str = "",
) -> Check:
    """Check that a measurement equals its prediction.

    Parameters
    ----------
    tolerance : float
        Error that the numerical method is known to make.
    uncertainty : float
        Half-width of the measurement's 95 % interval.
    resolution : float
        Smallest difference that must be visible for the check to mean anything: if tolerance and
        uncertainty exceed it, the check is undecided.
    because : str
        Where the tolerance comes from.
    """
    allowed = tolerance + uncertainty
    criterion = f"|measured - {predicted:.4g}| <= {allowed:.2g}" + (f" ({because})" if because else "")
    if not np.isfinite(measured):
        return Check("undecided", predicted, measured, uncertainty, criterion, "the measurement is not finite")
    if allowed > resolution:
        detail = f"errors of {allowed:.2g} hide differences of {resolution:.2g}"
        return Check("undecided", predicted, measured, uncertainty, criterion, detail)
    state: State = "holds" if abs(measured - predicted) <= allowed else "fails"
    slack = 1 - abs(measured - predicted) / allowed if allowed else -abs(measured - predicted)
    return Check(state, predicted, measured, uncertainty, criterion, slack=slack)


def at_most(measured: float, bound: float, *, uncertainty: float = 0.0, because: str = "") -> Check:
    """Check that a measurement lies below a bound; undecided while its interval covers the bound."""
    criterion = f"measured <= {bound:.4g}" + (f" ({because})" if because else "")
    return _ordered(bound - measured, bound, measured, uncertainty, criterion)


def at_least(measured: float, bound: float, *, uncertainty: float = 0.0, because: str = "") -> Check:
    """Check that a measurement lies above a bound; undecided while its interval covers the bound."""
    criterion = f"measured >= {bound:.4g}" + (f" ({because})" if because else "")
    return _ordered(measured - bound, bound, measured, uncertainty, criterion)


def _ordered(margin: float, bound: float, measured: float, uncertainty: float, criterion: str) -> Check:
    state: State = "undecided"
    if margin >= uncertainty:
        state = "holds"
    elif margin < -uncertainty:
        state = "fails"
    return Check(state, bound, measured, uncertainty, criterion, slack=margin / (abs(bound) or 1.0))


def share_at_least(successes: int, trials: int, bound: float, *, because: str = "") -> Check:
    """Check that a share of ensemble members lies above a bound, with its 95 % Wilson interval."""
    interval = stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    share = successes / trials
    criterion = f"share of {trials} members >= {bound:.3g}" + (f" ({because})" if because else "")
    state: State = "holds" if interval.low >= bound else "fails" if interval.high < bound else "undecided"
    uncertainty = max(share - interval.low, interval.high - share)
    return Check(state, bound, share, uncertainty, criterion, slack=share - bound)


def all_of(*checks: Check) -> Check:
    """Combine checks that must all hold into the worst: one that fails, else undecided, else nearest its bound."""
    return min(checks, key=lambda check: (("fails", "undecided", "holds").index(check.state), check.slack))


def claim(reference: str, quantity: str, *, correction: str = "") -> Callable:
    """Mark a function of a paper's claims as a claim.

    The function takes the metrics tables by run name, and its settings; it returns an `Outcome`. The
    first paragraph of its docstring is the statement, the rest is its explanation on the page.
    """

    def mark(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        function.claim = {  # type: ignore[attr-defined]
            "reference": reference,
            "quantity": quantity,
            "correction": correction,
        }
        return function

    return mark


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((docstring or "").strip().split("\n\n")[0].split())


def evaluate(
    function: Callable[..., Outcome], tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Run one claim and return its columns that depend on the measurement."""
    about = function.claim  # type: ignore[attr-defined]
    row = {"statement": first_paragraph(function.__doc__), **about}
    try:
        outcome = function(tables, **settings)
    except Untested as reason:
        return row | {
            "predicted": np.nan,
            "measured": np.nan,
            "uncertainty": 0.0,
            "criterion": "",
            "samples": 0,
            "verdict": "untested",
            "reason": str(reason),
        }
    reason_text = ""
    if outcome.verdict != "reproduced":
        parts = [outcome.reason, f"as printed: {outcome.printed}"]
        if outcome.corrected is not None:
            parts.append(f"as corrected: {outcome.corrected}")
        reason_text = ". ".join(part.rstrip(".") for part in parts if part) + "."
    return row | {
        "predicted": float(outcome.printed.predicted),
        "measured": float(outcome.printed.measured),
        "uncertainty": float(outcome.printed.uncertainty),
        "criterion": outcome.printed.criterion,
        "samples": int(outcome.samples),
        "verdict": outcome.verdict,
        "reason": reason_text,
    }
