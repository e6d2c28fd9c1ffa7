"""Claims as tables: a row for each claim, for each of its checks, for each time that it was judged again."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from learning_dynamics.judging import VERDICTS, About, Check, Evaluation
from learning_dynamics.pipeline.store.stamps import plain_facts
from learning_dynamics.tidy import Column

SOME_SETTING = "some setting"  # the quantifier of what can happen
OWN_CHOICES = ("threshold", "setting")  # kinds of change that test a choice of this project

PAPER = Column("paper", "str", "the paper's name in the configuration")
CLAIM = Column("claim", "str", "the claim's id: paper and theorem, lemma or observation")
VERDICT = Column("verdict", "str", " · ".join(VERDICTS))
CHECK = (
    Column("quantity", "str", "what is measured"),
    Column("predicted", "float", "what is predicted of the quantity, where it is a number", nullable=True),
    Column("measured", "float", "what was measured", nullable=True),
    Column("lower", "float", "lower end of the measurement's 95 % interval", nullable=True),
    Column("upper", "float", "upper end of the measurement's 95 % interval", nullable=True),
    Column("interval", "str", "of what the interval is, and how it was found"),
    Column("uncertainty", "float", "the larger distance from the measurement to an end of its interval", nullable=True),
    Column("criterion", "str", "what the measurement must satisfy, and why"),
    Column("margin", "float", "factor by which the measurement stays inside its bound", nullable=True),
    Column("draws", "int", "independent draws behind the measurement"),
    Column("draws_for", "int", "draws that by themselves support the claim"),
    Column("draws_against", "int", "draws that by themselves contradict it"),
    Column("draws_undecided", "int", "draws that cannot be judged"),
    Column("excluded", "str", "draws of which the claim does not speak: how many, and why"),
)
PRINTED = "_as_printed"
# a corrected claim is decided by a check of the correction; these columns have the check of what is printed
AS_PRINTED = (
    Column("quantity_as_printed", "str", "of a corrected claim: what is measured of the printed statement"),
    Column("predicted_as_printed", "float", "what is printed of that quantity, where it is a number", nullable=True),
    Column("measured_as_printed", "float", "what was measured of it", nullable=True),
    Column("lower_as_printed", "float", "lower end of that measurement's 95 % interval", nullable=True),
    Column("upper_as_printed", "float", "upper end of that measurement's 95 % interval", nullable=True),
    Column("criterion_as_printed", "str", "what that measurement fails"),
)
COLUMNS = (
    PAPER,
    CLAIM,
    Column("reference", "str", "where the claim is in the paper"),
    Column("origin", "str", "paper, or ours: an observation that is no sentence of the paper"),
    Column("statement", "str", "the claim in our words"),
    Column("quantifier", "str", "all draws, most draws, an average, some setting or a number: what it is about"),
    Column("scope", "str", "a theorem's hypotheses as tested, or what an empirical statement was tested on"),
    Column("correction", "str", "what holds instead, or is proposed, for claims that do not hold as printed"),
    *CHECK,
    *AS_PRINTED,
    Column("rivals", "str", "wrong predictions and the verdict that each would get, as JSON"),
    Column(
        "min_detectable_error",
        "float",
        "smallest relative error of the prediction that would be rejected",
        nullable=True,
    ),
    Column("agreement", "float", "share of other thresholds and settings that give this verdict", nullable=True),
    Column("seeds", "int", "other seeds under which the claim was judged again"),
    Column("seeds_agreeing", "int", "of these, the seeds that give this verdict"),
    VERDICT,
    Column("expected", "str", "the verdict recorded in the configuration for this scale, if there is one"),
    Column("figure", "str", "the figure that shows it", nullable=True),
    Column("evidence", "str", "the parquet files it was computed from"),
    Column("reason", "str", "why the verdict is not `reproduced`"),
    Column("facts", "str", "numbers that the explanation names, as JSON"),
)
CHECK_COLUMNS = (
    PAPER,
    CLAIM,
    Column("of", "str", "the prediction judged: printed or corrected"),
    Column("check", "int", "0 for the headline, then 1, 2, ..."),
    Column("decides", "bool", "whether the verdict is this check's"),
    Column("is_premise", "bool", "whether it is what the statement assumes, without which nothing is decided"),
    *CHECK,
    Column("state", "str", "holds, fails or undecided"),
    Column("undecided_reason", "str", "why it is undecided, where it is"),
)
VARIATION_COLUMNS = (
    PAPER,
    CLAIM,
    Column("change", "str", "threshold, setting, seed or draw: what was changed before the claim was judged again"),
    Column("what", "str", "the thresholds; the run or data set and its setting (`run.setting`); seed; draw"),
    Column("value", "str", "what they were changed to; which seed, which draw"),
    VERDICT,
    Column("measured", "float", "the headline quantity", nullable=True),
    Column("reason", "str", "why the verdict is not `reproduced`"),
)


def variation_row(paper: str, claim: str, change: str, what: str, value: Any, evaluation: Evaluation) -> dict[str, Any]:
    """Return the row of a claim that was judged again.

    What some setting shows ("can happen") is not contradicted by another setting in which it does not show: there it is
    not reproduced.
    """
    decisive = evaluation.decisive
    verdict, reason = evaluation.verdict, evaluation.reason
    if evaluation.quantifier == SOME_SETTING and verdict == "contradicted":
        verdict, reason = "not reproduced", "; ".join(filter(None, ["does not show in this setting", reason]))
    return {
        "paper": paper,
        "claim": f"{paper}.{claim}",
        "change": change,
        "what": what,
        "value": str(value),
        "verdict": verdict,
        "measured": _finite_or_nan(decisive.headline.value) if decisive else np.nan,
        "reason": reason,
    }


def agreement(claim: Mapping[str, Any], judged_again: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of other thresholds and settings that give a claim its verdict; nan where none was tried.

    A claim that something shows in some setting is not weakened by a setting in which it does not show. Of its other
    settings only those count that give `reproduced` or `corrected`; its other thresholds count all.

    Parameters
    ----------
    claim : mapping
        A row of claims, with its verdict and quantifier.
    judged_again : iterable of mappings
        Rows of `variation_row` of the claim.
    """
    rows = [row for row in judged_again if row["change"] in OWN_CHOICES]
    if claim["quantifier"] == SOME_SETTING:
        rows = [row for row in rows if row["change"] == "threshold" or row["verdict"] in ("reproduced", "corrected")]
    agrees = [row["verdict"] == claim["verdict"] for row in rows]
    return sum(agrees) / len(agrees) if agrees else float("nan")


