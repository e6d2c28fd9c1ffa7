"""How each verdict looks and what it means, wherever one is shown: on the page, in Markdown, in a matrix."""

from collections.abc import Iterable
from dataclasses import dataclass

from learning_dynamics.palette import COLOURS  # not by way of `plotting`, which would import matplotlib


@dataclass(frozen=True)
class VerdictStyle:
    """A verdict's sign, meaning and colours.

    Attributes
    ----------
    sign, meaning : str
    fill : str
        Of cells, bars and points.
    light, dark : pair of str
        Of its word: ink and ground, on a light page and on a dark one.
    """

    sign: str
    meaning: str
    fill: str
    light: tuple[str, str]
    dark: tuple[str, str]


# what a claim is about, by its quantifier
QUANTIFIERS = {
    "all draws": "every draw",
    "most draws": "most draws",
    "an average": "an average over draws",
    "some setting": "some setting",
    "a number": "one number",
}

VERDICT_STYLES = {
    "reproduced": VerdictStyle(
        "✓",
        "the prediction holds in every check, and every rival is rejected",
        COLOURS["green"],
        ("#0d5b36", "#d9f0e3"),
        ("#8fdcb2", "#143d29"),
    ),
    "corrected": VerdictStyle(
        "✎",
        "a formula or theorem fails as printed, and the stated correction holds; both were measured",
        COLOURS["orange"],
        ("#744600", "#fdebc6"),
        ("#f3c877", "#43300c"),
    ),
    "contradicted": VerdictStyle(
        "✗",
        "it fails as printed, and no correction holds",
        COLOURS["vermilion"],
        ("#8a1f11", "#fbdad4"),
        ("#f7a799", "#4c1a13"),
    ),
    "not reproduced": VerdictStyle(
        "○",
        "an experiment's outcome does not show at this scale",
        COLOURS["purple"],
        ("#7d2a58", "#f7deea"),
        ("#eeb3d0", "#4a1b35"),
    ),
    "undecided": VerdictStyle(
        "?",
        "one of: the measurement cannot decide the sentence; the printed sentence fails and its correction cannot be "
        "decided; a premise is not met; no rival was tried; a rival would get the same verdict",
        COLOURS["sky"],
        ("#0b4a73", "#d8ebf8"),
        ("#9fd3f5", "#123a54"),
    ),
    "untested": VerdictStyle(
        "–",
        "something is missing, for example a data set",
        COLOURS["grey"],
        ("#454d59", "#e6e9ed"),
        ("#c0c8d2", "#333a44"),
    ),
}


def legend(verdicts: Iterable[str]) -> str:
    """Return what the signs of some verdicts stand for, each once, in the order of `VERDICT_STYLES`."""
    used = set(verdicts)
    return ", ".join(f"{style.sign} {verdict}" for verdict, style in VERDICT_STYLES.items() if verdict in used)
