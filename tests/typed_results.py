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
# the level of an interval or accuracy: 95 % confidence, 99.5 % train accuracy
LEVEL = re.compile(r"\b9\d(?:\.\d)?\s*%\s+(?:\w+\s+)?(?:intervals?|confidence|level|quantiles?|accuracy)\b")
# 3 of 4, 17 out of the 20, 12 %, 0.25, 1.5e-3, 1e-9
TYPED = re.compile(
    r"(?<![\w.])\d+\s+(?:out\s+)?of\s+(?:the\s+)?\d+\b|(?<![\w.])\d+(?:\.\d+)?\s*(?:%|per\s?cent\b)"
    r"|(?<![\w.(])\d+\.\d+(?:e[+-]?\d+)?\b|(?<![\w.])\d+e[+-]?\d+\b"
)


def typed_results(text: str) -> list[str]:
    """Return what reads like a typed result: decimals, percentages, counts of counts, outside mathematics and fields.

    Numbers of theorems, figures and equations are names, not results, and so are the level of an interval and the train
    accuracy at which train errors count as ended.
    """
    prose = "".join(MATHS.split(text)[::2])  # what is between formulas
    for pattern in (r"\{[^{}]*\}", REFERENCE, LEVEL):  # fields, names, levels
        prose = re.sub(pattern, " ", prose)
    return [match.group().strip() for match in TYPED.finditer(prose)]


def assert_filled(facts: Mapping[str, Any], *texts: str) -> None:
    """Check that no field is left in texts once facts fill them; what stands between dollars is not filled."""
    for text in texts:
        assert "{" not in "".join(fill(text, plain_facts(facts)).split("$")[::2]), text