def check_row(check: Check) -> dict[str, Any]:
    """Return the columns of one check."""
    lower, upper = check.lower, check.upper
    if not (np.isfinite(lower) and np.isfinite(upper)):
        lower = upper = np.nan
    # columns that are not an attribute's name and value
    others: dict[str, Any] = {
        "quantity": check.name,
        "measured": check.value,
        "lower": lower,
        "upper": upper,
        "uncertainty": max(check.value - lower, upper - check.value),
    }
    row: dict[str, Any] = {}
    for column in CHECK:
        value = others[column.name] if column.name in others else getattr(check, column.name)
        row[column.name] = _finite_or_nan(value) if column.type == "float" else value
    return row


def claim_row(about: About, evaluation: Evaluation) -> dict[str, Any]:
    """Return the columns of a claim that its evaluation fills; it is of one seed, and no other is counted."""
    nothing = Check("", "undecided", np.nan, "", draws=0)  # for the columns of what is not there
    deciding, printed, margin = nothing, nothing, np.nan
    if evaluation.verdict == "corrected" and evaluation.judgement:
        printed = evaluation.judgement.deciding
    if evaluation.decisive:
        deciding = evaluation.decisive.deciding
        margins = [check.margin for check in evaluation.decisive.checks if np.isfinite(check.margin)]
        margin = min(margins, default=np.nan)
    return {
        "reference": about.reference,
        "origin": about.origin,
        "scope": about.scope,
        "quantifier": evaluation.quantifier,
        # a sentence that holds as printed needs no correction, even if another reading of it would
        "correction": "" if evaluation.verdict == "reproduced" else about.correction,
        **check_row(deciding),
        **{column.name: check_row(printed)[column.name.removesuffix(PRINTED)] for column in AS_PRINTED},
        "margin": margin,
        "rivals": json.dumps(dict(evaluation.rivals), ensure_ascii=False),
        "min_detectable_error": evaluation.min_detectable_error,
        "seeds": 0,
        "seeds_agreeing": 0,
        "verdict": evaluation.verdict,
        "reason": evaluation.reason,
        "facts": json.dumps(plain_facts(evaluation.facts), ensure_ascii=False),
    }


def printed_check(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return of a corrected claim's row the check on what is printed, under the names that columns of a check have."""
    return {column.name.removesuffix(PRINTED): row[column.name] for column in AS_PRINTED}


def check_rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return a row for each check behind a verdict, of the printed prediction and of the correction."""
    printed = evaluation.judgement
    judgements = [("printed", printed)]
    if printed is not None and printed.state == "fails":
        judgements.append(("corrected", evaluation.corrected))
    return [
        {
            "of": prediction,
            "check": number,
            "decides": check is judgement.deciding,
            "is_premise": check.is_premise,
            **check_row(check),
            "state": check.state,
            "undecided_reason": check.undecided_reason,
        }
        for prediction, judgement in judgements
        if judgement is not None
        for number, check in enumerate(judgement.checks)
    ]


def is_expected(verdict: str, expected: str) -> bool:
    """Return whether a verdict is one recorded in the configuration, ``a or b``; without one, every verdict is."""
    return not expected or verdict in expected.split(" or ")


def _finite_or_nan(value: float) -> float:
    return float(value) if np.isfinite(value) else np.nan
