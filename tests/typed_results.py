"""Results that somebody typed into prose: what texts must not hold, since numbers are filled in."""

import re
from collections.abc import Mapping
from typing import Any

from learning_dynamics.pipeline.report.templates import MATHS, fill
from learning_dynamics.pipeline.store.stamps import plain_facts

# what stands before a number that is a name: Theorem 3.2, Figure 1a, eq. (2.2), section 3.3, a year in a citation
REFERENCE = re.compile(
    r"\b(?:theorems?|lemmas?|lemmata|corollar(?:y|ies)|propositions?|figures?|tables?|sections?|appendix|appendices|"
    r"definitions?|assumptions?|remarks?|algorithms?|examples?|pages?|slides?|chapters?|eqs?\.?|equations?|figs?\.|"
    r"secs?\.|app\.|thm\.|cor\.|prop\.|p\.|pp\.|step|part|panel|version)"
    r"\s+\(?[A-Z]?\.?\d[\w.\-–]*\)?(?:(?:\s*,\s*|\s+and\s+|\s+to\s+)\(?[A-Z]?\.?\d[\w.\-–]*\)?)*",
    re.IGNORECASE,
)
LEVEL = re.compile(r"\b9\d(?:\.\d)?\s*%\s+(?:\w+\s+)?(?:intervals?|confidence|level|quantiles?|accuracy)\b")
TYPED = re.compile(
    r"(?<![\w.])\d+\s+(?:out\s+)?of\s+(?:the\s+)?\d+\b|(?<![\w.])\d+(?:\.\d+)?\s*(?:%|per\s?cent\b)"
    r"|(?<![\w.(])\d+\.\d+(?:e[+-]?\d+)?\b|(?<![\w.])\d+e[+-]?\d+\b"
)


def typed_results(text: str) -> list[str]:
    """Return what reads like a typed result: decimals, percentages, counts of counts, outside mathematics and fields.

    Numbers of theorems, figures and equations are names, not results, and so are the level of an interval and the train
    accuracy at which train errors count as ended.
    """
    plain = re.sub(r"\{[^{}]*\}", " ", "".join(MATHS.split(text)[::2]))
    return [match.group().strip() for match in TYPED.finditer(LEVEL.sub(" ", REFERENCE.sub(" ", plain)))]


def assert_filled(facts: Mapping[str, Any], *texts: str) -> None:
    """Check that no field is left in texts once facts fill them; what stands between dollars is not filled."""
    for text in texts:
        assert "{" not in "".join(fill(text, plain_facts(facts)).split("$")[::2]), text
