"""A claim's card as plain text, for a terminal."""

import shutil
import textwrap
from collections.abc import Iterator

import pandas as pd

from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.contents import Row, describe_draws, describe_margin
from learning_dynamics.pipeline.report.markdown import measurement, number
from learning_dynamics.pipeline.report.robustness import meanings
from learning_dynamics.pipeline.report.verdict_styles import QUANTIFIERS

MAX_WIDTH = 100  # characters: longer lines are hard to read
INDENT = "  "
UNTRIED = "Not tried here: other settings, as where the whole paper is judged; seeds and draws, by make robustness"


def card(claim: Row, citation: str, width: int | None = None) -> str:
    """Return what a claim's card shows, as `contents.card` has it, with every check, rival and tolerance.

    Parameters
    ----------
    claim : mapping
        As `contents.card` returns it.
    citation : str
        Of the paper.
    width : int, optional
        Of a line in characters; by default the terminal's.
    """
    width = min(width or shutil.get_terminal_size((MAX_WIDTH, 24)).columns, MAX_WIDTH)
    return "\n".join(_wrap(line, depth, width) for depth, line in _lines(claim, citation)) + "\n"


def _lines(claim: Row, citation: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a card, each with how far it is indented."""
    verdict = claim["verdict"] + claim["marks"]
    if claim["quantifier"]:
        verdict += f", about {QUANTIFIERS[claim['quantifier']]}"
    if not claim["as_expected"]:
        verdict += f" (expected: {claim['expected']})"
    yield 0, f"{claim['claim']}: {verdict}"
    if claim["origin"] == "ours":
        yield 0, f"Our own claim, no sentence of the paper; see {claim['reference']}. {citation}"
    else:
        yield 0, f"{claim['reference']}. {citation}"
    yield 1, claim["statement"]
    if claim["correction"]:
        opening = "What holds" if claim["verdict"] == "corrected" else "Proposed correction"
        yield 0, f"{opening}: {claim['correction']}"
    if claim["reason"]:
        yield 0, f"Why: {claim['reason']}"
    for prediction, title in (("printed", "Checks of what is printed"), ("corrected", "Checks of the correction")):
        checks = [check for check in claim["checks"] if check["of"] == prediction]
        if checks:
            yield 0, f"{title}:"
        for check in checks:
            yield from _check(check)
    if claim["rivals"]:
        yield 0, "Rivals, and the verdict that the same checks give each:"
        yield from ((1, f"{its_verdict}: {rival}") for rival, its_verdict in claim["rivals"].items())
    if not pd.isna(claim["min_detectable_error"]):
        smallest = number(claim["min_detectable_error"], 2)
        yield 0, f"Smallest relative error of the prediction that the checks would reject: {smallest}"
    yield 0, f"Scope: {claim['scope']}"
    yield from _variations(claim)
    yield from ((0, paragraph) for paragraph in claim["explanation"].split("\n\n") if paragraph.strip())
    yield 0, f"Read from: {', '.join(claim['evidence'])}"
    yield 0, f"Code: {claim['code'].replace('#L', ':')}"


def _check(check: Row) -> Iterator[tuple[int, str]]:
    """Yield a check's state and number, then its criterion, how far it is met, and its draws."""
    measured = f"{check['state']}: {check['quantity']}: {measurement(check) or '–'}"
    if not pd.isna(check["predicted"]):
        measured += f", predicted {number(check['predicted'])}"
    if check["decides"]:
        measured += " (decides)"
    yield 1, measured
    details = [check["criterion"], check["undecided_reason"], describe_margin(check["margin"]), describe_draws(check)]
    if check["is_premise"]:
        details.append("a premise")
    yield 2, "; ".join(filter(None, details))


def _variations(claim: Row) -> Iterator[tuple[int, str]]:
    """Yield what other thresholds and settings say, and what tries those that were not tried."""
    if claim["robustness"]:
        yield 0, f"Judged again: {claim['robustness']}."
    if claim["on_other_processors"]:
        yield 0, f"{claim['on_other_processors']}."
    if claim["elsewhere"]:
        yield 0, f"{claim['elsewhere']}."
    yield from ((0, f"{meaning}.") for meaning in meanings([claim["marks"]]))
    if all(row["change"] == "threshold" for row in claim["variations"]):
        yield 0, UNTRIED


def _wrap(text: str, depth: int, width: int) -> str:
    return textwrap.fill(
        maths.plain(" ".join(text.split())),
        width,
        initial_indent=depth * INDENT,
        subsequent_indent=depth * INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
